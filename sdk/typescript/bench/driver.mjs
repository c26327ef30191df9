// What a benchmark starts to measure this client: it prints one JSON line.
//
//	ORGMEM_BASE_URL=… ORGMEM_API_KEY=… node bench/driver.mjs search N
//	… node bench/driver.mjs adds N CONCURRENCY
//	… node bench/driver.mjs events [FILE]
//
// It wants the built package (npm run build).
import { createWriteStream } from "node:fs";
import { once } from "node:events";
import { Orgmem } from "../dist/index.js";

const [what, ...args] = process.argv.slice(2);
const memory = new Orgmem();
const say = (value) => process.stdout.write(JSON.stringify(value) + "\n");
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

/** CPU time of this process for one call, in milliseconds. */
async function cost(n, call) {
  const before = process.cpuUsage();
  for (let i = 0; i < n; i++) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / n;
}

/** The client against a bare fetch with the same body, in rounds that alternate. */
async function search(n) {
  const query = "who looked after the heating?";
  const body = JSON.stringify({ query });
  const url = memory.baseUrl + "/v1/search";
  const headers = { "X-Svc-API-Key": process.env.ORGMEM_API_KEY, "Content-Type": "application/json" };
  const bare = async () => (await fetch(url, { method: "POST", headers, body })).json();
  const client = () => memory.search(query);
  await cost(50, bare); // what the runtime compiles at first is neither's cost
  await cost(50, client);
  const rounds = { client: [], bare: [] };
  for (let round = 0; round < 11; round++) {
    const order = round % 2 ? ["client", "bare"] : ["bare", "client"];
    for (const kind of order) rounds[kind].push(await cost(n, kind === "client" ? client : bare));
  }
  // The difference within a round: what slows the machine slows both halves of it.
  const added = median(rounds.client.map((ms, i) => ms - rounds.bare[i]));
  say({ client_cpu_ms: median(rounds.client), bare_cpu_ms: median(rounds.bare), added_ms: added });
}

/** Adds until each is acknowledged, however often the service goes away meanwhile. */
async function adds(n, concurrency) {
  const errors = new Map();
  let next = 0;
  let acknowledged = 0;
  let failed = 0;
  const worker = async () => {
    for (let i; (i = next++) < n; ) {
      try {
        await memory.add(`Entry ${i} of the benchmark: shelf ${i % 97} holds box ${i}.`, {
          externalId: `bench-${i}`,
          maxRetries: Infinity,
          retryBudget: Infinity,
        });
        acknowledged++;
      } catch (error) {
        failed++;
        errors.set(error.message, (errors.get(error.message) ?? 0) + 1);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  say({ acknowledged, failed, errors: Object.fromEntries([...errors].slice(0, 20)) });
}

/** Reads events until standard input is closed. */
async function events(file) {
  const end = new AbortController();
  process.stdin.resume().on("end", () => end.abort()).on("close", () => end.abort());
  const out = file && createWriteStream(file);
  const ids = [];
  const gaps = [];
  let ready = false;
  const onOpen = () => {
    if (!ready) say({ ready: true });
    ready = true;
  };
  try {
    for await (const { kind, id, since, why } of memory.events({ signal: end.signal, onOpen })) {
      if (kind === "gap") gaps.push({ since, why });
      else {
        if (out) out.write(id + "\n");
        ids.push(id);
      }
    }
  } catch (error) {
    if (!end.signal.aborted) throw error;
  }
  if (out) {
    out.end();
    await once(out, "finish");
  }
  say({ ...(out ? { count: ids.length } : { events: ids }), gaps });
}

const run = { search: () => search(Number(args[0])), adds: () => adds(Number(args[0]), Number(args[1])), events: () => events(args[0]) }[what];
if (!run) {
  console.error("driver.mjs search N | adds N CONCURRENCY | events [FILE]");
  process.exit(2);
}
await run();
process.exit(0); // standard input is open still
