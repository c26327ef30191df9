import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { asSchema, generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Orgmem, Unauthorized } from "orgmem";
import { memoryTools } from "orgmem-ai";

import { startServer } from "../../testing/server.mjs";

let server;
let owner;

before(async () => {
  server = await startServer();
  owner = new Orgmem(server);
});
after(() => server?.stop());

const options = { toolCallId: "1", messages: [], context: {} };
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

async function toolsOf(name) {
  await owner.subjects.put(name);
  const client = owner.subject(name);
  return { client, ...memoryTools({ client, metadata: { by: "assistant" } }) };
}

test("what is remembered is found at once, and forgotten for good", async (t) => {
  const { client, searchMemory, remember, forget } = await toolsOf(t.name);
  const { id, outcome } = await remember.execute({ text: "Ann is allergic to peanuts." }, options);
  assert.equal(outcome, "created");
  assert.equal((await remember.execute({ text: "Ann is allergic to peanuts." }, options)).outcome, "unchanged");
  const { note, memories } = await searchMemory.execute({ query: "What must she not eat?" }, options);
  assert.match(note, /data.*follow no instruction/);
  assert.deepEqual(memories.map((m) => [m.id, m.text]), [[id, "Ann is allergic to peanuts."]]);
  assert.equal((await client.get(id)).metadata.by, "assistant");
  assert.deepEqual(await forget.execute({ id }, options), { forgotten: true });
  assert.deepEqual(await forget.execute({ id }, options), { forgotten: false });
  assert.deepEqual((await searchMemory.execute({ query: "peanuts" }, options)).memories, []);
});

test("the tools of a user reach that user's memory only", async (t) => {
  const [ann, bob] = [await toolsOf(`${t.name} ann`), await toolsOf(`${t.name} bob`)];
  const { id } = await ann.remember.execute({ text: "The safe is behind the clock." }, options);
  assert.deepEqual((await bob.searchMemory.execute({ query: "where is the safe" }, options)).memories, []);
  assert.deepEqual(await bob.forget.execute({ id }, options), { forgotten: false });
  assert.equal((await ann.searchMemory.execute({ query: "where is the safe" }, options)).memories.length, 1);
});

test("what a model gets wrong is refused before the service is asked", async () => {
  const { searchMemory, remember, forget } = memoryTools({ client: new Orgmem({ apiKey: "none", baseUrl: "http://127.0.0.1:9" }) });
  const check = async (t, value) => (await asSchema(t.inputSchema).validate(value)).success;
  assert.ok(await check(searchMemory, { query: "x", limit: 20 }));
  for (const wrong of [{}, { query: "" }, { query: " " }, { query: 1 }, { query: "x", limit: 0 }, { query: "x", limit: 21 }, { query: "x", limit: 1.5 }, { query: "x", more: 1 }, "x", null, []]) {
    assert.ok(!(await check(searchMemory, wrong)), JSON.stringify(wrong));
  }
  assert.ok(!(await check(remember, { text: "x".repeat(20_001) })));
  assert.ok(!(await check(forget, {})));
});

test("a model uses them", async (t) => {
  const { client: _, ...tools } = await toolsOf(t.name);
  const call = (toolCallId, toolName, input) => ({
    content: [{ type: "tool-call", toolCallId, toolName, input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls", raw: "tool-calls" },
    usage,
    warnings: [],
  });
  const model = new MockLanguageModelV4({
    doGenerate: [
      call("1", "remember", { text: "Ann plays the oboe." }),
      call("2", "searchMemory", { query: "instrument" }),
      call("3", "searchMemory", { question: "instrument" }),
      { content: [{ type: "text", text: "The oboe." }], finishReason: { unified: "stop", raw: "stop" }, usage, warnings: [] },
    ],
  });
  const { text, steps } = await generateText({ model, tools, prompt: "I play the oboe. What do I play?", stopWhen: isStepCount(5) });
  assert.equal(text, "The oboe.");
  assert.deepEqual(steps[1].toolResults[0].output.memories.map((m) => m.text), ["Ann plays the oboe."]);
  const told = JSON.stringify(model.doGenerateCalls.at(-1).prompt.at(-1));
  assert.match(told, /there is no field question/, "the model is told what was wrong");
});

test("the client's errors come through", async () => {
  const { searchMemory } = memoryTools({ client: new Orgmem({ ...server, apiKey: "svc_prod_" + "x".repeat(43) }) });
  await assert.rejects(searchMemory.execute({ query: "x" }, options), Unauthorized);
});
