// Package ground knows what rests on what in a partition, and whether it stands: what a cognition cycle has derived, by
// the entries under the nodes that it rests on, and what clients say was derived, by the records that say so.
//
// # Promises
//
//   - A Reader tells what no longer stands of all that something rests on, by any number of steps, as of one moment
//     where its storage.Reader is a snapshot. It reads nothing for what rests on nothing, and stays within one
//     partition.
//   - Each thing, each answer and each depth has a bound, and an answer that was cut at one says that it is incomplete.
//   - It writes only RestOn's entries. Edges and the records of what rests on nodes are package graph's.
//
// # Who calls it from where
//
// Its functions may be called from any goroutine; a Reader belongs to one.
package ground
