package cluster

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

// seamEntry is the type of what stands for an entry. raft's own types are small.
const seamEntry raft.LogType = 0xff

// errSeam answers raft when it would send what only stands for an entry.
var errSeam = errors.New("cluster: an entry is only known by its term")

// seam answers for the entry at the marker. Its zero value answers for none.
type seam struct {
	at   atomic.Pointer[seamAt]
	raft atomic.Pointer[raft.Raft] // nil while the group is being opened
}

type seamAt struct{ index, term uint64 }

// get fills in what stands for an entry that the log does not have.
func (s *seam) get(index uint64, l *raft.Log) bool {
	at, r := s.at.Load(), s.raft.Load()
	if at == nil || at.index != index || r == nil || r.State() == raft.Leader {
		return false
	}
	*l = raft.Log{Index: at.index, Term: at.term, Type: seamEntry}
	return true
}

// checkSeam refuses to send what only stands for an entry.
func checkSeam(args *raft.AppendEntriesRequest) error {
	for _, e := range args.Entries {
		if e.Type == seamEntry {
			return errSeam
		}
	}
	return nil
}
