// Starts the service for a test, on free ports of loopback and with a folder of its own.
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";

export const binary = process.env.ORGMEM_TEST_BINARY ?? fileURLToPath(new URL("../../../bin/orgmem", import.meta.url));

export class Server {
  #child;
  #data;

  /** @param {{ args?: string[], env?: Record<string, string> }} options */
  static async start(options = {}) {
    const server = new Server();
    server.options = options;
    server.#data = await mkdtemp(join(tmpdir(), "orgmem-ts-"));
    await server.#spawn("127.0.0.1:0");
    return server;
  }

  async #spawn(listen) {
    const { args = [], env = {} } = this.options;
    const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("ORGMEM_")));
    this.#child = spawn(
      binary,
      ["serve", "--json", "--quickstart", "--data", join(this.#data, "data"), "--listen", listen, "--operator-listen", "127.0.0.1:0", ...args],
      { env: { ...clean, ...env }, stdio: ["ignore", "pipe", "pipe"] },
    );
    let log = "";
    this.#child.stderr.on("data", (chunk) => (log = (log + chunk).slice(-10_000)));
    let greeting = "";
    await new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", (code) => reject(new Error(`orgmem ended with ${code} before it was ready\n${log}`)));
      this.#child.stdout.on("data", (chunk) => {
        greeting += chunk;
        if (greeting.includes("\n")) resolve();
      });
    });
    const said = JSON.parse(greeting);
    this.baseUrl = said.baseUrl;
    this.operatorUrl = said.operatorUrl;
    this.quickstartKey ??= said.apiKey; // said once, on the empty folder
  }

  /** A key of a fresh organization without rate limits. */
  async key() {
    const { stdout } = await promisify(execFile)(binary, ["org", "create", "--json", "--name", "Test", "--owner-email", "owner@example.com", "--personal", "--plan", "unlimited", "--data", join(this.#data, "data"), "--operator", this.operatorUrl]);
    return JSON.parse(stdout).apiKey;
  }

  /** Ends the process: by default as a crash does. */
  async kill(signal = "SIGKILL") {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill(signal);
    await ended;
  }

  /** Starts it again where it was, with what it has on disk. */
  async again() {
    await this.#spawn(new URL(this.baseUrl).host);
  }

  async stop() {
    await this.kill();
    await rm(this.#data, { recursive: true, force: true });
  }
}

/** Asks until it is so; the bound is far above what it takes. */
export async function until(what, ask) {
  for (let i = 0; i < 1200; i++) {
    const found = await ask();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`not so after a minute: ${what}`);
}
