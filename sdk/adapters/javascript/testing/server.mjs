// A service of its own for a test: the built binary on a free port of the loopback, with a data folder that goes when
// the test does.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const binary = process.env.ORGMEM_TEST_BINARY ?? fileURLToPath(new URL("../../../../bin/orgmem", import.meta.url));
/** How long a service may take to come up. */
const patience = 60_000;

/**
 * Starts a service and makes an organization in it.
 *
 * @param {{ plan?: string }} [options] unlimited, unless it is the limits that are tested
 * @returns {Promise<{ baseUrl: string, apiKey: string, stop: () => Promise<void> }>}
 */
export async function startServer({ plan = "unlimited" } = {}) {
  const data = await mkdtemp(join(tmpdir(), "orgmem-adapters-"));
  const child = spawn(
    binary,
    ["serve", "--quickstart", "--data", data, "--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0"],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const gone = once(child, "exit");
  const stop = async () => {
    child.kill();
    await gone;
    await rm(data, { recursive: true, force: true });
  };
  try {
    const addresses = await addressesOf(child);
    const made = await promisify(execFile)(binary, [
      "--json", "--data", data, "--operator", addresses.operator, "org", "create", "--personal", "--plan", plan,
      "--name", "Adapters", "--owner-email", "owner@example.org",
    ]);
    const apiKey = JSON.stringify(JSON.parse(made.stdout)).match(/svc_prod_[A-Za-z0-9_-]{43}/)?.[0];
    if (!apiKey) throw new Error("The organization has no key.");
    return { baseUrl: addresses.public, apiKey, stop };
  } catch (err) {
    await stop();
    throw err;
  }
}

/** Reads where the service listens from what it prints. */
async function addressesOf(child) {
  const said = [];
  const timer = setTimeout(() => child.kill(), patience);
  const found = {};
  try {
    for (const stream of [child.stderr]) stream.on("data", (text) => said.push(text));
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line + "\n");
      const [, name, address] = /^\s*(Address|Operator)\s+(\S+)/.exec(line) ?? [];
      if (name === "Address") found.public = address;
      if (name === "Operator") found.operator = address;
      if (found.public && found.operator) break;
    }
  } finally {
    clearTimeout(timer);
  }
  child.stdout.resume();
  if (!found.operator) throw new Error(`The service did not come up:\n${said.join("")}`);
  return found;
}

/** The first fenced block of a package's README. */
export async function firstBlock(readme) {
  const text = await readFile(readme, "utf8");
  const block = /^```[a-z]*\n([\s\S]*?)^```/m.exec(text)?.[1];
  if (!block) throw new Error(`${readme} has no block.`);
  return block;
}

/** Runs a program of a package, in its folder, against a service, and gives what it prints. */
export async function runProgram(file, { baseUrl, apiKey }) {
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    env: { ...process.env, ORGMEM_BASE_URL: baseUrl, ORGMEM_API_KEY: apiKey },
    timeout: patience,
  });
  return stdout;
}
