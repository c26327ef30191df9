// Package voice measures how a person writes: length, formality, technical depth,
// rhythm, greetings, hedging, punctuation and the small words that nobody chooses
// on purpose.
//
// # Promises
//
//   - A [Tally] is a sum over messages: adding them in any order, or merging the
//     tallies of parts, gives the same profile. It holds counts of closed lists of
//     features and no text.
//   - [Tally.Profile] says nothing before there is enough evidence.
//   - Measures with little evidence stay near what is common, so that a profile of
//     few messages is cautious rather than loud.
//   - What is not the person's prose does not count as such: code blocks, quoted
//     lines, addresses.
//
// # What it hides
//
// The features and their statistics: function words as in Mosteller and Wallace
// (1964) and Burrows (2002), formality as by Heylighen and Dewaele (1999) with
// lists in place of a tagger.
package voice
