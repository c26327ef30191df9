import assert from "node:assert/strict";
import { test } from "node:test";
import { BadAnswer, ConnectionFailed, NotFound, PermissionDenied, Unauthorized } from "../dist/index.js";
import { json, patient, problem, stub } from "./stub.mjs";

const at = (second) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();
const frame = (id, second, type = "graph.updated", data = { n: id }) =>
  `event: ${type}\nid: ${id}\ndata: ${JSON.stringify({ type, data, timestamp: at(second) })}\n\n`;
const open = (response, headers = {}) => response.writeHead(200, { "Content-Type": "text/event-stream", ...headers }).flushHeaders();

/** Takes so many of what the iterator gives, and ends it. */
async function take(n, iterator) {
  const taken = [];
  for await (const it of iterator) {
    taken.push(it);
    if (taken.length === n) break;
  }
  return taken;
}

test("an interrupted stream goes on by itself, and each interruption gives a gap", async (t) => {
  const { baseUrl, requests } = await stub(t, ({ n }, response) => {
    if (n === 1) return problem(response, 503, "service_draining", {}, { "Retry-After": "2" });
    if (n === 2) return response.destroy();
    if (n === 3) return response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad gateway</h1>");
    open(response);
    if (n === 0) response.end(`: ping\n\n${frame("a", 10)}${frame("b", 20)}: this node stops\n\n`);
    else if (n === 4) {
      response.write(frame("c", 30));
      setImmediate(() => response.destroy());
    } else response.write(frame("d", 40));
  });
  const { memory, slept } = patient(baseUrl);
  let opened = 0;
  const seen = await take(6, memory.events({ onOpen: () => opened++ }));
  assert.deepEqual(seen[0], { kind: "event", id: "a", type: "graph.updated", data: { n: "a" }, timestamp: at(10) });
  assert.deepEqual(
    seen.map((s) => (s.kind === "event" ? s.id : [s.since, s.why])),
    // From two seconds before the last event on: times and order need not agree to the millisecond.
    ["a", "b", [at(18), "this node stops"], "c", [at(28), "the connection was lost"], "d"],
  );
  assert.equal(opened, 3);
  assert.deepEqual(slept, [250, 2000, 500, 1000, 2000, 250], "pauses grow, and what the service asks for comes on top");
  assert.equal(requests[0].headers.accept, "text/event-stream");
});

test("a Retry-After that would end the watch is cut", async (t) => {
  const { baseUrl } = await stub(t, ({ n }, response) => {
    if (n === 1) return problem(response, 503, "service_draining", {}, { "Retry-After": "86400" });
    open(response);
    if (n === 0) response.end(frame("a", 10));
    else response.write(frame("b", 20));
  });
  const { memory, slept } = patient(baseUrl);
  const seen = await take(3, memory.events());
  assert.deepEqual(seen.map((s) => s.kind), ["event", "gap", "event"]);
  assert.deepEqual(slept, [250, 300_000, 500], "five minutes at most, not a day");
});

test("a quiet stream counts from its heartbeat, by the service's clock", async (t) => {
  const server = Date.UTC(2026, 5, 1);
  const { baseUrl } = await stub(t, (_, response) => {
    open(response, { Date: new Date(server).toUTCString() });
    response.end(": ping\n\n: ping\n\n");
  });
  // Years ahead of the service; an hour passes, or three seconds, within each look.
  for (const [step, since] of [[3_600_000, 28_000], [3000, 4000]]) {
    let now = Date.UTC(2030, 0, 1);
    const { memory } = patient(baseUrl, { now: () => (now += step) });
    const [gap] = await take(1, memory.events());
    assert.deepEqual(gap, { kind: "gap", since: new Date(server + since).toISOString(), why: "the connection was lost" });
  }
});

test("what arrived while the consumer was busy is not taken for later than it was", async (t) => {
  const server = Date.UTC(2026, 5, 1);
  let now = server;
  const { baseUrl } = await stub(t, ({ n }, response) => {
    open(response, { Date: new Date(server).toUTCString() });
    if (n < 2) response.end();
  });
  const { memory } = patient(baseUrl, { now: () => now });
  const events = memory.events();
  await events.next(); // the first gap
  now += 3_600_000; // an hour goes into reading again, while the second stream breaks
  assert.equal((await events.next()).value.since, new Date(server - 2000).toISOString());
  await events.return();
});

test("a stream without a sign of life counts as lost; a consumer that takes its time does not", async (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { baseUrl, requests } = await stub(t, ({ n }, response) => {
    open(response);
    if (n === 0) response.write(frame("a", 1) + frame("b", 2));
    else response.write(frame("c", 3));
  });
  const { memory } = patient(baseUrl);
  const events = memory.events();
  assert.equal((await events.next()).value.id, "a");
  t.mock.timers.tick(3_600_000); // while nobody asks
  assert.equal((await events.next()).value.id, "b");
  const next = events.next();
  t.mock.timers.tick(44_999);
  assert.equal(requests.length, 1);
  t.mock.timers.tick(1);
  const { value: gap } = await next;
  assert.equal(gap.kind, "gap");
  assert.match(gap.why, /nothing came for 45000 ms/);
  assert.equal((await events.next()).value.id, "c");
  await events.return();
});

test("frames are read however they are cut, by the rules of event streams", async (t) => {
  const body = Buffer.from(
    "\uFEFFretry: 1\n" +
      frame("\u00e9", 1).replaceAll("\n", "\r\n") +
      frame("b", 2).replaceAll("\n", "\r") +
      `:c\nid:c\ndata: {"type":"x",\ndata:"data":{},\ndata: "timestamp":"${at(3)}"}\nunknown\n\n` +
      frame("d", 4),
  );
  for (const step of [1, 7, body.length]) {
    const { baseUrl } = await stub(t, (_, response) => {
      open(response);
      for (let i = 0; i < body.length; i += step) response.write(body.subarray(i, i + step));
    });
    const seen = await take(4, patient(baseUrl).memory.events());
    assert.deepEqual(seen.map((s) => s.id), ["\u00e9", "b", "c", "d"], `cut into ${step}`);
    assert.equal(seen[2].type, "x");
  }
});

test("types are told apart here, and gaps come whatever the types", async (t) => {
  const { baseUrl } = await stub(t, (_, response) => {
    open(response);
    response.end(frame("a", 1) + frame("b", 2, "job.completed"));
  });
  const { memory } = patient(baseUrl);
  const seen = await take(3, memory.events(["job.completed"]));
  assert.deepEqual(seen.map((s) => s.id ?? s.kind), ["b", "gap", "b"]);
});

test("a refusal ends the stream, the first time and later", async (t) => {
  const { baseUrl } = await stub(t, ({ n }, response) => {
    if (n === 0) {
      open(response);
      response.end();
    } else problem(response, 401, "authentication_error");
  });
  const { memory } = patient(baseUrl);
  await assert.rejects(take(1, memory.events()), Unauthorized, "revoked meanwhile");
  await assert.rejects(take(1, memory.events()), Unauthorized);
});

test("an address where nothing is does not hang", async () => {
  const { memory, slept } = patient("http://127.0.0.1:9"); // the port of discard
  await assert.rejects(take(1, memory.events()), ConnectionFailed);
  assert.equal(slept.length, 8);
});

test("what is no stream at the very beginning is a BadAnswer", async (t) => {
  let answer = (response) => json(response, {});
  const { baseUrl, requests } = await stub(t, (_, response) => answer(response));
  const { memory } = patient(baseUrl);
  const refused = (error) => error instanceof BadAnswer && /ORGMEM_BASE_URL/.test(error.message);
  await assert.rejects(take(1, memory.events()), refused);
  answer = (response) => response.writeHead(204, { "Content-Type": "text/event-stream" }).end();
  await assert.rejects(take(1, memory.events()), refused);
  assert.equal(requests.length, 2);
});

test("what is no event is an interruption: nobody knows what was in it", async (t) => {
  const said = JSON.stringify({ type: "x", data: {}, timestamp: at(9) });
  const broken = {
    "no event": ["<h1>", "[]", "null", said.replace("{}", "[]"), said.replace('"x"', "1"), said.replace("2026", "?")].map((data) => `data: ${data}\n\n`),
    "1 MiB": ["data: " + "x".repeat(1100 << 10), "data: xxxxxxxxxxxxxxx\n".repeat(1 << 17)],
  };
  for (const [why, all] of Object.entries(broken))
    for (const what of all)
      for (const before of ["", frame("a", 5)]) {
        const closed = [];
        const { baseUrl } = await stub(t, ({ n }, response) => {
          response.on("close", () => closed.push(n));
          open(response, { Date: new Date(at(5)).toUTCString() });
          response.write(n === 0 ? before + what + frame("lost", 6) : frame("b", 7));
        });
        const [gap, b] = (await take(before ? 3 : 2, patient(baseUrl).memory.events())).slice(-2);
        assert.deepEqual([gap.kind, gap.since, b.id], ["gap", at(3), "b"], what.slice(0, 80));
        assert.ok(gap.why.includes(why), gap.why);
        while (closed.length < 2) await new Promise((resolve) => setImmediate(resolve));
        assert.deepEqual(closed, [0, 1], "the broken connection is not kept");
      }
});

test("one gap however often it takes, whatever a proxy shows meanwhile", async (t) => {
  const { baseUrl, requests } = await stub(t, ({ n }, response) => {
    if (n === 1) return response.writeHead(200, { "Content-Type": "text/html" }).end("<h1>Maintenance</h1>");
    if (n === 2) return json(response, {});
    if (n === 3) return response.writeHead(200, { "Content-Type": "text/html" }).write("<h1>a page without an end");
    if (n === 4) return problem(response, 500, "internal");
    open(response);
    if (n === 0) response.end(frame("a", 5));
    else response.write(frame("b", 6));
  });
  const { memory, slept } = patient(baseUrl);
  let opened = 0;
  const seen = await take(3, memory.events({ onOpen: () => opened++ }));
  assert.deepEqual(seen.map((s) => s.id ?? s.since), ["a", at(3), "b"]);
  assert.deepEqual([opened, requests.length], [2, 6]);
  assert.deepEqual(slept, [250, 500, 1000, 2000, 4000], "such a page is no stream that was open");
});

test("a redirect, or an answer that refuses the caller, ends a stream that was open", async (t) => {
  for (const [status, kind] of [[302, BadAnswer], [403, PermissionDenied], [404, NotFound]]) {
    const { baseUrl, requests } = await stub(t, ({ n }, response) => {
      if (n > 0) return problem(response, status, "some_code", {}, { Location: "http://127.0.0.1:9/" });
      open(response);
      response.end(frame("a", 5));
    });
    await assert.rejects(take(2, patient(baseUrl).memory.events()), kind);
    assert.equal(requests.length, 2);
  }
});

test("an error of the caller's own is the caller's", async (t) => {
  const { baseUrl, requests } = await stub(t, (_, response) => {
    open(response);
    response.write(frame("a", 1));
  });
  const { memory } = patient(baseUrl);
  const onOpen = () => {
    throw new TypeError("mine");
  };
  await assert.rejects(take(1, memory.events({ onOpen })), /mine/);
  assert.equal(requests.length, 1);
});

test("a signal, or leaving the loop, ends the connection", async (t) => {
  let closed = 0;
  const { baseUrl } = await stub(t, (_, response) => {
    response.on("close", () => closed++);
    open(response);
    response.write(frame("a", 1));
  });
  const { memory } = patient(baseUrl);
  const aborts = new AbortController();
  const events = memory.events({ signal: aborts.signal });
  await events.next();
  const next = events.next();
  aborts.abort(new Error("enough"));
  await assert.rejects(next, /^Error: enough$/);
  await take(1, memory.events());
  while (closed < 2) await new Promise((resolve) => setImmediate(resolve));
});
