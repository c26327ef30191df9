// The types are fresh, and each operation of the interface has a verb, which is
// called here against the real service.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { ApiError, List, Orgmem } from "../dist/index.js";
import { Server } from "./server.mjs";

const path = (name) => fileURLToPath(new URL("../" + name, import.meta.url));
const openapi = JSON.parse(await readFile(path("../../docs/openapi.json"), "utf8"));

test("the types are those of docs/openapi.json", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "orgmem-ts-"));
  t.after(() => rm(folder, { recursive: true }));
  await promisify(execFile)(process.execPath, [path("scripts/generate.mjs"), join(folder, "openapi.ts")]);
  const fresh = await readFile(join(folder, "openapi.ts"), "utf8");
  assert.ok(fresh === (await readFile(path("src/openapi.ts"), "utf8")), "npm run generate makes another src/openapi.ts");
});

// Operations that no verb has, and why.
const without = {
  getIngestStatus: "jobs.get answers the same job, with the words that all jobs have",
};

const operations = Object.entries(openapi.paths).flatMap(([route, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters = [] }]) => ({
    operationId,
    method: method.toUpperCase(),
    pattern: new RegExp("^" + route.replace(/\{[^}]+\}/g, "[^/]+") + "$"),
    fixed: route.split("/").filter((s) => !s.startsWith("{")).length,
    keyed: parameters.some((p) => p.name === "Idempotency-Key"),
  })),
);

/** The operation that a request is: where two routes fit, the one with more words of its own. */
const operationOf = (method, url) =>
  operations.filter((o) => o.method === method && o.pattern.test(new URL(url).pathname)).sort((a, b) => b.fixed - a.fixed)[0];

let server;
before(async () => {
  server = await Server.start();
});
after(() => server?.stop());

test("every operation has a verb that the service takes", async () => {
  const apiKey = await server.key();
  const called = new Map();
  const memory = new Orgmem({
    apiKey,
    baseUrl: server.baseUrl,
    fetch: async (url, init) => {
      const operation = operationOf(init.method, url);
      assert.ok(operation, `${init.method} ${url} is no operation`);
      assert.equal("Idempotency-Key" in init.headers, operation.keyed, `Idempotency-Key of ${operation.operationId}`);
      called.set(operation.operationId, url);
      return fetch(url, init);
    },
  });
  const { org, user } = await memory.me();
  const { result } = await memory.add([{ content: "Ann leads the Lisbon team.", externalId: "ann" }, "Lisbon is closed in August."], { wait: true });
  const [node, other] = result.items.map((item) => item.nodeId);
  const none = "00000000-0000-4000-8000-000000000000";
  const future = "2030-01-01T00:00:00Z";
  await memory.subjects.put("ann");

  /** Each verb by its name; `refused` is the code that the real service answers here, where it cannot succeed. */
  const verbs = [
    ["add", () => memory.add("One text.")],
    ["search", () => memory.search("Lisbon", { topK: 3, mode: "keyword", scope: "org", filters: { kind: "document" }, includeSuperseded: true, explain: true })],
    ["retrieve", () => memory.retrieve("Lisbon", { topK: 3, maxHops: 1, scope: "user" })],
    ["answer", () => memory.answer("Who leads the team?", { maxWords: 30 })],
    ["get", () => memory.get(node)],
    ["update", async () => memory.update(node, { title: "Lisbon" }, { ifMatch: (await memory.get(node)).etag })],
    ["find", () => memory.find("ann")],
    ["list", () => memory.list({ kind: "document", status: "live", q: "Lisbon", createdBefore: future, pageSize: 1 })],
    ["history", () => memory.history(node)],
    ["edges.assert", () => memory.edges.assert({ source: node, target: other, type: "supports" })],
    ["edges.list", () => memory.edges.list({ node, origin: "asserted" })],
    ["edges.get", async () => memory.edges.get((await memory.edges.list({ origin: "asserted" }).take(1))[0].id)],
    ["edges.delete", async () => memory.edges.delete((await memory.edges.list({ origin: "asserted" }).take(1))[0].id)],
    ["supersede", () => memory.supersede(other, "Lisbon is closed in July.", "it moved")],
    ["elsewhere", () => memory.elsewhere(node), "node_not_found"], // no entity
    ["delete", () => memory.delete(node)],
    ["undelete", () => memory.undelete(node)],
    ["domains.list", () => memory.domains.list({ q: "Lisbon" })],
    ["domains.get", () => memory.domains.get(none), "domain_not_found"],
    ["recall.identity", () => memory.recall.identity()],
    ["recall.plot", () => memory.recall.plot()],
    ["recall.graph", () => memory.recall.graph({ asOf: future })],
    ["recall.insights", () => memory.recall.insights({ asOf: future })],
    ["recall.insightList", () => memory.recall.insightList()],
    ["recall.temporal", () => memory.recall.temporal({ asOf: future })],
    ["recall.eventList", () => memory.recall.eventList()],
    ["recall.node", () => memory.recall.node(node)],
    ["recall.search", () => memory.recall.search("Lisbon", { pageSize: 1 })],
    ["recall.sessions", () => memory.recall.sessions()],
    ["recall.deleteSession", () => memory.recall.deleteSession("s"), "session_not_found"],
    ["contradictions.list", () => memory.contradictions.list({ status: "open" })],
    ["proposals.list", () => memory.proposals.list({ status: "open" })],
    ["proposals.accept", () => memory.proposals.accept(none), "proposal_not_found"],
    ["proposals.reject", () => memory.proposals.reject(none), "proposal_not_found"],
    ["condition.session", () => memory.condition.session({ orgId: org.id, userId: user.id, cwd: "/src" })],
    ["condition.scaffold", () => memory.condition.scaffold("Who is in Lisbon?", { maxTokens: 200 })],
    ["subjects.put", () => memory.subjects.put("bob")],
    ["subjects.get", () => memory.subjects.get("bob")],
    ["subjects.list", () => memory.subjects.list()],
    ["subjects.erase", () => memory.subjects.erase("bob")],
    ["keys.create", () => memory.keys.create({ label: "second", scopes: ["read"] })],
    ["keys.list", () => memory.keys.list()],
    ["keys.revoke", async () => memory.keys.revoke((await memory.keys.list().take(1))[0].id)],
    ["sandbox.keys.create", () => memory.sandbox.keys.create({ label: "try" })],
    ["sandbox.keys.list", () => memory.sandbox.keys.list()],
    ["sandbox.keys.revoke", async () => memory.sandbox.keys.revoke((await memory.sandbox.keys.list().take(1))[0].id)],
    ["sandbox.reset", () => memory.sandbox.reset()],
    ["jobs.get", async () => memory.jobs.get((await memory.jobs.list().take(1))[0].id)],
    ["jobs.list", () => memory.jobs.list({ type: "ingest" })],
    ["jobs.cancel", async () => memory.jobs.cancel((await memory.jobs.list({ status: "succeeded" }).take(1))[0].id), "job_not_cancellable"],
    ["jobs.wait", async () => memory.jobs.wait((await memory.add("Another text.")).jobId)],
    ["imports.upload", () => memory.imports.upload(new Blob(["The minutes of May."]), { filename: "may.txt" })],
    ["imports.transcript", () => memory.imports.transcript(new Blob(["Ann: Good morning.\nBob: Hello.\n"]), { filename: "a.txt" })],
    ["imports.list", () => memory.imports.list()],
    ["exports.create", () => memory.exports.create({ scope: "org" })],
    ["exports.get", async () => memory.exports.get((await memory.exports.list().take(1))[0].exportId)],
    ["exports.list", () => memory.exports.list()],
    ["exports.wait", async () => memory.exports.wait((await memory.exports.list().take(1))[0].exportId)],
    ["exports.download", async () => new Response((await memory.exports.download((await memory.exports.list().take(1))[0].exportId)).stream).json()],
    ["purge.preview", () => memory.purge.preview("subject", "ann")],
    ["purge.confirm", async () => memory.purge.confirm(await memory.purge.preview("subject", "ann"))],
    ["events", async () => {
      const end = new AbortController();
      await assert.rejects(memory.events({ signal: end.signal, onOpen: () => end.abort(new Error("open")) }).next(), /open/);
    }],
    ["webhooks.list", () => memory.webhooks.list()],
    // Loopback is refused: e2e.test.mjs has an endpoint that receives.
    ["webhooks.create", () => memory.webhooks.create({ url: "https://127.0.0.1/", eventTypes: ["*"] }), "validation_failed"],
    ["webhooks.get", () => memory.webhooks.get(none), "webhook_not_found"],
    ["webhooks.update", () => memory.webhooks.update(none, { disabled: false }), "webhook_not_found"],
    ["webhooks.delete", () => memory.webhooks.delete(none), "webhook_not_found"],
    ["webhooks.delivery", () => memory.webhooks.delivery(none, none), "webhook_not_found"],
    ["webhooks.test", () => memory.webhooks.test(none), "webhook_not_found"],
    ["sessions.push", () => memory.sessions.push({ sessionId: "s", role: "user", text: "Why is it red?" })],
    ["sessions.push of several", () => memory.sessions.push([{ sessionId: "s", role: "assistant", text: "It failed.", at: "2026-01-01T00:00:00Z" }])],
    ["sessions.finalize", () => memory.sessions.finalize()],
    ["sessions.status", () => memory.sessions.status()],
    ["signals", () => memory.signals({ sessionId: "s", signals: [{ type: "test_failure", detail: "It is red." }] })],
    ["quality.evaluate", () => memory.quality.evaluate()],
    ["quality.list", () => memory.quality.list()],
    ["brain.info", () => memory.brain.info()],
    ["brain.training", () => memory.brain.training()],
    ["brain.query", () => memory.brain.query("Lisbon", { topK: 3 }), "brain_not_trained"],
    ["brain.answer", () => memory.brain.answer("Who leads?")],
    ["brain.train", () => memory.brain.train()],
    ["connectors.list", () => memory.connectors.list()],
    ["connectors.create", () => memory.connectors.create({ name: "feed", type: "feed", config: { url: "https://127.0.0.1/feed" } }), "validation_failed"],
    ["connectors.get", () => memory.connectors.get(none), "connector_not_found"],
    ["connectors.update", () => memory.connectors.update(none, { enabled: false }), "connector_not_found"],
    ["connectors.delete", () => memory.connectors.delete(none), "connector_not_found"],
    ["connectors.sync", () => memory.connectors.sync(none), "connector_not_found"],
    ["settings.get", () => memory.settings.get()],
    ["settings.update", () => memory.settings.update({ qualityMode: "fast" })],
    ["settings.reset", () => memory.settings.reset()],
    ["usage", () => memory.usage({ groupBy: "subject", startTime: new Date(Date.now() - 3_600_000).toISOString(), endTime: new Date().toISOString() })],
    ["audit", () => memory.audit({ pageSize: 2 })],
    ["identity", () => memory.identity(user.id)],
    ["me", () => memory.me()],
    ["team", () => memory.team()],
    ["members", () => memory.members()],
    ["memberKeys", () => memory.memberKeys({ pageSize: 2 })],
    ["deleteMe", () => memory.deleteMe()],
  ];
  const wrong = [];
  for (const [name, call, refused] of verbs) {
    try {
      const answer = await call();
      if (answer instanceof List) assert.ok(Array.isArray((await answer.page()).data), name);
      if (refused) wrong.push(`${name} was to be refused, and answered ${JSON.stringify(answer)}`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== refused) wrong.push(`${name}: ${error.stack}`);
    }
  }
  assert.deepEqual(wrong, []);

  const missing = operations.map((o) => o.operationId).filter((id) => !called.has(id) && !(id in without));
  assert.deepEqual(missing, [], "operations of docs/openapi.json that no verb has: add one, or a reason to `without`");
  for (const id of Object.keys(without)) assert.ok(!called.has(id) && operations.some((o) => o.operationId === id), `${id} needs no exception`);

  // And the table has every verb that there is.
  const names = new Set(verbs.map(([name]) => name.split(" ")[0]));
  const walk = (value, prefix) =>
    Object.entries(value).flatMap(([key, member]) => (typeof member === "function" ? [prefix + key] : walk(member, prefix + key + ".")));
  const methods = Object.getOwnPropertyNames(Orgmem.prototype).filter((n) => n !== "constructor" && typeof Object.getOwnPropertyDescriptor(Orgmem.prototype, n).value === "function");
  const elsewhere = new Set(["subject", "webhooks.verify"]); // send nothing, and have tests of their own
  assert.deepEqual([...methods, ...walk(new Orgmem({ apiKey: "k" }), "")].filter((n) => !names.has(n) && !elsewhere.has(n)), []);
});
