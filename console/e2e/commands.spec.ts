// The commands that the console prints, as a visitor copies them, are run: what each asks and what it prints must be what
// the service was asked by hand. curl by a shell, the others with the clients of this repository.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, request as ask, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { build } from "vite";
import { commands, type Call } from "../src/lib/commands";
import { settled } from "./addresses";
import { expect, temporary, test as shared, unhurried, type Service } from "./service";

// A service of its own: other walks count on their keys and subjects being the only ones. And nobody is put off there:
// each command is asked three times over, more often than a key may search in a minute.
const test = shared.extend<object, { apart: string; service: Service }>({
  apart: ["commands", { scope: "worker", auto: true }],
  service: [async ({ service }, use) => use(await unhurried(service)), { scope: "worker", timeout: 60_000 }],
});

const root = fileURLToPath(new URL("../../", import.meta.url));
const subject = `O'Hara "ü" \\ 100% 🚀`;
const query = `it's "the \\ boiler"\n$HOME \`id\` %s — wer wartet die Ölheizung? 熱 🚀 \u200f\ufeff\u2028 !x`;
const note = `said "no" \\ twice\nand 'went' $HOME`;
// As JSON, since a name like the first means something else where an object is written out.
const fields = JSON.stringify({ page: 3, note, draft: false, "it's": "é" }).replace("{", '{"__proto__":"x",');
const languages = ["curl", "TypeScript", "Python", "Go"] as const;
type Language = (typeof languages)[number];

interface Asked {
  method: string;
  path: string;
  subject: string;
  body: unknown;
}

/** A view that prints commands, and what they are to ask. */
interface Printed {
  name: string;
  view?: string;
  /** How the commands are brought to sight. */
  show?(page: Page): Promise<void>;
  asks: Asked;
  /** Why the service refuses it; the clients say so and fail. */
  refused?: string;
}

/** What stands between the visitor and the service, notes what it was asked, and passes it on. */
interface Between {
  url: string;
  asked: Asked[];
  stop(): Promise<void>;
}

async function between(service: Service): Promise<Between> {
  const asked: Asked[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const { method = "", url = "", headers } = request;
      const noted = { method, path: decodeURIComponent(url), subject: decodeURIComponent(String(headers["x-svc-subject"] ?? "")), body: body.length ? JSON.parse(body.toString()) : undefined };
      const on = ask(service.url + url, { method, headers }, (answer) => {
        // What the service puts off, the clients ask again by themselves.
        if (answer.statusCode !== 429 && answer.statusCode !== 503) asked.push(noted);
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      on.on("error", () => response.destroy());
      response.on("close", () => on.destroy());
      on.end(body);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, stop };
}

/** What a program came to. */
interface Ended {
  out: string;
  said: string;
  failed: boolean;
}

async function run(command: string, args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): Promise<Ended> {
  const env = { ...process.env, ...options.env };
  delete env["ORGMEM_BASE_URL"]; // the address is in the command
  try {
    const { stdout, stderr } = await promisify(execFile)(command, args, { ...(options.cwd ? { cwd: options.cwd } : {}), env, maxBuffer: 16 << 20, timeout: 120_000 });
    return { out: stdout, said: stderr, failed: false };
  } catch (error) {
    const { stdout = "", stderr = "", message } = error as { stdout?: string; stderr?: string; message: string };
    return { out: stdout, said: stderr || message, failed: true };
  }
}

const works = async (command: string, ...args: string[]): Promise<boolean> => !(await run(command, args, { env: { PYTHONPATH: python } })).failed;

const python = path.join(root, "sdk/python/src");
const golang = { GOFLAGS: "-mod=mod", GOPROXY: "off", GOTOOLCHAIN: "local", GOWORK: "off", CGO_ENABLED: "0" };

/**
 * An answer without what languages write differently: fields without a value are null, empty or not there at all, and
 * times have zeros at their end or not.
 */
function plain(value: unknown): unknown {
  if (typeof value === "string") {
    if (value === "0001-01-01T00:00:00Z" || value === "") return undefined;
    return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? new Date(value).toISOString() : value;
  }
  if (Array.isArray(value)) return value.length ? value.map(plain) : undefined;
  if (typeof value !== "object" || value === null) return value ?? undefined;
  const kept = Object.entries(value).flatMap(([k, v]): [string, unknown][] => {
    const one = plain(v);
    return one === undefined ? [] : [[k, one]];
  });
  return kept.length ? Object.fromEntries(kept) : undefined;
}

let middle: Between;
let folder: string;
let remove: () => Promise<void>;
let cases: Printed[];
/** What a visitor copied, by language and view. */
let copied: Map<string, string>;

async function copyAll(page: Page, printed: Printed): Promise<void> {
  if (!printed.view) return;
  await page.goto(`${middle.url}/console${printed.view}`);
  await settled(page);
  await printed.show?.(page);
  for (const language of languages) {
    await page.getByRole("group", { name: "Language" }).getByText(language, { exact: true }).click();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await expect(page.getByText("Copied.").first()).toBeVisible();
    const text = await page.evaluate(async () => await navigator.clipboard.readText());
    expect(text, "what is copied is what is shown").toBe(await page.getByLabel(`The same request in ${language}`).textContent());
    copied.set(language + printed.name, text);
  }
}

test.beforeAll(async ({ service, browser }) => {
  test.setTimeout(120_000);
  ({ folder, remove } = await temporary());
  middle = await between(service);
  copied = new Map();
  await service.memory.subjects.put(subject);
  const memory = service.memory.subject(subject);
  await memory.add(
    [
      { externalId: "a", title: `"Heating" \\ 'oil'`, content: "Mrs Okafor serviced the boiler in May, and said that it's good for another year.", metadata: JSON.parse(fields) as Record<string, string> },
      { externalId: "b", title: "Ölheizung", content: "Die Ölheizung wird von Herrn Weiß gewartet.\nJedes Jahr im Mai." },
      { externalId: "c", title: "Boiler room", content: "The boiler room is locked at night. The key is with the caretaker.", metadata: { note: "another" } },
    ],
    { wait: true },
  );
  await service.memory.add("The boiler of the office was replaced in 2024 by Lindqvist & Sons.", { wait: true });
  const node = (await memory.find("a"))!.id;
  const day = (of: string, plus = 0): number => new Date(Number(of.slice(0, 4)), Number(of.slice(5, 7)) - 1, Number(of.slice(8)) + plus).getTime();
  const opened = async (page: Page): Promise<void> => await page.getByText("The same as a command").click();
  const search = (given: Record<string, string>): string => "/search?" + String(new URLSearchParams({ q: query, ...given }));
  cases = [
    { name: "search", view: search({ as: subject }), show: opened, asks: { method: "POST", path: "/v1/search", subject, body: { query } } },
    {
      name: "filters",
      view: search({ as: subject, kind: "document", after: "2020-02-29", before: "2099-12-30", asof: "2099-12-31", meta: fields, k: "25", mode: "keyword", old: "1" }),
      show: opened,
      asks: {
        method: "POST",
        path: "/v1/search",
        subject,
        body: {
          query,
          topK: 25,
          mode: "keyword",
          includeSuperseded: true,
          filters: {
            kind: "document",
            createdAfter: new Date(day("2020-02-29")).toISOString(),
            createdBefore: new Date(day("2099-12-30", 1)).toISOString(),
            asOf: new Date(day("2099-12-31", 1) - 1).toISOString(),
            metadata: JSON.parse(fields) as unknown,
          },
        },
      },
    },
    { name: "everybody", view: search({ scope: "org" }), show: opened, asks: { method: "POST", path: "/v1/search", subject: "", body: { query, scope: "org" } } },
    { name: "answer", view: search({ tab: "answer", words: "40" }), show: opened, asks: { method: "POST", path: "/v1/brain/answer", subject: "", body: { query, maxWords: 40 } } },
    { name: "retrieve", view: search({ as: subject, tab: "retrieve", hops: "3", k: "5" }), show: opened, asks: { method: "POST", path: "/v1/retrieve", subject, body: { query, topK: 5, maxHops: 3 } } },
    {
      name: "node",
      view: `/memory/nodes/${encodeURIComponent(node)}?as=${encodeURIComponent(subject)}`,
      show: async (page) => await page.getByRole("button", { name: "As a command" }).click(),
      asks: { method: "GET", path: `/v1/graph/nodes/${node}`, subject, body: undefined },
    },
    {
      name: "brain",
      view: "/brain?q=" + encodeURIComponent(query),
      show: async (page) => await page.getByText("Ask the brain by a command").click(),
      asks: { method: "POST", path: "/v1/brain/query", subject: "", body: { query, topK: 10 } },
      refused: "brain_not_trained",
    },
    { name: "insecure", asks: { method: "POST", path: "/v1/search", subject: "", body: { query, topK: 3 } } },
  ];
  // An address of loopback that does not look like one: the clients are to be told that plain HTTP will do. Of such an
  // address a browser lets no page copy, so the commands are taken from where the page has them.
  const elsewhere = middle.url.replace("127.0.0.1", "[::ffff:127.0.0.1]");
  const call: Call = { method: "POST", path: "/v1/search", body: { query, topK: 3 }, verb: "search", argument: query, options: { topK: 3 } };
  for (const { name, text } of commands(call, new URL(elsewhere).origin)) copied.set(name + "insecure", text);
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, permissions: ["clipboard-read", "clipboard-write"] });
  await context.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), service.key);
  const page = await context.newPage();
  for (const printed of cases) await copyAll(page, printed);
  await context.close();
});

test.afterAll(async () => {
  await middle.stop();
  await remove();
});

/** What the service answers to who asks it by hand. */
async function answered(service: Service, { method, path: at, subject, body }: Asked): Promise<unknown> {
  const answer = await fetch(service.url + at, {
    method,
    headers: { "X-Svc-API-Key": service.key, ...(subject ? { "X-Svc-Subject": encodeURIComponent(subject) } : {}), ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return await answer.json();
}

const tries = 5; // a memory that thinks a text over meanwhile answers otherwise afterwards

async function check(service: Service, language: Language, carryOut: (printed: Printed, text: string) => Promise<Ended>): Promise<void> {
  for (const printed of cases) {
    const what = `${language}, ${printed.name}`;
    for (let left = tries; ; left--) {
      const before = await answered(service, printed.asks);
      middle.asked.length = 0;
      const ended = await carryOut(printed, copied.get(language + printed.name)!);
      const after = await answered(service, printed.asks);
      expect(middle.asked.map(plain), `${what}: what it asked, and it said ${ended.said}`).toEqual([plain(printed.asks)]);
      if (printed.refused && language !== "curl") {
        expect(ended.failed, `${what} fails`).toBe(true);
        expect(ended.said, what).toContain(printed.refused);
        break;
      }
      expect(ended.failed, `${what} said ${ended.said}`).toBe(false);
      const [one, other, printedOut] = [before, after, JSON.parse(ended.out) as unknown].map(comparable);
      if (one !== other && left > 1) continue;
      expect(JSON.parse(printedOut!), `${what}: what it printed`).toEqual(JSON.parse(other!));
      if (printed.name === "filters") expect((JSON.parse(ended.out) as { results: unknown[] }).results, "the filters let one through").toHaveLength(1);
      break;
    }
  }
}

/**
 * An answer without what is not the service's to say twice alike: the id of a request, the ETag, which is a header that
 * clients add, and what is false, which one client writes and the others do not.
 */
const comparable = (answer: unknown): string =>
  JSON.stringify(plain({ ...(answer as object), requestId: undefined, etag: undefined }), (_, v: unknown) => (v === false ? undefined : v));

test("what is printed for curl runs, and asks the same", async ({ service }) => {
  test.skip(!(await works("curl", "--version")), "there is no curl on this machine");
  const env = { ORGMEM_API_KEY: service.key };
  await check(service, "curl", (_, text) => run("sh", ["-c", text], { env }));
});

test("what is printed as TypeScript compiles, runs, and asks the same", async ({ service }) => {
  test.setTimeout(120_000);
  const cwd = path.join(folder, "typescript");
  const client = path.join(cwd, "node_modules/orgmem");
  const source = path.join(root, "sdk/typescript/src/index.ts");
  // As its package has it: one module. The build of the package itself needs what only the tests of sdk install.
  await build({ configFile: false, logLevel: "error", build: { lib: { entry: source, formats: ["es"], fileName: "index" }, outDir: client, target: "es2022" } });
  await writeFile(path.join(client, "package.json"), JSON.stringify({ name: "orgmem", type: "module", exports: "./index.js" }));
  for (const { name } of cases) await writeFile(path.join(cwd, name + ".mts"), copied.get("TypeScript" + name)!);
  const own = path.join(root, "console/node_modules");
  const compilerOptions = {
    ...{ target: "ES2022", module: "ESNext", moduleResolution: "bundler", lib: ["ES2022", "DOM", "DOM.Iterable", "DOM.AsyncIterable"], types: ["node"] },
    ...{ typeRoots: [path.join(own, "@types")], paths: { orgmem: [source] }, strict: true, noUnusedLocals: true, skipLibCheck: true, outDir: "." },
  };
  await writeFile(path.join(cwd, "tsconfig.json"), JSON.stringify({ compilerOptions, files: cases.map(({ name }) => name + ".mts") }));
  const compiled = await run(process.execPath, [path.join(own, "typescript/bin/tsc"), "--rootDir", "/", "--noEmit", "-p", cwd]);
  expect(compiled.out, "what the compiler says").toBe("");
  await check(service, "TypeScript", async ({ name }, text) => {
    await writeFile(path.join(cwd, name + ".mjs"), text); // it has no type in it: Node runs it as it is
    return await run(process.execPath, [name + ".mjs"], { cwd, env: { ORGMEM_API_KEY: service.key } });
  });
});

test("what is printed as Python runs, and asks the same", async ({ service }) => {
  test.setTimeout(120_000);
  const found: string[] = [];
  for (const one of [path.join(root, "sdk/python/.venv/bin/python"), "python3"]) if (await works(one, "-c", "import orgmem")) found.push(one);
  test.skip(!found[0], "there is no Python that has httpx and pydantic: make test-sdk installs them");
  const env = { PYTHONPATH: python, ORGMEM_API_KEY: service.key };
  await check(service, "Python", async ({ name }, text) => {
    await writeFile(path.join(folder, name + ".py"), text);
    return await run(found[0]!, [path.join(folder, name + ".py")], { env });
  });
});

test("what is printed as Go compiles, runs, and asks the same", async ({ service }) => {
  test.setTimeout(300_000);
  test.skip(!(await works("go", "version")), "there is no Go on this machine");
  const cwd = path.join(folder, "go");
  await mkdir(cwd);
  // As sdk/go/README.md says it: the module has no address, and is pointed at.
  await writeFile(path.join(cwd, "go.mod"), `module asked\n\ngo 1.24\n\nrequire orgmem/sdk/go v0.1.0\n\nreplace orgmem/sdk/go => ${path.join(root, "sdk/go")}\n`);
  for (const { name } of cases) {
    await mkdir(path.join(cwd, name));
    await writeFile(path.join(cwd, name, "main.go"), copied.get("Go" + name)!);
  }
  expect((await run("gofmt", ["-l", cwd])).out, "what is not formatted").toBe("");
  await check(service, "Go", ({ name }) => run("go", ["run", "./" + name], { cwd, env: { ...golang, ORGMEM_API_KEY: service.key } }));
});

test("what is ready to paste beside a new key and a new webhook runs", async ({ page, service }) => {
  for (const [at, make, title] of [
    ["/trust/keys", "Make a key", "Your new key"],
    ["/trust/sandbox", "Make a sandbox key", "Your new sandbox key"],
  ] as const) {
    await page.goto(service.url + "/console" + at);
    await page.getByRole("button", { name: make }).click();
    await page.getByRole("dialog").getByRole("textbox").first().fill("to paste");
    await page.getByRole("dialog").getByRole("button", { name: "Make it" }).click();
    const text = await page.getByRole("region", { name: title }).getByLabel("Command").textContent();
    const ended = await run("sh", ["-c", text!]);
    expect(ended.failed, ended.said).toBe(false);
    const answer = JSON.parse(ended.out) as Record<string, unknown>;
    if (at === "/trust/keys") expect((answer["org"] as { id: string }).id).toBe(service.org);
    else expect(answer["status"]).toBe("pending");
  }
  await page.goto(service.url + "/console/trust/webhooks");
  await page.getByRole("button", { name: "Make a webhook" }).click();
  await page.getByRole("dialog").getByLabel("Address").fill(service.receiver.url);
  await page.getByRole("dialog").getByRole("button", { name: "Make it" }).click();
  const text = await page.getByLabel("Command").textContent();
  const { out, said } = await run("sh", ["-c", text! + "\necho $ORGMEM_WEBHOOK_SECRET"]);
  expect(said).toBe("");
  expect(out).toMatch(/^whsec_/);
});
