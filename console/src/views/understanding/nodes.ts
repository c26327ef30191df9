import type { Node, Orgmem } from "orgmem";

/** What a view of evidence shows of a node: its beginning, not all of it. */
export interface Seen {
  id: string;
  title: string;
  kind: Node["kind"];
  status: Node["status"];
  /** The first characters of the text; empty where it was forgotten. */
  beginning: string;
  /** How many characters the whole text has. */
  length: number;
  /** Who wrote it, where a client said so. */
  author: string;
  /** When what it tells happened, else when it was recorded. */
  at: string;
}

const mostKept = 400; // nodes of one memory
const longestBeginning = 1_500; // characters

// One memory of nodes for each client, so that another key or subject begins anew.
const kept = new WeakMap<Orgmem, Map<string, Promise<Seen>>>();

/** A node as it was when it was first looked at in this tab. */
export function see(client: Orgmem, id: string): Promise<Seen> {
  let mine = kept.get(client);
  if (!mine) kept.set(client, (mine = new Map()));
  const known = mine.get(id);
  if (known) return known;
  const asked = client.get(id).then(seenOf);
  // A failure is not kept: it may be another's turn in a moment.
  asked.catch(() => mine.delete(id));
  const oldest = mine.size >= mostKept ? mine.keys().next().value : undefined;
  if (oldest !== undefined) mine.delete(oldest);
  mine.set(id, asked);
  return asked;
}

/** A node has changed: it is asked for again when it is next shown. */
export function forget(client: Orgmem, ...ids: string[]): void {
  for (const id of ids) kept.get(client)?.delete(id);
}

export function seenOf(node: Node): Seen {
  const content = node.content ?? "";
  return {
    id: node.id,
    title: node.title,
    kind: node.kind,
    status: node.status,
    beginning: content.slice(0, longestBeginning),
    length: content.length,
    author: authorOf(node.metadata),
    at: node.validFrom ?? node.createdAt,
  };
}

/** Who wrote a text, by the names under which clients say so. */
export function authorOf(metadata: Node["metadata"]): string {
  for (const name of ["author", "speaker", "from", "user"]) {
    const value = metadata[name];
    if (typeof value === "string" && value.trim()) return value.trim();
  }
  return "";
}
