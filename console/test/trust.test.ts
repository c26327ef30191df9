import { describe, expect, test } from "vitest";
import type { StreamEvent, UsageReport } from "orgmem";
import { every, request, empty } from "../src/views/trust/connectors";
import { linksOf } from "../src/views/trust/links";
import { chart, span, stacked } from "../src/views/trust/usage";
import { changes, clock, counted, lifetime, subjectPath, typed } from "../src/views/trust/words";

const bucket = (startTime: string, groups: [string, number][]): UsageReport["buckets"][number] => ({
  startTime,
  endTime: startTime,
  groups: groups.map(([capability, readUnits]) => ({ subject: "s", capability, units: { readUnits, embedTokens: 0 } })),
});
const at = Date.parse;

describe("usage", () => {
  test("hours in which nothing was used are drawn as 0, and the range's own hours only", () => {
    const report = { buckets: [bucket("2026-11-27T03:00:00Z", [["search", 9]]), bucket("2026-11-27T05:00:00Z", [["search", 2], ["graph", 5]])] };
    const drawn = chart(report, "readUnits", "capability", "hour", at("2026-11-27T04:00:00Z"), at("2026-11-27T06:30:00Z"));
    expect(drawn.times).toEqual([4, 5, 6].map((h) => at(`2026-11-27T0${h}:00:00Z`) / 1000));
    expect(drawn.series).toEqual([
      { name: "graph", total: 5, values: [0, 5, 0] },
      { name: "search", total: 2, values: [0, 2, 0] },
    ]);
    expect(drawn.total).toBe(7);
  });

  test("hours add up to days", () => {
    const report = { buckets: [bucket("2026-11-26T23:00:00Z", [["search", 1]]), bucket("2026-11-27T00:00:00Z", [["search", 2]]), bucket("2026-11-27T22:00:00Z", [["search", 3]])] };
    const drawn = chart(report, "readUnits", "capability", "day", at("2026-11-26T08:00:00Z"), at("2026-11-27T23:00:00Z"));
    expect(drawn.series[0]?.values).toEqual([1, 5]);
  });

  test("more than six groups become five and the others, and nothing is lost", () => {
    const groups = Array.from({ length: 9 }, (_, i): [string, number] => [`c${i}`, i + 1]);
    const drawn = chart({ buckets: [bucket("2026-11-27T00:00:00Z", groups)] }, "readUnits", "capability", "day", at("2026-11-27T00:00:00Z"), at("2026-11-27T05:00:00Z"));
    expect(drawn.series.map((s) => [s.name, s.total])).toEqual([["c8", 9], ["c7", 8], ["c6", 7], ["c5", 6], ["c4", 5], ["4 others", 10]]);
    expect(drawn.series.reduce((n, s) => n + s.total, 0)).toBe(drawn.total);
  });

  test("a group that has an object's own name is a group", () => {
    const drawn = chart({ buckets: [bucket("2026-11-27T00:00:00Z", [["__proto__", 1], ["constructor", 2]])] }, "readUnits", "capability", "day", at("2026-11-27T00:00:00Z"), at("2026-11-27T05:00:00Z"));
    expect(drawn.series.map((s) => s.name)).toEqual(["constructor", "__proto__"]);
  });

  test("bars stand on those before them", () => {
    expect(stacked([{ name: "a", total: 3, values: [1, 2] }, { name: "b", total: 5, values: [5, 0] }])).toEqual([[1, 2], [6, 2]]);
  });

  test("no range is longer than the service answers, and only seven days come by the hour", () => {
    const now = at("2026-11-27T06:30:00Z");
    for (const id of ["1d", "7d", "30d", "92d", "nonsense"]) {
      const { from, to, steps } = span(id, now);
      expect(to - from).toBeLessThanOrEqual((id === "nonsense" ? 7 : Number.parseInt(id)) * 86_400_000);
      expect(steps.includes("hour")).toBe(id !== "30d" && id !== "92d");
    }
  });
});

describe("confirming", () => {
  test("a name is typed, unless nobody can type it", () => {
    expect(typed("customer 4711", "erase")).toBe("customer 4711");
    expect(typed("Zoë – Bäckerei", "erase")).toBe("Zoë – Bäckerei");
    for (const name of ["a\u202eb", "a\u200bb", "z\u0301\u0301\u0301algo", " padded", "two  spaces", "x".repeat(61), ""]) expect(typed(name, "erase")).toBe("erase");
  });

  test("a token lives as long as the service says, and ten minutes where the clocks disagree", () => {
    const now = at("2026-11-27T06:00:00Z");
    expect(lifetime("2026-11-27T06:09:58Z", now)).toBe(598_000);
    expect(lifetime("2026-11-27T06:10:20Z", now)).toBe(600_000);
    expect(lifetime("2026-11-27T09:10:00Z", now)).toBe(600_000);
    expect(lifetime("2026-11-27T05:10:00Z", now)).toBe(600_000);
    expect(lifetime(undefined, now)).toBe(600_000);
    expect([clock(600_000), clock(545_001), clock(0), clock(-5)]).toEqual(["10:00", "9:06", "0:00", "0:00"]);
  });

  test("what is counted comes in a known order, without what there is none of, and with what is new", () => {
    expect(counted({ exports: 1, novelties: 4, memory_chunks: 7, files: 0, vault_nodes: 3 })).toEqual([["vault_nodes", 3], ["memory_chunks", 7], ["exports", 1], ["novelties", 4]]);
  });

  test("what has changed between two previews", () => {
    expect(changes({ vault_nodes: 3, files: 1, history: 0 }, { vault_nodes: 5, files: 1, history: 0, sessions: 2 })).toEqual([
      { store: "vault_nodes", before: 3, after: 5 },
      { store: "sessions", before: 0, after: 2 },
    ]);
  });
});

test("a subject has an address, but for the two that no address can hold", () => {
  expect(subjectPath("a/b?c#d%")).toBe("/trust/subjects/a%2Fb%3Fc%23d%25");
  expect([subjectPath("."), subjectPath("..")]).toEqual([undefined, undefined]);
  expect(subjectPath("...")).toBe("/trust/subjects/...");
});

describe("connectors", () => {
  test("only what the kind has is asked for, and nothing empty", () => {
    const draft = { ...empty, name: "Notes", url: " https://example.com/x ", branch: "", path: "docs", secret: "t" };
    expect(request({ ...draft, kind: "feed" })).toEqual({ type: "feed", name: "Notes", intervalSeconds: 3600, config: { url: "https://example.com/x", authorization: "t" } });
    expect(request({ ...draft, kind: "git" }).config).toEqual({ url: "https://example.com/x", path: "docs", token: "t" });
    expect(request({ ...draft, kind: "web" }).config).toEqual({ sitemap: "https://example.com/x", authorization: "t" });
    expect(request({ ...draft, kind: "web", list: "pages", secret: "", pages: "https://a.example/\n\n https://b.example/ \n" }).config).toEqual({
      pages: ["https://a.example/", "https://b.example/"],
    });
  });

  test("how often is said in the largest unit that fits", () => {
    expect([every(900), every(3_600), every(21_600), every(86_400), every(604_800), every(301)]).toEqual([
      "every 15 minutes", "every hour", "every 6 hours", "every day", "every 7 days", "every 301 seconds",
    ]);
  });
});

describe("an event's links", () => {
  const href = (path: string, query: Record<string, string | undefined> = {}): string => path + ("as" in query ? `?as=${query["as"] ?? ""}` : "");
  const event = (type: StreamEvent["type"], data: StreamEvent["data"]): StreamEvent => ({ kind: "event", id: "1", type, timestamp: "2026-01-01T00:00:00.000Z", data }) as StreamEvent;
  const links = (type: StreamEvent["type"], data: StreamEvent["data"]) => linksOf(event(type, data), "me", href).map((l) => l.href);

  test("lead into the memory that it happened in", () => {
    for (const [type, path] of [["insight.proposed", "/understanding/proposals"], ["contradiction.detected", "/understanding/contradictions"]] as const) {
      expect(links(type, { subject: "ann" })).toEqual([`${path}?as=ann`]);
      expect(links(type, { subject: "me" }), "one's own, whoever is shown").toEqual([`${path}?as=`]);
      expect(links(type, {})).toEqual([`${path}?as=`]);
    }
    expect(links("node.superseded", { nodeId: "a/b", supersededBy: "c", subject: "ann" })).toEqual(["/memory/nodes/a%2Fb?as=ann", "/memory/nodes/c?as=ann"]);
  });
});
