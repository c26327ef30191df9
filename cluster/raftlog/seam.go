package raftlog

import (
	"errors"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// The seam is the entry that a group's marker stands for: the last one before the
// log's first, where the log was emptied behind a snapshot that came from another
// node.
//
// raft (1.8.0, appendEntries) asks the log for the entry before those that a leader
// sends, unless it is the very last. A follower that had taken some entries behind
// its snapshot, and whose answer was lost, is sent them again from the snapshot on;
// it does not find the entry that the snapshot stands for, refuses, and goes on to
// refuse: a leader whose log reaches back to the beginning never sends it a
// snapshot, so it stays behind for ever. (raft's own snapshots leave 10,240
// entries in the log, so that this seldom happens to others.) Its term is all that
// raft wants to know there, and the marker knows it.
//
// What stands for the entry must never be taken for it. So a leader does not get it
// (it sends a snapshot instead), and no request that holds one leaves the node.

// SeamEntry is the type of what stands for an entry. raft's own types are small.
const SeamEntry raft.LogType = 0xff

// ErrSeam answers raft when it would send what only stands for an entry.
var ErrSeam = errors.New("cluster: an entry is only known by its term")

// Seam answers for the entry at the marker. Its zero value answers for none.
type Seam struct {
	At   atomic.Pointer[EntryID]
	Raft atomic.Pointer[raft.Raft] // nil while the group is being opened
}

// EntryID names an entry of the log.
type EntryID struct{ Index, Term uint64 }

// get fills in what stands for an entry that the log does not have.
func (s *Seam) get(index uint64, l *raft.Log) bool {
	at, r := s.At.Load(), s.Raft.Load()
	if at == nil || at.Index != index || r == nil || r.State() == raft.Leader {
		return false
	}
	*l = raft.Log{Index: at.Index, Term: at.Term, Type: SeamEntry}
	return true
}

// CheckSeam refuses to send what only stands for an entry.
func CheckSeam(args *raft.AppendEntriesRequest) error {
	for _, e := range args.Entries {
		if e.Type == SeamEntry {
			return ErrSeam
		}
	}
	return nil
}
