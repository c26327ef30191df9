// What every test begins with: a service of the worker's own, from the built binary, and a page that is signed in.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { test as plain, expect, type Page } from "@playwright/test";
import { Orgmem } from "orgmem";

const binary = process.env["ORGMEM_TEST_BINARY"] ?? fileURLToPath(new URL("../../bin/orgmem", import.meta.url));

/** Where deliveries of webhooks arrive: an address on loopback that the service of the tests may call. */
export interface Receiver {
  url: string;
  deliveries: { body: string; signature: string }[];
  /** What it answers; 204 at first, which has no body. */
  status: number;
  answer: string;
  /** For the service's --egress-ca-file. */
  certificate: string;
  port: number;
  stop(): Promise<void>;
}

async function startReceiver(folder: string): Promise<Receiver> {
  const certificate = path.join(folder, "receiver.pem");
  // Makes the certificate, and ends where it finds no service.
  await promisify(execFile)(binary, ["webhook", "listen", "--certificate", certificate, "--listen", "127.0.0.1:0", "--base", "http://127.0.0.1:9"], {
    env: { ...process.env, ORGMEM_API_KEY: "svc_prod_x" },
  }).catch(() => undefined);
  const pem = await readFile(certificate);
  const server = createServer({ cert: pem, key: pem }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    receiver.deliveries.push({ body: Buffer.concat(chunks).toString(), signature: String(request.headers["x-svc-signature"]) });
    response.writeHead(receiver.status).end(receiver.answer);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  const receiver: Receiver = { url: `https://localhost:${port}/hook`, deliveries: [], status: 204, answer: "", certificate, port, stop };
  return receiver;
}

export interface Service {
  /** Of the public interface. */
  url: string;
  key: string;
  /** Of a personal organization: the first start's. */
  org: string;
  /** Signs in once: spent by the first test that goes to it. */
  consoleUrl: string;
  operatorUrl: string;
  operatorToken: string;
  /** The folder that it keeps its data in. */
  data: string;
  /** A client that has the key. */
  memory: Orgmem;
  receiver: Receiver;
  stop(): Promise<void>;
}

/** What a service says in its first line. */
interface Told {
  baseUrl: string;
  operatorUrl: string;
  consoleUrl: string;
  apiKey: string;
  orgId: string;
}

/** A process of the binary that serves. */
export interface Serving {
  told: Told;
  operatorToken: string;
  stop(): Promise<void>;
}

/** Serves a data folder on free ports of loopback, until it is stopped. */
export async function serve(data: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Serving> {
  const child = spawn(binary, ["serve", "--json", "--data", data, "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  const said: string[] = [];
  child.stderr.on("data", (chunk: Buffer) => {
    said.push(chunk.toString());
    if (said.length > 200) said.shift();
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const first = await Promise.race([
    new Promise<string>((resolve) => createInterface({ input: child.stdout }).once("line", resolve)),
    ended.then(() => {
      throw new Error(`the service did not start:\n${said.join("")}`);
    }),
  ]);
  return {
    told: JSON.parse(first) as Told,
    operatorToken: (await readFile(path.join(data, "operator.token"), "utf8")).trim(),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** Runs a command of the binary to its end, and returns what it printed. */
export async function command(...args: string[]): Promise<string> {
  return (await promisify(execFile)(binary, args)).stdout;
}

/** A folder of its own, and how to delete it. */
export async function temporary(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), "orgmem-console-"));
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Starts a service on free ports, with an empty memory. */
export async function startService(): Promise<Service> {
  const { folder, remove } = await temporary();
  const data = path.join(folder, "data");
  const receiver = await startReceiver(folder);
  const { told, operatorToken, stop } = await serve(data, ["--quickstart"], {
    ORGMEM_EGRESS_ALLOW_CIDRS: "127.0.0.0/8,::1/128",
    ORGMEM_EGRESS_ALLOW_PORTS: String(receiver.port),
    ORGMEM_EGRESS_CA_FILE: receiver.certificate,
  });
  return {
    url: told.baseUrl,
    key: told.apiKey,
    org: told.orgId,
    consoleUrl: told.consoleUrl,
    operatorUrl: told.operatorUrl,
    operatorToken,
    data,
    memory: new Orgmem({ baseUrl: told.baseUrl, apiKey: told.apiKey }),
    receiver,
    stop: async () => {
      await stop();
      await receiver.stop();
      await remove();
    },
  };
}

/** The same service, asked by an organization whose plan has no rate limit: many loads one after the other wait for no turn of theirs. */
export async function unhurried(service: Service): Promise<Service> {
  const made = await command("org", "create", "--json", "--data", service.data, "--operator", service.operatorUrl, "--name", "Unhurried", "--owner-email", "unhurried@example.com", "--personal", "--plan", "unlimited");
  const { apiKey, orgId } = JSON.parse(made) as { apiKey: string; orgId: string };
  return { ...service, key: apiKey, org: orgId, memory: new Orgmem({ baseUrl: service.url, apiKey }) };
}

/** What a page did that no page of ours may do. */
export interface Watch {
  /** Console errors and exceptions, and requests to other hosts. */
  complaints: string[];
}

/** Notes console errors and requests to anywhere but the service. */
export function watch(page: Page, ...allowed: string[]): Watch {
  const complaints: string[] = [];
  page.on("console", (message) => {
    // A refused request is an error of the browser's own log, and is shown to the person by the view.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith("blob:") && !allowed.some((origin) => url.startsWith(origin))) complaints.push(`request: ${url}`);
  });
  return { complaints };
}

interface Fixtures {
  /** Turned off by a test that begins signed out. */
  signedIn: boolean;
  watched: Watch;
}

export const test = plain.extend<Fixtures, { service: Service }>({
  service: [
    // eslint-disable-next-line no-empty-pattern
    async ({}, use) => {
      const service = await startService();
      await use(service);
      await service.stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],
  signedIn: [true, { option: true }],
  watched: [
    async ({ page, service }, use) => {
      const watched = watch(page, service.url, service.operatorUrl);
      await use(watched);
      expect(watched.complaints, "what the page complained of").toEqual([]);
    },
    { auto: true },
  ],
  page: async ({ page, service, signedIn }, use) => {
    if (signedIn) {
      await page.addInitScript((key) => sessionStorage.setItem("orgmem.key", key), service.key);
      await page.goto(service.url + "/console/");
    }
    await use(page);
  },
});
export { expect };
