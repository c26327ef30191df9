/** From how many characters on a text is shown by the sentences that disagree. */
const long = 1_000;
const around = 1; // sentences before and behind in a long text, so that one reads what it is about
const mostSentences = 200; // of each text; what comes later is not compared

/** A text around the sentence that disagrees with the other text. */
export interface Part {
  before: string;
  sentence: string;
  after: string;
  /** Whether text was left out on that side. */
  cut: { before: boolean; after: boolean };
}

const segments = new Intl.Segmenter(undefined, { granularity: "sentence" });
const words = (text: string): Set<string> => new Set(text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []);

/** The text in its sentences, with the white space that follows each. */
export function sentencesOf(text: string): string[] {
  const found: string[] = [];
  for (const { segment } of segments.segment(text))
    if (segment.trim()) found.push(segment);
    else if (found.length > 0) found[found.length - 1] += segment; // an empty line
  return found;
}

/**
 * The sentences, one of each text, that say most of the same and yet not the same; undefined where no two have
 * a word in common. about is what the service says of the contradiction: it quotes what differs, and texts that are
 * made by one pattern have sentences that are more alike than those of the contradiction.
 */
export function disagreeing(a: string, b: string, about = ""): { a: Part; b: Part } | undefined {
  const [left, right] = [sentencesOf(a), sentencesOf(b)];
  const [compared, against] = [left.slice(0, mostSentences), right.slice(0, mostSentences).map(words)];
  // A word that stands in many sentences says little of any one of them.
  const often = new Map<string, number>();
  for (const set of [...compared.map(words), ...against]) for (const word of set) often.set(word, (often.get(word) ?? 0) + 1);
  const weight = (word: string): number => 1 / Math.sqrt(often.get(word)!);
  const sum = (some: Iterable<string>): number => [...some].reduce((all, word) => all + weight(word), 0);
  const sums = against.map(sum);
  const named = words((about.match(/“[^”]*”/g) ?? []).join(" "));
  let best = 0;
  let found: [number, number] | undefined;
  for (const [i, sentence] of compared.entries()) {
    const mine = words(sentence);
    const all = sum(mine);
    for (const [j, theirs] of against.entries()) {
      if (sentence.trim() === right[j]!.trim()) continue; // they agree
      const shared = sum([...mine].filter((word) => theirs.has(word)));
      if (shared === 0) continue;
      const likeness = shared / (all + sums[j]! - shared);
      const told = [...named].filter((word) => mine.has(word) || theirs.has(word)).length / (named.size || 1);
      if (likeness + told > best) [best, found] = [likeness + told, [i, j]];
    }
  }
  const room = a.length > long || b.length > long ? around : Infinity;
  return found && { a: part(left, found[0], room), b: part(right, found[1], room) };
}

function part(sentences: string[], i: number, room: number): Part {
  const [from, until] = [Math.max(0, i - room), i + 1 + room];
  return {
    before: sentences.slice(from, i).join(""),
    sentence: sentences[i]!,
    after: sentences.slice(i + 1, until).join(""),
    cut: { before: from > 0, after: until < sentences.length },
  };
}

/** Whether there is more of the text than is shown. */
export const isCut = (part: Part): boolean => part.cut.before || part.cut.after;
