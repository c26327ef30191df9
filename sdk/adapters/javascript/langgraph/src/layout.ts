// How an item lies in a memory. README.md, "How items are stored", is this file in words; a Python process with
// orgmem-langgraph reads and writes the same, so a change here is a change there, and another layoutVersion.
import type { Item } from "@langchain/langgraph-checkpoint";

import { isPair } from "./filter.js";
import type { Scalar } from "./filter.js";
import { isObject, textAt } from "./paths.js";

const layoutVersion = 1;
/** What a node's metadata may hold, in bytes of JSON; the service's limit. */
const maxMetadata = 64 << 10;
const longestTitle = 200;

/** The value cannot be stored as it is. */
export class ValueRefused extends TypeError {
  override name = "ValueRefused";
}

/** A document of the store was changed by something else than a store. */
export class ItemDamaged extends Error {
  override name = "ItemDamaged";
}

/** Who an item is, in all the spellings that are needed. */
export interface Identity {
  namespace: string[];
  key: string;
  /** The SHA-256 of `text`, in hexadecimal. */
  id: string;
  /** [namespace, key] as JSON. */
  text: string;
}

/** What of a node this package reads. */
export interface StoredNode {
  id: string;
  status: string;
  createdAt: string;
  metadata: Record<string, unknown>;
}

export type Metadata = Record<string, Scalar>;

/** An item as the service takes it. */
export interface Document {
  title: string;
  content: string;
  metadata: Metadata;
}

export async function identify(namespace: readonly string[], key: string): Promise<Identity> {
  if (typeof key !== "string") throw new TypeError(`A key is a text; this is ${typeof key}.`);
  const text = JSON.stringify([namespace, key]);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const id = Array.from(digest, (b) => b.toString(16).padStart(2, "0")).join("");
  return { namespace: [...namespace], key, id, text };
}

/** The client's own id of an item's document. By it two processes that put a new key at once make one document. */
export const externalId = (id: string): string => `langgraph:${id}`;

/** The condition that an item's document meets, and no other: a look-up by key. */
export const isItem = (id: string): Metadata => ({ langgraphId: id });

/** The conditions that all documents under a prefix meet. */
export function isUnder(prefix: readonly string[]): Metadata {
  return prefix.length === 0 ? { langgraph: layoutVersion } : { [prefixField(prefix.length)]: JSON.stringify(prefix) };
}

/** The condition that items meet that are to be found by what they say, or that are not. */
export const isIndexed = (indexed: boolean): Metadata => ({ langgraphIndexed: indexed });

export const fieldOf = (name: string): string => `langgraphField.${name}`;
const prefixField = (length: number): string => `langgraphPrefix${length}`;

/** Makes an item's document. */
export function document(who: Identity, value: Record<string, unknown>, paths: readonly string[], now: Date): Document {
  const title = titleOf(who.namespace);
  const found = printable(textAt(value, paths));
  const text = isVisible(found) ? found : "";
  const metadata: Metadata = {
    langgraph: layoutVersion,
    langgraphId: who.id,
    langgraphItem: who.text,
    langgraphValue: spell(value),
    langgraphIndexed: text !== "",
    langgraphUpdatedAt: now.toISOString(),
  };
  for (let n = 1; n <= who.namespace.length; n++) metadata[prefixField(n)] = JSON.stringify(who.namespace.slice(0, n));
  for (const [name, field] of Object.entries(value)) {
    if (isPair(name, field)) metadata[fieldOf(name)] = field;
  }
  const size = new TextEncoder().encode(JSON.stringify(metadata)).length;
  if (size > maxMetadata) {
    throw new ValueRefused(
      `The value of ${who.text} needs ${size} bytes with what it is found by, and an item has room for ${maxMetadata}. ` +
        `Split it over several keys, or add the long text to the memory itself and store its id.`,
    );
  }
  return { title, content: `${text || title}\n\n${mark(who.id)}`, metadata };
}

/** Reads an item back; undefined where the node is none. */
export function itemOf(node: StoredNode): Item | undefined {
  const m = node.metadata;
  if (m["langgraph"] === undefined) return undefined;
  const who = parsed(m["langgraphItem"]);
  const value = parsed(m["langgraphValue"]);
  if (!Array.isArray(who) || !Array.isArray(who[0]) || typeof who[1] !== "string" || !isObject(value)) {
    throw new ItemDamaged(
      `The node ${node.id} is marked as an item of a LangGraph store, and its metadata is not one of layout ${layoutVersion}. ` +
        `Delete the node, or put its key again.`,
    );
  }
  const createdAt = new Date(node.createdAt);
  const updatedAt = new Date(String(m["langgraphUpdatedAt"]));
  return {
    namespace: who[0] as string[],
    key: who[1],
    value,
    createdAt,
    // The writer's clock may be behind the service's.
    updatedAt: updatedAt > createdAt ? updatedAt : createdAt,
  };
}

/** Tells whether a node is the one that holds an item now. The index compares hashes of 64 bits; this compares the name. */
export function holds(node: StoredNode, who: Identity): boolean {
  return node.status === "live" && node.metadata["langgraphItem"] === who.text;
}

function parsed(v: unknown): unknown {
  if (typeof v !== "string") return undefined;
  try {
    return JSON.parse(v);
  } catch {
    return undefined;
  }
}

/** Spells a value as JSON. What JSON would change without a word is refused. */
function spell(value: Record<string, unknown>): string {
  if (!isObject(value)) throw new ValueRefused(`A value is an object; this is ${Array.isArray(value) ? "an array" : typeof value}.`);
  try {
    return JSON.stringify(value, (field, v: unknown) => {
      if (typeof v === "number" && !Number.isFinite(v)) throw new ValueRefused(`The field ${JSON.stringify(field)} is ${v}, for which JSON has no spelling.`);
      return v;
    });
  } catch (err) {
    if (err instanceof ValueRefused) throw err;
    throw new ValueRefused(`The value has no spelling in JSON: ${(err as Error).message}`, { cause: err });
  }
}

/**
 * The labels of the namespace. With a title a document is no turn of a conversation, whose neighbours would lift it in a
 * search; and a search over several namespaces finds by what they are called.
 */
function titleOf(namespace: readonly string[]): string {
  const title = [...printable(namespace.join(" / "))].slice(0, longestTitle).join("");
  return isVisible(title) ? title : "item";
}

/**
 * Spells the first 128 bits of an id in spaces and tabs. One content is one document in a memory, so that equal values
 * under two keys would share one, and deleting the one would delete the other; with this at its end a content is its
 * key's alone. Blanks at the end are no part of what is embedded, of the words, or of a hit, so ranking does not see it.
 */
function mark(id: string): string {
  return Array.from(id.slice(0, 32), (digit) =>
    Number.parseInt(digit, 16).toString(2).padStart(4, "0").replaceAll("0", " ").replaceAll("1", "\t"),
  ).join("");
}

/** The service refuses what shows nothing. */
const isVisible = (text: string): boolean => /[^\p{C}\p{Z}]/u.test(text);

/** What the service takes as text: no U+0000, no half of a surrogate pair. */
function printable(text: string): string {
  return text.replaceAll("\0", " ").toWellFormed().trim();
}
