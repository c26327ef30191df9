// Package stance reads what the speaker of a sentence prefers and believes.
//
// # Promises
//
//   - Read is a pure function of the sentence, and its cost is linear in it.
//   - What is kept can be understood without the talk around it: an object that points outside of itself ("it", "you",
//     "that table") keeps nothing.
//   - A courtesy, a guess, a plan for oneself and praise of what was just shown are no stance.
//   - A missed stance is better than a wrong one.
//   - [Propose] is for what a reader sees and the rules do not: it knows more verbs, and refuses what the rules refuse.
//   - An object is a noun phrase or a clause without the verb that says how it is held.
//
// # What it hides
//
// Lists of verbs, of the words that end a clause, and of those that point somewhere; a lexicon tells nouns from verbs.
// There is no parser.
package stance
