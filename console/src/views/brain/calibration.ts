import type { BrainReport } from "orgmem";

/** What an open gate won of the questions that it would have decided, where it stood about as far open. */
export interface Dot {
  /** How far it stood open in the mean. */
  stood: number;
  won: number;
  lost: number;
  /** The share that it won, and between what it lies with 95 of 100. */
  share: number;
  low: number;
  high: number;
}

const z = 1.96; // of the normal distribution, for 95 of 100

/** Bins in which search and the open gate never differed say nothing, and are left out. */
export function calibration(bins: BrainReport["gate"]["bins"]): Dot[] {
  return bins.flatMap(({ mean, opened: { won, lost } }) => {
    const n = won + lost;
    if (n === 0) return [];
    const share = won / n;
    // Wilson 1927: holds for few questions, and never leaves [0, 1].
    const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
    const half = (z / (1 + (z * z) / n)) * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n));
    return [{ stood: mean, won, lost, share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) }];
  });
}

/** What the dots say together, in words: where an open gate pays more or less often than it stood open. */
export function verdict(dots: readonly Dot[]): string {
  if (dots.length === 0) return "With the gate open, no answer would have differed from search.";
  const where = (n: number): string => (n === dots.length ? "everywhere" : `in ${n} of ${dots.length} ${dots.length === 1 ? "stretch" : "stretches"}`);
  const shy = dots.filter((d) => d.stood < d.low).length;
  const bold = dots.filter((d) => d.stood > d.high).length;
  if (shy + bold === 0) return "An open gate pays about as often as it stood open.";
  const told = [...(shy > 0 ? [`${where(shy)} an open gate pays more often than it stood open`] : []), ...(bold > 0 ? [`${where(bold)} ${shy > 0 ? "" : "an open gate pays "}less often`] : [])].join(", ");
  return told[0]!.toUpperCase() + told.slice(1) + (shy > 0 ? "." : " than it stood open.");
}
