import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import * as orgmem from "../dist/index.js";
import { json, patient, problem, stub } from "./stub.mjs";

const { Orgmem, OrgmemError } = orgmem;
const found = { results: [], usage: { readUnits: 1, embedTokens: 1 } };

test("a key and an address come from the arguments, then from the variables", async (t) => {
  const { baseUrl, requests } = await stub(t, (_, response) => json(response, found));
  const before = { ...process.env };
  t.after(() => {
    process.env = before;
  });
  process.env.ORGMEM_API_KEY = "svc_prod_variable\n";
  process.env.ORGMEM_BASE_URL = baseUrl + "/";
  await new Orgmem().search("x");
  assert.equal(requests[0].headers["x-svc-api-key"], "svc_prod_variable");
  assert.equal(requests[0].url, "/v1/search");
  await new Orgmem({ apiKey: "svc_prod_argument", baseUrl: baseUrl + "/behind/a/proxy/" }).search("x");
  assert.equal(requests[1].headers["x-svc-api-key"], "svc_prod_argument");
  assert.equal(requests[1].url, "/behind/a/proxy/v1/search");
  delete process.env.ORGMEM_BASE_URL;
  assert.equal(new Orgmem().baseUrl, "http://127.0.0.1:8080");
});

test("what no client can be made of is refused at once, with the next step", () => {
  const apiKey = "svc_prod_x";
  for (const [options, next] of [
    [{ apiKey: "" }, /ORGMEM_API_KEY/],
    [{ apiKey: "svc prod" }, /the key alone/],
    [{ apiKey, baseUrl: "memory.example.com" }, /ORGMEM_BASE_URL/],
    [{ apiKey, baseUrl: "ftp://memory.example.com" }, /http or https/],
    [{ apiKey, baseUrl: "https://me:secret@memory.example.com" }, /without user name/],
    [{ apiKey, baseUrl: "http://memory.example.com" }, /allowInsecure/],
    [{ apiKey, baseUrl: "http://10.0.0.7:8080" }, /allowInsecure/],
    [{ apiKey, baseUrl: "http://127.0.0.1.example.com" }, /allowInsecure/],
    [{ apiKey, subject: "" }, /not empty/],
  ])
    assert.throws(
      () => new Orgmem(options),
      (error) => error instanceof OrgmemError && next.test(error.message) && !error.message.includes("secret"),
      JSON.stringify(options),
    );
  for (const baseUrl of ["https://memory.example.com", "http://localhost:1", "http://127.9.9.9", "http://[::1]:8080", "http://memory.localhost"]) new Orgmem({ apiKey, baseUrl });
  new Orgmem({ apiKey, baseUrl: "http://memory.example.com", allowInsecure: true });
});

test("each status is an error of its class, with everything the problem says and what to do", async (t) => {
  const { baseUrl } = await stub(t, ({ url }, response) => {
    const [, status, code] = /\/([0-9]+)-(\w+)/.exec(decodeURIComponent(url));
    problem(response, Number(status), code, { errors: [{ field: "content", message: "must not be blank" }], suggestedAction: "Say something" }, { "Retry-After": "7" });
  });
  const { memory } = patient(baseUrl, { maxRetries: 0 });
  for (const [id, kind, next] of [
    ["400-malformed_request", "BadRequest", /Correct the request/],
    ["413-payload_too_large", "BadRequest", /Correct the request/],
    ["415-unsupported_media_type", "BadRequest", /Correct the request/],
    ["422-validation_failed", "BadRequest", /content: must not be blank/],
    ["401-authentication_error", "Unauthorized", /ORGMEM_API_KEY/],
    ["403-permission_denied", "PermissionDenied", /scope/],
    ["403-subject_not_provisioned", "PermissionDenied", /subjects\.put/],
    ["404-node_not_found", "NotFound", /the id is right/],
    ["404-not_found", "NotFound", /older than this client/],
    ["405-method_not_allowed", "NotFound", /older than this client/],
    ["409-conflict", "Conflict", /Read it again/],
    ["412-precondition_failed", "Conflict", /Read it again/],
    ["429-rate_limit_exceeded", "RateLimited", /retryAfter/],
    ["500-internal_error", "ServerError", /request id/],
    ["503-service_degraded", "ServerError", /request id/],
    ["416-range_not_satisfiable", "ApiError", /Correct the request/],
  ])
    await assert.rejects(memory.get(id), (error) => {
      assert.equal(error.constructor, orgmem[kind], id);
      assert.equal(error.name, kind);
      assert.ok(error instanceof orgmem.ApiError && error instanceof OrgmemError && error instanceof Error);
      assert.equal(`${error.status}-${error.code}`, id);
      assert.deepEqual(
        [error.title, error.detail, error.requestId, error.errors, error.retryAfter, error.suggestedAction],
        ["A title", "A detail.", "req-1", [{ field: "content", message: "must not be blank" }], 7000, "Say something"],
      );
      assert.match(error.message, next);
      assert.match(error.message, /req-1.*Say something/);
      return true;
    });
});

test("what may be repeated is sent again with growing pauses, until it is answered", async (t) => {
  const { baseUrl, requests } = await stub(t, ({ n }, response) => {
    if (n === 0) problem(response, 503, "service_degraded");
    else if (n === 1) problem(response, 429, "rate_limit_exceeded", {}, { "Retry-After": "3" });
    else if (n === 2) problem(response, 409, "idempotency_in_progress");
    else if (n === 3) response.destroy();
    else if (n === 4) response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad gateway</h1>");
    else if (n === 5) problem(response, 408, "request_timeout");
    else if (n === 6) response.writeHead(202, { "Content-Type": "application/json", "Content-Length": "100" }).write('{"jobId":');
    else json(response, { jobId: "j", status: "pending" }, 202);
    if (n === 6) setImmediate(() => response.destroy());
  });
  const { memory, slept } = patient(baseUrl);
  assert.deepEqual(await memory.add("x"), { jobId: "j", status: "pending" });
  assert.deepEqual(slept, [250, 3000, 1000, 2000, 4000, 8000, 10_000]);
  const keys = new Set(requests.map((r) => r.headers["idempotency-key"]));
  assert.equal(requests.length, 8);
  assert.equal(keys.size, 1, "the same key in all tries");
  assert.match([...keys][0], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  await memory.add("x");
  assert.ok(!keys.has(requests.at(-1).headers["idempotency-key"]), "another call, another key");
  await memory.add("x", { idempotencyKey: "mine" });
  assert.equal(requests.at(-1).headers["idempotency-key"], "mine");
  await assert.rejects(memory.add("x", { idempotencyKey: "no spaces" }), OrgmemError);
});

test("jitter draws from the whole pause", async (t) => {
  const { baseUrl } = await stub(t, ({ n }, response) => (n < 3 ? problem(response, 503, "service_degraded") : json(response, found)));
  const draws = [0, 0.5, 0.25];
  const { memory, slept } = patient(baseUrl, { random: () => draws.shift() });
  await memory.search("x");
  assert.deepEqual(slept, [0, 250, 250]);
});

test("repeating ends: by the number of tries, by the budget, and where it would not help", async (t) => {
  let retryAfter = "0";
  let status = 503;
  const { baseUrl, requests } = await stub(t, (_, response) => problem(response, status, "some_code", {}, { "Retry-After": retryAfter }));
  const tries = async (options, call) => {
    const { memory, slept } = patient(baseUrl, options);
    const before = requests.length;
    await assert.rejects(call(memory), orgmem.ApiError);
    return [requests.length - before, slept.reduce((a, b) => a + b, 0)];
  };
  const search = (memory) => memory.search("x");
  assert.equal((await tries({}, search))[0], 9, "eight retries by default");
  assert.equal((await tries({ maxRetries: 2 }, search))[0], 3);
  assert.equal((await tries({}, (memory) => memory.search("x", { maxRetries: 1 })))[0], 2);
  const [sent, waited] = await tries({ retryBudget: 1000 }, search);
  assert.deepEqual([sent, waited], [3, 750], "a third pause of a second would be past the budget");
  retryAfter = "61";
  assert.deepEqual(await tries({}, search), [1, 0], "what asks for more than the budget is not waited for");
  retryAfter = "0";
  const once = [
    (memory) => memory.update("a:b", { title: "x" }),
    (memory) => memory.update("a:b", { title: "x" }, { ifMatch: '"1"' }),
    (memory) => memory.settings.update({ qualityMode: "fast" }),
    (memory) => memory.sandbox.keys.create(),
    (memory) => memory.imports.upload(new Blob(["x"])),
    (memory) => memory.purge.confirm({ dryRun: true, confirmToken: "t", scope: "org" }),
    (memory) => memory.sessions.push({ sessionId: "s", role: "user", text: "neither id nor time" }),
    (memory) => memory.jobs.cancel("j"),
  ];
  for (const call of once) assert.equal((await tries({}, call))[0], 1, String(call));
  for (const call of [
    (memory) => memory.get("a:b"),
    (memory) => memory.delete("a:b"),
    (memory) => memory.update("a:b", { title: "x" }, { repeatable: true }),
    (memory) => memory.subjects.put("ann"),
    (memory) => memory.retrieve("x"),
    (memory) => memory.answer("x"),
    (memory) => memory.condition.scaffold("x"),
    (memory) => memory.purge.preview("org"),
    (memory) => memory.sessions.push([{ sessionId: "s", role: "user", text: "x", eventId: "e" }]),
    (memory) => memory.keys.create({ label: "x" }),
  ])
    assert.equal((await tries({}, call))[0], 9, String(call));
  status = 429;
  for (const call of once) assert.equal((await tries({}, call))[0], String(call).includes("upload") ? 1 : 9, `refused by the rate limit: ${call}`);
  for (status of [400, 401, 403, 404, 409, 412, 422, 500]) assert.equal((await tries({}, search))[0], 1, String(status));
});

test("an update whose answer is lost does not undo what somebody else wrote then", async (t) => {
  let title = "first";
  const { baseUrl, requests } = await stub(t, ({ body, n }, response) => {
    title = JSON.parse(body).title;
    if (n > 0) return json(response, { id: "a:b", title });
    title = "somebody else's"; // while the answer is on its way
    response.destroy();
  });
  const { memory } = patient(baseUrl);
  await assert.rejects(memory.update("a:b", { title: "mine" }), orgmem.ConnectionFailed);
  assert.equal(title, "somebody else's");
  await assert.rejects(memory.update("a:b", { title: "mine" }, { repeatable: true, ifMatch: '"1"' }), (error) => error instanceof OrgmemError && /Leave one of them out/.test(error.message));
  assert.equal(requests.length, 1);
});

test("Retry-After may be a date", async (t) => {
  const now = Date.UTC(2026, 0, 1);
  const { baseUrl } = await stub(t, ({ n }, response) =>
    n === 0 ? problem(response, 503, "x", {}, { "Retry-After": new Date(now + 9000).toUTCString() }) : json(response, found),
  );
  const { memory, slept } = patient(baseUrl, { now: () => now });
  await memory.search("x");
  assert.deepEqual(slept, [9000]);
});

test("nothing that listens is a ConnectionFailed that names the address", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  const { memory, slept } = patient(`http://127.0.0.1:${port}`);
  await assert.rejects(memory.search("x"), (error) => {
    assert.ok(error instanceof orgmem.ConnectionFailed);
    assert.match(error.message, new RegExp(`http://127\\.0\\.0\\.1:${port}.*ECONNREFUSED.*ORGMEM_BASE_URL`));
    return true;
  });
  assert.equal(slept.length, 8);
});

test("a service that does not answer is a TimedOut", async (t) => {
  const { baseUrl } = await stub(t, ({ n }, response) => {
    if (n === 1) response.writeHead(200, { "Content-Type": "application/json" }).write("{"); // and nothing more
  });
  const { memory, slept } = patient(baseUrl, { timeout: 50, maxRetries: 1 });
  await assert.rejects(memory.search("x"), (error) => error instanceof orgmem.TimedOut && /50 ms.*longer timeout/.test(error.message));
  assert.equal(slept.length, 1, "a search may be asked again");
});

test("a signal ends a call at once, while it is under way and while it waits", async (t) => {
  const { baseUrl, requests } = await stub(t, ({ url }, response) => {
    if (url === "/v1/search") problem(response, 503, "x");
    else aborts.abort(new Error("enough"));
  });
  let aborts = new AbortController();
  const { memory } = patient(baseUrl, {
    sleep: (_, signal) => new Promise((resolve) => {
      signal.addEventListener("abort", resolve);
      aborts.abort(new Error("enough"));
    }),
  });
  await assert.rejects(memory.get("a:b", { signal: aborts.signal }), /^Error: enough$/);
  aborts = new AbortController();
  await assert.rejects(memory.search("x", { signal: aborts.signal }), /^Error: enough$/);
  assert.equal(requests.length, 2);
  await assert.rejects(memory.search("x", { signal: AbortSignal.abort(new Error("before")) }), /^Error: before$/);
  assert.equal(requests.length, 2, "nothing is sent for a call that is cancelled already");
});

test("the default sleep ends with the signal", async (t) => {
  const { baseUrl } = await stub(t, (_, response) => {
    problem(response, 503, "x", {}, { "Retry-After": "50" });
    setImmediate(() => aborts.abort(new Error("enough")));
  });
  const aborts = new AbortController();
  await assert.rejects(new Orgmem({ apiKey: "k", baseUrl }).search("x", { signal: aborts.signal }), /^Error: enough$/);
});

test("what is not the service's is a BadAnswer that says whose it may be", async (t) => {
  const page = "<!DOCTYPE html>\n<title>Sign in to the   guest network</title>" + "x".repeat(200_000);
  const { baseUrl, requests } = await stub(t, ({ url }, response) => {
    const status = Number(/\d+/.exec(url.split("nodes/")[1]));
    if (status === 302) response.writeHead(302, { Location: "https://elsewhere.example.com/" }).end();
    else response.writeHead(status, { "Content-Type": "text/html" }).end(page);
  });
  const { memory } = patient(baseUrl);
  for (const status of [200, 401, 403, 404])
    await assert.rejects(memory.get(`n${status}`), (error) => {
      assert.ok(error instanceof orgmem.BadAnswer, String(error));
      assert.equal(error.status, status);
      assert.match(error.message, /text\/html.*Sign in to the guest network.*ORGMEM_BASE_URL/);
      assert.ok(error.message.length < 600);
      return true;
    });
  assert.equal(requests.length, 4, "asking again would not help");
  await assert.rejects(memory.get("n302"), (error) => error instanceof orgmem.BadAnswer && /redirects.*elsewhere\.example\.com.*baseUrl/.test(error.message));
  assert.equal(requests.length, 5, "a redirect is not followed");
  await assert.rejects(memory.get("n502"), (error) => error instanceof orgmem.ServerError && error.status === 502 && /stands before the service/.test(error.message));
});

test("a body that is cut off is asked for again, and is a BadAnswer in the end", async (t) => {
  const { baseUrl, requests } = await stub(t, ({ n, url }, response) => {
    if (url.includes("whole")) return json(response, { id: "whole" });
    // By a connection that ends early, and by a proxy that mends the framing.
    if (n % 2) return response.writeHead(200, { "Content-Type": "application/json" }).end('{"id": "a');
    response.writeHead(200, { "Content-Type": "application/json", "Content-Length": 1000 }).write('{"id": "a');
    setImmediate(() => response.destroy());
  });
  const { memory } = patient(baseUrl, { maxRetries: 3 });
  await assert.rejects(memory.get("a:b"), (error) => error instanceof orgmem.BadAnswer && error.cutOff && /broke off.*Ask again/.test(error.message));
  assert.equal(requests.length, 4);
  assert.equal((await memory.get("whole")).id, "whole");
});

test("an answer is read up to a bound", async (t) => {
  const { baseUrl } = await stub(t, (_, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    const chunk = Buffer.alloc(1 << 20, 32);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on("drain", more);
    more();
  });
  const { memory } = patient(baseUrl);
  await assert.rejects(memory.get("a:b"), (error) => error instanceof orgmem.BadAnswer && !error.cutOff && /longer than 67108864 bytes/.test(error.message));
});

test("ids stay one segment of the address, whatever is in them", async (t) => {
  const { baseUrl, requests } = await stub(t, (_, response) => json(response, {}));
  const { memory } = patient(baseUrl);
  await memory.get("ingest:a/b?c#d%2F e\u00e9");
  assert.equal(requests[0].url, "/v1/graph/nodes/ingest%3Aa%2Fb%3Fc%23d%252F%20e%C3%A9");
  for (const id of ["", ".", ".."]) await assert.rejects(memory.delete(id), OrgmemError, JSON.stringify(id));
  await assert.rejects(memory.jobs.get(undefined), OrgmemError);
  assert.equal(requests.length, 1);
});

test("a subject's client names the subject, percent-encoded, with every request", async (t) => {
  const { baseUrl, requests } = await stub(t, (_, response) => json(response, found));
  const { memory } = patient(baseUrl);
  const ann = memory.subject("Ann/\u00c9va 1%");
  await ann.search("x");
  await ann.subject("bob").search("x");
  await memory.search("x");
  assert.deepEqual(
    requests.map((r) => r.headers["x-svc-subject"]),
    ["Ann%2F%C3%89va%201%25", "bob", undefined],
  );
});

test("lists are pages, and iterate over all of them", async (t) => {
  const { baseUrl, requests } = await stub(t, ({ url }, response) => {
    const cursor = new URL(url, "http://x").searchParams.get("cursor");
    if (url.includes("edges")) return json(response, { data: [1], hasMore: true, nextCursor: "same" });
    if (cursor === null) json(response, { data: [{ id: "a" }, { id: "b" }], hasMore: true, nextCursor: "2" });
    else json(response, { data: [{ id: "c" }], hasMore: false });
  });
  const { memory } = patient(baseUrl);
  const list = memory.list({ q: "a & b", status: "live", pageSize: 2, timeout: 1000 });
  assert.equal(requests.length, 0, "nothing is asked before somebody wants it");
  assert.equal((await list.page()).nextCursor, "2");
  assert.equal(requests[0].url, "/v1/graph/nodes?q=a%20%26%20b&status=live&pageSize=2");
  assert.equal((await list.page("2")).data[0].id, "c");
  const ids = [];
  for await (const { id } of list) ids.push(id);
  assert.deepEqual(ids, ["a", "b", "c"]);
  const before = requests.length;
  assert.equal((await list.take(1)).length, 1);
  assert.equal((await list.take(0)).length, 0);
  assert.equal(requests.length - before, 1, "take asks for no page that it does not need");
  await assert.rejects(async () => {
    for await (const _ of memory.edges.list());
  }, orgmem.BadAnswer);
});

test("waiting for a job asks less and less often, and a failed one is an error", async (t) => {
  let ends = "succeeded";
  const { baseUrl } = await stub(t, ({ n }, response) =>
    json(response, { id: "j", status: n < 14 ? "running" : ends, error: ends === "failed" ? { code: "unreadable", detail: "The file is damaged." } : null }),
  );
  const { memory, slept } = patient(baseUrl);
  assert.equal((await memory.jobs.wait("j")).status, "succeeded");
  assert.ok(slept.every((ms, i) => i === 0 || ms >= slept[i - 1]) && slept[0] === 20 && slept.at(-1) === 5000, String(slept));
  ends = "failed";
  await assert.rejects(memory.jobs.wait("j"), (error) => error instanceof orgmem.JobFailed && error.job.error.code === "unreadable" && /The file is damaged/.test(error.message));
  ends = "cancelled";
  await assert.rejects(memory.jobs.wait("j"), orgmem.JobFailed);
  ends = "running";
  let now = 0;
  const hurried = patient(baseUrl, { now: () => (now += 400) }).memory;
  await assert.rejects(hurried.jobs.wait("j", { waitFor: 1000 }), (error) => error instanceof orgmem.TimedOut && /still running.*goes on/.test(error.message));
});

test("a hundred calls of one client go side by side", async (t) => {
  const waiting = [];
  const { baseUrl } = await stub(t, ({ body }, response) => {
    waiting.push(() => json(response, { results: [{ chunk: JSON.parse(body).query }] }));
    if (waiting.length === 100) for (const answer of waiting) answer(); // none before all are there
  });
  const { memory } = patient(baseUrl);
  const all = await Promise.all(Array.from({ length: 100 }, (_, i) => memory.search(`q${i}`)));
  assert.deepEqual(all.map((r) => r.results[0].chunk), Array.from({ length: 100 }, (_, i) => `q${i}`));
});
