// Package text turns characters into the units that the memory works with:
// sentences, chunks, and the terms that keyword search compares.
//
// # Promises
//
//   - Everything here is a pure function of its arguments: no I/O, no clock, no
//     goroutine. An [Analyzer] keeps a bounded cache of word → term, which
//     changes its speed and never its answers.
//   - Any string is accepted, also invalid UTF-8, a megabyte without a space,
//     or a run of combining marks. Nothing panics, and all cost is linear in
//     the length of the input.
//   - The term that a word becomes does not depend on the machine, the order of
//     calls or the process, since terms are stored. A change of the analysis is
//     a change of [AnalysisVersion], and asks for the segments to be built anew.
//
// # Order of calls
//
// Ingest: [Chunks] splits a document; for each chunk [Analyzer.Passage] gives
// what the index stores. Search: [Analyzer.Query] gives the query's terms, for
// the languages that the searched segments say they hold.
//
// # What it hides
//
// How a language is recognised, which stemmer serves it, how scripts without
// spaces are cut, how identifiers are taken apart, and how terms are hashed.
package text
