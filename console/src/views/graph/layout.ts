import { nameOf, startPositions, type Graph } from "./model";

/** What the worker is given. Its buffers go to it. */
export interface Arrangement {
  /** x and y of each node in turn. */
  positions: Float32Array;
  /** Indices of nodes, two for each edge. */
  ends: Uint32Array;
  weights: Float32Array;
  iterations: number;
}

/** What it answers after each round. */
export interface Arranged {
  positions: Float32Array;
  /** Iterations so far. */
  done: number;
}

const kept = "orgmem.layout.";
const mostKept = 3; // arrangements in the session storage: 80 kB for 10,000 nodes

/** Iterations until a graph has come to rest, by its size: large ones cost more each and move less. */
export const iterationsFor = (nodes: number): number => (nodes < 500 ? 600 : nodes < 3_000 ? 400 : 220);

/** The places that are known from before; nodes that are new begin where their ids say. Positions, and whether the graph is the very same. */
export function known(graph: Graph): { positions: Float32Array; complete: boolean } {
  const start = startPositions(graph.nodes);
  const before = inMemory.get(nameOf(graph)) ?? stored(graph);
  if (before && before.length === graph.nodes.length * 2) {
    const order = canonical(graph);
    order.forEach((node, place) => {
      start[node * 2] = before[place * 2]!;
      start[node * 2 + 1] = before[place * 2 + 1]!;
    });
    return { positions: start, complete: true };
  }
  for (const [i, n] of graph.nodes.entries()) {
    const place = places.get(n.id);
    if (place) start.set(place, i * 2);
  }
  return { positions: start, complete: false };
}

const inMemory = new Map<string, Float32Array>();
/** The last place of each node, of whichever graph. */
const places = new Map<string, [number, number]>();
const mostPlaces = 40_000;

/** Indices in an order that does not depend on how the nodes arrived. */
function canonical(graph: Graph): number[] {
  return graph.nodes.map((_, i) => i).sort((a, b) => (graph.nodes[a]!.id < graph.nodes[b]!.id ? -1 : 1));
}

/** Keeps an arrangement, so that coming back shows it at once. */
export function keep(graph: Graph, positions: Float32Array): void {
  if (places.size > mostPlaces) places.clear();
  graph.nodes.forEach((n, i) => places.set(n.id, [positions[i * 2]!, positions[i * 2 + 1]!]));
  const ordered = new Float32Array(positions.length);
  canonical(graph).forEach((node, place) => ordered.set(positions.subarray(node * 2, node * 2 + 2), place * 2));
  const name = nameOf(graph);
  inMemory.delete(name);
  inMemory.set(name, ordered);
  while (inMemory.size > mostKept) inMemory.delete(inMemory.keys().next().value!);
  try {
    const bytes = new Uint8Array(ordered.buffer);
    let text = "";
    for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
    const others = Object.keys(sessionStorage).filter((k) => k.startsWith(kept) && k !== kept + name);
    for (const key of others.slice(0, Math.max(0, others.length - mostKept + 1))) sessionStorage.removeItem(key);
    sessionStorage.setItem(kept + name, btoa(text));
  } catch {
    // The storage is full or closed: it is arranged anew after a reload.
  }
}

function stored(graph: Graph): Float32Array | undefined {
  try {
    const text = sessionStorage.getItem(kept + nameOf(graph));
    if (!text) return undefined;
    const raw = atob(text);
    const bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Float32Array(bytes.buffer);
  } catch {
    return undefined;
  }
}

/** Arranges the graph in a worker; tells positions after each round, and its share in [0, 1]. The answer stops it. */
export function arrange(graph: Graph, from: Float32Array, tell: (positions: Float32Array, share: number) => void): () => void {
  const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  const iterations = iterationsFor(graph.nodes.length);
  worker.onmessage = ({ data }: MessageEvent<Arranged>): void => {
    const over = data.done >= iterations;
    if (over) {
      worker.terminate();
      keep(graph, data.positions);
    }
    tell(data.positions, data.done / iterations);
  };
  const ends = new Uint32Array(graph.lines.length * 2);
  const weights = new Float32Array(graph.lines.length);
  graph.lines.forEach((l, i) => {
    ends[i * 2] = l.a;
    ends[i * 2 + 1] = l.b;
    weights[i] = Math.max(0.05, l.weight);
  });
  const positions = from.slice();
  worker.postMessage({ positions, ends, weights, iterations } satisfies Arrangement, { transfer: [positions.buffer, ends.buffer, weights.buffer] });
  return () => worker.terminate();
}
