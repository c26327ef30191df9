import type { QualityReport } from "orgmem";

type Share = QualityReport["unfound"];

/** One figure of a report of quality. */
export interface Figure {
  id: string;
  title: string;
  /** Whether more of it is better. */
  good: "high" | "low";
  share: (report: QualityReport) => Share;
  /** What to do where it is bad: docs/quality.md. */
  advice: string;
}

export const figures: readonly Figure[] = [
  { id: "at1", title: "Found as the first hit", good: "high", share: (r) => r.recall.at1, advice: "Give titles, train the brain, or set the quality to thorough." },
  { id: "at5", title: "Found among five", good: "high", share: (r) => r.recall.at5, advice: "Give titles, train the brain, or set the quality to thorough." },
  { id: "at10", title: "Found among ten", good: "high", share: (r) => r.recall.at10, advice: "Give titles, train the brain, or set the quality to thorough." },
  { id: "unfound", title: "Not found by any of its own questions", good: "low", share: (r) => r.unfound, advice: "Say in notes of few words what they are about, or forget them." },
  { id: "nearDuplicates", title: "Nearly said twice", good: "low", share: (r) => r.nearDuplicates, advice: "Send what changes under one id of your own." },
  { id: "stale", title: "States what no longer holds", good: "low", share: (r) => r.stale, advice: "Replace it or forget it." },
  { id: "formerFirst", title: "What is outdated stands before what holds", good: "low", share: (r) => r.formerFirst, advice: "Replace the old statement, or ask as of a day." },
  { id: "contradicted", title: "Is in an open contradiction", good: "low", share: (r) => r.contradicted, advice: "Decide which holds, under Contradictions." },
];

/** How questions are made, in words. */
export const madeOf = {
  words: "a sentence without its most telling words",
  paraphrase: "some words of a sentence in another order",
  title: "the title and two words",
  former: "what was said before it was replaced",
} as const;

/** What a model won and lost against a rival, of so many questions. */
export interface Rival {
  name: string;
  recall: number;
  mrr: number;
  won: number;
  lost: number;
}

/** The figures of a training by which it was let in or not: docs/brain.md, "The gate of publication". */
export function rivals(metrics: Readonly<Record<string, number>>): { judged: number; asked: number; recall: number; mrr: number; rivals: Rival[] } | undefined {
  const { recall10, mrr, judged, questions } = metrics;
  if (recall10 === undefined || mrr === undefined) return undefined;
  const found: Rival[] = [];
  for (const [key, name] of [["cosine", "Likeness of meaning"], ["search", "Search"], ["serving", "The brain before"]] as const) {
    const recall = metrics[`${key}Recall10`];
    if (recall !== undefined) found.push({ name, recall, mrr: metrics[`${key}Mrr`] ?? 0, won: metrics[`${key}Won`] ?? 0, lost: metrics[`${key}Lost`] ?? 0 });
  }
  return { judged: judged ?? 0, asked: questions ?? 0, recall: recall10, mrr, rivals: found };
}

/** How a training makes its questions, in words: docs/brain.md, "Training". */
export const kindsOf = {
  sentence: "Some words of a sentence",
  title: "A title and some words",
  two_hops: "Over a name to another text",
  three_hops: "Over two names",
  comparison: "Two titles",
  former: "What was said before",
  accepted: "Two texts of an accepted proposal",
} as const;

export const lengthOf = (from: number, to: number | null): string => (to === null ? `${from} words and more` : from === 1 ? `Up to ${to} words` : `${from} to ${to} words`);
