import type { Contradiction } from "orgmem";

/** The kinds of contradictions in words. */
export const kinds: Record<Contradiction["kind"], string> = {
  negation: "One denies the other",
  value: "Two values",
  temporal: "Two times",
  antonym: "Opposite words",
  semantic: "Hardly both true",
};

const known: Record<string, string> = {
  responsibility: "Who does what",
  change: "Changed",
  due: "Due",
  recurrence: "Keeps coming back",
  commitment: "Promised",
  open_question: "Open question",
  rising_topic: "Rising",
  fading_topic: "Fading",
  outlier: "Unlike the rest",
  agent_signal: "From an assistant",
};

/** The kinds of insights that there are now, in the order in which they are offered. */
export const insightKinds: readonly string[] = Object.keys(known);

/** The kind of an insight in words; one that is not known yet by its own name. */
export const insightKind = (kind: string): string => known[kind] ?? kind.replaceAll("_", " ");
