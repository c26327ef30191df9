import { Conflict, JobFailed, NotFound } from "orgmem";
import type { IngestItem, Node, Orgmem } from "orgmem";

import { each } from "./limits.js";
import { Names } from "./names.js";
import { clean, isBlank } from "./text.js";

/** Bytes of data in a record's own node, which leaves 8 KiB of its metadata to the rest. */
const mostInline = 56_000;
/** Characters of data in a further node: at most 60,000 bytes, whatever they are. */
const partLength = 15_000;
const mostParts = 1_000;
/** Characters that a record is found by. An edit is answered when they are embedded, and the service waits 30 s for that. */
const mostText = 50_000;
const page = 100;
/** Items of one request, and about how many characters; the service takes 1,000 and 10 MiB. */
const mostItems = 500;
const mostBody = 2 << 20;
/** How often an operation begins anew when others write its record under its hands. */
const mostTries = 5;
/** The value cannot be kept as it is. */
export class ValueRefused extends TypeError {
  override name = "ValueRefused";
}

/** Others wrote and deleted the same item, again and again, while it was read or written here. */
export class TooMuchChange extends Error {
  override name = "TooMuchChange";
}

/** Something else than a store has changed the node of an item. */
export class ItemDamaged extends Error {
  override name = "ItemDamaged";
}

/** A record as it is kept. */
export interface Kept {
  nodeId: string;
  data: unknown;
  created: Date;
  updated: Date;
}

/** Records of a list, and where it goes on. */
export interface Page {
  records: Kept[];
  next: string | undefined;
}

/** A record to be kept. */
export interface Draft {
  id: string;
  data: string;
  /** What it is found by; empty for nothing. */
  text: string;
  /** Listed by these. */
  groups: string[];
  /** Searched with these. */
  tags: string[];
  /** For people who look at the node. */
  shown: Record<string, string>;
}

/**
 * Exact records in a memory, which finds by meaning and takes in in the background.
 *
 * A record is one node: its externalId is made from the record's id, its metadata holds the data as JSON, and its content
 * is what it is found by with a last line of made-up words: one that no other record has, since equal contents would be
 * one node, and one for each group, by which the keyword index lists the group. Data above the service's limit for
 * metadata is kept in further nodes, which are written before the node that names them: a reader sees the old data or the
 * new.
 */
export class Records {
  readonly names: Names;
  readonly #client: Orgmem;
  readonly #now: () => Date;

  constructor(client: Orgmem, store: string, now: () => Date) {
    this.#client = client;
    this.names = new Names(store);
    this.#now = now;
  }

  /** The record that an id means now. */
  async get(id: string): Promise<Kept | undefined> {
    const external = await this.names.external(id);
    for (let tries = 0; tries < mostTries; tries++) {
      const head = await this.#meant(external);
      if (head?.status !== "live") return undefined;
      if (!isHead(head)) throw damaged(head);
      const kept = await this.#read(head);
      if (kept) return kept;
      // Its parts are gone: it was replaced or deleted since. Look again.
    }
    throw changed(id);
  }

  /** The node that an externalId means now. */
  async #meant(external: string): Promise<Node | undefined> {
    return (await this.#client.list({ externalId: external }).page()).data[0];
  }

  /** A page of the records of a group, newest first. */
  async page(group: string, cursor?: string): Promise<Page> {
    const found = await this.#client.list({ q: group, kind: "document", status: "live", pageSize: page }).page(cursor);
    return { records: await this.#readAll(found.data, group), next: found.hasMore ? found.nextCursor : undefined };
  }

  /** The nodes of the records that have all tags and fit a query, best first, each with its score: a hundred at most. */
  async search(query: string, tags: readonly string[]): Promise<Map<string, number>> {
    const { results } = await this.#client.search(query, {
      topK: 100,
      filters: { kind: "document", metadata: Object.fromEntries(tags.map((tag) => [tag, true])) },
    });
    const best = new Map<string, number>();
    for (const hit of results) if (!best.has(hit.nodeId)) best.set(hit.nodeId, hit.score);
    return best;
  }

  /** The records that nodes hold, as far as they still do. */
  async ofNodes(ids: readonly string[], group: string): Promise<Kept[]> {
    const nodes = await each(ids, (id) => orUndefined(this.#client.get(id)));
    return this.#readAll(nodes.filter((node) => node?.status === "live") as Node[], group);
  }

  async #readAll(nodes: Node[], group: string): Promise<Kept[]> {
    // A word in a text alone says nothing: anybody may write one.
    const heads = nodes.filter((node) => node.metadata[group] === true && isHead(node));
    return (await each(heads, (head) => this.#read(head))).filter((kept) => kept !== undefined);
  }

  /** What a node holds; undefined where its parts are gone. */
  async #read(head: Node): Promise<Kept | undefined> {
    const { metadata } = head;
    const json = metadata["parts"] ? await this.#joined(head) : metadata["data"];
    if (json === undefined && metadata["parts"]) return undefined;
    try {
      const [created, updated] = [new Date(String(metadata["created"])), new Date(String(metadata["updated"]))];
      if (Number.isNaN(created.getTime()) || Number.isNaN(updated.getTime())) throw new TypeError("no time");
      return { nodeId: head.id, data: JSON.parse(json as string), created, updated };
    } catch (cause) {
      throw damaged(head, cause);
    }
  }

  async #joined(head: Node): Promise<string | undefined> {
    const { record, word, write, parts } = head.metadata;
    const found = new Map<unknown, string>();
    for (const { metadata } of await this.#nodes(String(word))) {
      if (metadata["partOf"] === record && metadata["write"] === write) found.set(metadata["part"], String(metadata["data"]));
    }
    if (found.size !== parts) return undefined;
    return Array.from(found.keys(), (_, i) => found.get(i)).join("");
  }

  /** Every node that holds something of a record: what it is, what it was, its parts. */
  async #nodes(own: string): Promise<Node[]> {
    const nodes: Node[] = [];
    for await (const node of this.#client.list({ q: own, kind: "document", pageSize: page })) nodes.push(node);
    return nodes;
  }

  /** Keeps records in place of what their ids meant. They are found when it returns. */
  async put(drafts: readonly Draft[]): Promise<void> {
    let todo = [...drafts];
    for (let tries = 0; todo.length > 0; tries++) {
      if (tries === mostTries) throw changed(todo[0]!.id);
      const added: { draft: Draft; item: IngestItem }[] = [];
      const again = await each(todo, async (draft) => {
        const before = await this.#meant(await this.names.external(draft.id));
        const item = await this.#item(draft, before);
        if (before?.status !== "live") {
          // By its externalId, so that of two first puts at once the later takes the earlier's place.
          added.push({ draft, item });
          return undefined;
        }
        const { content, metadata } = item;
        // A put replaces whatever is there, so that it may be sent again.
        const edited = await orUndefined(this.#client.update(before.id, { content, metadata: metadata! }, { repeatable: true }));
        if (!edited) return draft; // deleted or replaced since it was found
        if (before.metadata["parts"]) await this.#deleteParts(draft.id, metadata!["write"]);
        return undefined;
      });
      const unchanged = new Set(await this.#addAll(added.map(({ item }) => item)));
      todo = again.filter((draft) => draft !== undefined);
      // What a person, or another put, has made of the document stands against a text that only repeats itself.
      for (const { draft, item } of added.filter(({ item }) => unchanged.has(item.externalId!))) {
        if ((await this.#meant(item.externalId!))?.status !== "live") await this.delete(draft.id);
        todo.push(draft);
      }
    }
  }

  /** The item of a record. Its parts are kept when this returns. */
  async #item(draft: Draft, before: Node | undefined): Promise<IngestItem> {
    const [external, own] = await Promise.all([this.names.external(draft.id), this.names.own(draft.id)]);
    const now = this.#now().toISOString().replace("Z", "+00:00"); // older Pythons read no Z
    const metadata: NonNullable<IngestItem["metadata"]> = {
      app: Names.app,
      ...draft.shown,
      record: external,
      word: own,
      created: String(before?.metadata["created"] ?? now),
      updated: now,
    };
    for (const name of [...draft.groups, ...draft.tags]) metadata[name] = true;
    if (bytes(draft.data) <= mostInline) metadata["data"] = draft.data;
    else Object.assign(metadata, await this.#addParts(external, own, draft.data));
    const text = clean(draft.text).slice(0, mostText).toWellFormed();
    const words = [own, ...draft.groups].join(" ");
    return { content: isBlank(text) ? words : `${text}\n\n${words}`, externalId: external, metadata };
  }

  async #addParts(external: string, own: string, data: string): Promise<{ parts: number; write: string }> {
    const write = crypto.randomUUID().replaceAll("-", "");
    const parts = divide(data);
    if (parts.length > mostParts) {
      throw new ValueRefused(
        `The value has ${data.length} characters of JSON, and at most ${mostParts * partLength} are kept of one item: divide it, or keep the large part elsewhere and its address here.`,
      );
    }
    const items = parts.map((part, i) => ({
      content: `${own} ${write.replace(/./g, (digit) => String.fromCharCode(97 + Number.parseInt(digit, 16)))} ${i}`,
      externalId: `${external}#${write}.${i}`,
      metadata: { app: Names.app, partOf: external, write, part: i, data: part },
    }));
    await this.#addAll(items);
    return { parts: parts.length, write };
  }

  /** Takes items in, and gives the externalIds of those that changed nothing. */
  async #addAll(items: readonly IngestItem[]): Promise<string[]> {
    const unchanged: string[] = [];
    let batch: IngestItem[] = [];
    let size = 0;
    for (const item of items) {
      const more = JSON.stringify(item).length;
      if (batch.length === mostItems || (batch.length > 0 && size + more > mostBody)) {
        unchanged.push(...(await this.#add(batch)));
        [batch, size] = [[], 0];
      }
      batch.push(item);
      size += more;
    }
    if (batch.length > 0) unchanged.push(...(await this.#add(batch)));
    return unchanged;
  }

  async #add(items: IngestItem[]): Promise<string[]> {
    const job = await this.#client.add(items, { wait: true });
    const results = job.result?.items ?? [];
    const failed = results.find((done) => done.status === "failed");
    if (failed) {
      throw new JobFailed(`The service took ${items[failed.index]?.externalId} in and could not keep it: ${failed.error}. Correct what it names, and put it again.`, job);
    }
    return results.filter((done) => done.status === "unchanged").map((done) => items[done.index]!.externalId!);
  }

  /** Deletes a record, with what it was before and what it was divided into. */
  async delete(id: string): Promise<void> {
    const external = await this.names.external(id);
    const nodes = await this.#nodes(await this.names.own(id));
    const current = await this.#meant(external); // also where a person has changed its text, words and all
    const heads = new Map<string, Node>();
    const queue = [...nodes, ...(current ? [current] : [])].filter((node) => node.metadata["record"] === external || node.id === current?.id);
    for (let node = queue.shift(); node; node = queue.shift()) {
      if (heads.has(node.id)) continue;
      heads.set(node.id, node);
      // What a person has put in its place has its metadata, and with that the data.
      const next = node.supersededBy ? await orUndefined(this.#client.get(node.supersededBy)) : undefined;
      if (next?.metadata["record"] === external) queue.push(next);
    }
    const live = (node: Node): number => Number(node.status === "live");
    // What it was goes first, and what it is before its parts: a deletion that breaks off leaves a whole record, which can
    // be deleted again, and nobody reads one without parts.
    for (const node of [...heads.values()].sort((a, b) => live(a) - live(b))) await orUndefined(this.#client.delete(node.id));
    await this.#deleteNodes(nodes.filter((node) => node.metadata["partOf"] === external));
  }

  async #deleteParts(id: string, but: unknown): Promise<void> {
    const external = await this.names.external(id);
    const nodes = await this.#nodes(await this.names.own(id));
    await this.#deleteNodes(nodes.filter((node) => node.metadata["partOf"] === external && node.metadata["write"] !== but));
  }

  async #deleteNodes(nodes: readonly Node[]): Promise<void> {
    await each(nodes, (node) => orUndefined(this.#client.delete(node.id)));
  }
}

/** Waits for an answer about a node; undefined where the node is gone, or superseded and not to be edited. */
async function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (err) {
    if (err instanceof NotFound || err instanceof Conflict) return undefined;
    throw err;
  }
}

/**
 * Tells whether a node is a record's. Its metadata alone say nothing: what a person puts in its place has them too, but
 * not its externalId.
 */
const isHead = (node: Node): boolean => node.source.externalIds.includes(String(node.metadata["record"]));

const damaged = (node: Node, cause?: unknown): ItemDamaged =>
  new ItemDamaged(
    `The node ${node.id} stands for an item of a LangGraph store, and something else has changed what it holds. Put its key again, or delete the node.`,
    { cause },
  );

const bytes = (data: string): number => new TextEncoder().encode(JSON.stringify(data)).length;

/** Cuts data into parts, and no character in two. */
function divide(data: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < data.length; ) {
    let to = from + partLength;
    if (to < data.length && /[\ud800-\udbff]/.test(data[to - 1]!)) to--;
    parts.push(data.slice(from, to));
    from = to;
  }
  return parts;
}

const changed = (id: string): TooMuchChange =>
  new TooMuchChange(
    `The item ${JSON.stringify(id)} was written and deleted by others ${mostTries} times while it was to be read or written. Try again; if it stays, let one process at a time write it.`,
  );
