// mem0's calls against the real service, in the shapes that mem0's own package answers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Orgmem, OrgmemError } from "../dist/index.js";
import { Memory, nodeOf } from "../dist/mem0.js";
import { Server, until } from "./server.mjs";

let server;
let memory;
before(async () => {
  server = await Server.start();
  memory = new Memory({ apiKey: await server.key(), baseUrl: server.baseUrl });
});
after(() => server?.stop());

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test("messages are kept as they were said, per user", async () => {
  const added = await memory.add(
    [
      { role: "system", content: "You are helpful." },
      { role: "user", content: "I am allergic to nuts." },
      { role: "assistant", content: [{ type: "text", text: "I will remember that." }, { type: "image_url" }] },
    ],
    { userId: "ann", runId: "r1", metadata: { source: "chat" }, infer: false, timestamp: 1767225600 },
  );
  assert.deepEqual(added.results.map((r) => [r.memory, r.metadata]), [
    ["I am allergic to nuts.", { event: "ADD" }],
    ["I will remember that.", { event: "ADD" }],
  ]);
  const again = await memory.add("I am allergic to nuts.", { user_id: "ann", run_id: "r1", metadata: { source: "chat" } });
  assert.deepEqual(again.results.map((r) => [r.id, r.metadata.event]), [[added.results[0].id, "NOOP"]]);
  await memory.add("Bob likes the sea.", { filters: { user_id: "bob" } });

  const { results } = await memory.search("what may Ann not eat?", { filters: { user_id: "ann" }, topK: 1 });
  assert.equal(results.length, 1);
  const { id, memory: text, score, createdAt, user_id } = results[0];
  assert.deepEqual([id, text, user_id], [added.results[0].id, "I am allergic to nuts.", "ann"]);
  assert.ok(score > 0 && iso.test(createdAt));
  assert.deepEqual((await memory.search("nuts", { userId: "ann", threshold: 1000 })).results, []);
  assert.ok((await memory.search("nuts", { user_id: "bob" })).results.every((r) => r.memory === "Bob likes the sea."));
  assert.deepEqual((await memory.search("nuts", { userId: "ann", runId: "r2" })).results, []);
  assert.equal((await memory.search("nuts", { userId: "ann", filters: { source: "chat" }, limit: 1 })).results.length, 1);

  const got = await memory.get(id);
  assert.deepEqual({ ...got, createdAt: "", updatedAt: "" }, {
    id, memory: "I am allergic to nuts.", createdAt: "", updatedAt: "", metadata: { source: "chat", role: "user" }, user_id: "ann", run_id: "r1",
  });
  const all = await memory.getAll({ filters: { user_id: "ann" } });
  assert.deepEqual(all.results.map((r) => r.memory).sort(), ["I am allergic to nuts.", "I will remember that."]);
  assert.deepEqual(await memory.getAll({ userId: "ann", top_k: 1 }).then((r) => r.results.length), 1);
});

test("an id alone is enough to change, to forget and to look back", async () => {
  const { results } = await memory.add("The office is in Porto.", { userId: "Carl / 1%", metadata: { a: 1 } });
  const { id } = results[0];
  assert.equal(nodeOf(id).user, "Carl / 1%");
  assert.deepEqual(await memory.update(id, { text: "The office is in Braga.", metadata: { b: 2 } }), { message: "Memory updated successfully!" });
  const { memory: text, metadata } = await memory.get(id);
  assert.deepEqual([text, metadata], ["The office is in Braga.", { a: 1, b: 2, role: "user" }]);
  await memory.update(id, "The office is in Faro.");
  await memory.update(id, { data: "The office is in Tavira." });
  const history = await memory.history(id);
  assert.deepEqual(history.map((h) => h.action), ["UPDATE", "UPDATE", "UPDATE", "ADD"]);
  assert.deepEqual(history.map((h) => h.id), [4, 3, 2, 1]);
  assert.deepEqual([history[0].previous_value, history[0].new_value], ["The office is in Faro.", "The office is in Tavira."]);
  assert.ok(history.every((h) => h.memory_id === id && iso.test(h.created_at) && h.is_deleted === 0));
  assert.deepEqual(await memory.delete(id), { message: "Memory deleted successfully!" });
  assert.equal(await memory.get(id), null);
  const [last] = await memory.history(id);
  assert.deepEqual([last.action, last.is_deleted], ["DELETE", 1]);
});

test("deleteAll takes a user's memory, or a run's, and leaves the rest", async () => {
  await memory.add("The red plan.", { userId: "dora", runId: "red" });
  await memory.add("The blue plan.", { userId: "dora", runId: "blue" });
  await memory.add("An agent's note.", { agentId: "planner" });
  assert.deepEqual(await memory.deleteAll({ userId: "dora", runId: "red" }), { message: "Memories deleted successfully!" });
  assert.deepEqual((await memory.getAll({ userId: "dora" })).results.map((r) => r.memory), ["The blue plan."]);
  await memory.deleteAll({ user_id: "dora" });
  assert.deepEqual((await memory.getAll({ userId: "dora" })).results, []);
  const agent = await memory.getAll({ agentId: "planner" });
  assert.deepEqual(agent.results.map((r) => [r.memory, r.agent_id, r.user_id]), [["An agent's note.", "planner", undefined]]);
  await memory.reset();
  await until("nothing is left", async () => (await memory.getAll({ userId: "bob" })).results.length === 0);
  assert.deepEqual((await memory.getAll({ agentId: "planner" })).results, []);
});

test("what cannot be done here says so before anything is sent", async () => {
  const silent = new Memory(new Orgmem({ apiKey: "k", fetch: () => assert.fail("nothing may be sent") }));
  for (const [call, next] of [
    [() => silent.add("x"), /userId/],
    [() => silent.search("x", { filters: { topic: "x" } }), /userId/],
    [() => silent.deleteAll({}), /userId/],
    [() => silent.add("x", { userId: "ann", expirationDate: "2030-01-01" }), /expire/],
    [() => silent.add("x", { userId: "ann", customInstructions: "y" }), /language model.*Leave customInstructions away/],
    [() => silent.search("x", { userId: "ann", rerank: true }), /order of the results is final/],
    [() => silent.getAll({ userId: "ann", showExpired: true }), /expire/],
    [() => silent.update("id", { text: "x", version: "v2" }), /version .* no effect/],
    [() => silent.add([{ role: "system", content: "x" }], { userId: "ann" }), /nothing to keep/],
    [() => silent.search("x", { filters: { user_id: "ann", OR: [] } }), /OR/],
    [() => silent.search("x", { filters: { user_id: "ann", age: { gte: 3 } } }), /age/],
  ])
    await assert.rejects(call(), (error) => error instanceof OrgmemError && next.test(error.message), String(call));
});
