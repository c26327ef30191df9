package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/cockroachdb/pebble/v2"
	"google.golang.org/protobuf/proto"
)

// Reader reads one store: a Store reads the newest, a Snapshot one moment.
type Reader interface {
	// Get reads a record into m and says whether it is there.
	Get(k Key, m proto.Message) (bool, error)
	// GetRaw reads raw bytes; the slice is the caller's.
	GetRaw(k Key) ([]byte, bool, error)
	// AppendRaw is GetRaw into memory that the caller has: the bytes stand behind dst.
	// It returns dst itself where there are none.
	AppendRaw(dst []byte, k Key) ([]byte, bool, error)
	// Scan walks a range in key order. An error ends the walk and is yielded
	// last, with a zero Item.
	Scan(r Range, o ScanOptions) iter.Seq2[Item, error]
}

var (
	_ Reader = (*Store)(nil)
	_ Reader = (*Snapshot)(nil)
)

// ScanOptions narrows a scan. The zero value walks the whole range upwards.
type ScanOptions struct {
	// Reverse walks downwards.
	Reverse bool
	// Limit ends the walk after so many items; 0 is no limit but the range's.
	Limit int
	// After begins behind this key, in the direction of the walk: the cursor of
	// the page before. It must lie in the store; outside the range it is
	// harmless.
	After Key
}

// Item is one record of a scan.
type Item struct {
	Key Key
	// Value is only valid until the loop's next step.
	Value []byte
}

// Decode reads the value into m, which is overwritten.
func (i Item) Decode(m proto.Message) error { return DecodeRecord(i.Value, m) }

// DecodeBy has read take what it wants of the value's protobuf, for a walk over many
// records of which few fields are needed; the bytes are valid as long as Value. Errors:
// ErrUnknownVersion, ErrCorrupt, also for what read says.
func (i Item) DecodeBy(read func(protobuf []byte) error) error {
	b, err := recordBody(i.Value)
	if err != nil {
		return err
	}
	if err := read(b); err != nil {
		return fmt.Errorf("decode record: %w: %w", ErrCorrupt, err)
	}
	return nil
}

// Record is one decoded record of ScanRecords.
type Record[M proto.Message] struct {
	Key   Key
	Value M
}

// ScanRecords is Scan with each value decoded into a fresh message from make:
//
//	for rec, err := range storage.ScanRecords(st, jobs, storage.ScanOptions{Limit: 50},
//		func() *pb.Job { return new(pb.Job) }) { … }
func ScanRecords[M proto.Message](r Reader, rng Range, o ScanOptions, make func() M) iter.Seq2[Record[M], error] {
	return func(yield func(Record[M], error) bool) {
		for item, err := range r.Scan(rng, o) {
			rec := Record[M]{Key: item.Key}
			if err == nil {
				rec.Value = make()
				err = item.Decode(rec.Value)
			}
			if err != nil {
				yield(Record[M]{}, err)
				return
			}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

// Scan implements Reader. The store's files stay in place for the length of the
// loop; the body may read the same store.
func (h *Store) Scan(r Range, o ScanOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		db, err := h.begin()
		if err != nil {
			yield(Item{}, fmt.Errorf("scan: %w", err))
			return
		}
		defer h.s.gate.leave()
		scan(db, h.s.id, r, o, yield)
	}
}

func mustBelong(id, to StoreID) {
	if id != to {
		broken("key of %v used on %v", to, id)
	}
}

func getRecord(db pebble.Reader, id StoreID, k Key, m proto.Message) (bool, error) {
	mustBelong(id, k.store)
	b, closer, err := db.Get(k.b)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, wrapPebble("get", err)
	}
	err = DecodeRecord(b, m)
	if err = errors.Join(err, closer.Close()); err != nil {
		return false, fmt.Errorf("get %v: %w", k, err)
	}
	return true, nil
}

func appendRaw(dst []byte, db pebble.Reader, id StoreID, k Key) ([]byte, bool, error) {
	mustBelong(id, k.store)
	b, closer, err := db.Get(k.b)
	if errors.Is(err, pebble.ErrNotFound) {
		return dst, false, nil
	}
	if err != nil {
		return dst, false, wrapPebble("get", err)
	}
	out := append(dst, b...)
	if err := closer.Close(); err != nil {
		return dst, false, wrapPebble("get", err)
	}
	return out, true, nil
}

// getRaw is GetRaw of any reader: bytes that are there and empty are not nil.
func getRaw(r Reader, k Key) ([]byte, bool, error) {
	b, found, err := r.AppendRaw([]byte{}, k)
	if !found {
		return nil, false, err
	}
	return b, true, nil
}

func scan(db pebble.Reader, id StoreID, r Range, o ScanOptions, yield func(Item, error) bool) {
	if r.Empty() {
		return
	}
	mustBelong(id, r.store)
	opts := pebble.IterOptions{LowerBound: r.lo, UpperBound: r.hi}
	if !o.After.IsZero() {
		mustBelong(id, o.After.store)
		if !r.Contains(o.After) {
			// Outside the range: either before everything or behind it.
			below := bytes.Compare(o.After.b, r.lo) < 0
			if below == o.Reverse {
				return
			}
		} else if o.Reverse {
			opts.UpperBound = o.After.b
		} else {
			opts.LowerBound = append(append([]byte{}, o.After.b...), 0)
		}
	}
	it, err := db.NewIter(&opts)
	if err != nil {
		yield(Item{}, wrapPebble("scan", err))
		return
	}
	err = walk(it, id, o, yield)
	// The iterator's own error surfaces on Close too; it is reported once.
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	if err != nil && !errors.Is(err, errStopped) {
		yield(Item{}, wrapPebble("scan", err))
	}
}

// errStopped says that the loop's body has ended the walk and must not be
// called again.
var errStopped = errors.New("stopped")

func walk(it *pebble.Iterator, id StoreID, o ScanOptions, yield func(Item, error) bool) error {
	first, next := it.First, it.Next
	if o.Reverse {
		first, next = it.Last, it.Prev
	}
	n := 0
	for ok := first(); ok; ok = next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if !yield(Item{Key: Key{store: id, b: append([]byte{}, it.Key()...)}, Value: v}, nil) {
			return errStopped
		}
		if n++; n == o.Limit {
			return errStopped
		}
	}
	return it.Error()
}

// Snapshot reads a store as it was at one moment. It keeps the store open and
// old versions of its records on disk: close it soon. Its methods may be called
// from any goroutine.
type Snapshot struct {
	s     *openStore
	snap  *pebble.Snapshot
	state State
	seq   uint64
	once  sync.Once
	mu    sync.RWMutex // guards done against Close
	done  bool
	err   error
}

// Snapshot takes a snapshot. It outlives the handle's Release.
func (h *Store) Snapshot() (*Snapshot, error) {
	db, err := h.begin()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	h.s.node.pin(h.s)
	// Between two applies, so that state and records belong together.
	h.s.apply.Lock()
	defer h.s.apply.Unlock()
	return &Snapshot{s: h.s, snap: db.NewSnapshot(), state: h.State(), seq: h.s.snapshots.add()}, nil
}

func (n *Node) pin(s *openStore) {
	n.open.mu.Lock()
	n.open.pinLocked(s)
	n.open.mu.Unlock()
}

// State returns the store's state at the moment of the snapshot.
func (s *Snapshot) State() State { return s.state }

// Get implements Reader.
func (s *Snapshot) Get(k Key, m proto.Message) (bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.done {
		return false, fmt.Errorf("get: snapshot: %w", ErrClosed)
	}
	return getRecord(s.snap, s.s.id, k, m)
}

// GetRaw implements Reader.
func (s *Snapshot) GetRaw(k Key) ([]byte, bool, error) { return getRaw(s, k) }

// AppendRaw implements Reader.
func (s *Snapshot) AppendRaw(dst []byte, k Key) ([]byte, bool, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.done {
		return dst, false, fmt.Errorf("get: snapshot: %w", ErrClosed)
	}
	return appendRaw(dst, s.snap, s.s.id, k)
}

// Scan implements Reader. Do not close the snapshot inside the loop.
func (s *Snapshot) Scan(r Range, o ScanOptions) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		s.mu.RLock()
		done := s.done
		s.mu.RUnlock()
		if done {
			yield(Item{}, fmt.Errorf("scan: snapshot: %w", ErrClosed))
			return
		}
		scan(s.snap, s.s.id, r, o, yield)
	}
}

// Close ends the snapshot. Further calls return the same.
func (s *Snapshot) Close() error {
	s.once.Do(func() {
		s.mu.Lock()
		s.done = true
		s.err = wrapPebble("close snapshot", s.snap.Close())
		s.mu.Unlock()
		s.s.snapshots.remove(s.seq)
		s.s.gate.leave()
		s.s.node.unpin(s.s)
	})
	return s.err
}

// snapshotSet knows which snapshots of a store are open, because a compaction
// cannot drop what one of them still sees.
type snapshotSet struct {
	mu      sync.Mutex
	next    uint64
	open    map[uint64]struct{}
	changed chan struct{} // closed and replaced when one is closed
}

func (s *snapshotSet) add() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[uint64]struct{}{}
	}
	s.next++
	s.open[s.next] = struct{}{}
	return s.next
}

func (s *snapshotSet) remove(seq uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, seq)
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}

// waitOlder waits until every snapshot taken before the call is closed.
func (s *snapshotSet) waitOlder(ctx context.Context) error {
	s.mu.Lock()
	last := s.next
	for {
		older := false
		for seq := range s.open {
			older = older || seq <= last
		}
		if !older {
			s.mu.Unlock()
			return nil
		}
		if s.changed == nil {
			s.changed = make(chan struct{})
		}
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for snapshots: %w", ctx.Err())
		}
		s.mu.Lock()
	}
}
