package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// snapshotKey holds a group's marker among its stable values.
const snapshotKey = "orgmem/snapshot"

// errNoTransfer answers raft when it wants to read a snapshot's content, which
// it only does to send it to another node or to rebuild a state machine that has
// no disk of its own.
var errNoTransfer = errors.New("cluster: a group of one has nobody to send a snapshot to")

// markers is the raft.SnapshotStore of a group whose state machine is already on
// disk. A snapshot is then no copy of the state but a promise about it: "every
// entry up to Index is in the stores' files". It is kept as one small value
// beside the log, written with an fsync.
//
// raft makes two uses of it. At start it is the point where replay begins, at
// Index+1, even where older entries are still in the log; so the promise must be
// true before it is published (see stores.flush). And it is how far the log may be
// cut.
//
// The marker lives in the same Pebble as the log: a write of the marker and the
// deletion of entries that follows cannot be found in the wrong order after a
// crash.
type markers struct {
	stable *stableStore
	index  atomic.Uint64 // of the marker on disk; for Status
}

// newMarkers reads the group's marker, if there is one.
func newMarkers(stable *stableStore) (*markers, error) {
	m := &markers{stable: stable}
	metas, err := m.List()
	if err != nil {
		return nil, err
	}
	if len(metas) > 0 {
		m.index.Store(metas[0].Index)
	}
	return m, nil
}

// Create begins a snapshot. The stores are flushed already: raft called the
// state machine's Snapshot before.
func (m *markers) Create(version raft.SnapshotVersion, index, term uint64, conf raft.Configuration, confIndex uint64, _ raft.Transport) (raft.SnapshotSink, error) {
	if version != raft.SnapshotVersionMax {
		return nil, fmt.Errorf("cluster: snapshot version %d", version)
	}
	return &markerSink{store: m, meta: raft.SnapshotMeta{
		Version:            version,
		ID:                 fmt.Sprintf("%d-%d", term, index),
		Index:              index,
		Term:               term,
		Configuration:      conf,
		ConfigurationIndex: confIndex,
	}}, nil
}

// List returns the one marker there is, or none.
func (m *markers) List() ([]*raft.SnapshotMeta, error) {
	b, err := m.stable.Get([]byte(snapshotKey))
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, nil
	}
	meta := new(raft.SnapshotMeta)
	if err := json.Unmarshal(b, meta); err != nil {
		return nil, fmt.Errorf("cluster: snapshot marker of group %d: %w", m.stable.group, err)
	}
	return []*raft.SnapshotMeta{meta}, nil
}

// Open is never called in a group with one voter.
func (m *markers) Open(string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	return nil, nil, errNoTransfer
}

// markerSink collects nothing; its Close publishes the marker.
type markerSink struct {
	store  *markers
	meta   raft.SnapshotMeta
	closed bool // raft closes once more what Persist has closed
}

func (s *markerSink) ID() string { return s.meta.ID }

// Write fails: the snapshot of a persistent state machine has no content, and a
// size other than the exact one would break whoever reads it.
func (s *markerSink) Write([]byte) (int, error) { return 0, errNoTransfer }

func (s *markerSink) Cancel() error { return nil }

func (s *markerSink) Close() error {
	if s.closed {
		return nil
	}
	b, err := json.Marshal(&s.meta)
	if err != nil {
		return fmt.Errorf("cluster: encode snapshot marker: %w", err)
	}
	if err := s.store.stable.Set([]byte(snapshotKey), b); err != nil {
		return fmt.Errorf("cluster: write snapshot marker: %w", err)
	}
	s.store.index.Store(s.meta.Index)
	s.closed = true
	return nil
}
