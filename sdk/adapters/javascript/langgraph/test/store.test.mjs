import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { AsyncBatchedStore } from "@langchain/langgraph-checkpoint";
import { Orgmem, Unauthorized } from "orgmem";
import { ItemDamaged, OrgmemStore, ValueRefused } from "orgmem-langgraph";

import { startServer } from "../../testing/server.mjs";
import { word } from "../dist/names.js";

let server;
let owner;

before(async () => {
  server = await startServer();
  owner = new Orgmem(server);
});
after(() => server?.stop());

/** A memory of its own. */
async function memory(name) {
  await owner.subjects.put(name);
  return owner.subject(name);
}

const keysOf = (items) => items.map((item) => item.key);

test("equal values under two keys are two items", async (t) => {
  const store = new OrgmemStore({ client: await memory(t.name) });
  await store.put(["ann"], "one", { text: "likes pizza" });
  await store.put(["ann"], "two", { text: "likes pizza" });
  await store.put(["bob"], "one", { text: "likes pizza" });
  assert.deepEqual(keysOf(await store.search(["ann"])).sort(), ["one", "two"]);
  await store.delete(["ann"], "one");
  assert.equal(await store.get(["ann"], "one"), null);
  assert.deepEqual((await store.get(["ann"], "two")).value, { text: "likes pizza" });
  assert.deepEqual((await store.get(["bob"], "one")).value, { text: "likes pizza" });
});

test("ranks by meaning, within a namespace", async (t) => {
  const store = new OrgmemStore({ client: await memory(t.name) });
  await store.put(["ann"], "food", { text: "Her favourite dish is a margherita with basil" });
  await store.put(["ann"], "work", { text: "She repairs violins in a small workshop" });
  await store.put(["bob"], "food", { text: "He eats pizza every Friday" });
  const [best, next, ...rest] = await store.search(["ann"], { query: "what does she do for a living" });
  assert.equal(best.key, "work");
  assert.ok(best.score > next.score);
  assert.deepEqual(rest, []);
  assert.equal((await store.search([], { query: "pizza on Friday", limit: 1 }))[0].namespace[0], "bob");
});

test("what is not indexed is not found by its text, and comes last", async (t) => {
  const store = new OrgmemStore({ client: await memory(t.name) });
  await store.put(["n"], "hidden", { text: "the oboe" }, false);
  await store.put(["n"], "shown", { text: "rain in April", secret: "the oboe" }, ["text"]);
  const found = await store.search(["n"], { query: "the oboe" });
  assert.deepEqual(keysOf(found), ["shown", "hidden"]);
  assert.equal(found[1].score, undefined);
  await store.put(["n"], "hidden", { text: "the oboe" });
  assert.equal((await store.search(["n"], { query: "the oboe" }))[0].key, "hidden");
});

test("the store's own index says what is searched", async (t) => {
  const store = new OrgmemStore({ client: await memory(t.name), index: { fields: ["notes[*].text"] } });
  await store.put(["n"], "a", { notes: [{ text: "a walk in the rain" }, { text: "the oboe lesson" }], other: "tulips" });
  await store.put(["n"], "b", { notes: [{ text: "tulips and roses" }] });
  assert.equal((await store.search(["n"], { query: "oboe" }))[0].key, "a");
  assert.equal((await store.search(["n"], { query: "tulips" }))[0].key, "b");
});

test("first puts of one key at the same time leave one item", async (t) => {
  const client = await memory(t.name);
  const stores = Array.from({ length: 6 }, () => new OrgmemStore({ client }));
  await Promise.all(stores.map((store, n) => store.put(["n"], "k", { n, text: `version ${n}` })));
  const found = await stores[0].search(["n"]);
  assert.equal(found.length, 1);
  assert.deepEqual((await stores[1].get(["n"], "k")).value, found[0].value);
  await stores[2].delete(["n"], "k");
  assert.equal(await stores[3].get(["n"], "k"), null);
  assert.deepEqual(await client.list().take(1), []);
});

test("delete leaves nothing of any version", async (t) => {
  const client = await memory(t.name);
  const store = new OrgmemStore({ client });
  await Promise.all([1, 2, 3].map((n) => new OrgmemStore({ client }).put(["n"], "k", { text: `The codeword is zanzibar ${n}` })));
  await store.put(["n"], "k", { text: "The codeword is samarkand" });
  assert.ok((await client.list({ q: "codeword" }).take(10)).length > 0);
  await store.delete(["n"], "k");
  for (const wordOfIt of ["zanzibar", "samarkand", "codeword"]) {
    const { results } = await client.search(wordOfIt, { mode: "keyword", includeSuperseded: true });
    assert.deepEqual(results, []);
    assert.deepEqual(await client.list({ q: wordOfIt }).take(1), []);
  }
  await store.delete(["n"], "k"); // and again, which is no error
  await store.put(["n"], "k", { text: "The codeword is samarkand" });
  assert.deepEqual((await store.get(["n"], "k")).value, { text: "The codeword is samarkand" });
});

test("large values are exact, and their parts go with them", async (t) => {
  const client = await memory(t.name);
  const store = new OrgmemStore({ client });
  const large = (c) => ({ text: "the ledger of the mill", rows: Array.from({ length: 4_000 }, (_, n) => ({ n, c: `${c}🙂"\\ \u2028` })) });
  await store.put(["n"], "k", large("a"), ["text"]);
  assert.deepEqual((await store.get(["n"], "k")).value, large("a"));
  const one = await client.list().take(1000);
  await store.put(["n"], "k", large("b"), ["text"]);
  assert.deepEqual((await store.search(["n"], { query: "mill ledger" }))[0].value, large("b"));
  assert.equal((await client.list().take(1000)).length, one.length, "the parts of the old value are gone");
  assert.deepEqual(await store.listNamespaces(), [["n"]]);
  await store.put(["n"], "k", { text: "small" });
  assert.equal((await client.list().take(1000)).length, 1);
  await store.put(["n"], "k", large("a"), false);
  await store.delete(["n"], "k");
  assert.deepEqual(await client.list().take(1), []);
});

test("values about as large as one document holds", async (t) => {
  const client = await memory(t.name);
  const store = new OrgmemStore({ client, index: { fields: ["t0"] } });
  // With as much else in the metadata as there may be.
  const namespace = Array.from({ length: 20 }, (_, n) => `"${"é".repeat(20)}"${n}`);
  const value = (length) => ({ ...Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`t${n}`, `text ${n}`])), long: ["x".repeat(length)] });
  const divided = [];
  for (let length = 46_000; length <= 52_000; length += 1_000) {
    await store.put(namespace, "k", value(length), false);
    assert.deepEqual((await store.get(namespace, "k")).value, value(length));
    divided.push((await client.list().take(2)).length > 1);
  }
  assert.deepEqual((await store.search(namespace, { filter: { t7: "text 7" } }))[0].value, value(52_000));
  assert.deepEqual([divided[0], divided.at(-1)], [false, true]);
});

test("a replacement that was not answered is sent again, and no sooner than the service asked", async (t) => {
  const client = await memory(t.name);
  const faults = [
    async () => Response.json({ code: "rate_limit_exceeded", title: "", detail: "" }, { status: 429, headers: { "Retry-After": "7" } }),
    async () => Promise.reject(new TypeError("fetch failed")),
    // Done, and the answer lost.
    async (...request) => (await fetch(...request), Promise.reject(new TypeError("fetch failed"))),
  ];
  const waits = [];
  const faulty = new Orgmem({
    ...server,
    subject: t.name,
    sleep: async (ms) => void waits.push(ms),
    fetch: (url, init) => (init.method === "PATCH" && faults.length > 0 ? faults.shift()(url, init) : fetch(url, init)),
  });
  const store = new OrgmemStore({ client: faulty });
  await new OrgmemStore({ client }).put(["n"], "k", { v: 1 });
  await store.put(["n"], "k", { v: 2 });
  assert.deepEqual((await new OrgmemStore({ client }).get(["n"], "k")).value, { v: 2 });
  assert.equal(waits.length, 3);
  assert.equal(waits[0], 7_000);
});

test("more items than the service ranks or lists at once", async (t) => {
  const store = new OrgmemStore({ client: await memory(t.name) });
  const puts = Array.from({ length: 130 }, (_, n) => ({
    namespace: ["many", n % 2 ? "odd" : "even"],
    key: `k${n}`,
    value: { text: `note number ${n}`, n, owner: n === 77 ? "ann" : "bob" },
  }));
  await store.batch([...puts, { namespace: ["other"], key: "k", value: { text: "note" } }]);
  const all = await store.search(["many"], { limit: 1000 });
  assert.equal(all.length, 130);
  const ranked = await store.search(["many"], { query: "note number 77", limit: 1000 });
  assert.equal(new Set(keysOf(ranked)).size, 130, "what ranks below the hundredth is found too");
  assert.equal(ranked.filter((item) => item.score !== undefined).length, 100);
  // The one that the filter wants ranks last; the service is told of the filter.
  const [his] = await store.search(["many"], { query: "note number 12 from December", filter: { owner: "ann" }, limit: 1 });
  assert.equal(his.key, "k77");
  assert.ok(his.score !== undefined);
  const windows = [];
  for (let offset = 0; offset < 130; offset += 40) windows.push(...(await store.search(["many"], { limit: 40, offset })));
  assert.deepEqual(keysOf(windows), keysOf(all));
  assert.deepEqual(keysOf(await store.search(["many", "odd"], { filter: { n: { $gte: 125 } } })).sort(), ["k125", "k127", "k129"]);
  assert.deepEqual(await store.listNamespaces({ prefix: ["many"] }), [["many", "even"], ["many", "odd"]]);
  assert.deepEqual(await store.listNamespaces({ maxDepth: 1, limit: 1, offset: 1 }), [["other"]]);
});

test("a hundred calls at once on one store", async (t) => {
  const store = new OrgmemStore({ client: await memory(t.name) });
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  await Promise.all(numbers.map((n) => store.put(["n"], `k${n}`, { n })));
  const items = await Promise.all(numbers.map((n) => store.get(["n"], `k${n}`)));
  assert.deepEqual(items.map((item) => item.value.n), numbers);
});

test("a store sees its own items only", async (t) => {
  const client = await memory(t.name);
  const store = new OrgmemStore({ client });
  const other = new OrgmemStore({ client, name: "other" });
  await store.put(["n"], "k", { text: "apples" });
  const [node] = await client.list().take(1);
  // Somebody copies an item's text, with the words that it is listed by.
  await client.add((await client.get(node.id)).content + " copied", { wait: true });
  await other.put(["n"], "k", { text: "pears" });
  assert.deepEqual((await store.search([], { query: "fruit" })).map((item) => item.value.text), ["apples"]);
  assert.deepEqual((await other.search([])).map((item) => item.value.text), ["pears"]);
  await other.delete(["n"], "k");
  assert.equal((await store.get(["n"], "k")).value.text, "apples");
});

test("an item that something else has changed is an error that says so, and can be put again", async (t) => {
  const client = await memory(t.name);
  const store = new OrgmemStore({ client });
  await store.put(["n"], "k", { text: "apples" });
  const [node] = await client.list().take(1);
  await client.update(node.id, { metadata: { ...node.metadata, data: "{" } });
  await assert.rejects(store.get(["n"], "k"), (err) => err instanceof ItemDamaged && err.message.includes(node.id));
  await assert.rejects(store.search(["n"]), ItemDamaged);
  await store.put(["n"], "k", { text: "pears" });
  assert.equal((await store.get(["n"], "k")).value.text, "pears");
});

test("what a person makes of an item's document neither hides a put nor survives a deletion", async (t) => {
  const client = await memory(t.name);
  const store = new OrgmemStore({ client });
  const only = async () => (await client.list({ status: "live" }).take(1))[0].id;
  const value = { text: "The codeword is zanzibar" };
  const changes = {
    superseded: async () => client.supersede(await only(), "A person's own words", "better"),
    edited: async () => client.update(await only(), { content: "A person's own words" }),
    emptied: async () => client.update(await only(), { metadata: {} }),
  };
  for (const [name, change] of Object.entries(changes)) {
    for (const again of [value, { text: "Something else" }]) {
      await store.put(["n"], "k", value);
      await change();
      await store.put(["n"], "k", again);
      assert.deepEqual((await store.get(["n"], "k"))?.value, again, name);
      assert.deepEqual((await store.search(["n"])).map((item) => item.value), [again], name);
      await store.delete(["n"], "k");
      assert.deepEqual(await client.list().take(1), [], name);
    }
    await store.put(["n"], "k", value);
    await change();
    await store.delete(["n"], "k");
    assert.equal(await store.get(["n"], "k"), null);
    assert.deepEqual(await client.list().take(1), [], name);
  }
});

test("what JSON cannot say is refused before anything is sent", async () => {
  const store = new OrgmemStore({ client: new Orgmem({ apiKey: "none", baseUrl: "http://127.0.0.1:9", maxRetries: 0 }) });
  const cycle = {};
  cycle.self = cycle;
  for (const value of [{ n: NaN }, { deep: [Infinity] }, { n: 1n }, cycle, [], "text"]) {
    await assert.rejects(store.put(["n"], "k", value), ValueRefused);
  }
  await assert.rejects(store.put(["n"], "k", Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, "x"]))), ValueRefused);
  await assert.rejects(store.put([], "k", {}), { name: "InvalidNamespaceError" });
  await assert.rejects(store.put(["a.b"], "k", {}), { name: "InvalidNamespaceError" });
  await assert.rejects(store.batch([{ namespace: ["n"], key: "k", value: {}, ttl: 60 }]), /ttl/);
  await assert.rejects(store.batch([{ namespace: ["n"], key: 1, value: {} }]), /A key is a text/);
  await assert.rejects(store.search(["n"], { filter: { n: { $near: 1 } } }), /\$near/);
  await assert.rejects(store.search(["n"], { filter: { n: { $gt: 1, m: 2 } } }), /mixes/);
});

test("the client's errors come through", async () => {
  const store = new OrgmemStore({ client: new Orgmem({ ...server, apiKey: "svc_prod_" + "x".repeat(43) }) });
  await assert.rejects(store.get(["n"], "k"), Unauthorized);
  await assert.rejects(store.put(["n"], "k", {}), Unauthorized);
});

test("works behind LangGraph's batching", async (t) => {
  const store = new AsyncBatchedStore(new OrgmemStore({ client: await memory(t.name) }));
  store.start();
  try {
    await Promise.all([store.put(["n"], "a", { n: 1 }), store.put(["n"], "b", { n: 2 })]);
    const [a, found, gone] = await Promise.all([store.get(["n"], "a"), store.search(["n"], { filter: { n: 2 } }), store.get(["n"], "c")]);
    assert.deepEqual([a.value, keysOf(found), gone], [{ n: 1 }, ["b"], null]);
  } finally {
    await store.stop();
  }
});

test("names are those of the Python store", async () => {
  // Made by word() of sdk/python's adapters/records.py.
  for (const [parts, made] of [
    [["langgraph", "default", "a\0b"], "ilahanlbehblkjjaklcmoiam"],
    [["é", "🙂", "\x7f"], "ekodgamikafomlibhlgklgec"],
    [['q"\\', "\n\t\b\f\r\x01\x1f"], "mdaehdeocnkmajamhjfnonoe"],
    [["\u2028"], "aapihkadikibeclfboijpole"],
  ]) {
    assert.equal(await word(parts, 24), made);
  }
});
