package raftlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"
)

// MarkerKey holds a group's marker among its stable values.
const MarkerKey = "orgmem/snapshot"

// MaxManifestBytes bounds what a snapshot of another node may say: some 70 bytes
// for each store of the shard, 100,000 stores in one of 32 shards being 3,200.
const MaxManifestBytes = 16 << 20

// ErrStaleSnapshot answers raft when it asks for a snapshot that is not the
// newest any more. It asks again.
var ErrStaleSnapshot = errors.New("cluster: snapshot was overtaken by a newer one")

// Markers is the raft.SnapshotStore of a group whose state machine is already on
// disk. A snapshot is then no copy of the state but a promise about it: "every
// entry up to Index is in the stores' files". It is kept as one small value
// beside the log, written with an fsync.
//
// raft makes three uses of it. At start it is the point where replay begins, at
// Index+1, even where older entries are still in the log; so the promise must be
// true before it is published (see state.Machine). It is how far the log may be
// cut. And to a replica that is behind what is cut, raft sends "the snapshot",
// which is a manifest made at that moment.
//
// There the order is another one than raft's own: raft closes the sink of a
// received snapshot before the state machine restores it, when the promise is not
// true yet. So a received marker waits in memory until the state machine says that
// it is (fsm.Restore).
//
// The marker lives in the same Pebble as the log: a write of the marker and the
// deletion of entries that follows cannot be found in the wrong order after a
// crash.
type Markers struct {
	stable *StableStore
	Index  atomic.Uint64 // of the marker on disk
	// Manifest says what a replica must have to be at the marker; closed is called
	// when raft is done with it. Nil while a group is created.
	Manifest func(index uint64) (b []byte, closed func(), err error)

	// First is what was found on disk; every later marker is stored in Seam. Nil
	// while a group is created.
	First *EntryID
	Seam  *Seam

	mu       sync.Mutex
	received *markerSink // closed, not restored yet
}

// OpenMarkers reads the group's marker, if there is one.
func OpenMarkers(stable *StableStore) (*Markers, error) {
	m := &Markers{stable: stable}
	metas, err := m.List()
	if err != nil {
		return nil, err
	}
	if len(metas) > 0 {
		m.Index.Store(metas[0].Index)
		m.First = &EntryID{metas[0].Index, metas[0].Term}
	}
	return m, nil
}

// Create begins a snapshot, this node's or one that is being received. The stores
// of this node's are flushed already: raft called the state machine's Snapshot
// before.
func (m *Markers) Create(
	version raft.SnapshotVersion, index, term uint64, conf raft.Configuration, confIndex uint64, _ raft.Transport,
) (raft.SnapshotSink, error) {
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
func (m *Markers) List() ([]*raft.SnapshotMeta, error) {
	b, err := m.stable.Get([]byte(MarkerKey))
	if err != nil {
		return nil, err
	}
	if len(b) == 0 {
		return nil, nil
	}
	meta := new(raft.SnapshotMeta)
	if err := json.Unmarshal(b, meta); err != nil {
		return nil, fmt.Errorf("cluster: snapshot marker of group %d: %w", m.stable.Group, err)
	}
	return []*raft.SnapshotMeta{meta}, nil
}

// Open returns the manifest of a snapshot: of the received one, to restore it, or
// of this node's newest, to send it.
func (m *Markers) Open(id string) (*raft.SnapshotMeta, io.ReadCloser, error) {
	m.mu.Lock()
	received := m.received
	m.mu.Unlock()
	if received != nil && received.meta.ID == id {
		meta := received.meta
		return &meta, io.NopCloser(bytes.NewReader(received.manifest)), nil
	}
	metas, err := m.List()
	if err != nil {
		return nil, nil, err
	}
	if len(metas) == 0 || metas[0].ID != id {
		return nil, nil, ErrStaleSnapshot
	}
	b, closed, err := m.Manifest(metas[0].Index)
	if err != nil {
		return nil, nil, err
	}
	metas[0].Size = int64(len(b)) // raft refuses what is not exactly as long
	return metas[0], &manifestReader{Reader: bytes.NewReader(b), closed: closed}, nil
}

// manifestReader tells when raft has sent a manifest, and the other side has
// answered that it is there.
type manifestReader struct {
	io.Reader
	closed func()
	once   sync.Once
}

// Close may be called twice.
func (r *manifestReader) Close() error {
	r.once.Do(r.closed)
	return nil
}

// Restored publishes the marker that was received for an index: what it promises
// is true now.
func (m *Markers) Restored(index uint64) error {
	m.mu.Lock()
	received := m.received
	m.received = nil
	m.mu.Unlock()
	if received == nil || received.meta.Index != index {
		return fmt.Errorf("cluster: group %d was restored to entry %d, which no received snapshot has", m.stable.Group, index)
	}
	return m.Publish(&received.meta)
}

// Publish writes a marker, durably. One that comes after a newer one, which was
// received while this node made its own, is dropped: the log ends behind it no
// more.
func (m *Markers) Publish(meta *raft.SnapshotMeta) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if meta.Index < m.Index.Load() {
		return nil
	}
	b, err := json.Marshal(meta)
	if err != nil {
		return fmt.Errorf("cluster: encode snapshot marker: %w", err)
	}
	if err := m.stable.Set([]byte(MarkerKey), b); err != nil {
		return fmt.Errorf("cluster: write snapshot marker: %w", err)
	}
	m.Index.Store(meta.Index)
	if m.Seam != nil {
		m.Seam.At.Store(&EntryID{meta.Index, meta.Term})
	}
	return nil
}

// markerSink takes a snapshot. Nothing is written to one of this node; its Close
// publishes the marker. One that is received is the manifest, and waits.
type markerSink struct {
	store    *Markers
	meta     raft.SnapshotMeta
	manifest []byte
	closed   bool // raft closes once more what Persist has closed
}

// ID is raft's.
func (s *markerSink) ID() string { return s.meta.ID }

// Write collects a received manifest.
func (s *markerSink) Write(b []byte) (int, error) {
	if len(s.manifest)+len(b) > MaxManifestBytes {
		return 0, fmt.Errorf("cluster: manifest of group %d has more than %d bytes", s.store.stable.Group, MaxManifestBytes)
	}
	s.manifest = append(s.manifest, b...)
	return len(b), nil
}

// Cancel is raft's.
func (s *markerSink) Cancel() error { return nil }

// Close ends the snapshot.
func (s *markerSink) Close() error {
	if s.closed {
		return nil
	}
	if len(s.manifest) > 0 {
		s.meta.ID = "received-" + s.meta.ID // it must not pass for one of this node's
		s.store.mu.Lock()
		s.store.received = s
		s.store.mu.Unlock()
	} else if err := s.store.Publish(&s.meta); err != nil {
		return err
	}
	s.closed = true
	return nil
}
