package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/raft"

	"orgmem/storage"
)

// logStore is one group's raft.LogStore: a view of the node's shared log, where
// the groups' appends share fsyncs.
//
// There is no raft.LogCache over it: a leader hands committed entries to the
// state machine from memory, so entries are read back only in a replay, and a
// cache that counts entries instead of bytes could hold 16 MiB in each place.
type logStore struct {
	log   *storage.Log
	group uint32
	// failed is told of an append that was refused; it stops the process. Nil while
	// a group is created.
	failed func(group uint32, err error)
	// seam answers for the entry that the marker stands for.
	seam seam

	// mu keeps appends and truncations apart, as storage.Log wants it for one group.
	// raft does not: its snapshot goroutine cuts the log while its main goroutine
	// appends to it, and a cut that reached to what was the end a moment ago would
	// take entries with it that were acknowledged since (TestCutBesideAppends;
	// TestKill found it).
	mu sync.Mutex
}

var (
	_ raft.LogStore          = (*logStore)(nil)
	_ raft.MonotonicLogStore = (*logStore)(nil)
	_ raft.StableStore       = (*stableStore)(nil)
	_ raft.SnapshotStore     = (*markers)(nil)
)

// IsMonotonic tells raft that the log has no gaps, so that it deletes old
// entries after a restore instead of leaving one. Deleting is one range
// tombstone here.
func (s *logStore) IsMonotonic() bool { return true }

func (s *logStore) FirstIndex() (uint64, error) {
	first, _, err := s.log.Bounds(s.group)
	return first, err
}

func (s *logStore) LastIndex() (uint64, error) {
	_, last, err := s.log.Bounds(s.group)
	return last, err
}

// GetLog reads one entry. The error for a missing one must be exactly
// raft.ErrLogNotFound: raft compares, and sends a snapshot then.
func (s *logStore) GetLog(index uint64, l *raft.Log) error {
	e, err := s.log.Get(s.group, index)
	if errors.Is(err, storage.ErrLogNotFound) {
		if s.seam.get(index, l) {
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

func (s *logStore) StoreLog(l *raft.Log) error { return s.StoreLogs([]*raft.Log{l}) }

// StoreLogs is durable when it returns nil. raft answers a proposal by it.
func (s *logStore) StoreLogs(logs []*raft.Log) error {
	entries := make([]storage.LogEntry, len(logs))
	for i, l := range logs {
		entries[i] = storage.LogEntry{
			Index: l.Index, Term: l.Term, Type: uint8(l.Type),
			Data: l.Data, Extensions: l.Extensions, AppendedAt: l.AppendedAt,
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.log.Append(s.group, entries)
	if err != nil && s.failed != nil && !errors.Is(err, storage.ErrClosed) {
		s.failed(s.group, err)
	}
	return err
}

// DeleteRange removes a prefix, or a suffix that a new leader overrules.
func (s *logStore) DeleteRange(lo, hi uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.DeleteRange(s.group, lo, hi)
}

// stableStore is one group's raft.StableStore, and holds this package's own
// small values: keys that begin with "orgmem/".
type stableStore struct {
	log   *storage.Log
	group uint32
}

func (s *stableStore) Set(key, value []byte) error { return s.log.SetStable(s.group, key, value) }

// Get returns nothing and no error for a missing key, as raft wants it.
func (s *stableStore) Get(key []byte) ([]byte, error) {
	b, _, err := s.log.GetStable(s.group, key)
	return b, err
}

func (s *stableStore) SetUint64(key []byte, v uint64) error {
	return s.Set(key, binary.BigEndian.AppendUint64(nil, v))
}

// GetUint64 returns zero for a missing key.
func (s *stableStore) GetUint64(key []byte) (uint64, error) {
	b, err := s.Get(key)
	if err != nil || len(b) == 0 {
		return 0, err
	}
	if len(b) != 8 {
		return 0, fmt.Errorf("stable value %q of group %d has %d bytes, want 8", key, s.group, len(b))
	}
	return binary.BigEndian.Uint64(b), nil
}
