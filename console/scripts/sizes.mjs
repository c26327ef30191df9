// Says how much the console's pages load before anything is shown, compressed, and fails above what was promised.
import { readFileSync, readdirSync } from "node:fs";
import { gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url);
const shell = 250 * 1024; // of JavaScript, for the first view
const withGraph = 400 * 1024; // with the graph's own

const size = (name) => gzipSync(readFileSync(new URL(name, dist)), { level: 9 }).length;
const scripts = (text, pattern) => [...text.matchAll(pattern)].map((m) => "assets/" + m[1]);

/** The scripts that a file imports before it runs, and theirs. Those that are imported later are not among them. */
function closure(names, seen = new Set()) {
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    closure(scripts(readFileSync(new URL(name, dist), "utf8"), /(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g), seen);
  }
  return seen;
}

const sum = (names) => [...names].reduce((n, name) => n + size(name), 0);
let failed = false;
for (const page of ["index.html", "operator.html"]) {
  const first = closure(scripts(readFileSync(new URL(page, dist), "utf8"), /\/console\/assets\/([\w.-]+\.js)/g));
  const bytes = sum(first);
  console.log(`${page}: ${(bytes / 1024).toFixed(1)} KiB of JavaScript, gzipped, in ${first.size} files`);
  failed ||= bytes > shell;
  if (page === "index.html") {
    // The view of the graph, and what it imports once it knows what to draw.
    const graph = readdirSync(new URL("assets/", dist)).filter((f) => /^(GraphPage|drawing|layout\.worker)-.*\.js$/.test(f)).map((f) => "assets/" + f);
    if (graph.length < 2) throw new Error("the scripts of the graph have other names now");
    const all = sum(closure(graph, new Set(first)));
    console.log(`  with the graph: ${(all / 1024).toFixed(1)} KiB`);
    failed ||= all > withGraph;
  }
}
process.exit(failed ? 1 : 0);
