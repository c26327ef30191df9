import type { HitExplanation, MetadataValue, Orgmem, SearchExplanation, SearchFilters, SearchOptions, SearchResult } from "orgmem";

export const kinds = ["document", "entity", "belief", "preference", "event", "session"] as const;
export type Kind = (typeof kinds)[number];
export const mostHits = 100; // that the service answers

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

/** Asks the same once more, with an explanation of each hit: that costs the service more, so it waits for somebody who wants to know. */
export async function explain(client: Orgmem, asked: Asked, signal: AbortSignal): Promise<SearchResult> {
  return await client.search(asked.query, { ...asked.options, explain: true, signal });
}

/** A part of a score, as it is drawn. */
export interface Part {
  name: string;
  tone: "meaning" | "words" | "phrases" | "neighbours" | "time" | "reading" | "brain" | "less";
  value: number;
}

const least = 0.0005; // shown as more than nothing

/** The parts of a hit's score that are worth telling. What is below zero takes from the others. */
export function partsOf(told: HitExplanation): Part[] {
  const { parts, brain } = told;
  const all: Part[] = [
    { name: "meaning", tone: "meaning", value: parts.meaning },
    { name: "words", tone: "words", value: parts.words },
    { name: "words side by side", tone: "phrases", value: parts.phrases },
    { name: "the messages around it", tone: "neighbours", value: parts.neighbours },
    { name: "the time asked about", tone: "time", value: parts.time },
    { name: "read as an answer", tone: "reading", value: parts.reading },
    { name: "short text", tone: "less", value: parts.brevity },
  ];
  if (brain) {
    all.push({ name: "the brain's walk over the graph", tone: "brain", value: brain.walk });
    all.push({ name: "the brain's weight of meaning and words", tone: brain.meaning + brain.words < 0 ? "less" : "brain", value: brain.meaning + brain.words });
    all.push({ name: "like what answered such questions", tone: "brain", value: brain.near });
  }
  return all.filter((part) => part.tone === "meaning" || part.tone === "words" || Math.abs(part.value) >= least);
}

type Sign = NonNullable<SearchExplanation["brain"]>["signs"][number];

/** What a gate saw, in words. */
export function seen(sign: Sign): string {
  const named = Math.round(sign.seen * 4);
  switch (sign.sign) {
    case "always":
      return "for any question";
    case "best":
      return `search's best hit scores ${sign.seen.toFixed(2)}`;
    case "margin":
      return `the best is ${sign.seen.toFixed(2)} ahead of the fifth`;
    case "agreement":
      return `of the five best by meaning and by words ${Math.round(sign.seen * 5)} are the same`;
    case "names":
      return named === 0 ? "the question names nothing that is known" : `the question names ${named >= 4 ? "four or more things" : named === 1 ? "one thing" : `${named} things`} that the memory knows`;
    case "density":
      return `about ${Math.round(Math.expm1(sign.seen * 8))} steps lead on from there`;
    case "subjects":
      return sign.seen > 0 ? "a document is about something that it names" : "no document is about anything that it names";
    case "cover":
      return `such names are ${Math.round(sign.seen * 100)} % of its words`;
    default:
      return sign.sign;
  }
}
