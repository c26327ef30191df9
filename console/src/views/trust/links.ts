import type { StreamEvent } from "orgmem";

/** How the router writes an address. */
type Href = (path: string, query?: Record<string, string | undefined>) => string;

/** A value of an event that can be shown: ids, words and numbers are all that an event holds. */
export const textOf = (event: StreamEvent, name: string): string | undefined => {
  const value = event.data[name];
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
};

/** Where one reads on, in the memory that the event is of: not in the one that the page happens to show. */
export function linksOf(event: StreamEvent, me: string | undefined, href: Href): { title: string; href: string }[] {
  const subject = textOf(event, "subject");
  const whose = { as: subject === me ? undefined : subject };
  const out: { title: string; href: string }[] = [];
  const affected = event.data["affectedNodes"];
  const nodes: unknown[] = Array.isArray(affected) ? affected : [event.data["nodeId"], event.data["supersededBy"]];
  for (const id of nodes.slice(0, 3)) if (typeof id === "string") out.push({ title: "Node", href: href(`/memory/nodes/${encodeURIComponent(id)}`, whose) });
  const job = textOf(event, "jobId");
  if (job) out.push({ title: "Job", href: href(`/memory/work/${encodeURIComponent(job)}`) });
  if (event.type === "contradiction.detected") out.push({ title: "Contradictions", href: href("/understanding/contradictions", whose) });
  if (event.type === "insight.proposed") out.push({ title: "Proposals", href: href("/understanding/proposals", whose) });
  if (event.type === "brain.trained") out.push({ title: "Brain", href: href("/brain") });
  return out;
}
