// The calls of mem0's Memory over this client, so that a program that was written
// for it runs. A user becomes a subject; an agent and a run become metadata.
import {
  Conflict,
  NotFound,
  Orgmem,
  OrgmemError,
  type HistoryEntry,
  type IngestItem,
  type JobItem,
  type MetadataValue,
  type Node,
  type OrgmemOptions,
  type PurgeReport,
  type VersionedNode,
} from "./index.js";

type Metadata = Record<string, MetadataValue>;

/** Whose memory. Both ways to write a name are taken, as mem0's two packages have them. */
export interface Entity {
  userId?: string | undefined;
  user_id?: string | undefined;
  agentId?: string | undefined;
  agent_id?: string | undefined;
  runId?: string | undefined;
  run_id?: string | undefined;
}

export interface Message {
  role: string;
  content: string | readonly { type: string; text?: string }[];
}

export interface AddMemoryOptions extends Entity {
  metadata?: Metadata | undefined;
  filters?: Entity | undefined;
  /** Either way a message is kept as it was said: nothing is sent to a language model. */
  infer?: boolean | undefined;
  /** When it was said: a Date, an RFC 3339 text, or seconds since 1970. */
  timestamp?: number | string | Date | undefined;
}

export interface SearchMemoryOptions extends Entity {
  limit?: number | undefined;
  topK?: number | undefined;
  top_k?: number | undefined;
  threshold?: number | undefined;
  /** user_id, agent_id, run_id, and metadata that must be equal. */
  filters?: Record<string, MetadataValue | undefined> | undefined;
}

export type GetAllMemoryOptions = Omit<SearchMemoryOptions, "threshold">;

export interface UpdateMemoryOptions {
  text?: string | undefined;
  data?: string | undefined;
  /** Merged into what is there. */
  metadata?: Metadata | undefined;
}

export interface MemoryItem {
  /** The user and the node's id; see `nodeOf`. */
  id: string;
  memory: string;
  createdAt?: string;
  updatedAt?: string;
  score?: number;
  metadata?: Record<string, unknown>;
  user_id?: string;
  agent_id?: string;
  run_id?: string;
}

export interface Memories {
  results: MemoryItem[];
}

export interface HistoryItem {
  id: number;
  memory_id: string;
  previous_value: string | null;
  new_value: string | null;
  action: "ADD" | "UPDATE" | "DELETE";
  created_at: string;
  updated_at: string;
  is_deleted: 0 | 1;
}

const defaultTopK = 20; // mem0's
const atOnce = 8; // requests under way for one list
const maxUsers = 10_000; // that are remembered as provisioned
const scopes = ["user_id", "agent_id", "run_id"];

const entity = ["userId", "agentId", "runId", ...scopes];
const paged = [...entity, "limit", "topK", "top_k", "filters"];
/** What is taken by each call; all else of mem0's would have no effect, and is refused. */
const taken = {
  add: [...entity, "metadata", "filters", "infer", "timestamp"],
  search: [...paged, "threshold"],
  getAll: paged,
  update: ["text", "data", "metadata"],
  deleteAll: entity,
};
const noExpiry = "a memory here does not expire by itself; delete it when its time is over";
const noModel = "nothing is sent to a language model";
/** Why there is nothing like an option of mem0's here. */
const notHere: Record<string, string> = {
  expirationDate: noExpiry,
  expiration_date: noExpiry,
  showExpired: noExpiry,
  prompt: noModel,
  customInstructions: noModel,
  rerank: "the order of the results is final",
};

function refuse(call: keyof typeof taken, options: object): void {
  for (const [name, value] of Object.entries(options))
    if (value != null && !taken[call].includes(name))
      throw new OrgmemError(`${name} is an option that cannot be had here: ${notHere[name] ?? "it would have no effect"}. Leave ${name} away.`);
}

/** Where a memory is looked for. */
interface Place {
  user: string | undefined;
  /** Metadata that a memory must have: the agent, the run, and other filters. */
  metadata: Record<string, string | number | boolean>;
}

/** Says in which user's memory an id lies, and as which node: `<user>/<node>`, or the node alone for the key's owner. */
export function nodeOf(memoryId: string): { user: string | undefined; node: string } {
  // A node's id has a colon before any slash; an encoded user has none.
  const parts = /^([^/:]+)\/(.+)$/s.exec(memoryId);
  return parts ? { user: decodeURIComponent(parts[1]!), node: parts[2]! } : { user: undefined, node: memoryId };
}

function idOf(user: string | undefined, node: string): string {
  return user === undefined ? node : `${encodeURIComponent(user)}/${node}`;
}

export class Memory {
  /** What the calls go through; use it for what mem0 has no name for. */
  readonly client: Orgmem;
  readonly #users = new Map<string, Promise<unknown>>();

  constructor(client: Orgmem | OrgmemOptions = {}) {
    this.client = client instanceof Orgmem ? client : new Orgmem(client);
  }

  /** Keeps each message but those of the system, and waits until it is found. */
  async add(messages: string | readonly Message[], options: AddMemoryOptions = {}): Promise<Memories> {
    const place = placeOf(options, options.filters);
    refuse("add", options);
    const at = options.timestamp;
    const occurredAt = at === undefined ? undefined : new Date(typeof at === "number" ? at * 1000 : at).toISOString();
    const items: IngestItem[] = [];
    for (const { role, content } of typeof messages === "string" ? [{ role: "user", content: messages }] : messages) {
      if (role === "system") continue;
      const text = typeof content === "string" ? content : content.flatMap((part) => part.text ?? []).join("\n");
      if (text.trim() === "") continue;
      items.push({ content: text, metadata: { ...options.metadata, ...place.metadata, role }, ...(occurredAt ? { occurredAt } : {}) });
    }
    if (items.length === 0) throw new OrgmemError("There is nothing to keep: give a text, or messages with text that are not the system's.");
    const job = await (await this.#of(place.user)).add(items, { wait: true });
    return {
      results: (job.result?.items ?? []).map((item: JobItem) => {
        if (item.nodeId === null) throw new OrgmemError(`Message ${item.index + 1} could not be kept: ${item.error ?? item.status}. Correct it and add it again.`);
        return {
          id: idOf(place.user, item.nodeId),
          memory: items[item.index]!.content,
          metadata: { event: item.status === "unchanged" ? "NOOP" : "ADD" },
        };
      }),
    };
  }

  /** Finds passages, best first. Their metadata is in `get`. */
  async search(query: string, options: SearchMemoryOptions = {}): Promise<Memories> {
    const place = placeOf(options, options.filters);
    refuse("search", options);
    const client = await this.#of(place.user);
    const found = await client.search(query, {
      topK: most(options),
      ...(Object.keys(place.metadata).length ? { filters: { metadata: place.metadata } } : {}),
    });
    const named = Object.fromEntries(Object.entries(place.metadata).filter(([key]) => scopes.includes(key)));
    const seen = new Set<string>();
    return {
      results: found.results
        // A long memory may be hit in several passages; the best comes first.
        .filter((hit) => hit.score >= (options.threshold ?? 0) && !seen.has(hit.nodeId) && seen.add(hit.nodeId))
        .map((hit) => ({
          id: idOf(place.user, hit.nodeId),
          memory: hit.chunk,
          score: hit.score,
          createdAt: hit.createdAt,
          ...named,
          ...(place.user === undefined ? {} : { user_id: place.user }),
        })),
    };
  }

  async get(memoryId: string): Promise<MemoryItem | null> {
    const { user, node } = nodeOf(memoryId);
    try {
      return item(user, await (await this.#of(user)).get(node));
    } catch (error) {
      if (gone(error)) return null;
      throw error;
    }
  }

  /** The newest memories, each read with its text. */
  async getAll(options: GetAllMemoryOptions = {}): Promise<Memories> {
    const place = placeOf(options, options.filters);
    refuse("getAll", options);
    const client = await this.#of(place.user);
    const nodes: Node[] = [];
    for await (const node of this.#all(client, place)) if (nodes.push(node) >= most(options)) break;
    const results: MemoryItem[] = [];
    for (let i = 0; i < nodes.length; i += atOnce) {
      const read = nodes.slice(i, i + atOnce).map((node) =>
        client.get(node.id).catch((error: unknown) => {
          if (gone(error)) return undefined; // since it was listed
          throw error;
        }),
      );
      for (const node of await Promise.all(read)) if (node) results.push(item(place.user, node));
    }
    return { results };
  }

  async update(memoryId: string, change: string | UpdateMemoryOptions): Promise<{ message: string }> {
    if (typeof change !== "string") refuse("update", change);
    const { text, data, metadata } = typeof change === "string" ? ({ text: change } as UpdateMemoryOptions) : change;
    const { user, node } = nodeOf(memoryId);
    const client = await this.#of(user);
    const content = text ?? data;
    if (metadata) {
      // The service replaces all of it, so a change by somebody else in between must be seen.
      const before = await client.get(node);
      const merged = { ...before.metadata, ...metadata } as Metadata;
      await client.update(node, { ...(content === undefined ? {} : { content }), metadata: merged }, { ifMatch: before.etag });
    } else {
      await client.update(node, content === undefined ? {} : { content });
    }
    return { message: "Memory updated successfully!" };
  }

  async delete(memoryId: string): Promise<{ message: string }> {
    const { user, node } = nodeOf(memoryId);
    await (await this.#of(user)).delete(node);
    return { message: "Memory deleted successfully!" };
  }

  /** Of a user alone everything goes at once, for which the key needs `admin`; else what is the agent's or the run's, one by one. */
  async deleteAll(options: Entity): Promise<{ message: string }> {
    const place = placeOf(options, undefined);
    refuse("deleteAll", options);
    const client = await this.#of(place.user);
    if (place.user !== undefined && Object.keys(place.metadata).length === 0) {
      await this.#purge("subject", place.user);
    } else {
      const nodes: Node[] = [];
      for await (const node of this.#all(client, place)) nodes.push(node);
      for (const node of nodes)
        await client.delete(node.id).catch((error: unknown) => {
          if (!gone(error)) throw error; // forgotten by somebody else meanwhile
        });
    }
    return { message: "Memories deleted successfully!" };
  }

  /** Newest first. */
  async history(memoryId: string): Promise<HistoryItem[]> {
    const { user, node } = nodeOf(memoryId);
    const entries: HistoryEntry[] = [];
    for await (const entry of (await this.#of(user)).history(node)) entries.push(entry);
    return entries.map((entry, i) => {
      const content = entry.changes.find((change) => change.field === "content");
      const gone = entry.action === "forgotten";
      return {
        id: entries.length - i,
        memory_id: memoryId,
        previous_value: content?.before ?? null,
        new_value: content?.after ?? null,
        action: gone ? "DELETE" : entry.action === "created" ? "ADD" : "UPDATE",
        created_at: entry.at,
        updated_at: entry.at,
        is_deleted: gone ? 1 : 0,
      };
    });
  }

  /** Empties every memory of the organization, for which the key needs `admin`. */
  async reset(): Promise<void> {
    await this.#purge("org");
  }

  /** The client that acts for a user, who is provisioned on first use. */
  async #of(user: string | undefined): Promise<Orgmem> {
    if (user === undefined) return this.client;
    let provisioned = this.#users.get(user);
    if (!provisioned) {
      if (this.#users.size >= maxUsers) this.#users.clear();
      provisioned = this.client.subjects.put(user);
      this.#users.set(user, provisioned);
      provisioned.catch(() => this.#users.delete(user));
    }
    await provisioned;
    return this.client.subject(user);
  }

  /** What was taken in and is live, without what the service made of it. */
  async *#all(client: Orgmem, place: Place): AsyncGenerator<Node> {
    for await (const node of client.list({ status: "live", pageSize: 100 }))
      if (node.kind !== "entity" && node.kind !== "session" && has(node.metadata, place.metadata)) yield node;
  }

  async #purge(scope: "subject" | "org", user?: string): Promise<void> {
    for (let tries = 0; ; tries++) {
      const preview: PurgeReport = await this.client.purge.preview(scope, user);
      try {
        await this.client.purge.confirm(preview);
        return;
      } catch (error) {
        // What is derived in the background changes the counts by itself.
        if (!(error instanceof Conflict && error.code === "purge_impact_changed") || tries >= 5) throw error;
      }
    }
  }
}

function gone(error: unknown): boolean {
  return error instanceof NotFound && error.code === "node_not_found";
}

function most(options: SearchMemoryOptions): number {
  return options.topK ?? options.top_k ?? options.limit ?? defaultTopK;
}

function placeOf(given: Entity, filters: Record<string, unknown> | Entity | undefined): Place {
  const where: Record<string, unknown> = { ...filters };
  const name = (snake: string, camel: string): string | undefined => {
    const value = (given as Record<string, unknown>)[camel] ?? (given as Record<string, unknown>)[snake] ?? where[snake] ?? where[camel];
    delete where[snake];
    delete where[camel];
    return value === undefined || value === null ? undefined : String(value).trim();
  };
  const user = name("user_id", "userId");
  const agent = name("agent_id", "agentId");
  const run = name("run_id", "runId");
  if (!user && !agent && !run)
    throw new OrgmemError("Whose memory is meant? Give userId, agentId or runId (user_id, agent_id, run_id), as an option or in filters.");
  const metadata: Place["metadata"] = {};
  if (agent) metadata["agent_id"] = agent;
  if (run) metadata["run_id"] = run;
  for (const [key, value] of Object.entries(where)) {
    if (value === undefined) continue;
    if (["AND", "OR", "NOT"].includes(key) || !["string", "number", "boolean"].includes(typeof value))
      throw new OrgmemError(`The filter ${key} is none that can be had here: metadata is compared for equality alone. Filter the results for the rest.`);
    metadata[key] = value as string | number | boolean;
  }
  return { user: user || undefined, metadata };
}

function has(metadata: Record<string, unknown>, wanted: Place["metadata"]): boolean {
  return Object.entries(wanted).every(([key, value]) => metadata[key] === value);
}

function item(user: string | undefined, node: VersionedNode): MemoryItem {
  const rest: Record<string, unknown> = { ...node.metadata };
  const names: Record<string, string> = user === undefined ? {} : { user_id: user };
  for (const key of scopes) {
    if (typeof rest[key] === "string") names[key] ??= rest[key];
    delete rest[key];
  }
  return {
    id: idOf(user, node.id),
    memory: node.content ?? "",
    createdAt: node.createdAt,
    updatedAt: node.updatedAt,
    metadata: rest,
    ...names,
  };
}
