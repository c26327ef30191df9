import { ApiError } from "orgmem";

/** What a key may be given, from the least to the most. */
export const scopes = [
  { id: "read", title: "Read", about: "Search, ask, look at everything a memory holds." },
  { id: "write", title: "Write", about: "Take texts in, edit, forget, change settings, webhooks and connectors." },
  { id: "graph:write", title: "Edit the graph", about: "Edit nodes, assert edges, restore. Comes with Write." },
  { id: "memory:forget", title: "Forget", about: "Forget nodes and edges. Comes with Write." },
  { id: "admin", title: "Administer", about: "Keys, members, the audit trail, purges, training." },
  { id: "subjects:provision", title: "Provision subjects", about: "Make and erase subjects. Comes with Administer." },
  { id: "usage:read", title: "Read usage", about: "See what was used. Comes with Administer." },
] as const;
export type Scope = (typeof scopes)[number]["id"];

/** What the service publishes, in the order of docs/interface.md. */
export const eventTypes = [
  { id: "graph.updated", about: "A node or an edge was made, changed or forgotten." },
  { id: "job.completed", about: "A job has ended, well or not." },
  { id: "insight.proposed", about: "The background cycle proposes new connections." },
  { id: "contradiction.detected", about: "Two beliefs contradict each other." },
  { id: "belief.superseded", about: "One belief took another one's place." },
  { id: "basin.shifted", about: "Somebody's way of thinking has moved." },
  { id: "brain.trained", about: "A training has ended." },
  { id: "webhook.test", about: "A test was sent." },
] as const;
export type Subscribed = (typeof eventTypes)[number]["id"] | "*";
/** What only the stream has. */
export const streamTypes = [...eventTypes.map((e) => e.id as string), "import.started", "import.finished", "identity.updated"];

const actions: Readonly<Record<string, string>> = {
  "organization.create": "made the organization",
  "organization.plan": "changed the plan",
  "member.add": "added a member",
  "member.remove": "removed a member",
  "account.delete": "deleted an account",
  "key.create": "made a key",
  "key.revoke": "revoked a key",
  "sandbox_key.create": "made a sandbox key",
  "sandbox_key.revoke": "revoked a sandbox key",
  "sandbox.reset": "reset the sandbox",
  "subject.provision": "provisioned a subject",
  "subject.erase": "erased a subject",
  "node.update": "edited a node",
  "node.supersede": "superseded a node",
  "node.forget": "forgot a node",
  "node.undelete": "restored a node",
  "edge.assert": "asserted an edge",
  "edge.forget": "forgot an edge",
  "proposal.accept": "accepted a proposal",
  "proposal.reject": "rejected a proposal",
  "settings.update": "changed settings",
  "settings.reset": "reset settings",
  "session.delete": "deleted a coding session",
  "webhook.create": "made a webhook",
  "webhook.update": "changed a webhook",
  "webhook.delete": "deleted a webhook",
  "webhook.disable": "switched a failing webhook off",
  "connector.create": "made a connector",
  "connector.update": "changed a connector",
  "connector.delete": "deleted a connector",
  "connector.sync": "began a sync",
  "export.create": "made an export",
  "export.download": "downloaded an export",
  "export.import": "imported an export",
  "brain.train": "began a training",
  "job.cancel": "cancelled a job",
  "purge.dry_run": "previewed a purge",
  purge: "purged",
};
/** The acts that the audit trail may be filtered by. */
export const knownActions = Object.keys(actions);
/** An act in words; one that is newer than this console is named as it is. */
export const actionWords = (action: string): string => (Object.hasOwn(actions, action) ? actions[action]! : action);

const stores: Readonly<Record<string, string>> = {
  vault_nodes: "Nodes",
  memory_chunks: "Passages",
  graph_edges: "Edges",
  history: "Entries of history",
  files: "Files",
  imports: "Imports",
  queued_items: "Texts in the queue",
  external_ids: "External ids",
  sessions: "Coding sessions",
  session_events: "Events of coding sessions",
  exports: "Exports",
  brain_artifacts: "Trained brains",
};
export const storeWords = (store: string): string => (Object.hasOwn(stores, store) ? stores[store]! : store.replaceAll("_", " "));

/** What is counted and not none, in the order of the words above; what is newer than this console comes last. */
export function counted(counts: Readonly<Record<string, number>>): [store: string, n: number][] {
  const order = Object.keys(stores);
  const place = (store: string): number => (order.includes(store) ? order.indexOf(store) : order.length);
  return Object.entries(counts)
    .filter(([, n]) => n > 0)
    .sort(([a], [b]) => place(a) - place(b));
}

/** What the service says of one field of the request, if it says anything. */
export function errorAt(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const said = error.errors.filter((e) => e.field === field || e.field.startsWith(field + ".") || e.field.startsWith(field + "["));
  return said.length ? said.map((e) => e.message).join("; ") : undefined;
}

/** Whether all that the service says is said at one of these fields already. */
export function saidAt(error: unknown, fields: readonly string[]): boolean {
  return (
    error instanceof ApiError &&
    error.errors.length > 0 &&
    error.errors.every((e) => fields.some((f) => e.field === f || e.field.startsWith(f + ".") || e.field.startsWith(f + "[")))
  );
}

const longestTyped = 60; // characters that a person is asked to type
/** What has to be typed to confirm: the name, unless nobody can type it. */
export function typed(name: string, otherwise: string): string {
  const visible = name === name.trim() && !/[\p{C}\p{M}\p{Zl}\p{Zp}]|  /u.test(name);
  return visible && name.length > 0 && name.length <= longestTyped ? name : otherwise;
}

/** The address of a subject's view; none for the two ids that no address can hold. */
export const subjectPath = (id: string): string | undefined => (/^\.{1,2}$/.test(id) ? undefined : `/trust/subjects/${encodeURIComponent(id)}`);

const tokenLife = 600_000; // milliseconds: docs/interface.md
const mostSkew = 60_000;
/**
 * How many milliseconds a confirm token has when it arrives. By the service's expiry; where the two clocks are
 * further apart than a minute, by how long the service says that a token lives.
 */
export function lifetime(expiresAt: string | undefined, now: number): number {
  const left = expiresAt ? Date.parse(expiresAt) - now : NaN;
  return Math.abs(left - tokenLife) <= mostSkew ? Math.min(left, tokenLife) : tokenLife;
}

/** 9:05 of 545,000 ms. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Counts of a preview beside those of an earlier one. */
export interface Change {
  store: string;
  before: number;
  after: number;
}
export function changes(before: Readonly<Record<string, number>>, after: Readonly<Record<string, number>>): Change[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((store) => ({ store, before: before[store] ?? 0, after: after[store] ?? 0 }))
    .filter((c) => c.before !== c.after);
}
