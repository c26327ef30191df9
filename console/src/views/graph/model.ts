// What the graph's view computes, apart from the page: all of it over what is loaded.
import type { Domain, Edge, Node } from "orgmem";

/** As much of a node as the view needs. */
export interface Dot {
  id: string;
  title: string;
  kind: Node["kind"];
  domainId: string | null;
  /** Edges of the memory, not only of what is loaded. */
  degree: number;
  status: Node["status"];
  /** Milliseconds since 1970; NaN where it is not known since when. */
  from: number;
  /** Excluded; Infinity while it holds. */
  until: number;
}

/** As much of an edge; its ends are indices of nodes. */
export interface Line {
  id: string;
  a: number;
  b: number;
  type: string;
  weight: number;
  from: number;
  until: number;
}

/** What is loaded. */
export interface Graph {
  nodes: Dot[];
  lines: Line[];
  index: Map<string, number>;
  domains: Domain[];
}

export const mostNodes = 10_000;
export const mostEdges = 50_000;

const since = (at: string | null): number => (at === null ? NaN : Date.parse(at));
const until = (at: string | null): number => (at === null ? Infinity : Date.parse(at));

export const dotOf = (n: Node): Dot => ({
  id: n.id,
  title: n.title,
  kind: n.kind,
  domainId: n.domainId,
  degree: n.degree,
  status: n.status,
  from: since(n.validFrom),
  until: until(n.validTo),
});

/** An edge whose ends are not known to be loaded yet. */
export interface Loose extends Omit<Line, "a" | "b"> {
  source: string;
  target: string;
}

export const looseOf = (e: Edge): Loose => ({ id: e.id, source: e.source, target: e.target, type: e.type, weight: e.weight, from: since(e.validFrom), until: until(e.validTo) });

export const graphOf = (nodes: readonly Node[], edges: readonly Edge[], domains: readonly Domain[]): Graph => joined(nodes.map(dotOf), edges.map(looseOf), domains);

/** Puts nodes and the edges among them together; what comes twice counts once, and an edge without both its ends is left out. */
export function joined(nodes: readonly Dot[], edges: readonly Loose[], domains: readonly Domain[]): Graph {
  const graph: Graph = { nodes: [], lines: [], index: new Map(), domains: [...domains] };
  for (const n of nodes) {
    if (graph.index.has(n.id)) continue;
    graph.index.set(n.id, graph.nodes.length);
    graph.nodes.push(n);
  }
  const seen = new Set<string>();
  for (const { source, target, ...line } of edges) {
    const a = graph.index.get(source);
    const b = graph.index.get(target);
    if (a === undefined || b === undefined || seen.has(line.id)) continue;
    seen.add(line.id);
    graph.lines.push({ ...line, a, b });
  }
  return graph;
}

/** The edges of each node, by index: lines[node] are indices of lines. */
export function linesByNode(graph: Graph): Uint32Array[] {
  const counts = new Uint32Array(graph.nodes.length);
  for (const l of graph.lines) {
    counts[l.a]!++;
    counts[l.b]!++;
  }
  const out = Array.from(counts, (n) => new Uint32Array(n));
  counts.fill(0);
  graph.lines.forEach((l, i) => {
    out[l.a]![counts[l.a]!++] = i;
    out[l.b]![counts[l.b]!++] = i;
  });
  return out;
}

/** What of the graph is shown. */
export interface View {
  /** Milliseconds since 1970; undefined is now. */
  asOf?: number | undefined;
  kind?: string;
  domain?: string;
  /** With steps, only what is so near to it. */
  focus?: string;
  steps?: number;
}

/** Whether something with this validity held at the time. What has no beginning held always. */
export const held = (of: { from: number; until: number }, at: number): boolean => !(of.from > at) && of.until > at;

/** Which nodes and lines are shown: one byte each, 1 where it is. */
export interface Shown {
  nodes: Uint8Array;
  lines: Uint8Array;
  /** How many nodes and lines that are. */
  nodeCount: number;
  lineCount: number;
}

export function shownOf(graph: Graph, byNode: Uint32Array[], view: View): Shown {
  const nodes = new Uint8Array(graph.nodes.length);
  const lines = new Uint8Array(graph.lines.length);
  const at = view.asOf;
  graph.nodes.forEach((n, i) => {
    const holds = at === undefined ? n.status === "live" : held(n, at);
    nodes[i] = holds && (!view.kind || n.kind === view.kind) && (!view.domain || (n.domainId ?? "none") === view.domain) ? 1 : 0;
  });
  graph.lines.forEach((l, i) => {
    lines[i] = nodes[l.a] && nodes[l.b] && (at === undefined ? l.until === Infinity : held(l, at)) ? 1 : 0;
  });
  const focus = view.focus === undefined ? undefined : graph.index.get(view.focus);
  if (focus !== undefined) {
    const near = neighbourhood(graph, byNode, lines, focus, view.steps ?? 1);
    graph.nodes.forEach((_, i) => (nodes[i] = near.has(i) && (nodes[i] || i === focus) ? 1 : 0));
    graph.lines.forEach((l, i) => (lines[i] = lines[i] && nodes[l.a] && nodes[l.b] ? 1 : 0));
  }
  const sum = (bytes: Uint8Array): number => bytes.reduce((n, b) => n + b, 0);
  return { nodes, lines, nodeCount: sum(nodes), lineCount: sum(lines) };
}

/** The nodes that so many steps along shown lines lead to, with the first. */
export function neighbourhood(graph: Graph, byNode: Uint32Array[], lines: Uint8Array, from: number, steps: number): Set<number> {
  const found = new Set([from]);
  let edge = [from];
  for (let step = 0; step < steps && edge.length > 0; step++) {
    const next: number[] = [];
    for (const node of edge)
      for (const l of byNode[node] ?? []) {
        if (!lines[l]) continue;
        const line = graph.lines[l]!;
        const other = line.a === node ? line.b : line.a;
        if (found.has(other)) continue;
        found.add(other);
        next.push(other);
      }
    edge = next;
  }
  return found;
}

/** A way through the graph: nodes, and the line before each but the first. */
export interface Path {
  nodes: number[];
  lines: number[];
}

/** A path of the fewest steps along shown lines, whichever way those lead; among such the one of the heaviest lines is not sought. Breadth first. */
export function shortestPath(graph: Graph, byNode: Uint32Array[], shown: Shown, from: number, to: number): Path | undefined {
  if (!shown.nodes[from] || !shown.nodes[to]) return undefined;
  const before = new Int32Array(graph.nodes.length).fill(-1); // the line that led there
  const reached = new Uint8Array(graph.nodes.length);
  reached[from] = 1;
  const queue = [from];
  for (let head = 0; head < queue.length && !reached[to]; head++) {
    const node = queue[head]!;
    for (const l of byNode[node] ?? []) {
      const line = graph.lines[l]!;
      const other = line.a === node ? line.b : line.a;
      if (!shown.lines[l] || reached[other]) continue;
      reached[other] = 1;
      before[other] = l;
      queue.push(other);
    }
  }
  if (!reached[to]) return undefined;
  const path: Path = { nodes: [to], lines: [] };
  for (let node = to; node !== from; ) {
    const l = before[node]!;
    const line = graph.lines[l]!;
    node = line.a === node ? line.b : line.a;
    path.nodes.unshift(node);
    path.lines.unshift(l);
  }
  return path;
}

/** From when to when anything loaded holds, in milliseconds since 1970; undefined where nothing is dated. */
export function timespan(graph: Graph, now: number): [number, number] | undefined {
  let first = Infinity;
  for (const n of graph.nodes) if (n.from < first) first = n.from;
  return first < now ? [first, now] : undefined;
}

/** Letters without case and accents. */
const plain = (s: string): string => s.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** Shown nodes whose title holds the text; those that begin with it first, then those with more edges. */
export function search(graph: Graph, shown: Shown, text: string, most: number): number[] {
  const wanted = plain(text.trim());
  if (!wanted) return [];
  const found: { i: number; rank: number }[] = [];
  graph.nodes.forEach((n, i) => {
    if (!shown.nodes[i]) return;
    const at = plain(n.title.slice(0, 300)).indexOf(wanted);
    if (at >= 0) found.push({ i, rank: (at === 0 ? 1e9 : 0) + n.degree });
  });
  return found.sort((x, y) => y.rank - x.rank).slice(0, most).map((f) => f.i);
}

/** A number in [0, 2^32) that depends on the text alone (FNV-1a, 32 bits). */
export function hash(text: string, seed = 0x811c9dc5): number {
  let h = seed;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  return (h ^ (h >>> 13)) >>> 0;
}

/** Where nodes begin: in a disc, each at a place that its id alone decides, so that the same graph is always drawn alike. x and y of each in turn. */
export function startPositions(nodes: readonly Pick<Dot, "id">[]): Float32Array {
  const out = new Float32Array(nodes.length * 2);
  const radius = 10 * Math.sqrt(nodes.length + 1);
  nodes.forEach((n, i) => {
    const angle = (hash(n.id) / 2 ** 32) * 2 * Math.PI;
    const r = Math.sqrt(hash(n.id, 0x9747b28c) / 2 ** 32) * radius;
    out[i * 2] = Math.cos(angle) * r;
    out[i * 2 + 1] = Math.sin(angle) * r;
  });
  return out;
}

/** A name for a graph's shape: the same nodes and edges have the same. */
export function nameOf(graph: Graph): string {
  let nodes = 0;
  let lines = 0;
  for (const n of graph.nodes) nodes = (nodes + hash(n.id)) >>> 0; // sums: whatever the order
  for (const l of graph.lines) lines = (lines + hash(graph.nodes[l.a]!.id + "\n" + graph.nodes[l.b]!.id)) >>> 0;
  return `${graph.nodes.length}.${graph.lines.length}.${nodes.toString(36)}.${lines.toString(36)}`;
}
