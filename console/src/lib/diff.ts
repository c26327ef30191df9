/** A run of words: in both texts, only in the older, or only in the newer. */
export interface Run {
  kind: "same" | "gone" | "new";
  text: string;
}

const mostWords = 2_000; // of each text; beyond it the whole is shown as exchanged

// A number with its separators is one word, and so is a time of day: 6:30, 10,000, 2026-03-04.
const token = /\s+|\p{N}+(?:[.,:/-]\p{N}+)*|[\p{L}\p{N}\p{M}]+|[^\s\p{L}\p{N}\p{M}]/gu;

/** Differences by words: the longest common subsequence (Myers would be quicker on long texts, which are bounded here). */
export function difference(before: string, after: string): Run[] {
  const a = before.match(token) ?? [];
  const b = after.match(token) ?? [];
  if (before === after) return before ? [{ kind: "same", text: before }] : [];
  if (a.length > mostWords || b.length > mostWords) return runs([["gone", before], ["new", after]]);
  const width = b.length + 1;
  const length = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i * width + j] =
        a[i] === b[j] ? length[(i + 1) * width + j + 1]! + 1 : Math.max(length[(i + 1) * width + j]!, length[i * width + j + 1]!);
  const out: [Run["kind"], string][] = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) out.push(["same", a[i++]!]), j++;
    else if (length[(i + 1) * width + j]! >= length[i * width + j + 1]!) out.push(["gone", a[i++]!]);
    else out.push(["new", b[j++]!]);
  }
  while (i < a.length) out.push(["gone", a[i++]!]);
  while (j < b.length) out.push(["new", b[j++]!]);
  return runs(out);
}

function runs(pieces: [Run["kind"], string][]): Run[] {
  const out: Run[] = [];
  for (const [kind, text] of pieces) {
    const last = out.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text) out.push({ kind, text });
  }
  return out;
}
