/** Tells whether a value is a JSON object. */
export function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/**
 * The text of a value at some paths, as it is searched. "$" is the whole value: the text itself where the value holds
 * nothing but one, else a line `path: text` for every leaf, which reads as well as JSON and has no brackets to be
 * embedded. Empty where the paths lead to nothing.
 */
export function textAt(value: Record<string, unknown>, paths: readonly string[]): string {
  const texts = paths.flatMap((path) => (path === "$" ? whole(value) : at(value, tokens(path))));
  return texts.map((t) => t.trim()).filter(Boolean).join("\n\n");
}

function whole(value: Record<string, unknown>): string[] {
  const found = leaves(value, "");
  const only = found[0];
  if (found.length === 1 && typeof only![1] === "string") return [only![1]];
  return [found.map(([path, leaf]) => `${path}: ${leaf}`).join("\n")];
}

function leaves(v: unknown, path: string): [string, string | number | boolean][] {
  if (Array.isArray(v)) return v.flatMap((item) => leaves(item, path));
  if (isObject(v)) return Object.entries(v).flatMap(([key, item]) => leaves(item, path ? `${path}.${key}` : key));
  if (typeof v === "string") return v.trim() === "" ? [] : [[path, v]];
  return typeof v === "number" || typeof v === "boolean" ? [[path, v]] : [];
}

/**
 * Splits a path as LangGraph writes them: `a.b`, `a[0]`, `a[-1]`, `a[*].b`, `*`, `{a,b.c}`.
 */
function tokens(path: string): string[] {
  return path.match(/\[[^\]]*\]|\{[^}]*\}|[^.[{]+/g) ?? [];
}

function at(v: unknown, path: readonly string[]): string[] {
  const [token, ...rest] = path;
  if (token === undefined) return text(v);
  if (token.startsWith("[")) {
    if (!Array.isArray(v)) return [];
    if (token === "[*]") return v.flatMap((item) => at(item, rest));
    const index = Number(token.slice(1, -1));
    return Number.isInteger(index) ? at(v.at(index), rest) : [];
  }
  if (token.startsWith("{")) {
    return token.slice(1, -1).split(",").flatMap((field) => at(v, [...tokens(field.trim()), ...rest]));
  }
  if (token === "*") return typeof v === "object" && v !== null ? Object.values(v).flatMap((item) => at(item, rest)) : [];
  return isObject(v) && Object.hasOwn(v, token) ? at(v[token], rest) : [];
}

function text(v: unknown): string[] {
  if (v === null || v === undefined) return [];
  return [typeof v === "object" ? leaves(v, "").map(([path, leaf]) => (path ? `${path}: ${leaf}` : String(leaf))).join("\n") : String(v)];
}

/** What the service takes as text: no control characters, no half of a surrogate pair. */
export function clean(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f]/g, " ").toWellFormed();
}

/** Tells whether nothing of a text can be seen, so that there is nothing to search for. */
export function isBlank(text: string): boolean {
  return !/[^\s\p{Cc}\p{Cf}\p{Z}]/u.test(text);
}
