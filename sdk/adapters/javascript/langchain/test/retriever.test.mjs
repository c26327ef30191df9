import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { awaitAllCallbacks } from "@langchain/core/callbacks/promises";
import { Orgmem, PermissionDenied, Unauthorized } from "orgmem";
import { OrgmemRetriever } from "orgmem-langchain";

import { startServer } from "../../testing/server.mjs";

let server;
let client;

before(async () => {
  server = await startServer();
  client = new Orgmem(server);
  await client.subjects.put("ann");
  await client.add(
    [
      { content: "The boiler was serviced in May by Moreau & Sons.", externalId: "boiler", title: "House", metadata: { room: "cellar" } },
      { content: "The roof needs new tiles on the north side.", externalId: "roof", title: "House", metadata: { room: "attic" } },
      { content: "Invoices are paid on the tenth of the month.", externalId: "invoices", title: "Office" },
    ],
    { wait: true },
  );
  await client.subject("ann").add({ content: "Ann's heating is electric.", externalId: "hers" }, { wait: true });
});
after(() => server?.stop());

test("finds passages, best first, with what the service says of them", async () => {
  const found = await new OrgmemRetriever({ client }).invoke("Who looked after the heating?");
  assert.equal(found.length, 3);
  const [best] = found;
  assert.equal(best.pageContent, "The boiler was serviced in May by Moreau & Sons.");
  assert.equal(best.metadata.externalId, "boiler");
  assert.equal(best.metadata.title, "House");
  assert.ok(best.id.startsWith(best.metadata.nodeId));
  const scores = found.map((d) => d.metadata.score);
  assert.deepEqual(scores, scores.toSorted((a, b) => b - a));
});

test("k, mode and filters are the service's", async () => {
  const ids = async (options, query = "house and heating") =>
    (await new OrgmemRetriever({ client, ...options }).invoke(query)).map((d) => d.metadata.externalId);
  assert.equal((await ids({ k: 2 })).length, 2);
  assert.deepEqual(await ids({ filters: { metadata: { room: "attic" } } }), ["roof"]);
  assert.deepEqual(await ids({ mode: "keyword" }, "invoices"), ["invoices"]);
});

test("acts for the client's subject", async () => {
  const retriever = new OrgmemRetriever({ client: client.subject("ann") });
  assert.deepEqual((await retriever.invoke("heating")).map((d) => d.metadata.externalId), ["hers"]);
  await assert.rejects(new OrgmemRetriever({ client: client.subject("ann"), scope: "org" }).invoke("heating"), PermissionDenied);
  assert.equal((await new OrgmemRetriever({ client, scope: "org" }).invoke("heating")).length, 4);
});

test("finds what has been superseded only when it is asked to", async () => {
  const put = (content) => client.add({ content, externalId: "door" }, { wait: true });
  await put("The door code is 1234.");
  await put("The door code is 9876.");
  const codes = async (options) => (await new OrgmemRetriever({ client, k: 2, ...options }).invoke("door code")).map((d) => /\d+/.exec(d.pageContent)?.[0]);
  assert.ok(!(await codes({})).includes("1234"));
  assert.deepEqual((await codes({ includeSuperseded: true })).sort(), ["1234", "9876"]);
});

test("a query without anything to look for finds nothing", async () => {
  assert.deepEqual(await new OrgmemRetriever({ client }).invoke(" \n"), []);
});

test("is a step of a chain, seen by callbacks", async () => {
  const seen = [];
  const retriever = new OrgmemRetriever({ client, k: 1, callbacks: [{ handleRetrieverEnd: (documents) => void seen.push(documents.length) }] });
  const chain = retriever.pipe((documents) => documents.map((d) => d.pageContent).join("\n"));
  assert.deepEqual(await chain.batch(["invoices paid", "roof tiles"]), [
    "Invoices are paid on the tenth of the month.",
    "The roof needs new tiles on the north side.",
  ]);
  await awaitAllCallbacks();
  assert.deepEqual(seen, [1, 1]);
});

test("the client's errors come through", async () => {
  const stranger = new Orgmem({ ...server, apiKey: "svc_prod_" + "x".repeat(43) });
  await assert.rejects(new OrgmemRetriever({ client: stranger }).invoke("heating"), Unauthorized);
});
