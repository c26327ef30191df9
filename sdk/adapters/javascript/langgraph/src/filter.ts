import { isObject } from "./text.js";

/** A filter of LangGraph: fields of the value, each with a value or with operators. */
export type Filter = Record<string, unknown>;

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

/** The part of a filter that the service can decide: fields that must be equal to a text. */
export function equalTexts(filter: Filter | undefined): [string, string][] {
  return Object.entries(filter ?? {}).flatMap(([field, wanted]): [string, string][] => {
    const text = conditions(wanted)?.find(([name]) => name === "$eq")?.[1] ?? wanted;
    return typeof text === "string" ? [[field, text]] : [];
  });
}

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
