package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"google.golang.org/protobuf/proto"

	"orgmem/storage/disk"
)

// Store is a handle on an open store, from Acquire until Release. Handles are
// cheap, and methods may be called from any goroutine. Keys and ranges of
// another store panic.
type Store struct {
	s        *openStore
	released atomic.Bool
}

// State is what the replica knows about a store beside its records. It is
// written in the same Pebble batch as they are, so it is never ahead of them
// and never behind.
type State struct {
	// Applied is the log index of the last entry that was looked at.
	Applied uint64
	// Epoch is the log index of the last OPEN: who holds it may write.
	Epoch uint64
	// Version counts the batches applied.
	Version uint64
}

// Storage's own keys of a store.
var stateKey = []byte{ownSpace, 's'}

const (
	pendingPrefix = 'e'
	stateVersion  = 1
	stateBytes    = 1 + 3*8
)

func (st State) encode() []byte {
	b := make([]byte, 1, stateBytes)
	b[0] = stateVersion
	b = binary.BigEndian.AppendUint64(b, st.Applied)
	b = binary.BigEndian.AppendUint64(b, st.Epoch)
	return binary.BigEndian.AppendUint64(b, st.Version)
}

func decodeState(b []byte) (State, error) {
	if len(b) == 0 || b[0] != stateVersion {
		return State{}, fmt.Errorf("store state: %w", ErrUnknownVersion)
	}
	if len(b) != stateBytes {
		return State{}, fmt.Errorf("store state: %w", ErrCorrupt)
	}
	return State{
		Applied: binary.BigEndian.Uint64(b[1:]),
		Epoch:   binary.BigEndian.Uint64(b[9:]),
		Version: binary.BigEndian.Uint64(b[17:]),
	}, nil
}

func readState(r pebble.Reader) (State, error) {
	st, _, err := findState(r)
	return st, err
}

// findState reports as well whether there is a record of it.
func findState(r pebble.Reader) (State, bool, error) {
	b, closer, err := r.Get(stateKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return State{}, false, nil
	}
	if err != nil {
		return State{}, false, wrapPebble("read store state", err)
	}
	st, err := decodeState(b)
	return st, true, errors.Join(err, closer.Close())
}

// open opens the Pebble instance and reads the state.
func (s *openStore) open() error {
	dir := s.node.layout.store(s.id)
	if err := disk.MakeDir(s.node.disk, dir); err != nil {
		return err
	}
	o := s.node.optionsOf(s.id)
	o.MemTableSize = uint64(memtableSteps[s.step])
	db, err := openInstance(s.node.disk, dir, o, s.node.caches.durable)
	if err != nil {
		return wrapPebble("open store", err)
	}
	st, err := readState(db)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	s.db = db
	s.state.Store(&st)
	s.flushed, s.taken = st.Applied, 0
	return nil
}

// close waits for the operations, flushes if asked, and closes the instance.
func (s *openStore) close(flush bool) error {
	s.erase.Lock()
	defer s.erase.Unlock()
	s.gate.close()
	s.apply.Lock()
	defer s.apply.Unlock()
	var err error
	if flush {
		err = s.flushLocked()
	}
	return errors.Join(err, wrapPebble("close store", s.db.Close()))
}

// flushLocked writes the memtables to tables. s.apply is held.
func (s *openStore) flushLocked() error {
	applied := s.state.Load().Applied
	if s.flushed >= applied && !s.dirty {
		return nil
	}
	if err := s.db.Flush(); err != nil {
		return wrapPebble("flush store", err)
	}
	s.node.disk.Guard()
	s.db.edited = true
	s.flushed, s.dirty = applied, false
	return nil
}

// begin starts an operation on the instance; the caller ends it with s.gate.leave.
func (h *Store) begin() (*pebble.DB, error) {
	if h.released.Load() {
		return nil, fmt.Errorf("released handle on %v: %w", h.s.id, ErrClosed)
	}
	if err := h.s.gate.enter(); err != nil {
		return nil, err
	}
	return h.s.db.DB, nil
}

// ID returns which store it is.
func (h *Store) ID() StoreID { return h.s.id }

// Release gives the handle back. Further calls do nothing; other methods answer
// ErrClosed.
func (h *Store) Release() {
	if h.released.CompareAndSwap(false, true) {
		h.s.node.unpin(h.s)
	}
}

// State returns the applied index, epoch and version.
func (h *Store) State() State { return *h.s.state.Load() }

// Applied returns the log index of the last applied entry.
func (h *Store) Applied() uint64 { return h.State().Applied }

// Settled is Applied, and whether that is all that a reader can see: a batch shows
// a moment before its index does. What was read since Settled said true and an
// index is what the store holds for as long as Settled says the same.
func (h *Store) Settled() (applied uint64, settled bool) {
	settled = !h.s.moving.Load() // before the index: a batch that begins now is not seen yet
	return h.Applied(), settled
}

// Flush makes what was applied so far durable in the store's own tables; until
// then only the raft log holds it. It costs some milliseconds, or nothing when
// nothing was applied since the last flush.
func (h *Store) Flush() error {
	if _, err := h.begin(); err != nil {
		return fmt.Errorf("flush: %w", err)
	}
	defer h.s.gate.leave()
	h.s.apply.Lock()
	defer h.s.apply.Unlock()
	return h.s.flushLocked()
}

// Checkpoint writes a consistent copy of the store into dir, which must not
// exist; its parent must. Tables are hard-linked where the file system can, so
// it takes milliseconds and no space.
func (h *Store) Checkpoint(dir string) error {
	_, err := h.checkpoint(dir)
	return err
}

// checkpoint is Checkpoint that says what the copy holds.
func (h *Store) checkpoint(dir string) (State, error) {
	db, err := h.begin()
	if err != nil {
		return State{}, fmt.Errorf("checkpoint: %w", err)
	}
	defer h.s.gate.leave()
	h.s.apply.Lock()
	defer h.s.apply.Unlock()
	// Without a WAL the memtable is in no file: a checkpoint without this flush
	// would silently miss the newest writes.
	if err := h.s.flushLocked(); err != nil {
		return State{}, err
	}
	if err := h.s.db.newManifest(); err != nil {
		return State{}, wrapPebble("checkpoint", err)
	}
	if err := db.Checkpoint(dir); err != nil {
		return State{}, wrapPebble("checkpoint", err)
	}
	h.s.node.disk.Guard()
	return *h.s.state.Load(), nil
}

// Get reads a record into m. The bool says whether it is there.
func (h *Store) Get(k Key, m proto.Message) (bool, error) {
	db, err := h.begin()
	if err != nil {
		return false, fmt.Errorf("get: %w", err)
	}
	defer h.s.gate.leave()
	return getRecord(db, h.s.id, k, m)
}

// GetRaw reads raw bytes; the slice is the caller's.
func (h *Store) GetRaw(k Key) ([]byte, bool, error) { return getRaw(h, k) }

// AppendRaw is GetRaw into memory that the caller has: the bytes stand behind dst.
func (h *Store) AppendRaw(dst []byte, k Key) ([]byte, bool, error) {
	db, err := h.begin()
	if err != nil {
		return dst, false, fmt.Errorf("get: %w", err)
	}
	defer h.s.gate.leave()
	return appendRaw(dst, db, h.s.id, k)
}
