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
import type { Orgmem } from "orgmem";

import { checkFilter, equalTexts, passes } from "./filter.js";
import { each } from "./limits.js";
import { recordOf } from "./names.js";
import { ItemDamaged, Records, ValueRefused } from "./records.js";
import type { Draft, Kept, Page } from "./records.js";
import { clean, isBlank, isObject, textAt } from "./text.js";

/** Texts of a value by which a search can be narrowed, of 20 bytes of metadata each. */
const mostTexts = 200;
/** Conditions that a search sends; the service takes 16, and two are the store's own. */
const mostConditions = 14;
/** What a search answers at most. */
const mostHits = 100;
/** Items that are read together, where it takes the value to tell whether they pass the filter. */
const leastRead = 8;
const longestQuery = 10_000;
const longestShown = 200;

export interface OrgmemStoreOptions {
  /** Whose memory the items lie in: the key owner's, or a subject's with `client.subject(id)`. */
  client: Orgmem;
  /** Two stores of one memory see each other's items only if they have the same name. Default: "default". */
  name?: string | undefined;
  /** What of a value is searched, where `put` does not say. Default: all of it. */
  index?: { fields?: string[] } | undefined;
  /** Default: the clock. */
  now?: (() => Date) | undefined;
}

/**
 * LangGraph's long-term memory in orgmem. `put` and `delete` return when every later `get` and `search` sees them, in
 * this process and in others; `get` is exact; `delete` leaves nothing of any version.
 */
export class OrgmemStore extends BaseStore {
  readonly #records: Records;
  readonly #fields: readonly string[];

  constructor({ client, name = "default", index, now = () => new Date() }: OrgmemStoreOptions) {
    super();
    this.#records = new Records(client, name, now);
    this.#fields = index?.fields ?? ["$"];
  }

  /**
   * Does several operations. As in LangGraph's own stores, what reads sees what was there before the batch, and of
   * several puts of one key the last one counts. A batch is not one transaction: when an operation fails, others may
   * have been done.
   */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const reads: { at: number; read: () => Promise<unknown> }[] = [];
    const puts = new Map<string, PutOperation>();
    for (const [at, op] of operations.entries()) {
      if ("namespacePrefix" in op) {
        if (op.namespacePrefix.length > 0) validateNamespace(op.namespacePrefix, { allowReservedRoot: true });
        checkFilter(op.filter);
        reads.push({ at, read: () => this.#search(op) });
      } else if ("value" in op) {
        puts.set(idOf(op), op);
      } else if ("key" in op) {
        const id = idOf(op);
        reads.push({ at, read: () => this.#get(id) });
      } else {
        reads.push({ at, read: () => this.#listNamespaces(op) });
      }
    }
    // Before anything is sent: a value that is refused refuses the whole batch.
    const drafts = await each([...puts].filter(([, op]) => op.value !== null), ([id, op]) => this.#draft(id, op));
    const results: unknown[] = operations.map(() => null);
    const answers = await each(reads, ({ read }) => read());
    for (const [i, { at }] of reads.entries()) results[at] = answers[i];
    await each([...puts].filter(([, op]) => op.value === null), ([id]) => this.#records.delete(id));
    await this.#records.put(drafts);
    return results as OperationResults<Op>;
  }

  async #get(id: string): Promise<Item | null> {
    const kept = await this.#records.get(id);
    return kept ? itemOf(kept) : null;
  }

  async #draft(id: string, op: PutOperation): Promise<Draft> {
    if ((op as { ttl?: unknown }).ttl != null) {
      throw new TypeError("orgmem keeps items until they are deleted, so a put with a ttl is refused rather than ignored. Leave it out, and delete the item when it has had its time.");
    }
    const value = op.value as Record<string, unknown>;
    const data = spell({ namespace: op.namespace, key: op.key, value });
    const { names } = this.#records;
    const texts = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
    if (texts.length > mostTexts) {
      throw new ValueRefused(`The value has ${texts.length} texts at its top, and ${mostTexts} can be filtered by. Put those that are not filtered by one level deeper.`);
    }
    const tags = await Promise.all(texts.map(([field, text]) => names.equal(field, text)));
    if (op.index !== false) tags.unshift(await names.indexed());
    return {
      id,
      data,
      text: op.index === false ? "" : textAt(value, op.index ?? this.#fields),
      groups: await Promise.all(Array.from({ length: op.namespace.length + 1 }, (_, n) => names.under(op.namespace.slice(0, n)))),
      tags,
      shown: { namespace: shown(op.namespace.join(".")), key: shown(op.key) },
    };
  }

  async #search(op: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix: prefix, filter, limit = 10, offset = 0 } = op;
    const query = clean(op.query ?? "").slice(0, longestQuery).toWellFormed();
    const { names } = this.#records;
    const group = await names.under(prefix);
    const found: SearchItem[] = [];
    const end = offset + limit;
    const take = (kept: Kept, score?: number): void => {
      const item = itemOf(kept);
      if (found.length < end && isUnder(item, prefix) && passes(item.value, filter)) found.push(score === undefined ? item : { ...item, score });
    };
    if (!(limit > 0)) return [];

    let page: Page | undefined;
    let scores = new Map<string, number>();
    if (!isBlank(query)) {
      const texts = equalTexts(filter).slice(0, mostConditions);
      scores = await this.#records.search(query, [group, await names.indexed(), ...(await Promise.all(texts.map(([f, t]) => names.equal(f, t))))]);
      // A small group is read in one request, with what was not found. Of a large one only what is wanted is read.
      if (scores.size < mostHits) page = await this.#records.page(group);
      const known = new Map(page?.records.map((kept) => [kept.nodeId, kept]));
      const complete = page && page.next === undefined;
      for (let ids = [...scores.keys()]; ids.length > 0 && found.length < end; ) {
        const some = ids.splice(0, Math.max(end - found.length, leastRead));
        const missing = complete ? [] : some.filter((id) => !known.has(id));
        for (const kept of await this.#records.ofNodes(missing, group)) known.set(kept.nodeId, kept);
        for (const id of some) if (known.has(id)) take(known.get(id)!, scores.get(id));
      }
    }
    // Without a query the newest come first. Behind what was found for one comes what is not indexed, or ranks below the
    // hundredth, as in LangGraph's own stores: without a score.
    while (found.length < end) {
      page ??= await this.#records.page(group);
      for (const kept of page.records) if (!scores.has(kept.nodeId)) take(kept);
      if (page.next === undefined) break;
      if (found.length < end) page = await this.#records.page(group, page.next);
    }
    return found.slice(offset);
  }

  async #listNamespaces(op: ListNamespacesOperation): Promise<string[][]> {
    const { matchConditions = [], maxDepth, limit = 100, offset = 0 } = op;
    // Only what is under the longest prefix that is known to the letter need be read.
    const prefixes = matchConditions.filter((c) => c.matchType === "prefix").map((c) => c.path.slice(0, wildcard(c.path)));
    const longest = prefixes.reduce<string[]>((best, path) => (path.length > best.length ? path : best), []);
    const group = await this.#records.names.under(longest);
    const found = new Map<string, string[]>();
    for (let cursor: string | undefined, more = true; more; ) {
      const { records, next } = await this.#records.page(group, cursor);
      for (const kept of records) {
        const { namespace } = itemOf(kept);
        if (!matchConditions.every((c) => matches(namespace, c))) continue;
        const cut = namespace.slice(0, maxDepth);
        found.set(JSON.stringify(cut), cut);
      }
      [cursor, more] = [next, next !== undefined];
    }
    return [...found.values()]
      .map((namespace) => ({ namespace, name: namespace.join(":") }))
      .sort((a, b) => a.name.localeCompare(b.name))
      .slice(offset, offset + limit)
      .map(({ namespace }) => namespace);
  }
}

/** One name for a namespace and a key. */
function idOf({ namespace, key }: GetOperation | PutOperation): string {
  validateNamespace(namespace, { allowReservedRoot: true });
  if (typeof key !== "string") throw new TypeError(`A key is a text; this is ${typeof key}.`);
  return recordOf(namespace, key);
}

function itemOf({ nodeId, data, created, updated }: Kept): Item {
  const { namespace, key, value } = isObject(data) ? data : {};
  if (!Array.isArray(namespace) || typeof key !== "string" || !isObject(value)) {
    throw new ItemDamaged(`The node ${nodeId} stands for an item of a LangGraph store, and does not hold one. Put its key again, or delete the node.`);
  }
  return { namespace: namespace as string[], key, value, createdAt: created, updatedAt: updated };
}

const isUnder = (item: Item, prefix: readonly string[]): boolean => prefix.every((label, i) => item.namespace[i] === label);

function matches(namespace: readonly string[], { matchType, path }: MatchCondition): boolean {
  if (path.length > namespace.length) return false;
  const from = matchType === "suffix" ? namespace.length - path.length : 0;
  return path.every((label, i) => label === "*" || label === namespace[from + i]);
}

/** Where a path stops being known. */
function wildcard(path: readonly string[]): number {
  const at = path.indexOf("*");
  return at < 0 ? path.length : at;
}

const shown = (name: string): string => clean(name).slice(0, longestShown).toWellFormed();

/** Spells an item as JSON. What JSON would change without a word is refused. */
function spell(item: { namespace: string[]; key: string; value: unknown }): string {
  if (!isObject(item.value)) throw new ValueRefused(`A value is an object; this is ${Array.isArray(item.value) ? "an array" : typeof item.value}.`);
  try {
    return JSON.stringify(item, (field, v: unknown) => {
      if (typeof v === "number" && !Number.isFinite(v)) throw new ValueRefused(`The field ${JSON.stringify(field)} is ${v}, for which JSON has no spelling.`);
      return v;
    });
  } catch (err) {
    if (err instanceof ValueRefused) throw err;
    throw new ValueRefused(`The value has no spelling in JSON: ${(err as Error).message}`, { cause: err });
  }
}
