// Package insight finds what is worth telling: in what notes say (who is responsible for
// what, what has changed, what is due, what keeps coming back, what was promised and what
// was asked), and in the shape of a partition (topics that rise or fade, and passages that
// fit nowhere).
//
// # Promises
//
//   - [Gather], [Rank] and [Find] are pure functions of their arguments and a time.
//   - Every insight names what it rests on and how sure it is. One of notes quotes nothing
//     but the notes that it names, so it can go with them.
//   - There are at most [MaxPerKind] of a kind, the surest first, and none twice.
//   - [Candidate.About] and [Insight.ByNode] say by what the same finding is recognised in
//     the next cycle.
//
// # Order of calls
//
// [Gather] reads notes, in the order in which they were said, and gives candidates: rather
// too many. A [Judge] says of each how likely a reader calls it an insight; [ByRules] is
// one. [Rank] keeps what is likely enough. [Find] looks at the shape.
//
// # What it hides
//
// The patterns of English by which sentences are read, and the words around what package act reads in other languages;
// rates compared by a signed likelihood
// ratio of Poisson counts, and robust outlier scores by the median absolute deviation.
package insight
