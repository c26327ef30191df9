import { ConnectionFailed, NotFound, type Job, type List } from "orgmem";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const jobs = vi.hoisted(() => ({ get: vi.fn() }));
const client = vi.hoisted(() => ({ jobs, add: vi.fn(), imports: { upload: vi.fn() } }));
vi.mock("../src/lib/session.svelte", () => ({ session: { heard: () => undefined, client, own: client } }));
vi.mock("../src/lib/router.svelte", () => ({ router: { path: "/" } }));

import { Pages } from "../src/lib/load.svelte";
import { longestOutage } from "../src/lib/outage";
import { watchJob } from "../src/lib/watch";
import { Watched } from "../src/views/memory/parts/jobs.svelte";
import { intake } from "../src/views/start/intake.svelte";

const cut = () => new ConnectionFailed("Nothing answered: it comes from baseUrl or ORGMEM_BASE_URL.");
const job = (status: Job["status"], done = 1): Job =>
  ({ id: "j", status, type: "import", progress: { done, total: 78 }, result: { items: [{ index: 0, status: "created", nodeId: "n" }] } }) as unknown as Job;
const gone = () => new NotFound({ type: "", title: "Not found", status: 404, detail: "no such job", code: "not_found", errors: [] } as never, "Look at the id.");

beforeEach(() => {
  vi.useFakeTimers();
  jobs.get.mockReset();
});
afterEach(() => vi.useRealTimers());

describe("a list that grows by pages", () => {
  const made = () => {
    let filter = "a";
    let broken = false;
    const asked: string[] = [];
    const list = new Pages<string>(() => {
      const of = filter;
      return {
        page: async (cursor?: string) => {
          asked.push(of + (cursor ?? ""));
          if (broken) throw cut();
          return { data: [of + (cursor ?? "1")], hasMore: cursor === undefined, nextCursor: cursor === undefined ? "2" : undefined };
        },
      } as unknown as List<string>;
    });
    return { list, asked, set: (f: string, b: boolean) => ([filter, broken] = [f, b]) };
  };

  it("does not show the rows of another filter where that filter failed, and asks for its first page again", async () => {
    const { list, asked, set } = made();
    await list.renew();
    set("b", true);
    await list.renew();
    expect([list.rows, list.hasMore, list.error]).toEqual([[], false, expect.any(ConnectionFailed)]);
    set("b", false);
    await list.again();
    expect([list.rows, list.error]).toEqual([["b1"], undefined]);
    expect(asked).toEqual(["a", "b", "b"]);
  });
  it("does not show them either where a reload overtakes the filter and fails", async () => {
    const { list, set } = made();
    await list.renew();
    set("b", true);
    const overtaken = list.renew();
    await Promise.all([overtaken, list.reload()]);
    expect(list.rows).toEqual([]);
  });
  it("keeps its rows where a reload fails, and reloads again without a row twice", async () => {
    const { list, set } = made();
    await list.renew();
    await list.more();
    set("a", true);
    await list.reload();
    expect(list.rows).toEqual(["a1", "a2"]);
    set("a", false);
    await list.again();
    expect([list.rows, list.hasMore, list.error]).toEqual([["a1"], true, undefined]);
  });
  it("asks for the next page again where that failed", async () => {
    const { list, asked, set } = made();
    await list.renew();
    set("a", true);
    await list.more();
    set("a", false);
    await list.again();
    expect(list.rows).toEqual(["a1", "a2"]);
    expect(asked).toEqual(["a", "a2", "a2"]);
  });
});

describe("watching a job", () => {
  it("goes on through an outage of some minutes, and says when the line is gone and back", async () => {
    const away: boolean[] = [];
    const until = Date.now() + 5 * 60_000;
    jobs.get.mockImplementation(async () => {
      if (Date.now() < until) throw cut();
      return job("succeeded");
    });
    const watched = watchJob(client as never, "j", () => undefined, { away: (error) => void away.push(error !== undefined) });
    await vi.advanceTimersByTimeAsync(6 * 60_000);
    expect((await watched).status).toBe("succeeded");
    expect(away.at(0)).toBe(true);
    expect(away.at(-1)).toBe(false);
    expect(away.length, "pauses grow").toBeLessThan(25);
  });
  it("ends after the bound", async () => {
    jobs.get.mockImplementation(async () => {
      throw cut();
    });
    let error: unknown;
    void watchJob(client as never, "j", () => undefined).catch((e: unknown) => (error = e));
    await vi.advanceTimersByTimeAsync(longestOutage - 60_000);
    expect(error).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2 * 60_000);
    expect(error).toBeInstanceOf(ConnectionFailed);
  });
  it("ends at once where the service refuses", async () => {
    jobs.get.mockRejectedValue(gone());
    await expect(watchJob(client as never, "j", () => undefined)).rejects.toBeInstanceOf(NotFound);
    expect(jobs.get).toHaveBeenCalledTimes(1);
  });
  it("shows a view that it was given up, and begins again when asked", async () => {
    jobs.get.mockImplementation(async () => {
      throw cut();
    });
    const seen: string[] = [];
    const watched = new Watched((j) => void seen.push(j.status));
    watched.watch(job("running"));
    await vi.advanceTimersByTimeAsync(20_000);
    expect([watched.contact.away, watched.contact.lost]).toEqual([expect.any(ConnectionFailed), undefined]);
    await vi.advanceTimersByTimeAsync(longestOutage + 60_000);
    expect([watched.contact.away, watched.contact.lost]).toEqual([undefined, expect.any(ConnectionFailed)]);
    jobs.get.mockImplementation(async () => job("succeeded", 78));
    watched.again();
    await vi.advanceTimersByTimeAsync(1_000);
    expect([watched.contact.away, watched.contact.lost, seen]).toEqual([undefined, undefined, ["succeeded"]]);
    expect(watched.latest(job("running")).progress.done).toBe(78);
  });
});

describe("files that are put in", () => {
  const picked = (name: string) => ({ found: [{ path: name, file: new File(["some words"], name) }], left: [] });
  beforeEach(() => {
    client.add.mockReset().mockResolvedValue({ jobId: "j" });
    client.imports.upload.mockReset().mockResolvedValue({ jobId: "j" });
  });

  for (const name of ["note.md", "paper.pdf"]) {
    it(`stay accepted while the service cannot be reached: ${name}`, async () => {
      let broken = true;
      jobs.get.mockImplementation(async () => {
        if (broken) throw cut();
        return job("succeeded");
      });
      const taken = intake.take(picked(name));
      await vi.advanceTimersByTimeAsync(60_000);
      const [taking] = intake.files;
      expect([taking!.state, taking!.why]).toEqual(["reading", "It is accepted. The service cannot be reached at the moment."]);
      broken = false;
      await vi.advanceTimersByTimeAsync(60_000);
      await taken;
      expect([taking!.state, taking!.why, taking!.nodeId]).toEqual(["in", "", "n"]);
    });
  }
  it("are looked at again on demand after an outage that was too long", async () => {
    jobs.get.mockImplementation(async () => {
      throw cut();
    });
    const taken = intake.take(picked("note.md"));
    await vi.advanceTimersByTimeAsync(longestOutage + 60_000);
    await taken;
    expect([intake.running, intake.files[0]!.state]).toEqual([false, "reading"]);
    jobs.get.mockImplementation(async () => job("succeeded"));
    await intake.look();
    expect(intake.files[0]!.state).toBe("in");
    expect(client.add, "sent once").toHaveBeenCalledTimes(1);
  });
  it("that could not be sent are refused in a visitor's words", async () => {
    client.add.mockRejectedValue(cut());
    await intake.take(picked("note.md"));
    expect([intake.files[0]!.state, intake.files[0]!.why]).toEqual(["refused", "The service cannot be reached at the moment. Put it in again later."]);
  });
});
