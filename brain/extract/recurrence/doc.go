// Package recurrence reads what comes again and again out of texts: "every Wednesday at 10", "on the first of each
// month", "zweimal im Jahr". Such a time is no date.
//
// # Promises
//
//   - Pure: the same text gives the same recurrences, in the order of the text, at most Max.
//   - Conservative: what has two readings is left out, the whole of it or the part that has them ("at 3" without a
//     morning or an afternoon is said in the words only).
//   - What is found has a normal form; "from time to time" has none, and is not found.
//   - Where a reader has tagged the text, its recurring times decide on phrases that mean something else as often;
//     without one only phrases are found that cannot ("every Wednesday", not "on Wednesday").
//
// # What it hides
//
// The words of the languages (English, German, French, Spanish, Italian, Portuguese, Dutch), and the grammar: fragments
// that stand side by side, each with a part of what is said, of which one at least has to say that it recurs.
package recurrence
