package raftlog

import (
	"sync/atomic"

	"github.com/hashicorp/raft"

	"orgmem/storage"
)

// GroupLog is what one group keeps in the node's shared log: its entries, its small
// values, and the marker that says which entries are in the stores' files.
type GroupLog struct {
	Stable *StableStore
	Marks  *Markers
	Logs   *LogStore
	// Trail says how far the entries may be cut.
	Trail Trail
	// ConfIndex is the entry that the newest agreed membership comes from.
	ConfIndex atomic.Uint64
}

// OpenGroupLog reads a group's marker. Mend has to follow before raft uses the log.
func OpenGroupLog(log *storage.Log, group uint32) (*GroupLog, error) {
	l := &GroupLog{Stable: &StableStore{Log: log, Group: group}, Logs: &LogStore{Log: log, Group: group}}
	var err error
	if l.Marks, err = OpenMarkers(l.Stable); err != nil {
		return nil, err
	}
	l.Logs.Seam.At.Store(l.Marks.First)
	l.Marks.Seam = &l.Logs.Seam
	return l, nil
}

// Mend drops a log that does not lead to the marker: a crash came between a
// Restore, which published the marker, and the emptying of the log. And it reads
// where the membership comes from.
func (l *GroupLog) Mend() error {
	metas, err := l.Marks.List()
	if err != nil || len(metas) == 0 {
		return err
	}
	marker := metas[0]
	l.ConfIndex.Store(marker.ConfigurationIndex)
	first, err := l.Logs.FirstIndex()
	if err != nil {
		return err
	}
	last, err := l.Logs.LastIndex()
	if err != nil || last == 0 || first > marker.Index {
		return err
	}
	if last >= marker.Index {
		var at raft.Log
		if err := l.Logs.GetLog(marker.Index, &at); err != nil || at.Term == marker.Term {
			return err
		}
	}
	return l.Logs.DeleteRange(first, last)
}

// Restored publishes the marker of a snapshot whose stores are here, and empties
// the log, which led to somewhere else. It reports whether that log had entries
// behind the snapshot: raft remembers where it ended, and would take no entry before
// that, so the group has to be opened again.
func (l *GroupLog) Restored(index uint64) (behind bool, err error) {
	if err := l.Marks.Restored(index); err != nil {
		return false, err
	}
	metas, err := l.Marks.List()
	if err != nil || len(metas) == 0 {
		return false, err
	}
	l.ConfIndex.Store(metas[0].ConfigurationIndex)
	l.Trail.Reset()
	first, err := l.Logs.FirstIndex()
	if err != nil {
		return false, err
	}
	last, err := l.Logs.LastIndex()
	if err != nil || last == 0 {
		return false, err
	}
	return last > index, l.Logs.DeleteRange(first, last)
}
