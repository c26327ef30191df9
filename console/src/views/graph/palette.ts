import type { Domain } from "orgmem";
import type { Graph } from "./model";

/**
 * Colours for the eight largest domains. Found by search: each stands out from the
 * ground by 3:1 at least, and any two differ by 0.09 at least in Oklab, also as
 * somebody without red, green or blue cones sees them (Machado, Oliveira and
 * Fernandes 2009); Okabe and Ito's well-known eight differ by 0.076.
 */
export const light = ["#248bf2", "#f20028", "#2a8000", "#6f00a6", "#801500", "#1f4659", "#f224d0", "#0000f2"] as const;
export const dark = ["#85bcf2", "#f2bc85", "#55f2d8", "#bd70cc", "#cc1f3c", "#caf200", "#8ea619", "#a200f2"] as const;
/** For nodes of smaller domains, and of none. */
export const grey = { light: "#8b8b84", dark: "#757a84" } as const;

/** One line of the legend. */
export interface Entry {
  /** Of the domain; "none" for nodes that are in none, "rest" for the smaller ones together. */
  id: string;
  label: string;
  /** Nodes that are loaded. */
  count: number;
  /** Index of a colour; -1 for grey. */
  colour: number;
}

/** The domains by how many of the loaded nodes are in them. */
export function legend(graph: Graph, label: (d: Domain) => string): Entry[] {
  const counts = new Map<string, number>();
  for (const n of graph.nodes) counts.set(n.domainId ?? "none", (counts.get(n.domainId ?? "none") ?? 0) + 1);
  const labels = new Map(graph.domains.map((d) => [d.id, label(d)]));
  const none = counts.get("none");
  counts.delete("none");
  const ranked = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  const out: Entry[] = ranked.slice(0, light.length).map(([id, count], colour) => ({ id, label: labels.get(id) ?? "A domain without a label", count, colour }));
  const rest = ranked.slice(light.length);
  if (rest.length > 0) out.push({ id: "rest", label: `${rest.length} smaller ${rest.length === 1 ? "domain" : "domains"}`, count: rest.reduce((n, [, c]) => n + c, 0), colour: -1 });
  if (none) out.push({ id: "none", label: "In no domain", count: none, colour: -1 });
  return out;
}

/** The colour of each node. */
export function coloursOf(graph: Graph, entries: readonly Entry[], isDark: boolean): string[] {
  const palette = isDark ? dark : light;
  const by = new Map(entries.filter((e) => e.colour >= 0).map((e) => [e.id, palette[e.colour]!]));
  const other = isDark ? grey.dark : grey.light;
  return graph.nodes.map((n) => (n.domainId === null ? other : (by.get(n.domainId) ?? other)));
}
