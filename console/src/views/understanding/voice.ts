/** One habit of writing, measured against what is common. */
export interface Habit {
  name: string;
  /** What the person does, as the rest of "More than others, …". */
  words: string;
  /** Binary logarithm of the ratio to what is common. */
  value: number;
}

/** Measures that are no ratios: they are never habits. */
export const means: ReadonlySet<string> = new Set(["rhythm.typicalWords", "rhythm.lengthSpread", "rhythm.sentenceWords", "spelling.wordLetters"]);

const words: Record<string, string> = {
  "rhythm.shortMessages": "writes messages of a few words",
  "rhythm.longMessages": "writes long messages",
  "rhythm.severalSentences": "writes several sentences in one message",
  "rhythm.lines": "breaks lines",
  "rhythm.paragraphs": "writes in paragraphs",
  "rhythm.listItems": "writes lists",
  "rhythm.lists": "writes lists",
  "rhythm.starredItems": "begins list items with stars",
  "rhythm.indentedLines": "indents lines",
  "rhythm.quotedLines": "quotes others",
  "opening.lowerCase": "begins in lower case",
  "opening.self": "begins with “I”",
  "opening.assent": "begins with a yes",
  "opening.conjunction": "begins with “and” or “but”",
  "opening.article": "begins with “the” or “a”",
  "opening.pastTense": "begins with what was done",
  "opening.presentTense": "begins with what to do",
  "closing.fullStop": "ends with a full stop",
  "closing.question": "ends with a question",
  "closing.exclamation": "ends with an exclamation mark",
  "closing.open": "ends without a mark",
  "punctuation.questions": "asks questions",
  "punctuation.exclamations": "uses exclamation marks",
  "punctuation.commas": "uses commas",
  "punctuation.semicolons": "uses semicolons",
  "punctuation.colons": "uses colons",
  "punctuation.parentheses": "puts things in parentheses",
  "punctuation.quotes": "puts words in quotes",
  "punctuation.singleQuotes": "puts words in single quotes",
  "punctuation.dashes": "uses dashes",
  "punctuation.longDashes": "uses long dashes",
  "punctuation.ellipses": "trails off with dots",
  "punctuation.arrows": "draws arrows",
  "punctuation.slashes": "uses slashes",
  "punctuation.ampersands": "writes “&”",
  "punctuation.emphasis": "emphasises with stars or underscores",
  "punctuation.symbols": "uses symbols",
  "punctuation.doubleSpaces": "puts two spaces behind a full stop",
  "punctuation.curlyQuotes": "uses curly quotes",
  "spelling.capitalised": "begins words with capitals",
  "spelling.allCapitals": "WRITES IN CAPITALS",
  "spelling.contractions": "contracts words (“it's”)",
  "spelling.writtenOut": "writes out what could be contracted",
  "spelling.longWords": "uses long words",
  "spelling.shortWords": "uses short words",
  "spelling.hyphenated": "hyphenates words",
  "spelling.pastForms": "tells what was",
  "spelling.adverbs": "uses adverbs",
  "spelling.nominalisations": "uses abstract nouns",
  "spelling.numbers": "names numbers",
  "spelling.lowerCaseSentences": "begins sentences in lower case",
  "address.greetings": "greets",
  "address.thanks": "thanks",
  "address.courtesy": "says please and sorry",
  "address.mentions": "mentions people with @",
  "address.emoji": "uses emoji",
  "address.emoticons": "uses emoticons",
  "stance.hedges": "hedges (“perhaps”, “I think”)",
  "stance.boosters": "insists (“really”, “definitely”)",
  "stance.negations": "says what is not",
  "stance.assent": "agrees",
  "stance.interjections": "exclaims (“oh”, “wow”)",
  "stance.connectives": "connects sentences (“however”, “so”)",
  "stance.questionWords": "uses question words",
  "stance.self": "speaks of themselves",
  "stance.group": "says “we”",
  "stance.other": "says “you”",
  "stance.third": "speaks of others",
  "stance.demonstratives": "points (“this”, “that”)",
  "stance.time": "says when (“now”, “soon”)",
  "stance.articles": "uses articles",
  "stance.prepositions": "uses prepositions",
  "stance.conjunctions": "uses conjunctions",
  "stance.auxiliaries": "uses auxiliary verbs",
  "technical.code": "writes code",
  "technical.codeBlocks": "pastes code",
  "technical.identifiers": "names identifiers",
  "technical.links": "shares links",
  "technical.references": "refers to numbers such as #12",
};

/** A measure in words, also one that a later version has added. */
export function measure(name: string): string {
  const [group = "", own = ""] = name.split(".");
  if (group === "words") return `uses the word “${own}”`;
  return words[name] ?? own.replace(/[A-Z]/g, (c) => " " + c.toLowerCase());
}

/** All measures by group and name, flat. */
export function flat(style: Record<string, Record<string, number>>): Habit[] {
  return Object.entries(style).flatMap(([group, of]) =>
    Object.entries(of).map(([own, value]) => ({ name: `${group}.${own}`, words: measure(`${group}.${own}`), value })),
  );
}

const loud = 0.8; // 1.7 times as often as others
const quiet = -3; // an eighth: what one does less stands out only where it is nearly absent

/** What stands out, most first. Single common words mean nothing to a reader and are left out. */
export function habits(style: Record<string, Record<string, number>>, most: number): { more: Habit[]; less: Habit[] } {
  const told = flat(style).filter((h) => !means.has(h.name) && !h.name.startsWith("words."));
  const once = (list: Habit[]): Habit[] => list.filter((h, i) => list.findIndex((o) => o.words === h.words) === i).slice(0, most);
  return {
    more: once(told.filter((h) => h.value >= loud).sort((a, b) => b.value - a.value)),
    less: once(told.filter((h) => h.value <= quiet).sort((a, b) => a.value - b.value)),
  };
}

/** A ratio in words, from its binary logarithm. */
export function times(log: number): string {
  const ratio = 2 ** Math.abs(log);
  if (ratio < 1.15) return "as often as others";
  const n = ratio < 10 ? ratio.toFixed(1).replace(/\.0$/, "") : String(Math.round(ratio));
  return log > 0 ? `${n} times as often as others` : `1/${n} as often as others`;
}

/** Formality in [0, 1], where chat is near 0.2, commit messages near 0.6 and standards near 0.8. */
export function formality(level: number): string {
  if (level < 0.3) return "Casual, as in a chat";
  if (level < 0.5) return "Rather casual";
  if (level < 0.7) return "Matter-of-fact, as in work notes";
  return "Formal, as in a report";
}

/** Technical depth in [0, 1]; 0.5 where one word in twenty is code, an identifier, an address or a reference. */
export function depth(level: number): string {
  if (level < 0.1) return "Hardly technical";
  if (level < 0.3) return "Technical now and then";
  if (level < 0.6) return "Technical";
  return "Very technical";
}
