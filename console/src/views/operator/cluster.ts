import type { Cluster, ClusterNode, Decision, Group } from "./client";

/** What a node has of a group. */
export type Cell = "leader" | "voter" | "filling" | "copy" | "leaving" | "wanted" | "none";

/** What one node has of one group, for the picture. */
export function cellOf(group: Group, node: string): Cell {
  const replica = group.replicas.find((r) => r.node === node);
  const wanted = group.desired.includes(node);
  if (group.leader === node) return "leader";
  if (!replica) return wanted ? "wanted" : "none";
  if (!replica.caughtUp) return "filling";
  if (replica.voter) return wanted || group.desired.length === 0 ? "voter" : "leaving";
  return "copy";
}

/** What the cells mean, in the order of the legend. */
export const meanings: Record<Exclude<Cell, "none">, string> = {
  leader: "leads",
  voter: "has a vote",
  copy: "a copy, without a vote",
  filling: "being filled",
  leaving: "to be moved away",
  wanted: "wanted here, not begun",
};

/** The groups that are not as they should be, or wait for something. */
export function amiss(cluster: Cluster): Group[] {
  return cluster.groups.filter((g) => {
    const voters = g.replicas.filter((r) => r.voter).map((r) => r.node);
    const same = voters.length === g.desired.length && voters.every((v) => g.desired.includes(v));
    return g.waits !== "" || g.leader === "" || !same || g.replicas.some((r) => !r.caughtUp);
  });
}

/** What a person calls a node. */
export const called = (cluster: Cluster, id: string): string => cluster.nodes.find((n) => n.id === id)?.name || id;

/** How a node is, in a word. */
export function condition(n: ClusterNode): { word: string; tone: "good" | "warn" | "bad" } {
  if (n.state !== "alive") return { word: n.state, tone: n.leaving ? "warn" : "bad" };
  if (n.leaving) return { word: "is being removed", tone: "warn" };
  if (n.draining) return { word: n.leads > 0 ? "is being drained" : "drained", tone: "warn" };
  return { word: "alive", tone: "good" };
}

const actions: Record<string, string> = {
  "add-learner": "put a copy on",
  promote: "give a vote to",
  demote: "take the vote of",
  "remove-replica": "remove the copy on",
  "transfer-leadership": "hand leadership to",
};

/** A decision of the controller's in words, which end before the name of the node where it has one; a step that is not known by its own name. */
export function decisionWords(d: Decision): string {
  if (d.action === "remove-node") return "leaves the cluster:";
  if (d.action === "raise-version") return "a newer version's commands are allowed";
  return `${groupName(d.group)}: ${actions[d.action] ?? d.action}`;
}

/** Whether a decision is about a node. */
export const named = (d: Decision): boolean => d.node !== "" && d.action !== "raise-version";

export const groupName = (g: number): string => (g === 0 ? "the directory" : `shard ${g}`);
