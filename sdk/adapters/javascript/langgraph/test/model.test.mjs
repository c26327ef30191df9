// The same random operations on LangGraph's own InMemoryStore and on two OrgmemStores of one memory, which stand for two
// processes: every answer must be the same. What InMemoryStore does not decide, or decides by the order of its maps, is
// compared with what README.md promises instead: the order without a query is newest first, windows are cut out of one
// order, and a namespace is there as long as it has an item.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { InMemoryStore } from "@langchain/langgraph-checkpoint";
import { Orgmem } from "orgmem";
import { OrgmemStore } from "orgmem-langgraph";

import { randomOf, seedsOf } from "../../testing/random.mjs";
import { startServer } from "../../testing/server.mjs";

const steps = 100;
let server;

before(async () => {
  server = await startServer();
});
after(() => server?.stop());

const namespaces = [["a"], ["a", "b"], ["a", "b", "c"], ["ab"], ["users", "ann"], ["users", "Änne 🙂"], ["users", "*"], ["*"], ["b", "c"]];
const keys = ["k", "K", "k ", "key.1", "", "ключ", "a:b", "a.b", "nul\0l", '"quoted"'];
const texts = ["likes pizza", "Likes pizza", "plays the oboe", "", " ", "nul\0l", "line\nbreak", "日本語のメモ", "\t", "x".repeat(300), "🙂".repeat(100)];
const everything = { limit: 1000, offset: 0 };

function value(random) {
  const v = { text: random.of(texts) };
  if (random.chance(0.5)) v.n = random.of([0, -0.5, 1, 2, 1e21, 1e-7]);
  if (random.chance(0.3)) v.done = random.chance(0.5);
  if (random.chance(0.3)) v.tag = random.of(["red", "blue", null, "1", 1, true]);
  if (random.chance(0.2)) v.deep = { list: [1, { text: random.of(texts) }, null, []], empty: {} };
  if (random.chance(0.02)) v.long = { of: random.of(texts) + "🙂long".repeat(12_000) };
  return v;
}

function filter(random) {
  const one = () =>
    random.of([
      { n: random.of([0, 1, 2, 1e21]) },
      { n: { $gt: 0 } },
      { n: { $gte: 1, $lt: 3 } },
      { n: { $ne: 1 } },
      { tag: random.of(["red", "1", 1, true, null]) },
      { tag: { $in: ["red", 1] } },
      { done: true },
      { text: random.of(texts) },
      { missing: "x" },
      { text: { $eq: "likes pizza" } },
      {},
    ]);
  return random.chance(0.5) ? undefined : { ...one(), ...(random.chance(0.3) ? one() : {}) };
}

function operation(random) {
  const at = { namespace: random.of(namespaces), key: random.of(keys) };
  const roll = random.next();
  if (roll < 0.35) return { ...at, value: value(random), index: random.of([undefined, undefined, false, ["text"], ["deep.list[*].text", "tag"]]) };
  if (roll < 0.45) return { ...at, value: null };
  if (roll < 0.65) return at;
  if (roll < 0.9) {
    const prefix = random.of([[], ...namespaces, ["users"], ["nobody"]]);
    const window = random.chance(0.5) ? everything : { limit: 1 + random.below(4), offset: random.below(4) };
    return { namespacePrefix: prefix, filter: filter(random), ...window, query: random.chance(0.4) ? random.of(["pizza", "what music does she play", "日本"]) : undefined };
  }
  const matchConditions = [];
  if (random.chance(0.5)) matchConditions.push({ matchType: "prefix", path: random.of([["a"], ["users"], ["*", "b"], ["a", "*"]]) });
  if (random.chance(0.3)) matchConditions.push({ matchType: "suffix", path: random.of([["c"], ["ann"], ["*", "c"]]) });
  return { matchConditions, maxDepth: random.of([undefined, 1, 2]), limit: random.of([100, 2]), offset: random.of([0, 0, 1]) };
}

const bare = (item) => item && { namespace: item.namespace, key: item.key, value: item.value };
const name = (item) => JSON.stringify([item.namespace, item.key]);
const sorted = (items) => items.map(bare).sort((a, b) => (name(a) < name(b) ? -1 : 1));

/** What the model says is there now, without the namespaces that InMemoryStore remembers for having been used. */
async function standing(model) {
  const fresh = new InMemoryStore();
  for (const item of await model.search([], everything)) await fresh.batch([{ ...bare(item), namespace: item.namespace }]);
  return fresh;
}

/** Compares an answer with the model's, given before the operation's batch. */
async function check(op, got, model, store, since) {
  if ("value" in op) return assert.equal(got, null);
  if ("namespacePrefix" in op) {
    const [all] = await model.batch([{ ...op, ...everything }]);
    assert.equal(got.length, Math.max(0, Math.min(op.limit, all.length - op.offset)));
    if (op.limit === everything.limit) assert.deepEqual(sorted(got), sorted(all));
    else {
      const [whole] = await store.batch([{ ...op, ...everything }]);
      assert.deepEqual(got.map(name), whole.slice(op.offset, op.offset + op.limit).map(name));
    }
    const scores = got.map((item) => item.score);
    const unranked = scores.indexOf(undefined);
    const ranked = unranked < 0 ? scores : scores.slice(0, unranked);
    assert.ok(op.query !== undefined || ranked.length === 0, "nothing has a score without a query");
    assert.ok(scores.slice(ranked.length).every((s) => s === undefined), "what has a score comes first");
    const steps = got.slice(ranked.length).map((item) => since.get(name(item)));
    assert.deepEqual(steps, steps.toSorted((a, b) => b - a), "newest first");
    return;
  }
  if ("key" in op) {
    const [want] = await model.batch([op]);
    assert.deepEqual(bare(got), bare(want));
    return;
  }
  const [want] = await (await standing(model)).batch([op]);
  assert.deepEqual(got, want);
}

for (const seed of seedsOf(1, 2, 3)) {
  test(`does what InMemoryStore does, seed ${seed}`, async () => {
    const random = randomOf(seed);
    const owner = new Orgmem(server);
    await owner.subjects.put(`model ${seed}`);
    const client = owner.subject(`model ${seed}`);
    const stores = [new OrgmemStore({ client }), new OrgmemStore({ client })];
    const model = new InMemoryStore();
    const created = new Map(); // when items were put first, by what the store says
    const since = new Map(); // and in which step
    for (let step = 0; step < steps; step++) {
      const ops = random.chance(0.8) ? [operation(random)] : Array.from({ length: 2 + random.below(4) }, () => operation(random));
      const store = random.of(stores);
      const asked = structuredClone(ops);
      try {
        // What is searched in two parts must not be changed in between: puts go last in a batch, so the reads of a batch
        // are compared before its puts reach the model.
        const reads = ops.filter((op) => !("value" in op));
        for (const [i, got] of (await store.batch(reads)).entries()) await check(reads[i], got, model, store, since);
        const got = await store.batch(ops);
        assert.deepEqual(ops, asked, "a batch leaves its operations as they are");
        for (const [i, op] of ops.entries()) if ("key" in op) await check(op, got[i], model, store, since);
        await model.batch(structuredClone(ops));
        for (const op of ops.filter((op) => "value" in op)) {
          const item = await random.of(stores).get(op.namespace, op.key);
          await check({ namespace: op.namespace, key: op.key }, item, model, store, since);
          if (!item) {
            created.delete(name(op));
            since.delete(name(op));
          } else {
            assert.equal(item.createdAt.getTime(), created.get(name(op)) ?? item.createdAt.getTime(), "createdAt stays");
            assert.ok(item.updatedAt >= item.createdAt);
            created.set(name(op), item.createdAt.getTime());
            if (!since.has(name(op))) since.set(name(op), step);
          }
        }
      } catch (err) {
        err.message = `seed ${seed}, step ${step}, ${JSON.stringify(asked).slice(0, 2000)}: ${err.message}`;
        throw err;
      }
    }
    // Delete all: nothing is left in the memory, of no version.
    for (const item of await model.search([], everything)) await stores[0].delete(item.namespace, item.key);
    assert.deepEqual(await client.list().take(1), []);
  });
}
