// What a package's README and its example say, run as a user would run it, against a fresh service.
import { rm, writeFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { firstBlock, runProgram, startServer } from "./server.mjs";

/**
 * Makes the two tests of a package.
 * @param {string} of import.meta.url of the test, in the package's folder test
 * @param {{ block: (printed: string) => void, example: string, printed: (printed: string) => void }} wanted what the
 *   README's first block prints, the file in examples, and what that prints
 */
export function documented(of, { block, example, printed }) {
  const here = (path) => fileURLToPath(new URL(path, of));
  let server;
  before(async () => {
    server = await startServer();
  });
  after(() => server?.stop());

  test("the README's first block", async () => {
    const program = here("../readme-block.tmp.mjs");
    await writeFile(program, await firstBlock(here("../README.md")));
    try {
      block(await runProgram(program, server));
    } finally {
      await rm(program);
    }
  });

  test("the example", async () => {
    printed(await runProgram(here(`../examples/${example}`), server));
  });
}
