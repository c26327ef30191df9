// The client against the real service.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import * as orgmem from "../dist/index.js";
import { binary, Server, until } from "./server.mjs";

const { Orgmem } = orgmem;
let server;
before(async () => {
  server = await Server.start();
});
after(() => server?.stop());
const fresh = async () => new Orgmem({ apiKey: await server.key(), baseUrl: server.baseUrl });

test("what is added is found by its meaning, by whoever's it is", async () => {
  const memory = await fresh();
  for (const id of ["ann", "B\u00f6b / 1%"]) await memory.subjects.put(id);
  const ann = memory.subject("ann");
  const bob = memory.subject("B\u00f6b / 1%");
  const job = await ann.add(["Mrs Okafor serviced the boiler in May.", { content: "Minka gets her booster jab on Friday.", externalId: "cat" }], { wait: true });
  assert.deepEqual(job.result.items.map((i) => i.status), ["created", "created"]);
  await bob.add("The rent is due on the third.", { externalId: "rent", metadata: { room: 4 }, wait: true });
  const { results } = await ann.search("vaccination of a pet", { topK: 1 });
  assert.equal(results[0].externalId, "cat");
  assert.deepEqual((await bob.search("heating boiler")).results.filter((hit) => hit.externalId !== "rent"), []);
  assert.deepEqual((await bob.search("rent", { filters: { metadata: { room: 5 } } })).results, []);
  assert.equal((await bob.find("rent")).content, "The rent is due on the third.");
  assert.equal(await ann.find("rent"), null);
  assert.equal((await bob.list().take(1))[0].source.externalId, "rent");
});

test("a node is read, edited against its version, superseded, forgotten and restored", async () => {
  const memory = await fresh();
  const { result } = await memory.add("The office is in Porto.", { wait: true });
  const id = result.items[0].nodeId;
  const { etag, content } = await memory.get(id);
  assert.equal(content, "The office is in Porto.");
  const edited = await memory.update(id, { title: "Office", reason: "a title" }, { ifMatch: etag });
  assert.ok(edited.etag && edited.etag !== etag);
  await assert.rejects(memory.update(id, { title: "Late" }, { ifMatch: etag }), (error) => error instanceof orgmem.Conflict && error.status === 412);
  assert.deepEqual((await memory.history(id).take(9)).map((entry) => entry.action), ["updated", "created"]);
  const { newNodeId } = await memory.supersede(id, "The office is in Braga.", "it moved");
  assert.equal((await memory.get(id)).supersededBy, newNodeId);
  await memory.delete(newNodeId);
  await assert.rejects(memory.get(newNodeId), (error) => error instanceof orgmem.NotFound && error.code === "node_not_found");
  assert.equal((await memory.undelete(newNodeId)).id, newNodeId);
});

test("every page of a list is read", async () => {
  const memory = await fresh();
  await memory.add(Array.from({ length: 23 }, (_, i) => ({ content: `Note number ${i} is about item ${i * 7}.`, externalId: `n${i}` })), { wait: true });
  const seen = new Set();
  for await (const node of memory.list({ kind: "document", pageSize: 5 })) seen.add(node.source.externalId);
  assert.equal(seen.size, 23);
});

test("files come in, and an export goes out whole", async () => {
  const memory = await fresh();
  const { jobId } = await memory.imports.upload(new Blob(["# Minutes\n\nThe bicycle shed will be green."]), { filename: "minutes.md", metadata: { by: "Ann" } });
  await memory.jobs.wait(jobId);
  assert.equal((await memory.search("colour of the shed")).results.length, 1);
  const { exportId } = await memory.exports.create();
  const { sha256 } = await memory.exports.wait(exportId);
  const { stream, bytes } = await memory.exports.download(exportId);
  const hash = createHash("sha256");
  let size = 0;
  let text = "";
  for await (const chunk of stream) {
    hash.update(chunk);
    size += chunk.byteLength;
    text += Buffer.from(chunk).toString();
  }
  assert.equal(hash.digest("hex"), sha256);
  assert.equal(size, bytes);
  assert.match(text, /bicycle shed/);
  await assert.rejects(memory.exports.download("00000000-0000-4000-8000-000000000000"), orgmem.NotFound);
});

test("a purge deletes what its preview counted, and nothing if that has changed", async () => {
  const memory = await fresh();
  await memory.subjects.put("ann");
  const ann = memory.subject("ann");
  await ann.add("A first text.", { wait: true });
  const stale = await memory.purge.preview("subject", "ann");
  assert.ok(stale.totalRows > 0 && stale.dryRun);
  await ann.add("A second text.", { wait: true });
  await assert.rejects(memory.purge.confirm(stale), (error) => error instanceof orgmem.Conflict && error.code === "purge_impact_changed");
  const report = await memory.purge.confirm(await memory.purge.preview("subject", "ann"));
  assert.equal(report.dryRun, false);
  assert.deepEqual((await ann.search("text")).results, []);
  await assert.rejects(memory.purge.confirm(report), orgmem.OrgmemError);
});

test("a key that is wrong, an address with a path too much, a subject that was never made", async () => {
  const apiKey = await server.key();
  const { baseUrl } = server;
  await assert.rejects(new Orgmem({ apiKey: apiKey + "x", baseUrl }).search("x"), (error) => error instanceof orgmem.Unauthorized && error.message.includes(baseUrl) && error.requestId !== "");
  await assert.rejects(new Orgmem({ apiKey, baseUrl: baseUrl + "/v1" }).search("x"), (error) => error instanceof orgmem.NotFound && /a path too much/.test(error.message));
  const memory = new Orgmem({ apiKey, baseUrl });
  await assert.rejects(memory.subject("nobody").search("x"), (error) => error instanceof orgmem.PermissionDenied && /subjects\.put/.test(error.message));
  await assert.rejects(memory.add({ content: "x", colour: "red" }), (error) => error instanceof orgmem.BadRequest && error.errors[0].field.includes("colour"));
  await assert.rejects(memory.add(" "), (error) => error instanceof orgmem.BadRequest && error.errors.length > 0);
  await assert.rejects(
    memory.add("x", { derivedFrom: ["nothing"], wait: true }),
    (error) => error instanceof orgmem.JobFailed && error.job.result.items[0].status === "failed" && /names no node/.test(error.message),
  );
});

test("a hundred calls of one client at once", async () => {
  const memory = await fresh();
  const jobs = await Promise.all(Array.from({ length: 100 }, (_, i) => memory.add(`Locker ${i} belongs to person ${i}.`, { externalId: `locker-${i}`, wait: true })));
  assert.equal(new Set(jobs.map((job) => job.result.items[0].nodeId)).size, 100);
  const found = await Promise.all(Array.from({ length: 100 }, (_, i) => memory.search(`Locker ${i}`, { mode: "keyword" })));
  assert.ok(found.every((r, i) => r.results.some((hit) => hit.externalId === `locker-${i}`)));
});

test("an event stream tells what happens, goes on over a restart, and tells the gap", async (t) => {
  const own = await Server.start();
  t.after(() => own.stop());
  const memory = new Orgmem({ apiKey: await own.key(), baseUrl: own.baseUrl, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 100))) });
  const seen = [];
  const end = new AbortController();
  let opened = 0;
  const reading = (async () => {
    for await (const it of memory.events(["job.completed"], { signal: end.signal, onOpen: () => opened++ })) seen.push(it);
  })().catch((error) => {
    if (!end.signal.aborted) throw error;
  });
  const added = async (text) => {
    const { id } = await memory.add(text, { wait: true });
    await until(`the event of ${text}`, () => seen.some((it) => it.kind === "event" && it.data.jobId === id));
  };
  await until("the stream is open", () => opened === 1);
  await added("Before.");
  for (const [n, signal] of [[2, "SIGKILL"], [3, "SIGTERM"]]) {
    const before = Date.now();
    await own.kill(signal);
    await own.again();
    await until("the stream is open again", () => opened === n);
    const gaps = seen.filter((it) => it.kind === "gap");
    assert.equal(gaps.length, n - 1, "one gap for each interruption");
    assert.ok(Date.parse(gaps.at(-1).since) < before && gaps.at(-1).why !== "");
    await added(`After ${signal}.`);
  }
  end.abort();
  await reading;
});

test("adds over kill -9 and a restart: none is lost, none is there twice", async (t) => {
  const own = await Server.start();
  t.after(() => own.stop());
  const memory = new Orgmem({ apiKey: await own.key(), baseUrl: own.baseUrl, maxRetries: Infinity, retryBudget: Infinity, sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 100))) });
  const n = 240;
  const jobs = [];
  let next = 0;
  const kills = [60, 150];
  let killing = Promise.resolve();
  const worker = async () => {
    for (let i; (i = next++) < n; ) {
      jobs.push((await memory.add(`Shelf ${i} holds box ${i * 31}.`, i % 2 ? { externalId: `box-${i}` } : {})).jobId);
      if (jobs.length >= kills[0]) {
        kills.shift();
        killing = killing.then(() => own.kill()).then(() => own.again());
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  await killing;
  assert.equal(kills.length, 0);
  assert.equal(new Set(jobs).size, n, "each add has a job of its own");
  for (const job of jobs) await memory.jobs.wait(job);
  const accepted = new Set();
  for await (const job of memory.jobs.list({ type: "ingest", pageSize: 100 })) accepted.add(job.id);
  assert.deepEqual([...accepted].sort(), [...jobs].sort(), "no try made a second job");
  let nodes = 0;
  for await (const _ of memory.list({ kind: "document", pageSize: 100 })) nodes++;
  assert.equal(nodes, n);
});

test("a delivery of the real service is verified, and a changed one is not", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "orgmem-ts-"));
  t.after(() => rm(folder, { recursive: true }));
  const pem = join(folder, "receiver.pem");
  // Makes the certificate, and ends where it finds no service.
  await promisify(execFile)(binary, ["webhook", "listen", "--certificate", pem, "--listen", "127.0.0.1:0", "--base", "http://127.0.0.1:9"], {
    env: { ...process.env, ORGMEM_API_KEY: "svc_prod_x" },
  }).catch(() => {});
  const certificate = await readFile(pem);
  const deliveries = [];
  const receiver = createServer({ cert: certificate, key: certificate }, async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    deliveries.push({ body: Buffer.concat(chunks), header: request.headers["x-svc-signature"] });
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  t.after(() => receiver.close());
  const { port } = receiver.address();
  const own = await Server.start({
    env: { ORGMEM_EGRESS_ALLOW_CIDRS: "127.0.0.0/8,::1/128", ORGMEM_EGRESS_ALLOW_PORTS: String(port), ORGMEM_EGRESS_CA_FILE: pem },
  });
  t.after(() => own.stop());
  const memory = new Orgmem({ apiKey: await own.key(), baseUrl: own.baseUrl });
  const { id, secret } = await memory.webhooks.create({ url: `https://localhost:${port}/hook`, eventTypes: ["job.completed"] });
  assert.deepEqual((await memory.webhooks.test(id)).error, null);
  const job = await memory.add("Something happens.", { wait: true });
  const events = [];
  await until("the delivery", async () => {
    for (const { body, header } of deliveries.splice(0)) {
      events.push(await memory.webhooks.verify(body, header, secret));
      await assert.rejects(memory.webhooks.verify(Buffer.concat([body, Buffer.from(" ")]), header, secret), orgmem.BadSignature);
      await assert.rejects(orgmem.verifyWebhook(body, header, secret, { now: () => Date.now() + 3_600_000 }), /36\d\d s ago/);
    }
    return events.some((event) => event.data.jobId === job.id);
  });
  assert.ok(events.every((event) => event.id && event.createdAt && ["webhook.test", "job.completed"].includes(event.type)));
  assert.equal((await memory.webhooks.update(id, { disabled: true })).disabled, true);
  const { attempts } = await memory.webhooks.get(id);
  assert.equal(attempts.length >= 2, true);
  for (const attempt of attempts) {
    const { body, signature } = await memory.webhooks.delivery(id, attempt.id);
    assert.equal((await memory.webhooks.verify(body, signature, secret)).id, attempt.eventId);
  }
  await memory.webhooks.delete(id);
});
