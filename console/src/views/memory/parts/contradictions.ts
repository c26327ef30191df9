import type { Contradiction, Orgmem } from "orgmem";

const lookedThrough = 500; // open contradictions, newest first: five requests

/** The open contradictions that a node is in, among the newest. */
export async function contradictionsOf(client: Orgmem, id: string, signal?: AbortSignal): Promise<{ found: Contradiction[]; all: boolean }> {
  const open = await client.contradictions.list({ pageSize: 100, signal }).take(lookedThrough);
  return { found: open.filter((c) => c.nodeA === id || c.nodeB === id), all: open.length < lookedThrough };
}
