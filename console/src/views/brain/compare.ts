import { ApiError, type BrainFound, type Orgmem } from "orgmem";

export const listed = 10; // of each list
const textsFor = 100; // hits that name what stands in the lists

/** One place of a list. */
export interface Place {
  nodeId: string;
  title: string;
  score: number;
}

/** Three ways to answer one question, over all memories of the organization. */
export interface Compared {
  search: Place[];
  meaning: Place[];
  /** Nothing where no brain serves. */
  brain: Place[] | undefined;
  told: BrainFound | undefined;
  /** Why there is no brain's list. */
  why: string;
}

/** Asks search without the brain, likeness of meaning alone, and the brain. */
export async function compare(own: Orgmem, query: string, signal: AbortSignal): Promise<Compared> {
  // No brain ranks where there is a filter; this one lets everything pass.
  const everything = { createdAfter: "1970-01-01T00:00:00.000Z" };
  let why = "";
  const [search, meaning, told] = await Promise.all([
    own.search(query, { topK: textsFor, scope: "org", filters: everything, signal }),
    own.search(query, { topK: listed, scope: "org", mode: "vector", signal }),
    own.brain.query(query, { topK: listed, signal }).catch((error: unknown) => {
      if (error instanceof ApiError && (error.code === "brain_not_trained" || error.code === "brain_not_ready")) {
        why = error.code === "brain_not_ready" ? "A brain was published a moment ago and is being loaded." : "No brain has been trained yet.";
        return undefined;
      }
      throw error;
    }),
  ]);
  const begin = (text: string): string => text.replace(/\s+/g, " ").slice(0, 90);
  const names = new Map<string, string>();
  for (const hit of [...meaning.results, ...search.results]) names.set(hit.nodeId, hit.title || begin(hit.chunk));
  const place = (p: { nodeId: string; title: string; score: number }): Place => ({ nodeId: p.nodeId, title: p.title || names.get(p.nodeId) || "Without a title", score: p.score });
  return {
    search: search.results.slice(0, listed).map(place),
    meaning: (told?.cosineTopK ?? meaning.results).map(place),
    brain: told?.focalNodes.map(place),
    told,
    why,
  };
}

/** How a list's places differ from search's: by how many it is further up, or that search has it further down than is listed. */
export function moved(list: readonly Place[], search: readonly Place[]): ReadonlyMap<string, number | "new"> {
  const before = new Map(search.map((p, i) => [p.nodeId, i]));
  return new Map(list.map((p, i) => [p.nodeId, before.has(p.nodeId) ? before.get(p.nodeId)! - i : "new"]));
}
