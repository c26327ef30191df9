import { isObject } from "./paths.js";

/** A filter of LangGraph: fields of the value, each with a value or with operators. */
export type Filter = Record<string, unknown>;

/** What can be asked of the service itself: see `equalities`. */
export type Scalar = string | number | boolean;

const operators: Record<string, (item: unknown, wanted: unknown) => boolean> = {
  $eq: equal,
  $ne: (item, wanted) => !equal(item, wanted),
  // As LangGraph's own stores compare: as numbers, where what is no number is neither more nor less than anything.
  $gt: (item, wanted) => Number(item) > Number(wanted),
  $gte: (item, wanted) => Number(item) >= Number(wanted),
  $lt: (item, wanted) => Number(item) < Number(wanted),
  $lte: (item, wanted) => Number(item) <= Number(wanted),
  $in: (item, wanted) => Array.isArray(wanted) && wanted.some((w) => equal(item, w)),
  $nin: (item, wanted) => !Array.isArray(wanted) || !wanted.some((w) => equal(item, w)),
};

/** Tells whether an item's value passes a filter. */
export function passes(value: Record<string, unknown>, filter: Filter | undefined): boolean {
  return Object.entries(filter ?? {}).every(([field, wanted]) => {
    const item = Object.hasOwn(value, field) ? value[field] : undefined;
    return conditions(wanted)?.every(([name, w]) => operators[name]!(item, w)) ?? equal(item, wanted);
  });
}

/** Refuses an operator that does not exist, which would otherwise find nothing and say nothing. */
export function checkFilter(filter: Filter | undefined): void {
  for (const [field, wanted] of Object.entries(filter ?? {})) {
    if (!isObject(wanted)) continue;
    const names = Object.keys(wanted).filter((name) => name.startsWith("$"));
    const unknown = names.find((name) => !Object.hasOwn(operators, name));
    if (unknown !== undefined)
      throw new TypeError(`The filter on ${JSON.stringify(field)} has the operator ${unknown}; there are ${Object.keys(operators).join(", ")}.`);
    if (names.length > 0 && names.length < Object.keys(wanted).length)
      throw new TypeError(`The filter on ${JSON.stringify(field)} mixes operators with fields; use one or the other.`);
  }
}

/**
 * The part of a filter that the service can decide by itself: fields that must be equal to one text, number or boolean.
 * `complete` tells whether that is the whole filter.
 */
export function equalities(filter: Filter | undefined): { pairs: [string, Scalar][]; complete: boolean } {
  const pairs: [string, Scalar][] = [];
  let complete = true;
  for (const [field, wanted] of Object.entries(filter ?? {})) {
    const all: [string, unknown][] = conditions(wanted) ?? [["$eq", wanted]];
    for (const [name, w] of all) {
      if (name === "$eq" && isPair(field, w) && pairs.length < mostPairs) pairs.push([field, w as Scalar]);
      else complete = false;
    }
  }
  return { pairs, complete };
}

/** The service takes 16 conditions; two are the store's own. */
const mostPairs = 14;

/** The longest text that is compared by the service; a longer one is compared here. In UTF-16 units, since it is cheap to tell. */
const longestScalar = 256;

/** Tells whether a field of a value is written down so that the service can compare it. */
export function isPair(name: string, v: unknown): v is Scalar {
  return isText(name) && (typeof v === "string" ? v.length <= longestScalar && isText(v) : isNumberOrBoolean(v));
}

const isText = (s: string): boolean => !s.includes("\0") && s.isWellFormed();
const isNumberOrBoolean = (v: unknown): boolean => typeof v === "boolean" || (typeof v === "number" && Number.isFinite(v));

function conditions(wanted: unknown): [string, unknown][] | undefined {
  if (!isObject(wanted)) return undefined;
  const entries = Object.entries(wanted);
  return entries.every(([name]) => Object.hasOwn(operators, name)) ? entries : undefined;
}

/** Equal as JSON: an item comes back from the service as a copy, so that identity would say nothing. */
function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((x, i) => equal(x, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && equal(a[k], b[k]));
}
