import { BaseStore, validateNamespace } from "@langchain/langgraph-checkpoint";
import type {
  GetOperation,
  Item,
  ListNamespacesOperation,
  MatchCondition,
  Operation,
  OperationResults,
  PutOperation,
  SearchItem,
  SearchOperation,
} from "@langchain/langgraph-checkpoint";
import { NotFound, Conflict, JobFailed } from "orgmem";
import type { Hit, Node, Orgmem } from "orgmem";

import { checkFilter, equalities, passes } from "./filter.js";
import { document, externalId, fieldOf, holds, identify, isIndexed, isItem, isUnder, itemOf } from "./layout.js";
import type { Document, Identity, Metadata } from "./layout.js";
import { each, Recent } from "./limits.js";

/** What a search answers at most; the service's limit. */
const mostHits = 100;
/** Items of one batch that go in one request. The service takes 1,000, and 10 MiB; an item has less than 200 KiB. */
const mostIngested = 50;
/** Items that are read at a time, where it takes the value to tell whether they pass the filter. */
const mostRead = 16;
/** How often an operation begins anew when others change its item under its hands. */
const mostPatience = 20;
/** Items whose place is remembered; some 200 bytes each. */
const mostHints = 10_000;
/** What is searched for where only the conditions matter. */
const anything = "item";

export interface OrgmemStoreOptions {
  /** Whose memory the items lie in: the key owner's, or a subject's with `client.subject(id)`. */
  client: Orgmem;
  /** What of a value is searched, where `put` does not say. Default: all of it. */
  index?: { fields?: string[] } | undefined;
  /** Default: the clock. */
  now?: (() => Date) | undefined;
}

/** The same item is being changed by others faster than it can be read. */
export class TooMuchChange extends Error {
  override name = "TooMuchChange";
}

interface PendingPut {
  who: Identity;
  /** undefined: delete it. */
  document: Document | undefined;
}

/**
 * LangGraph's long-term memory in orgmem. `put` and `delete` return when every later `get` and `search` sees them, in
 * this process and in others; `get` is exact; `delete` leaves nothing of any version.
 */
export class OrgmemStore extends BaseStore {
  readonly #client: Orgmem;
  readonly #fields: readonly string[];
  readonly #now: () => Date;
  /** Where items were last seen, by their id. It saves a search, and is never believed: what is there is read. */
  readonly #hints = new Recent<string, string>(mostHints);

  constructor({ client, index, now }: OrgmemStoreOptions) {
    super();
    this.#client = client;
    this.#fields = index?.fields ?? ["$"];
    this.#now = now ?? (() => new Date());
  }

  /**
   * Does several operations. As in LangGraph's own stores, what reads sees what was there before the batch, and of
   * several puts of one key the last one counts. A batch is not one transaction: when an operation fails, others may
   * have been done.
   */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, PendingPut>();
    const reads: { at: number; read: () => Promise<unknown> }[] = [];
    for (const [at, op] of operations.entries()) {
      if ("namespacePrefix" in op) {
        if (op.namespacePrefix.length > 0) validateNamespace(op.namespacePrefix, { allowReservedRoot: true });
        checkFilter(op.filter);
        reads.push({ at, read: () => this.#search(op) });
      } else if ("value" in op) {
        const put = await this.#pending(op);
        puts.set(put.who.id, put);
      } else if ("key" in op) {
        validateNamespace(op.namespace, { allowReservedRoot: true });
        reads.push({ at, read: () => this.#get(op) });
      } else {
        reads.push({ at, read: () => this.#listNamespaces(op) });
      }
    }
    const results: unknown[] = operations.map(() => null);
    const answers = await each(reads, ({ read }) => read());
    for (const [i, { at }] of reads.entries()) results[at] = answers[i];
    await this.#write([...puts.values()]);
    return results as OperationResults<Op>;
  }

  /** Checks a put before anything is sent. */
  async #pending(op: PutOperation): Promise<PendingPut> {
    validateNamespace(op.namespace, { allowReservedRoot: true });
    if ((op as { ttl?: unknown }).ttl != null) throw new TypeError("orgmem keeps items until they are deleted: a put with a ttl is refused, not ignored.");
    const who = await identify(op.namespace, op.key);
    if (op.value === null) return { who, document: undefined };
    const fields = op.index === false ? [] : (op.index ?? this.#fields);
    return { who, document: document(who, op.value, fields, this.#now()) };
  }

  async #get(op: GetOperation): Promise<Item | null> {
    const node = await this.#find(await identify(op.namespace, op.key));
    return (node && itemOf(node)) ?? null;
  }

  /** The node that holds an item, however old the hint. */
  async #find(who: Identity): Promise<Node | undefined> {
    const hint = this.#hints.get(who.id);
    if (hint !== undefined) {
      const node = await this.#node(hint);
      if (node && holds(node, who)) return node;
      this.#hints.delete(who.id);
    }
    for (let patience = 0; patience < mostPatience; patience++) {
      const hits = await this.#hits(anything, isItem(who.id), "vector");
      if (hits.length === 0) return undefined;
      for (const hit of hits) {
        const node = await this.#node(hit.nodeId);
        if (!node || !holds(node, who)) continue;
        this.#hints.set(who.id, node.id);
        return node;
      }
      // What was found has been replaced or deleted since: look again at what is there now.
    }
    throw new TooMuchChange(`The item ${who.text} changed ${mostPatience} times while it was read. Read it again.`);
  }

  async #node(id: string): Promise<Node | undefined> {
    try {
      return await this.#client.get(id);
    } catch (err) {
      if (err instanceof NotFound) return undefined;
      throw err;
    }
  }

  /** All documents that meet some conditions, up to mostHits, best first. In every mode but keyword none is left out. */
  async #hits(query: string, metadata: Metadata, mode: "vector" | "hybrid", includeSuperseded = false): Promise<Hit[]> {
    const { results } = await this.#client.search(query, { topK: mostHits, mode, includeSuperseded, filters: { metadata } });
    return results;
  }

  // Writing.

  async #write(puts: PendingPut[]): Promise<void> {
    const added: { who: Identity; document: Document }[] = [];
    await each(puts, async ({ who, document }) => {
      if (document === undefined) await this.#delete(who);
      else if (!(await this.#replace(who, document))) added.push({ who, document });
    });
    for (let from = 0; from < added.length; from += mostIngested) await this.#add(added.slice(from, from + mostIngested));
  }

  /** Gives an item that exists another value, in one step that is done when it is answered; false where there is none. */
  async #replace(who: Identity, document: Document): Promise<boolean> {
    for (let patience = 0; patience < mostPatience; patience++) {
      const id = this.#hints.get(who.id) ?? (await this.#find(who))?.id;
      if (id === undefined) return false;
      try {
        await this.#client.update(id, { ...document, reason: "put" });
        this.#hints.set(who.id, id);
        return true;
      } catch (err) {
        // Deleted, or superseded by one who put it for the first time too: what holds it now is looked up.
        if (!(err instanceof NotFound || err instanceof Conflict)) throw err;
        this.#hints.delete(who.id);
      }
    }
    throw new TooMuchChange(`The item ${who.text} changed ${mostPatience} times while it was put. Put it again.`);
  }

  /**
   * Takes in items that were not there. Who puts the same key at the same time has the same externalId, so that one
   * document is left, the one that was queued last.
   */
  async #add(items: { who: Identity; document: Document }[]): Promise<void> {
    const job = await this.#client.add(
      items.map(({ who, document }) => ({ ...document, externalId: externalId(who.id) })),
      { wait: true },
    );
    await each(job.result?.items ?? [], async (done) => {
      const { who, document } = items[done.index]!;
      if (done.status === "failed" || done.nodeId === null) {
        throw new JobFailed(`The item ${who.text} was not taken in: ${done.error ?? "the job does not say why"}. Put it again.`, job);
      }
      this.#hints.set(who.id, done.nodeId);
      // Another had put it in the meantime, and what was theirs stands: replace it.
      if (done.status === "unchanged" && !(await this.#replace(who, document))) await this.#add([{ who, document }]);
    });
  }

  /** Deletes every version of an item: what holds it comes last, so that a deletion that breaks off can be repeated. */
  async #delete(who: Identity): Promise<void> {
    for (let patience = 0; patience < mostPatience; patience++) {
      const hits = await this.#hits(anything, isItem(who.id), "vector", true);
      const nodes = (await each(hits, (hit) => this.#node(hit.nodeId))).filter(
        (node) => node !== undefined && node.metadata["langgraphItem"] === who.text,
      ) as Node[];
      nodes.sort((a, b) => Number(a.status === "live") - Number(b.status === "live"));
      for (const node of nodes) {
        try {
          await this.#client.delete(node.id);
        } catch (err) {
          if (!(err instanceof NotFound)) throw err; // somebody else did it
        }
      }
      this.#hints.delete(who.id);
      if (hits.length < mostHits) return;
    }
    throw new TooMuchChange(`The item ${who.text} has more than ${mostPatience * mostHits} versions. Delete it again.`);
  }

  // Searching.

  async #search(op: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter, query, limit = 10, offset = 0 } = op;
    if (!(limit > 0)) return [];
    const wanted = new Wanted(namespacePrefix, filter, offset, limit);
    if (query === undefined || query.trim() === "") {
      await this.#newest(wanted);
    } else {
      await this.#ranked(wanted, query);
      // What is not indexed, and what ranks below the hundredth, comes behind, without a score.
      if (!wanted.full) await this.#newest(wanted);
    }
    return wanted.items;
  }

  /** Takes what is found for a query, best first. */
  async #ranked(wanted: Wanted, query: string): Promise<void> {
    const hits = await this.#hits(query, { ...wanted.conditions, ...isIndexed(true) }, "hybrid");
    await this.#take(wanted, hits, (hit) => hit.score);
  }

  /** Takes what there is, newest first. */
  async #newest(wanted: Wanted): Promise<void> {
    // Few items under a prefix are found by it, however many others the memory holds.
    const hits = await this.#hits(anything, wanted.conditions, "vector");
    if (hits.length < mostHits) {
      hits.sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : a.nodeId < b.nodeId ? -1 : 1));
      return this.#take(wanted, hits, () => undefined);
    }
    for await (const node of this.#nodes()) {
      wanted.offer(node, undefined);
      if (wanted.full) return;
    }
  }

  /** Reads the items of hits and takes them, a few at a time, until there are enough. */
  async #take(wanted: Wanted, hits: Hit[], score: (hit: Hit) => number | undefined): Promise<void> {
    let rest = wanted.passOver(hits);
    while (rest.length > 0 && !wanted.full) {
      const some = rest.slice(0, wanted.decided ? wanted.missing : mostRead);
      rest = rest.slice(some.length);
      const nodes = await each(some, (hit) => this.#node(hit.nodeId));
      for (const [i, node] of nodes.entries()) if (node) wanted.offer(node, score(some[i]!));
    }
  }

  /** Every document that may be an item, newest first. */
  #nodes(): AsyncIterable<Node> {
    return this.#client.list({ kind: "document", status: "live", pageSize: 100 });
  }

  async #listNamespaces(op: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit = 100, offset = 0 } = op;
    const found = new Map<string, string[]>();
    for await (const node of this.#nodes()) {
      const namespace = itemOf(node)?.namespace;
      if (!namespace || !matchConditions.every((c) => matches(namespace, c))) continue;
      const cut = namespace.slice(0, maxDepth);
      found.set(JSON.stringify(cut), cut);
    }
    return [...found.values()]
      .map((namespace) => ({ namespace, name: namespace.join(":") }))
      .sort((a, b) => a.name.localeCompare(b.name))
      .slice(offset, offset + limit)
      .map(({ namespace }) => namespace);
  }
}

function matches(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > namespace.length) return false;
  const from = matchType === "suffix" ? namespace.length - path.length : 0;
  return path.every((label, i) => label === "*" || label === namespace[from + i]);
}

/** The window of a search, and what of it has been found. */
class Wanted {
  readonly items: SearchItem[] = [];
  /** What the service is asked to decide. */
  readonly conditions: Metadata;
  /** Whether that is all there is to decide. */
  readonly decided: boolean;
  readonly #prefix: readonly string[];
  readonly #filter: Record<string, unknown> | undefined;
  readonly #limit: number;
  readonly #seen = new Set<string>();
  #skip: number;

  constructor(prefix: readonly string[], filter: Record<string, unknown> | undefined, offset: number, limit: number) {
    const { pairs, complete } = equalities(filter);
    this.conditions = { ...isUnder(prefix), ...Object.fromEntries(pairs.map(([field, v]) => [fieldOf(field), v])) };
    this.decided = complete;
    this.#prefix = prefix;
    this.#filter = filter;
    this.#limit = limit;
    this.#skip = offset;
  }

  get full(): boolean {
    return this.missing <= 0;
  }

  get missing(): number {
    return this.#limit - this.items.length;
  }

  /**
   * Leaves out what has been offered already, and as many of the first as the window begins behind. These need not be
   * read, if the service has decided all of the filter.
   */
  passOver(hits: Hit[]): Hit[] {
    const fresh = hits.filter((hit) => !this.#seen.has(hit.nodeId));
    if (!this.decided) return fresh;
    const passed = fresh.splice(0, this.#skip);
    this.#skip -= passed.length;
    for (const hit of passed) this.#seen.add(hit.nodeId);
    return fresh;
  }

  /** Takes a node that is an item, passes the filter and lies in the window. */
  offer(node: Node, score: number | undefined): void {
    if (this.full || this.#seen.has(node.id)) return;
    this.#seen.add(node.id);
    const item = node.status === "live" ? itemOf(node) : undefined;
    if (!item || !this.#prefix.every((label, i) => item.namespace[i] === label) || !passes(item.value, this.#filter)) return;
    if (this.#skip > 0) this.#skip--;
    else this.items.push(score === undefined ? item : { ...item, score });
  }
}
