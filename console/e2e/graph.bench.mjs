// How fluid the graph is with as much as it takes: 10,000 nodes and 50,000 edges, made up, answered by a stand-in for
// the service that this script is. Builds the console into a folder of its own first, and serves it with its policy.
//
//   node e2e/graph.bench.mjs            (CHROMIUM=… for another browser; NODES, EDGES for another size)
//
// DIST=folder takes files that were built before; LOADS is how often the time until the first picture is taken. The other
// figures are of the frames while the mouse drags the picture about: times between calls of requestAnimationFrame.
// It ends with 1 where a bound is missed, and names which.
import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { cpus, loadavg, tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import { build } from "vite";

const nodeCount = Number(process.env.NODES ?? 10_000);
const edgeCount = Number(process.env.EDGES ?? 50_000);
const loads = Number(process.env.LOADS ?? 3);
const domainCount = 14;
// What is aimed at: the first picture's median time after its data, and how many of the frames come how soon.
const afterDataBound = 200; // ms
const frameBound = 33; // ms
const framesWithinBound = 95; // %
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** mulberry32: the same graph each time. */
function random(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function madeUp() {
  const next = random(7);
  const at = (days) => new Date(Date.UTC(2024, 0, 1 + days)).toISOString();
  const domains = Array.from({ length: domainCount }, (_, i) => ({ id: `d${i}`, label: `Domain ${i}`, keywords: [], topNodes: [], nodeCount: 0, edgeCount: 0, cohesion: 0.8, createdAt: at(0), updatedAt: at(0) }));
  const degree = new Uint32Array(nodeCount);
  // Domains of different sizes; hubs, since the square favours early nodes; nine of ten edges stay inside.
  const home = Array.from({ length: nodeCount }, () => Math.floor(next() ** 1.6 * domainCount));
  const members = domains.map((_, d) => home.flatMap((h, i) => (h === d ? [i] : [])));
  const edges = [];
  for (let i = 0; i < edgeCount; i++) {
    const a = Math.floor(next() * nodeCount);
    const inside = next() < 0.9 ? members[home[a]] : undefined;
    const b = inside ? inside[Math.floor(next() ** 2 * inside.length)] : Math.floor(next() * nodeCount);
    if (a === b) continue;
    degree[a]++;
    degree[b]++;
    edges.push({ id: `e${i}`, source: `n${a}`, target: `n${b}`, type: "mentions", weight: 0.3 + next() * 0.7, confidence: 1, origin: "ingest", evidence: [], note: null, status: "live", subject: null, tombstonedAt: null, createdAt: at(0), updatedAt: at(0), validFrom: at(a % 900), validTo: null });
  }
  const nodes = Array.from({ length: nodeCount }, (_, i) => ({
    id: `n${i}`, kind: i % 3 ? "entity" : "document", title: `Node number ${i}`, domainId: `d${home[i]}`, subject: null, authority: 0.5, confidence: 1, status: "live", supersededBy: null,
    source: { type: "ingest", jobId: null, externalId: null, externalIds: [] }, validFrom: at(i % 900), validTo: null, createdAt: at(0), updatedAt: at(0), tombstonedAt: null, restorableUntil: null, degree: degree[i], metadata: {},
  }));
  return { nodes, edges, domains };
}

const graph = madeUp();
const page = (all, url) => {
  const from = Number(url.searchParams.get("cursor") ?? 0);
  const data = all.slice(from, from + 100);
  const hasMore = from + 100 < all.length;
  return { data, hasMore, ...(hasMore ? { nextCursor: String(from + 100) } : {}) };
};
const answers = {
  "/v1/me": () => ({ org: { id: "o", displayName: "Bench", slug: "bench", settings: {} }, user: { id: "u" }, scopes: ["read", "write", "admin"], subjectDefault: "u", plan: "standard" }),
  "/v1/recall/graph": () => ({ nodes: graph.nodes.slice(0, 200), edges: [], domains: graph.domains, counts: { nodes: graph.nodes.length, edges: graph.edges.length, domains: domainCount } }),
  "/v1/graph/nodes": (url) => page(graph.nodes, url),
  "/v1/graph/edges": (url) => page(graph.edges, url),
  "/v1/graph/domains": (url) => page(graph.domains, url),
  "/v1/subjects": () => ({ data: [], hasMore: false }),
};
const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

const out = await mkdtemp(path.join(tmpdir(), "orgmem-graph-bench-"));
process.chdir(fileURLToPath(new URL("..", import.meta.url)));
if (process.env.DIST) await cp(process.env.DIST, out, { recursive: true });
else await build({ logLevel: "error", build: { outDir: out, emptyOutDir: true } });
const server = createServer(async (request, response) => {
  const url = new URL(request.url, "http://127.0.0.1");
  const answer = answers[url.pathname];
  if (answer) return response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(answer(url)));
  const name = url.pathname.replace(/^\/console/, "");
  const file = path.join(out, path.extname(name) ? path.normalize(name) : "index.html");
  try {
    response.writeHead(200, { "Content-Type": types[path.extname(file)] ?? "application/octet-stream", "Content-Security-Policy": policy }).end(await readFile(file));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--enable-unsafe-swiftshader"] });
try {
  const complaints = [];
  const open = async () => {
    const tab = await (await browser.newContext({ viewport: { width: 1280, height: 860 } })).newPage();
    tab.on("console", (m) => m.type() === "error" && complaints.push(m.text()));
    tab.on("pageerror", (e) => complaints.push(e.message));
    await tab.addInitScript(() => {
      sessionStorage.setItem("orgmem.key", "svc_bench");
      performance.setResourceTimingBufferSize(5_000); // 250 by default, and there are 600 pages
      // The first picture: the frame after the one in which the view stopped saying that it draws.
      new MutationObserver((_, observer) => {
        if (!document.querySelector("[role=application] canvas") || document.querySelector(".loading")) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => (window.firstPicture = performance.now())));
      }).observe(document, { subtree: true, childList: true });
    });
    await tab.goto(`${origin}/console/graph?all=1`);
    await tab.waitForFunction(() => window.firstPicture, undefined, { timeout: 120_000 });
    const fetched = await tab.evaluate(() => performance.getEntriesByType("resource").filter((e) => e.initiatorType === "fetch").map((e) => e.responseEnd));
    const at = await tab.evaluate(() => window.firstPicture);
    pictured.push(at - Math.max(...fetched.filter((end) => end <= at)));
    return tab;
  };
  const pictured = [];
  for (let i = 1; i < loads; i++) await (await open()).context().close();
  const began = Date.now();
  const tab = await open();
  const picture = tab.getByRole("application");
  const drawn = Date.now() - began;
  await tab.getByText("Arranging", { exact: true }).waitFor({ state: "detached", timeout: 300_000 });
  const arranged = Date.now() - began - drawn;
  const gl = await tab.evaluate(() => {
    const context = document.createElement("canvas").getContext("webgl2");
    return context?.getParameter(context.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL ?? 0x1f01) ?? "none";
  });
  await tab.waitForTimeout(1_500); // the picture comes to rest

  /** The times between frames while something is done, in milliseconds. */
  const frames = async (act) => {
    await tab.evaluate(() => {
      window.frames_ = [];
      window.watching = true;
      let last;
      const look = (now) => {
        if (last !== undefined) window.frames_.push(now - last);
        last = now;
        if (window.watching) requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    await act();
    return await tab.evaluate(() => {
      window.watching = false;
      return window.frames_;
    });
  };
  const missed = [];
  const report = (name, times) => {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (q) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))]?.toFixed(1);
    const under = (times.filter((t) => t < frameBound).length / times.length) * 100;
    console.log(`${name}: ${times.length} frames, ${under.toFixed(1)} % under ${frameBound} ms; median ${at(0.5)}, 95th ${at(0.95)}, longest ${at(1)} ms`);
    // Without a frame there is no share, and that is missed, too.
    if (!(under >= framesWithinBound)) missed.push(`${name}: ${under.toFixed(1)} % of the frames under ${frameBound} ms, not ${framesWithinBound} %`);
  };
  const box = await picture.boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  const pan = async () => {
    await tab.mouse.move(x, y);
    await tab.mouse.down();
    const until = Date.now() + 4_000;
    for (let i = 0; Date.now() < until; i++) await tab.mouse.move(x + Math.sin(i / 20) * 260, y + Math.sin(i / 13) * 160);
    await tab.mouse.up();
  };
  console.log(`${graph.nodes.length} nodes, ${graph.edges.length} edges; ${cpus().length} CPUs (${cpus()[0].model}); ${gl}`);
  console.log(`load of the machine ${loadavg()[0].toFixed(1)} over the last minute`);
  console.log(`loaded and drawn after ${drawn} ms, arranged after ${arranged} ms more`);
  console.log(`first picture ${pictured.map((ms) => ms.toFixed(0)).join(", ")} ms after its data, in loads with an empty cache`);
  const first = pictured.toSorted((a, b) => a - b)[Math.floor(pictured.length / 2)];
  if (!(first < afterDataBound)) missed.push(`first picture: ${first.toFixed(0)} ms after its data in the median, not below ${afterDataBound}`);
  if (process.env.SHOT) await tab.screenshot({ path: process.env.SHOT });
  report("at rest", await frames(() => tab.waitForTimeout(2_000)));
  for (let round = 1; round <= 3; round++) report(`panning ${round}`, await frames(pan));
  report("zooming", await frames(async () => {
    await tab.mouse.move(x, y);
    for (let i = 0; i < 20; i++) {
      await tab.mouse.wheel(0, i < 10 ? -120 : 120);
      await tab.waitForTimeout(100);
    }
  }));
  await tab.waitForTimeout(1_000);
  if (complaints.length) console.log("complaints:", complaints);
  for (const one of missed) console.log(`bound missed: ${one}`);
  process.exitCode = complaints.length || missed.length ? 1 : 0;
} finally {
  await browser.close();
  server.close();
  await rm(out, { recursive: true, force: true });
}
