/** A piece of a text: a word that was asked for, or what lies between. */
export interface Part {
  text: string;
  hit: boolean;
}

const longestMarked = 20_000; // characters; a longer text is shown without marks
const mostWords = 32;
const word = /[\p{L}\p{N}\p{M}]+/gu;

// Words that are in every text: marking them would hide what was found. Of a query of nothing else they are marked.
const common = new Set(
  ("a an and are as at be by did do does for from had has have how in is it of on or that the their there this to was we were what when where which who whom whose why will with you your " +
    "der die das den dem des ein eine einen einem und oder ist sind war im am zu zum zur von vom mit auf für wer was wann wo wie warum welche welcher welches " +
    "le la les un une des du de et ou est sont dans sur pour avec qui que quand où comment el los las uno una y o es son en con por para quién qué cuándo dónde cómo").split(" "),
);

/** Letters without their accents and case, so that "Zürich" finds "zurich". */
const plain = (s: string): string => s.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
/** Forms of a word mostly differ at the end. */
const stem = (s: string): string => (s.length > 5 ? s.slice(0, Math.max(4, Math.ceil(s.length * 0.7))) : s);

/** Cuts a text where words of the query stand. */
export function marked(text: string, query: string): Part[] {
  const asked = (query.match(word) ?? []).slice(0, mostWords).map(plain).filter((w) => w.length > 1 || /[^\x00-\x7f]/.test(w));
  const telling = asked.filter((w) => !common.has(w));
  if (telling.length > 0) asked.splice(0, asked.length, ...telling);
  if (asked.length === 0 || text.length > longestMarked) return [{ text, hit: false }];
  const stems = asked.map(stem);
  const parts: Part[] = [];
  let from = 0;
  for (const found of text.matchAll(word)) {
    const p = plain(found[0]);
    const hit = asked.some((w, i) => p === w || (w.length > 3 && p.startsWith(stems[i]!) && p.length < w.length + 4));
    if (!hit) continue;
    if (found.index > from) parts.push({ text: text.slice(from, found.index), hit: false });
    parts.push({ text: found[0], hit: true });
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), hit: false });
  return parts;
}
