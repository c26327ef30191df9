/** A piece of a text: a word that was asked for, or what lies between. */
export interface Part {
  text: string;
  hit: boolean;
}

const longestMarked = 20_000; // characters; a longer text is shown without marks
const mostWords = 32;
const word = /[\p{L}\p{N}\p{M}]+/gu;

/** Words that say nothing about where an answer stands, of the languages that are asked most. */
const empty = new Set(
  `a an and are as at be by did do does for from had has have how i in is it its of on or our that the their there they this to was we were what when where which who whom whose why will with you
  am auf aus bei das dem den der des die ein eine einem einen einer er es für hat ich im ist mit nach oder sie sind und uns unser vom von wann war was welche wenn wer wie wir wird wo zu zum zur
  au aux avec ce ces dans de des du elle en est et il je la le les nous où ou par pour qu que quel quelle quand qui sont sur un une vous
  al como con cuando de del dónde el ella en es la las lo los para por que qué quién se son su un una y
  al che chi come con da dal del della di dove e gli il in la le lo nel per quando si sono un una
  aan bij dat de die een en er het hoe in is met naar of om onze op te van voor waar wanneer wat we wie zijn`.split(/\s+/),
);

/** Letters without their accents and case, so that "Zürich" finds "zurich". */
const plain = (s: string): string => s.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
/** Forms of a word mostly differ at the end. */
const stem = (s: string): string => (s.length > 5 ? s.slice(0, Math.max(4, Math.ceil(s.length * 0.7))) : s);

/** Cuts a text where words of the query stand. */
export function marked(text: string, query: string): Part[] {
  const asked = (query.match(word) ?? []).slice(0, mostWords).filter((w) => !empty.has(w.toLowerCase())).map(plain).filter((w) => w.length > 1 || /[^\x00-\x7f]/.test(w));
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
