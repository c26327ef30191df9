// Package state applies committed commands to stores. It has the two machines that a
// group may drive: Stores for a shard, which judges each write by the epoch and the
// version of its store, and Directory for the meta group, which knows the
// organizations, their keys and, as Meta, the cluster itself.
//
// What a command does is a function of the log alone: every replica, and every replay,
// comes to the same result (Result). The package knows no raft, no network and no
// leader; what it needs of them it is given (DirectoryConfig).
//
// # Order of calls
//
// NewStores or OpenDirectory, then Apply in the order of the log from one goroutine;
// Flush and the readers of Directory and Meta from any. Directory.Close at the end.
package state
