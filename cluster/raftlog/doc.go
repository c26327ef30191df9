// Package raftlog keeps raft's log, its small values and its snapshots' markers in
// the node's shared log (storage.Log). It implements raft.LogStore, raft.StableStore
// and raft.SnapshotStore for one group each.
//
// A snapshot here is a marker (Markers): a promise that the stores' files hold
// everything up to an entry. The stores themselves are the state, and package state
// applies entries to them.
package raftlog
