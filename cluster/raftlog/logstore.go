package raftlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"

	"orgmem/storage"
)

// LogStore is one group's raft.LogStore: a view of the node's shared log, where
// the groups' appends share fsyncs.
//
// There is no raft.LogCache over it: a leader hands committed entries to the
// state machine from memory, so entries are read back only in a replay, and a
// cache that counts entries instead of bytes could hold 16 MiB in each place.
type LogStore struct {
	Log   *storage.Log
	Group uint32
	// Failed is called when an append is refused; it stops the process. Nil while
	// a group is created.
	Failed func(group uint32, err error)
	// Seam answers for the entry that the marker stands for.
	Seam Seam

	// mu keeps appends and truncations apart, as storage.Log wants it for one group.
	// raft does not: its snapshot goroutine cuts the log while its main goroutine
	// appends to it, and a cut that reached to what was the end a moment ago would
	// take entries with it that were acknowledged since (TestCutBesideAppends;
	// TestKill found it).
	mu sync.Mutex
}

var (
	_ raft.LogStore          = (*LogStore)(nil)
	_ raft.MonotonicLogStore = (*LogStore)(nil)
	_ raft.StableStore       = (*StableStore)(nil)
	_ raft.SnapshotStore     = (*Markers)(nil)
)

// IsMonotonic tells raft that the log has no gaps, so that it deletes old
// entries after a restore instead of leaving one. Deleting is one range
// tombstone here.
func (s *LogStore) IsMonotonic() bool { return true }

// FirstIndex is the index of the first entry, 0 while the log is empty.
func (s *LogStore) FirstIndex() (uint64, error) {
	first, _, err := s.Log.Bounds(s.Group)
	return first, err
}

// LastIndex is the index of the last entry, 0 while the log is empty.
func (s *LogStore) LastIndex() (uint64, error) {
	_, last, err := s.Log.Bounds(s.Group)
	return last, err
}

// GetLog reads one entry. The error for a missing one must be exactly
// raft.ErrLogNotFound: raft compares, and sends a snapshot then.
func (s *LogStore) GetLog(index uint64, l *raft.Log) error {
	e, err := s.Log.Get(s.Group, index)
	if errors.Is(err, storage.ErrLogNotFound) {
		if s.Seam.get(index, l) {
			return nil
		}
		return raft.ErrLogNotFound
	}
	if err != nil {
		return err
	}
	*l = raft.Log{
		Index: e.Index, Term: e.Term, Type: raft.LogType(e.Type),
		Data: e.Data, Extensions: e.Extensions, AppendedAt: e.AppendedAt,
	}
	return nil
}

// StoreLog is StoreLogs of one.
func (s *LogStore) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

// StoreLogs is durable when it returns nil. raft answers a proposal by it.
func (s *LogStore) StoreLogs(logs []*raft.Log) error {
	entries := make([]storage.LogEntry, len(logs))
	for i, l := range logs {
		entries[i] = storage.LogEntry{
			Index: l.Index, Term: l.Term, Type: uint8(l.Type),
			Data: l.Data, Extensions: l.Extensions, AppendedAt: l.AppendedAt,
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.Log.Append(s.Group, entries)
	if err != nil && s.Failed != nil && !errors.Is(err, storage.ErrClosed) {
		s.Failed(s.Group, err)
	}
	return err
}

// DeleteRange removes a prefix, or a suffix that a new leader overrules.
func (s *LogStore) DeleteRange(lo, hi uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Log.DeleteRange(s.Group, lo, hi)
}

// StableStore is one group's raft.StableStore, and holds this package's own
// small values: keys that begin with "orgmem/".
type StableStore struct {
	Log   *storage.Log
	Group uint32
}

// Set is durable when it returns nil.
func (s *StableStore) Set(key, value []byte) error { return s.Log.SetStable(s.Group, key, value) }

// Get returns nothing and no error for a missing key, as raft wants it.
func (s *StableStore) Get(key []byte) ([]byte, error) {
	b, _, err := s.Log.GetStable(s.Group, key)
	return b, err
}

// SetUint64 is Set of a number.
func (s *StableStore) SetUint64(key []byte, v uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, v))
}

// GetUint64 returns zero for a missing key.
func (s *StableStore) GetUint64(key []byte) (uint64, error) {
	b, err := s.Get(key)
	if err != nil || len(b) == 0 {
		return 0, err
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("stable value %q of group %d has %d bytes, want 8", key, s.Group, len(b))
	}
	return binary.BigEndian.Uint64(b), nil
}
