// Package search answers from what a memory holds: search, retrieval along the edges of the graph, the views of recall,
// packs and scaffolds for another model, and the answers of the organization's brain. Feature is what a node has once
// of it; Module is the part in an organization.
//
// # Promises
//
//   - An answer is read in the read pool, from snapshots of the indexes, and changes nothing in the memory.
//   - An answer covers the caller's partition, or all partitions of the organization where the request may ask for
//     that. A walk of the brain follows nothing outside of them.
//   - What was forgotten between the snapshot and the answer is left out of the answer.
//   - Every search has bounds: candidates, vectors that are read, steps and time of a walk, edges that are followed.
//     The quality mode of the asking partition sets how many candidates and vectors those are, and whether the reader
//     reads what leads (Efforts, reread.go); such a search waits for a wide turn.
//   - Where no brain serves, search ranks by the index alone. Where a language model does not answer in time, an answer
//     goes out in the words of the passages that it cites.
//
// # What it knows
//
// The indexes and the graph of partitions, and the brain that package training has published. How candidates are
// ranked, how a walk goes and how an answer is composed is decided in brain. It does not know the queue, the worker or
// the cycles that derive what recall shows.
//
// # Who calls it from where
//
// Module.Handle runs in the organization's mailbox and hands each request to the read pool. A read worker has one
// working memory (Feature.Workers), which only the read that runs on it may use. The functions that take a
// storage.Reader may be called from any goroutine.
package search
