import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BadAnswer, BadRequest, OrgmemError } from "../dist/index.js";
import { json, patient, problem, stub } from "./stub.mjs";

/** What a server that reads forms finds in it. */
const formOf = ({ body, headers }) => new Response(body, { headers: { "Content-Type": headers["content-type"] } }).formData();

test("an upload is a form that any server reads, from every kind of file, with progress in bytes", async (t) => {
  const { baseUrl, requests } = await stub(t, (_, response) => json(response, { jobId: "j", status: "pending" }, 202));
  const { memory } = patient(baseUrl);
  const bytes = randomBytes(300_000);
  const folder = await mkdtemp(join(tmpdir(), "orgmem-ts-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'minutes "of" May.bin');
  await writeFile(path, bytes);
  const stream = () => new Blob([bytes]).stream();
  for (const [file, name, total] of [
    [new File([bytes], "a.bin"), "a.bin", bytes.length],
    [new Blob([bytes]), "upload", bytes.length],
    [new Uint8Array(bytes), "upload", bytes.length],
    [stream(), "upload", undefined],
    [path, "minutes %22of%22 May.bin", bytes.length],
  ]) {
    const progress = [];
    const accepted = await memory.imports.upload(file, {
      title: "Minutes \u2013 May",
      occurredAt: "2026-05-01T00:00:00Z",
      metadata: { room: 4 },
      onProgress: (p) => progress.push(p),
    });
    assert.deepEqual(accepted, { jobId: "j", status: "pending" });
    const request = requests.at(-1);
    assert.equal(request.url, "/v1/import");
    assert.equal(request.headers["idempotency-key"], undefined);
    const form = await formOf(request);
    assert.deepEqual([...form.keys()], ["title", "occurredAt", "metadata", "file"]);
    assert.equal(form.get("title"), "Minutes \u2013 May");
    assert.equal(form.get("metadata"), '{"room":4}');
    assert.equal(form.get("file").name.replaceAll('"', "%22"), name);
    assert.deepEqual(Buffer.from(await form.get("file").arrayBuffer()), bytes);
    assert.deepEqual(progress[0], { sent: 0, total });
    assert.deepEqual(progress.at(-1), { sent: bytes.length, total });
    assert.ok(progress.length > 2 || file instanceof Uint8Array, "more than its two ends");
    assert.ok(progress.every((p, i) => i === 0 || p.sent > progress[i - 1].sent));
  }
  await memory.imports.transcript(new Blob(["Ann: hello"]), { filename: "a.txt" });
  assert.equal(requests.at(-1).url, "/v1/import/transcript");
  assert.equal((await formOf(requests.at(-1))).get("file").name, "a.txt");
});

test("what cannot be uploaded says so", async (t) => {
  const { baseUrl, requests } = await stub(t, (_, response) => problem(response, 413, "payload_too_large"));
  const { memory } = patient(baseUrl);
  await assert.rejects(memory.imports.upload("/no/such/file"), (error) => error instanceof OrgmemError && /no\/such\/file.*ENOENT.*Blob/.test(error.message));
  await assert.rejects(memory.imports.upload(7), OrgmemError);
  assert.equal(requests.length, 0);
  await assert.rejects(memory.imports.upload(new Blob(["x"])), BadRequest);
});

test("a stream that fails ends the upload with its error as the cause, and a signal ends it at once", async (t) => {
  const { baseUrl } = await stub(t, (_, response) => json(response, {}));
  const { memory } = patient(baseUrl);
  const failing = new ReadableStream({
    pull(controller) {
      controller.error(new Error("the disk is gone"));
    },
  });
  await assert.rejects(memory.imports.upload(failing), OrgmemError);
  const aborts = new AbortController();
  let cancelled;
  const wasCancelled = new Promise((resolve) => (cancelled = resolve));
  const endless = new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(1 << 16)),
    cancel: cancelled,
  });
  const onProgress = ({ sent }) => sent > 1 << 20 && aborts.abort(new Error("enough"));
  await assert.rejects(memory.imports.upload(endless, { signal: aborts.signal, onProgress }), /^Error: enough$/);
  await wasCancelled;
});

const document = randomBytes(1 << 20);
const hash = createHash("sha256").update(document).digest("hex");
const read = async (stream) => {
  const h = createHash("sha256");
  for await (const chunk of stream) h.update(chunk);
  return h.digest("hex");
};

test("a download that breaks goes on where it broke", async (t) => {
  const { baseUrl, requests } = await stub(t, ({ n, headers }, response) => {
    const from = Number(/\d+/.exec(headers.range ?? "0")[0]);
    if (n === 2) return response.destroy();
    response.writeHead(from ? 206 : 200, { "Content-Type": "application/json", ETag: '"v1"', "Content-Length": document.length - from });
    if (n < 2) response.write(document.subarray(from, from + 300_000), () => setImmediate(() => response.destroy()));
    else response.end(document.subarray(from));
  });
  const { memory } = patient(baseUrl);
  const { stream, bytes, etag } = await memory.exports.download("e");
  assert.deepEqual([bytes, etag], [document.length, '"v1"']);
  assert.equal(await read(stream), hash);
  assert.equal(requests.length, 4);
  assert.ok(requests.slice(1).every((r) => r.headers["if-range"] === '"v1"'));
});

test("a download whose document is another one now is not put together from two", async (t) => {
  const { baseUrl } = await stub(t, ({ n }, response) => {
    response.writeHead(200, { "Content-Type": "application/json", ETag: `"v${n}"`, "Content-Length": document.length });
    response.write(document.subarray(0, 300_000), () => setImmediate(() => response.destroy()));
  });
  const { stream } = await patient(baseUrl).memory.exports.download("e");
  await assert.rejects(read(stream), (error) => error instanceof BadAnswer && /broke off after \d+ bytes/.test(error.message));
});

test("a download that keeps breaking, and one that falls silent, end", async (t) => {
  let silent = false;
  const { baseUrl } = await stub(t, ({ headers }, response) => {
    const from = Number(/\d+/.exec(headers.range ?? "0")[0]);
    response.writeHead(from ? 206 : 200, { "Content-Type": "application/json", ETag: '"v1"', "Content-Length": document.length - from });
    if (from === 0) response.write(document.subarray(0, 1000));
    if (silent) response.flushHeaders();
    else setImmediate(() => response.destroy());
  });
  const { memory } = patient(baseUrl);
  await assert.rejects(read((await memory.exports.download("e")).stream), BadAnswer);
  silent = true;
  await assert.rejects(read((await memory.exports.download("e", { timeout: 500, maxRetries: 1 })).stream), BadAnswer);
});

test("a download ends its connection when nobody wants it any more", async (t) => {
  let closed;
  const wasClosed = new Promise((resolve) => (closed = resolve));
  const { baseUrl } = await stub(t, (_, response) => {
    response.on("close", closed);
    response.writeHead(200, { ETag: '"v1"', "Content-Length": 1 << 30 }).write(document);
  });
  const { stream } = await patient(baseUrl).memory.exports.download("e");
  for await (const _ of stream) break;
  await wasClosed;
});
