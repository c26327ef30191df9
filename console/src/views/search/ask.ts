import type { Hit, MetadataValue, Orgmem, SearchFilters, SearchOptions, SearchResult } from "orgmem";

export const kinds = ["document", "entity", "belief", "preference", "event", "session"] as const;
export type Kind = (typeof kinds)[number];
export const mostHits = 100; // that the service answers
const explainedTo = 50; // how far down the lists of an explanation are looked through

/** What a search asks for, as the address says it. */
export interface Asked {
  query: string;
  options: SearchOptions;
}

const dayOf = /^(\d{4})-(\d\d)-(\d\d)$/;

/** The begin of a day where the reader is, or of one that lies so many days on. */
export function instant(day: string, on = 0): string | undefined {
  const parts = dayOf.exec(day);
  if (!parts) return undefined;
  const at = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + on);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Fields of metadata as the address holds them: an object of JSON with plain values. Anything else is no filter. */
export function fieldsOf(json: string): Record<string, string | number | boolean> {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
    return Object.fromEntries(Object.entries(value).filter(([, v]) => ["string", "number", "boolean"].includes(typeof v)));
  } catch {
    return {};
  }
}

/** What somebody typed as a value: a number and a truth are such, unless they stand in quotes. */
export function valueOf(typed: string): string | number | boolean {
  if (typed === "true" || typed === "false") return typed === "true";
  if (/^-?\d+(\.\d+)?$/.test(typed)) return Number(typed);
  return /^".*"$/.test(typed) ? typed.slice(1, -1) : typed;
}

/** A value as one would type it. */
export const shown = (value: MetadataValue): string => (typeof value === "string" && valueOf(value) !== value ? `"${value}"` : String(value));

/** Reads a search from the address. get gives a parameter or "". */
export function askedBy(get: (name: string) => string): Asked {
  const filters: SearchFilters = {};
  const kind = get("kind");
  if ((kinds as readonly string[]).includes(kind)) filters.kind = kind as Kind;
  const [after, before, asOf] = [instant(get("after")), instant(get("before"), 1), instant(get("asof"), 1)];
  if (after) filters.createdAfter = after;
  if (before) filters.createdBefore = before;
  // The end of the day that is named.
  if (asOf) filters.asOf = new Date(Date.parse(asOf) - 1).toISOString();
  if (get("domain")) filters.domainId = get("domain");
  const metadata = fieldsOf(get("meta"));
  if (Object.keys(metadata).length) filters.metadata = metadata;
  const options: SearchOptions = {};
  const topK = Number(get("k"));
  if (Number.isInteger(topK) && topK > 0 && topK !== 10) options.topK = Math.min(topK, mostHits);
  const mode = get("mode");
  if (mode === "vector" || mode === "keyword") options.mode = mode;
  if (get("scope") === "org" && !get("as")) options.scope = "org";
  if (get("old")) options.includeSuperseded = true;
  if (Object.keys(filters).length) options.filters = filters;
  return { query: get("q").trim(), options };
}

/** Where something stands in a list, from 1 on; nothing where it does not. */
const placeIn = (list: SearchResult, nodeId: string): { rank: number; hit: Hit } | undefined => {
  const i = list.results.findIndex((h) => h.nodeId === nodeId);
  return i < 0 ? undefined : { rank: i + 1, hit: list.results[i]! };
};

/** The lists that a search was made of, each asked for by itself. */
export interface Lists {
  meaning: SearchResult;
  words: SearchResult;
  /** Both together, without the brain; nothing where no brain ranked. */
  plain: SearchResult | undefined;
  /** How far these lists go. */
  depth: number;
  /** How far the brain trusted itself with this question, 0 to 1; nothing where that is not known. */
  gate: number | undefined;
  tier: string | undefined;
}

/**
 * Asks again for what an answer does not tell: each arm alone, and both without the
 * brain. Where a filter is given no brain ranks, so the last is the same search with one
 * that everything passes.
 */
export async function explain(client: Orgmem, own: Orgmem | undefined, asked: Asked, found: SearchResult, signal: AbortSignal): Promise<Lists> {
  const options = { ...asked.options, topK: explainedTo, signal };
  const ranked = found.usage.brainVersion !== undefined;
  const all: SearchFilters = { createdAfter: "1970-01-01T00:00:00.000Z" };
  const [meaning, words, plain, brain] = await Promise.all([
    client.search(asked.query, { ...options, mode: "vector" }),
    client.search(asked.query, { ...options, mode: "keyword" }),
    ranked ? client.search(asked.query, { ...options, filters: all }) : undefined,
    // The gate belongs to the question and to whom may be found for it: it is that of a search of one's own.
    ranked && own ? own.brain.query(asked.query, { topK: 1, signal }).catch(() => undefined) : undefined,
  ]);
  return { meaning, words, plain, depth: explainedTo, gate: brain?.gateConfidence, tier: brain?.propagationTier };
}

/** What the score of search gives a matching word, against likeness of meaning: docs/retrieval.md, "The score". */
const keywordWeight = 0.7;

/** Why one hit stands where it does. */
export interface Reason {
  meaning?: number;
  words?: number;
  plain?: number;
  /** The parts of the score of search, which add up to its whole. Nothing where an arm alone was asked. */
  parts?: { meaning: number; words: number; rest: number; whole: number };
}

export function reasonFor(hit: Hit, asked: Asked, found: SearchResult, lists: Lists): Reason {
  const plain = lists.plain ?? (asked.options.mode ? undefined : found);
  const fused = plain && placeIn(plain, hit.nodeId);
  const reason: Reason = {};
  const [meaning, words] = [placeIn(lists.meaning, hit.nodeId), placeIn(lists.words, hit.nodeId)];
  if (meaning) reason.meaning = meaning.rank;
  if (words) reason.words = words.rank;
  if (fused) {
    reason.plain = fused.rank;
    const { score, scores } = fused.hit;
    const byWords = keywordWeight * scores.keyword;
    reason.parts = { meaning: scores.vector, words: byWords, rest: score - scores.vector - byWords, whole: score };
  }
  return reason;
}
