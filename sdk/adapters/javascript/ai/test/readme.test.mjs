// What the README and the example say is run as a user would run it, against a fresh service.
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { firstBlock, runProgram, startServer } from "../../testing/server.mjs";

let server;
before(async () => {
  server = await startServer();
});
after(() => server?.stop());

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

test("the README's first block", async () => {
  const program = here("../readme-block.tmp.mjs");
  await writeFile(program, await firstBlock(here("../README.md")));
  try {
    assert.match(await runProgram(program, server), /data.*<memory>.*Ann is allergic to peanuts.*Which dessert can I eat\?\n$/s);
  } finally {
    await rm(program);
  }
});

test("the example", async () => {
  assert.match(await runProgram(here("../examples/tools.mjs"), server), /outcome: 'created'.*I looked it up: Ann is allergic to peanuts\.\n$/s);
});
