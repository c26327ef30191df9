// What is published: its size, that it installs into an empty folder and does there
// what the README says, that its types hold, and that a browser can run it.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { cp, mkdtemp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { Server } from "./server.mjs";

const root = fileURLToPath(new URL("../", import.meta.url));
const blocks = [...(await readFile(root + "README.md", "utf8")).matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, text]) => ({ language, text }));
const run = promisify(execFile);

let folder;
let server;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "orgmem-ts-"));
  // --ignore-scripts: npm test has built, and another test may be reading dist.
  const packed = JSON.parse(execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { cwd: root }));
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }));
  const [{ filename }] = Object.values(packed);
  // --offline: installing it needs nothing else.
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "./" + filename], { cwd: folder });
  server = await Server.start();
});
after(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});
const installed = (name) => readFile(join(folder, "node_modules/orgmem", name), "utf8");

test("the package has its code in under 20 KB gzipped, and depends on nothing", async () => {
  const sizes = {};
  for (const name of ["dist/index.js", "dist/mem0.js"]) sizes[name] = gzipSync(await installed(name), { level: 9 }).length;
  const total = Object.values(sizes).reduce((a, b) => a + b);
  console.log("gzipped:", JSON.stringify(sizes));
  assert.ok(total > 5_000 && total < 20 * 1024, String(total));
  const { dependencies, peerDependencies, license, version } = JSON.parse(await installed("package.json"));
  assert.deepEqual([dependencies, peerDependencies, license, version], [undefined, undefined, "Apache-2.0", "0.1.0"]);
  assert.match(await installed("LICENSE"), /Apache License/);
});

test("the README's first lines find what they add", async () => {
  assert.equal(blocks[0].language, "js");
  assert.equal(blocks[0].text.trim().split("\n").length, 4, "the import, and three lines");
  await writeFile(join(folder, "first.mjs"), blocks[0].text);
  const { stdout } = await run(process.execPath, ["first.mjs"], {
    cwd: folder,
    env: { PATH: process.env.PATH, ORGMEM_BASE_URL: server.baseUrl, ORGMEM_API_KEY: server.quickstartKey },
  });
  assert.equal(stdout, "Mrs Okafor serviced the boiler in May.\n");
});

test("the README's other lines, and a strict program, hold against the types", async () => {
  await mkdir(join(folder, "types"));
  const free = {
    memory: 'declare const memory: import("orgmem").Orgmem;',
    apiKey: "declare const apiKey: string;",
    rawBody: "declare const rawBody: Uint8Array;",
    request: 'declare const request: { headers: Record<"x-svc-signature", string | undefined> };',
    readAgain: "declare function readAgain(since: string): Promise<void>;",
    process: 'declare const process: { env: Record<"WEBHOOK_SECRET", string> };',
    console: "declare const console: { log(...said: unknown[]): void };",
  };
  let n = 0;
  for (const { text } of blocks.slice(1)) {
    const declared = Object.entries(free).filter(([name]) => new RegExp(`\\b${name}\\b`).test(text) && !text.includes(`const ${name} =`));
    const own = text.includes("new Orgmem(") && !text.includes("import ") ? 'import { Orgmem } from "orgmem";\n' : "";
    await writeFile(join(folder, `types/readme${n++}.mts`), `${declared.map(([, line]) => line).join("\n")}\n${own}${text}\nexport {};\n`);
  }
  assert.ok(n >= 6);
  await writeFile(
    join(folder, "types/strict.mts"),
    `import { Orgmem, ApiError, type Accepted, type Job, type Hit, type StreamEvent } from "orgmem";
const memory = new Orgmem({ apiKey: "k" });
const accepted: Accepted = await memory.add("x");
const job: Job = await memory.add(["x", { content: "y" }], { wait: true });
const hits: Hit[] = (await memory.search("x", { filters: { kind: "document" } })).results;
for await (const it of memory.events()) if (it.kind === "event") { const event: StreamEvent = it; void event; }
try { await memory.get("x"); } catch (error) { if (error instanceof ApiError) { const code: string = error.code; void code; } }
void [accepted, job, hits];
// @ts-expect-error an unknown mode
await memory.search("x", { mode: "fuzzy" });
// @ts-expect-error a field that the service would refuse
await memory.add({ content: "x", colour: "red" });
// @ts-expect-error an accepted job has no result yet
(await memory.add("x")).result;
`,
  );
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: { strict: true, skipDefaultLibCheck: true, exactOptionalPropertyTypes: true, noEmit: true, target: "ES2022", module: "NodeNext", lib: ["ES2022", "DOM", "DOM.AsyncIterable"], types: [] },
      include: ["types"],
    }),
  );
  await run(process.execPath, [root + "node_modules/typescript/bin/tsc", "-p", folder]).catch((error) => assert.fail(error.stdout));
  // And with Node's own types instead of the DOM's.
  await cp(root + "node_modules/@types/node", join(folder, "node_modules/@types/node"), { recursive: true });
  await cp(root + "node_modules/undici-types", join(folder, "node_modules/undici-types"), { recursive: true });
  await writeFile(
    join(folder, "tsconfig.node.json"),
    JSON.stringify({
      compilerOptions: { strict: true, skipDefaultLibCheck: true, noEmit: true, target: "ES2022", module: "NodeNext", lib: ["ES2023"], types: ["node"] },
      include: ["types/strict.mts"],
    }),
  );
  await run(process.execPath, [root + "node_modules/typescript/bin/tsc", "-p", join(folder, "tsconfig.node.json")]).catch((error) => assert.fail(error.stdout));
});

test("a bundle for browsers runs with what a page has, and nothing of Node", async () => {
  await writeFile(
    join(folder, "page.js"),
    `import { Orgmem, verifyWebhook } from "orgmem";
import { Memory } from "orgmem/mem0";
run = async (baseUrl, apiKey) => {
  const memory = new Orgmem({ baseUrl, apiKey });
  await memory.add("The lighthouse is painted every spring.", { wait: true });
  const progress = [];
  const { jobId } = await memory.imports.upload(new Blob(["The harbour freezes in January."]), { filename: "a.txt", onProgress: (p) => progress.push(p.sent) });
  await memory.jobs.wait(jobId);
  const { exportId } = await memory.exports.create();
  await memory.exports.wait(exportId);
  const text = await new Response((await memory.exports.download(exportId)).stream).text();
  let path = "";
  try { await memory.imports.upload("/etc/hostname"); } catch (error) { path = error.message; }
  const event = await verifyWebhook('{"id":"1"}', "t=1700000000,v1=c7ac13b57a8d16147c9757c695353f4addfb92d54e2585d0ada5784333af2450", "whsec_dGVzdA==", { now: () => 1.7e12 });
  const mem0 = await new Memory(memory).add("I sail.", { userId: "ann" });
  let opened = false;
  const end = new AbortController();
  await memory.events({ signal: end.signal, onOpen: () => { opened = true; end.abort(); } }).next().catch(() => {});
  return JSON.stringify({ found: (await memory.search("painting a tower by the sea")).results[0].chunk, progress, exported: text.includes("lighthouse"), path, event, mem0: mem0.results.length, opened });
};
`,
  );
  const { outputFiles } = await build({ entryPoints: [join(folder, "page.js")], bundle: true, platform: "browser", format: "iife", write: false, logLevel: "error" });
  // A page's globals: none of them is process, Buffer or require.
  const page = { AbortController, AbortSignal, Blob, File, Headers, ReadableStream, Request, Response, TextDecoder, TextEncoder, URL, clearTimeout, crypto, fetch, setTimeout, Uint8Array, run: undefined };
  page.globalThis = page;
  vm.createContext(page);
  vm.runInContext(outputFiles[0].text, page);
  const said = JSON.parse(await page.run(server.baseUrl, await server.key()));
  assert.deepEqual({ ...said, path: undefined }, {
    found: "The lighthouse is painted every spring.", progress: [0, 31], exported: true, path: undefined, event: { id: "1" }, mem0: 1, opened: true,
  });
  assert.match(said.path, /in Node the path/);
});
