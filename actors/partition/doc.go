// Package partition is a partition's memory as reads see it: the reference that names it, its hot state (its index as
// an immutable snapshot, and its settings), its stored vectors, and what queries mean.
//
// A partition is what one member or one subject remembers. Everything here is a copy of what the store says: it can be
// dropped at any time and is read again.
//
// # Who has what in memory
//
// A Resident is the hot state of one partition. It belongs to the actor of the partition's subject, its Owner, and
// leaves memory with it. Residents are those of one store, for one activation of its organization; a reader that finds
// none makes one, and says so to the organization, which makes the owner. Memory is the node's account of them all:
// over its bound it takes the index that was read least recently out of sight, and tells the owner to leave.
//
// Readers take the snapshot from behind an atomic pointer, under one short lock for the order of the account. What is
// shown is committed, and never older than what was shown before.
package partition
