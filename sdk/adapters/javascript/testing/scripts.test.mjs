// Whether the test scripts name every test there is, as files: Node 22 takes no folders.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../", import.meta.url));

async function testsIn(...folders) {
  const found = await Promise.all(folders.map(async (folder) => (await readdir(root + folder)).map((name) => `${folder}/${name}`)));
  return found.flat().filter((name) => name.endsWith(".test.mjs"));
}

test("the test scripts name every test file, and nothing else", async () => {
  const { workspaces } = JSON.parse(await readFile(root + "package.json", "utf8"));
  const all = await testsIn("testing", ...workspaces.map((name) => `${name}/test`));
  for (const folder of [".", ...workspaces]) {
    const { scripts } = JSON.parse(await readFile(`${root}${folder}/package.json`, "utf8"));
    const [, named] = /\bnode --test --test-concurrency=2 (.*)$/.exec(scripts.test);
    // As npm runs it: by a shell.
    const given = execFileSync("sh", ["-c", `printf '%s\\n' ${named}`], { cwd: root + folder, encoding: "utf8" }).trim().split("\n");
    const within = folder === "." ? all : all.filter((name) => name.startsWith(`${folder}/`)).map((name) => name.slice(folder.length + 1));
    assert.ok(within.length > 0, folder);
    assert.deepEqual(given.sort(), within.sort(), `${folder}/package.json`);
  }
});
