// Package extract reads what a text speaks of: the people, organizations,
// products, places and other things it names, how they are related, the dates
// it gives, who speaks, and what a speaker prefers or believes.
//
// # Promises
//
//   - Extract is a pure function of a Document: no I/O, no clock, no goroutine,
//     no order of calls that matters. The same document gives the same answer on
//     every machine: the weights are integers.
//
//   - Any string is accepted, also invalid UTF-8. Nothing panics; spans lie on
//     the borders of characters; all cost is linear in the length of the text,
//     and each list has a named bound (see Limits in limits.go).
//
//   - Nothing is invented: each item has a Span of the text it was read from, and
//     its surface is that span, less what grammar added to a name.
//
//   - A wrong name is worse than a missing one. Confidence is between 0 and 1,
//     and means how often, on text that was not trained on, such an item is right.
//
//   - Without Document.Tagged the rules alone decide. With it, they decide where the reader (package reader) is not
//     sure; what it read of a text is not trusted to be well formed.
//
// # Order of calls
//
// Ingestion calls Extract for each document, or for each chunk of a long one with
// the document's time and speaker; the spans are offsets into the Text it was
// given. Package resolve then says which of the partition's known entities the
// names mean.
//
// # What it hides
//
// The tokens, the shapes of identifiers, the word lists, and the tagger (a linear
// model over hashed features, decoded by Viterbi; sources in DESIGN.md).
package extract
