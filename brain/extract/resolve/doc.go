// Package resolve decides which names mean the same thing within one partition.
//
// # Promises
//
//   - Pure functions of their arguments; nothing is kept.
//
//   - Conservative: a wrong merge is worse than two nodes. What could mean two
//     known entities means neither.
//
//   - Reversible: a decision never renames or removes; it adds an alias with its
//     reason to an entity, or begins a new one. Taking the alias away, and naming
//     it in Known.Not, undoes it for good.
//
//   - The order of Known and of other documents' names does not change whether two
//     names of the same form are one.
//
//   - A name is one thing, of the type that most of its texts take it for (Note, Unnote), unless it clearly means two
//     (Sort): which of these it is depends on the texts that are there, and where a text has named it as both, on the
//     order. Of what a person has said something, nothing is shared out.
//
// # Order of calls
//
// For the mentions of a document: Keys of each name, with which the caller finds
// the Known entities that were stored under one of the same keys; then Resolve.
// For an entity that was begun, or got an alias, the caller stores Keys again.
// Passing all entities of a small partition as Known does the same.
//
// # What it hides
//
// How names are folded and compared: case, marks, articles, company forms,
// initials, acronyms, handles, and one typing error in a long name.
package resolve
