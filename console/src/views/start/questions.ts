import type { GraphView, Node } from "orgmem";

const atMost = 3;
const longest = 60; // characters of a name; longer ones read badly in a question

/** Questions about what somebody's own texts name most. */
export function questionsAbout(graph: GraphView): string[] {
  // A name of several words is seldom mistaken for one.
  const weight = (n: Node): number => n.degree + (/\S\s+\S/.test(n.title) ? 1.5 : 0);
  const named = graph.nodes.filter((n) => n.kind === "entity" && n.title.length > 2 && n.title.length <= longest).sort((a, b) => weight(b) - weight(a));
  const asked: string[] = [];
  const types = new Set<unknown>();
  for (const node of named) {
    const type = node.metadata["entityType"];
    if (types.has(type) || type === "identifier" || type === "address" || type === "code") continue;
    types.add(type);
    asked.push(type === "person" ? `Who is ${node.title}?` : `What do we know about ${node.title}?`);
    if (asked.length === atMost) break;
  }
  return asked;
}
