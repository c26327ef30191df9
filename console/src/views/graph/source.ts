import type { Domain, Orgmem } from "orgmem";
import { dotOf, graphOf, joined, looseOf, mostEdges, mostNodes, type Dot, type Graph, type Loose } from "./model";

/** How far loading is. */
export interface Progress {
  nodes: number;
  edges: number;
  /** Of how many, as the service counts the live ones; it may be more that are loaded, since superseded nodes are, too. */
  ofNodes: number;
  ofEdges: number;
}

/** A graph, and how much of the memory it is. */
export interface Loaded {
  graph: Graph;
  /** Counts of the memory. */
  counts: { nodes: number; edges: number; domains: number };
  extent: "strongest" | "all";
  /** There is more than was loaded: a bound was reached, or it was stopped. */
  partial: boolean;
}

const mostStrongest = 200; // nodes that the service answers at once
const pageSize = 100;
// A page is one request of the rate: some hundred of them have to wait for their turn, which is what retrying does.
const patient = { maxRetries: 1_000, retryBudget: 3_600_000 };

/** The strongest 200 nodes and the edges among them: one request. */
export async function strongest(client: Orgmem, asOf: string | undefined, signal: AbortSignal): Promise<Loaded> {
  const view = await client.recall.graph({ ...(asOf ? { asOf } : {}), signal });
  return {
    graph: graphOf(view.nodes, view.edges, view.domains),
    counts: view.counts,
    extent: "strongest",
    // The counts are of now, also where the nodes are of another time.
    partial: asOf ? view.nodes.length >= mostStrongest : view.counts.nodes > view.nodes.length,
  };
}

/** Adds a node and what is around it, where the graph does not have it. */
export async function withNode(client: Orgmem, loaded: Loaded, id: string, signal: AbortSignal): Promise<Loaded> {
  if (loaded.graph.index.has(id)) return loaded;
  const node = await client.recall.node(id, { signal });
  const { graph } = loaded;
  const more = graphOf([node, ...node.neighbours.map((n) => n.node)], node.neighbours.map((n) => n.edge), []);
  const index = new Map(graph.index);
  const nodes = [...graph.nodes];
  for (const n of more.nodes)
    if (!index.has(n.id)) {
      index.set(n.id, nodes.length);
      nodes.push(n);
    }
  const place = (i: number): number => index.get(more.nodes[i]!.id)!;
  const seen = new Set(graph.lines.map((l) => l.id));
  const lines = [...graph.lines, ...more.lines.filter((l) => !seen.has(l.id)).map((l) => ({ ...l, a: place(l.a), b: place(l.b) }))];
  return { ...loaded, graph: { ...graph, nodes, lines, index } };
}

/** Everything, up to the bounds, page by page. Where it is stopped by the second signal, what there is until then. */
export async function everything(client: Orgmem, tell: (p: Progress) => void, signal: AbortSignal, enough: AbortSignal): Promise<Loaded> {
  const { counts } = await client.recall.graph({ signal });
  const domains: Domain[] = await client.domains.list({ pageSize, signal, ...patient }).take(500);
  const nodes: Dot[] = [];
  const edges: Loose[] = [];
  const say = (): void => tell({ nodes: nodes.length, edges: edges.length, ofNodes: Math.min(counts.nodes, mostNodes), ofEdges: Math.min(counts.edges, mostEdges) });
  say();
  const either = AbortSignal.any([signal, enough]);
  let partial = false;
  /** Turns the pages of one list over into a bounded array. What is kept of a row is taken from it as it comes: all at once at the end would be waited for. */
  const turn = async <T, K>(list: { page(cursor?: string): Promise<{ data: T[]; hasMore: boolean; nextCursor?: string }> }, kept: (row: T) => K, into: K[], most: number): Promise<void> => {
    for (let cursor: string | undefined; ; ) {
      const page = await list.page(cursor);
      into.push(...page.data.slice(0, most - into.length).map(kept));
      say();
      if (!page.hasMore || page.nextCursor === undefined) return;
      if (into.length >= most) {
        partial = true;
        return;
      }
      cursor = page.nextCursor;
    }
  };
  try {
    await Promise.all([
      turn(client.list({ pageSize, signal: either, ...patient }), dotOf, nodes, mostNodes),
      turn(client.edges.list({ pageSize, signal: either, ...patient }), looseOf, edges, mostEdges),
    ]);
  } catch (error) {
    if (signal.aborted || !enough.aborted) throw error;
    partial = true;
  }
  return { graph: joined(nodes, edges, domains), counts, extent: "all", partial };
}

/** All of a memory that was loaded, so that coming back need not wait for hundreds of requests. Of each memory the last. */
export class Kept {
  #of = new Map<string, Loaded>();
  #changes = -1;
  readonly #most = 4; // graphs, of some 20 MB at most each

  /** What was loaded since the last change. */
  since(changes: number): this {
    if (changes !== this.#changes) this.#of.clear();
    this.#changes = changes;
    return this;
  }
  /** What is kept, where the service still counts as much as it holds. */
  get(key: string, counts: Loaded["counts"]): Loaded | undefined {
    const loaded = this.#of.get(key);
    return loaded && JSON.stringify(loaded.counts) === JSON.stringify(counts) ? loaded : undefined;
  }
  put(key: string, loaded: Loaded): void {
    this.#of.delete(key);
    this.#of.set(key, loaded);
    while (this.#of.size > this.#most) this.#of.delete(this.#of.keys().next().value!);
  }
  drop(key: string): void {
    this.#of.delete(key);
  }
}
export const kept = new Kept();
