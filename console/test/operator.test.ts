import { ApiError, BadAnswer, Conflict, ConnectionFailed, Unauthorized } from "orgmem";
import { describe, expect, it } from "vitest";
import { OperatorClient, type Cluster, type SlowRequest, type World } from "../src/views/operator/client";
import { amiss, cellOf } from "../src/views/operator/cluster";
import { durations, histogram, line, parse, pointOf, quantile, rate, rateText, routesOf, seconds, since, total } from "../src/views/operator/metrics";
import { shares, sorted } from "../src/views/operator/slow";

const scrape = String.raw`# HELP orgmem_http_requests_total Requests answered, by route and status.
# TYPE orgmem_http_requests_total counter
orgmem_http_requests_total{method="GET",route="/v1/me",status="200"} 90
orgmem_http_requests_total{method="GET",route="/v1/me",status="503"} 4
orgmem_http_requests_total{method="GET",route="/v1/me",status="401"} 6
orgmem_http_requests_total{method="POST",route="/v1/search",status="200"} 0
orgmem_http_request_duration_seconds_bucket{method="GET",route="/v1/me",le="0.01"} 50
orgmem_http_request_duration_seconds_bucket{method="GET",route="/v1/me",le="1"} 90
orgmem_http_request_duration_seconds_bucket{method="GET",route="/v1/me",le="2.5"} 99
orgmem_http_request_duration_seconds_bucket{method="GET",route="/v1/me",le="+Inf"} 100
orgmem_http_request_duration_seconds_bucket{method="GET",route="/v1/events",le="0.01"} 0
orgmem_http_request_duration_seconds_bucket{method="GET",route="/v1/events",le="1"} 0
orgmem_http_request_duration_seconds_bucket{method="GET",route="/v1/events",le="2.5"} 0
orgmem_http_request_duration_seconds_bucket{method="GET",route="/v1/events",le="+Inf"} 7
process_resident_memory_bytes 2.35e+08
process_cpu_seconds_total 12.5 1395066363000
odd{a="quote \" backslash \\ line\nend",b="{,}"} NaN
edge +Inf
no number here
broken{a="b
`;

describe("parse", () => {
  const s = parse(scrape);
  it("reads samples with their labels", () => {
    expect(s.get("orgmem_http_requests_total")).toHaveLength(4);
    expect(total(s, "orgmem_http_requests_total")).toBe(100);
    expect(total(s, "orgmem_http_requests_total", (l) => l["status"] === "401")).toBe(6);
    expect(total(s, "process_resident_memory_bytes")).toBe(235_000_000);
  });
  it("reads escapes, braces within values, a time behind the value and what is no number", () => {
    expect(s.get("odd")?.[0]?.labels).toEqual({ a: 'quote " backslash \\ line\nend', b: "{,}" });
    expect(s.get("odd")?.[0]?.value).toBeNaN();
    expect(s.get("edge")?.[0]?.value).toBe(Infinity);
    expect(total(s, "process_cpu_seconds_total")).toBe(12.5);
  });
  it("passes over what is no sample", () => {
    expect([...s.keys()]).not.toContain("no");
    expect([...s.keys()]).not.toContain("broken");
    expect(parse("").size).toBe(0);
    expect(total(s, "absent")).toBe(0);
  });
});

describe("quantile", () => {
  const h = durations(parse(scrape));
  it("lies within the bucket, in proportion, and leaves streams out", () => {
    expect(h.at(-1)?.count).toBe(100);
    expect(quantile(h, 0.25)).toBeCloseTo(0.005);
    expect(quantile(h, 0.5)).toBeCloseTo(0.01);
    expect(quantile(h, 0.95)).toBeCloseTo(1 + (1.5 * 5) / 9);
  });
  it("is the last bound beyond it, and nothing where nothing was counted", () => {
    expect(quantile(h, 1)).toBe(2.5);
    expect(quantile([], 0.5)).toBeUndefined();
    expect(quantile([{ le: Infinity, count: 0 }], 0.5)).toBeUndefined();
  });
  it("is of what came between two looks, and of all where the counting began anew", () => {
    const more = h.map((b) => ({ ...b, count: b.count + (b.le >= 1 ? 10 : 0) }));
    expect(since(h, more).map((b) => b.count)).toEqual([0, 10, 10, 10]);
    expect(since(more, h)).toEqual(h);
    expect(histogram(parse(scrape), "absent")).toEqual([]);
  });
});

it("tells of routes what failed, was refused and was slow, slowest first, and not those that nobody asked", () => {
  expect(routesOf(parse(scrape))).toEqual([
    { method: "GET", route: "/v1/me", requests: 100, errors: 4, refused: 6, slow: 10, p50: expect.closeTo(0.01), p95: expect.closeTo(1.833, 2) },
  ]);
});

it("makes rates of two looks", () => {
  const before = { at: 0, scrape: parse(scrape) };
  const now = { at: 10_000, scrape: parse(scrape.replace('status="503"} 4', 'status="503"} 24').replace("12.5", "17.5")) };
  expect(pointOf(before, now)).toMatchObject({ requests: 2, errors: 2, refused: 0, processor: 0.5, memory: 235_000_000, p95: undefined });
  expect(rate(10, 3, 5), "a restart").toBe(0);
});

it("draws a line within its box", () => {
  expect(line([0, 5, undefined, 10], 90, 20, 10)).toBe("0.0,20.0 30.0,10.0 90.0,0.0");
  expect(line([3], 90, 20, 0)).toBe("0.0,20.0");
});

it("says times and rates in words", () => {
  expect([0.000236, 0.0024, 0.085, 1.25, 31, undefined].map(seconds)).toEqual(["236 µs", "2.4 ms", "85 ms", "1.3 s", "31 s", "–"]);
  expect([undefined, 0, 0.02, 3.14, 1234.5].map(rateText)).toEqual(["–", "0", "< 0.1", "3.1", "1,235"]);
});

describe("OperatorClient", () => {
  const asked: { url: string; init: RequestInit }[] = [];
  const world = (answer: () => Response): World => ({
    origin: "http://node",
    fetch: (url, init) => {
      asked.push({ url, init });
      return Promise.resolve().then(answer);
    },
  });
  const json = (status: number, body: unknown): (() => Response) => () => new Response(JSON.stringify(body), { status });

  it("names what it asks for, with the token", async () => {
    const page = await new OperatorClient("secret", world(json(200, { data: [], nextCursor: "next" }))).orgs().page("a b");
    expect(page).toMatchObject({ hasMore: true, nextCursor: "next" });
    expect(asked.at(-1)?.url).toBe("http://node/operator/orgs?limit=50&cursor=a+b");
    expect(new Headers(asked.at(-1)?.init.headers).get("Authorization")).toBe("Bearer secret");
  });
  it("keeps a name of a node or an organization within its place in the path", async () => {
    await new OperatorClient("t", world(json(202, {}))).drain("../orgs?x", true);
    expect(asked.at(-1)?.url).toBe("http://node/operator/cluster/nodes/..%2Forgs%3Fx/drain");
  });
  it("makes errors of problems, with their fields", async () => {
    const client = new OperatorClient("t", world(json(422, { title: "Validation failed", detail: "invalid input: ownerEmail is not an e-mail address", code: "validation_failed", requestId: "r-1", errors: [{ field: "name", message: "must not be blank" }, 7] })));
    const error = await client.createOrg({ name: "", ownerEmail: "x", personal: false, plan: "free" }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 422, requestId: "r-1", detail: "ownerEmail is not an e-mail address", errors: [{ field: "name", message: "must not be blank" }] });
  });
  it("says when the token is refused, and that a node alone has no cluster", async () => {
    const client = new OperatorClient("t", world(json(401, { title: "Authentication failed" })));
    let refused = 0;
    client.onrefused = () => refused++;
    await expect(client.doctor()).rejects.toBeInstanceOf(Unauthorized);
    expect(refused).toBe(1);
    expect(await new OperatorClient("t", world(json(409, { title: "Conflict" }))).cluster()).toBeNull();
    await expect(new OperatorClient("t", world(json(409, { title: "Conflict" }))).rotate()).rejects.toBeInstanceOf(Conflict);
  });
  it("takes no answer that is endless or not the service's", async () => {
    const chunk = new Uint8Array(1 << 20);
    const endless = () => new Response(new ReadableStream({ pull: (c) => c.enqueue(chunk) }));
    await expect(new OperatorClient("t", world(endless)).metrics()).rejects.toBeInstanceOf(BadAnswer);
    await expect(new OperatorClient("t", world(() => new Response("<html>"))).doctor()).rejects.toBeInstanceOf(BadAnswer);
    const gone = { origin: "http://node", fetch: () => Promise.reject(new TypeError("refused")) };
    await expect(new OperatorClient("t", gone).doctor()).rejects.toBeInstanceOf(ConnectionFailed);
  });
  it("tells readiness in the node's words", async () => {
    expect(await new OperatorClient("t", world(json(200, { status: "ready" }))).ready()).toBe("");
    expect(await new OperatorClient("t", world(json(503, { title: "Draining", detail: "The service stops." }))).ready()).toBe("The service stops.");
  });
});

describe("the picture of a cluster", () => {
  const group = {
    group: 3,
    leader: "a",
    replicas: [
      { node: "a", voter: true, caughtUp: true },
      { node: "b", voter: true, caughtUp: true },
      { node: "c", voter: false, caughtUp: false },
      { node: "d", voter: false, caughtUp: true },
    ],
    desired: ["a", "c", "e"],
    waits: "",
  };
  it("says of each node what it has", () => {
    expect(["a", "b", "c", "d", "e", "f"].map((n) => cellOf(group, n))).toEqual(["leader", "leaving", "filling", "copy", "wanted", "none"]);
  });
  it("lists the groups that are not as they should be", () => {
    const whole = { ...group, group: 4, replicas: group.replicas.slice(0, 1), desired: ["a"] };
    const cluster = { groups: [group, whole, { ...whole, group: 5, waits: "for a node" }, { ...whole, group: 6, leader: "" }] } as Cluster;
    expect(amiss(cluster).map((g) => g.group)).toEqual([3, 5, 6]);
  });
});

describe("slow requests", () => {
  const one = (of: Partial<SlowRequest>): SlowRequest => ({
    at: "2026-11-27T10:00:00.000Z", requestId: "r", method: "GET", route: "/v1/me", status: 200,
    durationMs: 2000, receiveMs: 0, waitMs: 0, workMs: 2000, sendMs: 0, bytesIn: 0, bytesOut: 0, ...of,
  });
  it("say where their time went, and nothing where it is not known", () => {
    expect(shares(one({ receiveMs: 500, waitMs: 1000, workMs: 500 })).map((s) => [s.phase.id, s.ms, s.share])).toEqual([
      ["receiveMs", 500, 0.25], ["waitMs", 1000, 0.5], ["workMs", 500, 0.25],
    ]);
    expect(shares(one({ workMs: 0 }))).toEqual([]);
  });
  it("are sorted by what is asked for, latest first where that is the same or unknown", () => {
    const list = [one({ requestId: "old", durationMs: 9000 }), one({ requestId: "new", at: "2026-11-27T11:00:00.000Z", status: 503 })];
    const by = (order: string): string[] => sorted(list, order).map((r) => r.requestId);
    expect(by("at")).toEqual(["new", "old"]);
    expect(by("took")).toEqual(["old", "new"]);
    expect(by("status")).toEqual(["new", "old"]);
    expect(by("org")).toEqual(["new", "old"]);
    expect(by("__proto__")).toEqual(["new", "old"]);
  });
});
