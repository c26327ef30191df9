import type { SlowRequest } from "./client";

/** Where a request's time went, in its order. */
export const phases = [
  { id: "receiveMs", words: "the body" },
  { id: "waitMs", words: "its turn" },
  { id: "workMs", words: "the work" },
  { id: "sendMs", words: "sending" },
] as const satisfies readonly { id: keyof SlowRequest; words: string }[];

export type Phase = (typeof phases)[number];

/** The phases that took time, each with its share of what all took; none where the request was not told apart. */
export function shares(r: SlowRequest): { phase: Phase; ms: number; share: number }[] {
  const all = phases.reduce((n, p) => n + Math.max(0, r[p.id]), 0);
  if (all <= 0) return [];
  return phases.filter((p) => r[p.id] > 0).map((phase) => ({ phase, ms: r[phase.id], share: r[phase.id] / all }));
}

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The orders that the table has: latest, slowest and worst first, names by the alphabet. */
export const orders: Record<string, (a: SlowRequest, b: SlowRequest) => number> = {
  at: (a, b) => Date.parse(b.at) - Date.parse(a.at),
  took: (a, b) => b.durationMs - a.durationMs,
  route: (a, b) => text(a.route, b.route) || text(a.method, b.method),
  status: (a, b) => b.status - a.status,
  org: (a, b) => text(b.orgId ?? "", a.orgId ?? ""),
};

/** In an order by name, the latest first where it says nothing; an order that is not known is that of time. */
export function sorted(list: readonly SlowRequest[], by: string): SlowRequest[] {
  const order = Object.hasOwn(orders, by) ? orders[by]! : orders["at"]!;
  return [...list].sort((a, b) => order(a, b) || orders["at"]!(a, b));
}
