// Builds dist: one minified module for each entry, and the declarations. The
// alias module takes the client from ./index.js, so that a program that uses both
// has each class once and instanceof holds.
import { execFileSync } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../", import.meta.url));
await rm(root + "dist", { recursive: true, force: true });
const options = {
  absWorkingDir: root,
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2022",
  minify: true,
  legalComments: "none",
  external: ["./index.js"],
};
await build({ ...options, entryPoints: ["src/index.ts"], outfile: "dist/index.js" });
// Minifying takes the comments away that keep bundlers from looking for Node's module.
const code = await readFile(root + "dist/index.js", "utf8");
const marked = code.replace('import(["node"', 'import(/* webpackIgnore: true *//* @vite-ignore */["node"');
if (marked === code) throw new Error("the import of Node's module is not where it is expected");
await writeFile(root + "dist/index.js", marked);
await build({ ...options, entryPoints: ["src/mem0.ts"], outfile: "dist/mem0.js" });
execFileSync(process.execPath, [root + "node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--emitDeclarationOnly"], {
  cwd: root,
  stdio: "inherit",
});
