package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"orgmem/storage/disk"
)

const (
	// eraseDelay lets erasures come together before a compaction serves them all,
	// and bounds what somebody who forgets one thing a second can cost: a
	// partition of 100 MB takes about a second to rewrite.
	eraseDelay = 10 * time.Second
	// eraseRetry is the pause after an erasure that could not be finished, for
	// instance because a snapshot stayed open.
	eraseRetry = 30 * time.Second
	// eraseLimit bounds one attempt, so that one store's open snapshot does not
	// keep the others waiting for ever.
	eraseLimit = time.Minute
)

// Erase makes the bytes of everything that was erased (Batch.EraseRange) leave
// the store's files: tables, and the manifests, which hold keys. It returns when
// they are gone. It waits for snapshots taken before it, and for a moment in
// which nobody reads. The raft log holds the same bytes until it is truncated:
// Log.Erase. A store that does not exist is no error.
//
// Without this call the same happens in the background, some seconds after the
// erasure was applied, also after a restart.
func (n *Node) Erase(ctx context.Context, id StoreID) error {
	if there, err := n.Exists(id); err != nil || !there {
		return errors.Join(err, n.log.clearErasure(id))
	}
	// Needs free space for the compaction; on a full disk it would also be the
	// one thing that cannot be undone half-way.
	if err := n.Writable(); err != nil {
		return fmt.Errorf("erase %v: %w", id, err)
	}
	h, err := n.AcquireForApply(id)
	if err != nil {
		return err
	}
	defer h.Release()
	if err := h.s.eraseNow(ctx); err != nil {
		return fmt.Errorf("erase %v: %w", id, err)
	}
	n.counts.erasures.Add(1)
	return nil
}

func (s *openStore) eraseNow(ctx context.Context) error {
	s.erase.Lock()
	defer s.erase.Unlock()
	// A compaction cannot drop what a snapshot still sees.
	if err := s.snapshots.waitOlder(ctx); err != nil {
		return err
	}
	if err := s.compactPending(ctx); err != nil {
		return err
	}
	// Manifests hold the smallest and largest key of every table ever made, and
	// keys may hold a client's own ids. Each exchange begins a new manifest with the
	// present tables only; Pebble keeps one old manifest, so the second opening
	// orders the first one's deletion, and the third closing waits for it.
	if err := s.gate.shutOut(ctx); err != nil {
		return err
	}
	for range 3 {
		s.apply.Lock()
		err := s.db.newManifest()
		s.apply.Unlock()
		if err != nil {
			s.gate.reopen()
			return wrapPebble("begin a manifest", err)
		}
		s.exchange(0)
	}
	if err := disk.SyncDir(s.node.disk, s.node.layout.store(s.id)); err != nil { // for the removals
		s.gate.reopen()
		return err
	}
	// Under apply, so that no new erasure is noted between look and clear.
	s.apply.Lock()
	spans, err := s.pendingSpans()
	if err == nil && len(spans) == 0 {
		err = s.node.log.clearErasure(s.id)
	}
	s.apply.Unlock()
	s.gate.reopen()
	return err
}

// compactPending rewrites the tables below the pending erasures, as many as there
// are: what began before it is gone when it returns.
func (s *openStore) compactPending(ctx context.Context) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	for full := true; full; { // ends, at the latest with ctx, also while new ones come
		n, err := s.compactPage(ctx)
		if err != nil {
			return err
		}
		full = n == maxPendingSpans
	}
	// The records of what was to be erased name keys, which may be customer text:
	// they leave the files by the same way. Also when there are none, for a crash
	// may have come before this.
	own := []byte{ownSpace, pendingPrefix}
	if err := s.compactSpans(ctx, []span{{lo: own, hi: successor(own)}}); err != nil {
		return err
	}
	s.apply.Lock()
	defer s.apply.Unlock()
	return s.flushLocked()
}

// compactPage rewrites the tables below the first pending erasures, and returns
// how many those were.
func (s *openStore) compactPage(ctx context.Context) (int, error) {
	spans, err := s.pendingSpans()
	if err != nil || len(spans) == 0 {
		return 0, err
	}
	for _, group := range bySpace(spans) {
		if err := s.compactSpans(ctx, group); err != nil {
			return 0, err
		}
	}
	done := s.db.NewBatch()
	defer closeBatch(done)
	for _, sp := range spans {
		if err := done.Delete(sp.key, nil); err != nil {
			return 0, wrapPebble("compact", err)
		}
	}
	s.apply.Lock()
	defer s.apply.Unlock()
	s.dirty = true
	return len(spans), wrapPebble("compact", s.db.Apply(done, pebble.NoSync))
}

// compactSpans rewrites the tables of one space, from its first span to its
// last. One pass for all of them: the tables in between are rewritten anyway,
// because those of the upper levels reach over several spans.
func (s *openStore) compactSpans(ctx context.Context, spans []span) error {
	lo, hi := spans[0].lo, spans[0].hi
	for _, sp := range spans {
		if bytes.Compare(hi, sp.hi) < 0 {
			hi = sp.hi
		}
	}
	// From table to table: Pebble moves a single table into an empty level as it
	// is, and the bounds of what is written below, which are keys, would stay there
	// for ever (TestErasureOfWhatWasErasedBefore). So they name no record.
	table := len(spacePrefix(lo)) + 1
	lo = lo[:min(len(lo), table)]
	if len(hi) > table {
		hi = successor(hi[:table])
	}
	batch := s.db.NewBatch()
	defer closeBatch(batch)
	// A range key deletion over a span without range keys changes nothing that can
	// be read, but its table overlaps the span, so the manual compaction takes it
	// down through every level and must rewrite all tables of the span. Without it,
	// a tombstone that reached the lowest level while a snapshot was open would stay
	// there with its victims until Pebble's own elision got round to them: mostly at
	// once, but by heuristics, and not before this call returns.
	if err := batch.RangeKeyDelete(lo, hi, nil); err != nil {
		return wrapPebble("compact", err)
	}
	if err := s.db.Apply(batch, pebble.NoSync); err != nil {
		return wrapPebble("compact", err)
	}
	if err := s.db.Flush(); err != nil {
		return wrapPebble("compact", err)
	}
	return wrapPebble("compact", s.db.Compact(ctx, lo, hi, false))
}

// bySpace sorts spans and parts them by the space they lie in: what was erased
// in two partitions must not rewrite the partitions between.
func bySpace(spans []span) [][]span {
	slices.SortFunc(spans, func(a, b span) int { return bytes.Compare(a.lo, b.lo) })
	var groups [][]span
	for i, sp := range spans {
		if i == 0 || !bytes.Equal(spacePrefix(spans[i-1].lo), spacePrefix(sp.lo)) {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], sp)
	}
	return groups
}

// exchange closes the Pebble instance and opens it again, with memtables of a step of
// memtableSteps. The gate is shut. A store that cannot be opened again has nowhere to
// apply the log to, so failing here stops the process: its restart replays nothing that
// was not flushed.
func (s *openStore) exchange(step int) {
	s.apply.Lock()
	defer s.apply.Unlock()
	if err := s.flushLocked(); err != nil {
		s.node.disk.Stop("exchange store %v: %v", s.id, err)
	}
	if err := s.db.Close(); err != nil {
		s.node.disk.Stop("exchange store %v: %v", s.id, err)
	}
	before := *s.state.Load()
	s.step = step
	if err := s.open(); err != nil {
		s.node.disk.Stop("exchange store %v: %v", s.id, err)
	}
	if after := *s.state.Load(); after != before {
		s.node.disk.Stop("exchange store %v: state was %+v, is %+v", s.id, before, after)
	}
}

// span is a pending erasure: its own key and what it covers.
type span struct{ key, lo, hi []byte }

func encodeSpan(lo, hi []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(lo)))
	return append(append(b, lo...), hi...)
}

// maxPendingSpans bounds what an erasure works through at a time: some megabytes
// of spans in memory.
const maxPendingSpans = 10_000

func (s *openStore) pendingSpans() ([]span, error) {
	prefix := []byte{ownSpace, pendingPrefix}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: successor(prefix)})
	if err != nil {
		return nil, wrapPebble("read pending erasures", err)
	}
	var spans []span
	for ok := it.First(); ok && len(spans) < maxPendingSpans; ok = it.Next() {
		v := it.Value()
		if len(v) < 4 || uint64(len(v)-4) < uint64(binary.BigEndian.Uint32(v)) {
			return nil, errors.Join(fmt.Errorf("pending erasure: %w", ErrCorrupt), it.Close())
		}
		n := binary.BigEndian.Uint32(v)
		v = bytes.Clone(v[4:])
		spans = append(spans, span{key: bytes.Clone(it.Key()), lo: v[:n:n], hi: v[n:]})
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return nil, wrapPebble("read pending erasures", err)
	}
	return spans, nil
}

// noteErasure durably remembers, outside the store, that a store has erasures
// to carry out, and that the log still holds what they erase: after a restart
// nobody would open the store to look.
func (l *Log) noteErasure(id StoreID) error { return l.note(id, erasureKey(id), owedKey(id)) }

// noteRemoval remembers that the log may still hold what was in a store that is
// removed as a whole, or replaced by another node's.
func (l *Log) noteRemoval(id StoreID) error { return l.note(id, owedKey(id)) }

func (l *Log) note(id StoreID, keys ...[]byte) error {
	l.noting.Lock()
	defer l.noting.Unlock()
	l.mu.Lock()
	hint := len(keys) > 1
	_, noted := l.hinted[id]
	_, owed := l.owed[id]
	l.newest++
	l.owed[id] = l.newest
	l.mu.Unlock()
	defer l.wakeOwed()
	if (noted || !hint) && owed {
		return nil
	}
	if err := l.begin("note erasure"); err != nil {
		return err
	}
	defer l.gate.leave()
	batch := l.db.NewBatch()
	defer closeBatch(batch)
	for _, key := range keys {
		if err := batch.Set(key, nil, nil); err != nil {
			return wrapPebble("note erasure", err)
		}
	}
	if err := l.db.Apply(batch, pebble.Sync); err != nil {
		return wrapPebble("note erasure", err)
	}
	l.node.disk.Guard()
	if hint {
		l.mu.Lock()
		l.hinted[id] = struct{}{}
		l.mu.Unlock()
	}
	return nil
}

func (l *Log) wakeOwed() {
	select {
	case l.nowOwed <- struct{}{}:
	default:
	}
}

// Owes receives when Owed may have grown, once for several times, and after Open
// when something was left over. It has one receiver.
func (l *Log) Owes() <-chan struct{} { return l.nowOwed }

// Owed returns the stores from which something was erased while the log still
// holds the entries that wrote it. After the stores were flushed, the log
// was cut and Erase was called, it goes to Settle.
func (l *Log) Owed() map[StoreID]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.owed)
}

// Settle says that what Owed returned is gone from the log. What was erased
// since stays owed.
func (l *Log) Settle(owed map[StoreID]uint64) error {
	l.noting.Lock()
	defer l.noting.Unlock()
	if err := l.begin("settle erasure"); err != nil {
		return err
	}
	defer l.gate.leave()
	for id, newest := range owed {
		l.mu.Lock()
		now, there := l.owed[id]
		same := there && now == newest
		if same {
			delete(l.owed, id)
		}
		l.mu.Unlock()
		if !same {
			continue
		}
		// Not synced: a note that comes back costs one idle look.
		if err := l.db.Delete(owedKey(id), pebble.NoSync); err != nil {
			return wrapPebble("settle erasure", err)
		}
	}
	return nil
}

func (l *Log) clearErasure(id StoreID) error {
	l.noting.Lock()
	defer l.noting.Unlock()
	l.mu.Lock()
	_, noted := l.hinted[id]
	delete(l.hinted, id)
	l.mu.Unlock()
	if !noted {
		return nil
	}
	if err := l.begin("clear erasure"); err != nil {
		return err
	}
	defer l.gate.leave()
	// Not synced: a note that comes back costs one idle look.
	return wrapPebble("clear erasure", l.db.Delete(erasureKey(id), pebble.NoSync))
}

func erasureKey(id StoreID) []byte { return append([]byte{logErasure}, id.String()...) }

func owedKey(id StoreID) []byte { return append([]byte{logOwed}, id.String()...) }

func (l *Log) readHints() error {
	err := l.readNotes(logErasure, func(id StoreID) { l.hinted[id] = struct{}{} })
	if err != nil {
		return err
	}
	if err := l.readNotes(logOwed, func(id StoreID) { l.owed[id] = 0 }); err != nil {
		return err
	}
	if len(l.owed) > 0 {
		l.wakeOwed()
	}
	return nil
}

func (l *Log) readNotes(space byte, each func(StoreID)) error {
	prefix := []byte{space}
	it, err := l.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: successor(prefix)})
	if err != nil {
		return wrapPebble("read noted erasures", err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		id, err := ParseStoreID(string(it.Key()[1:]))
		if err != nil {
			return errors.Join(fmt.Errorf("read noted erasures: %w: %w", ErrCorrupt, err), it.Close())
		}
		each(id)
	}
	return wrapPebble("read noted erasures", errors.Join(it.Error(), it.Close()))
}

func (l *Log) notedErasures() []StoreID {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids := make([]StoreID, 0, len(l.hinted))
	for id := range l.hinted {
		ids = append(ids, id)
	}
	return ids
}

// eraser carries out erasures in the background, one store at a time.
type eraser struct {
	node   *Node
	signal chan struct{} // capacity 1: there is something to do
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

func startEraser(n *Node) *eraser {
	// The eraser's context ends with Node.Close, which also waits for it.
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // ended by stop, not by a caller
	e := &eraser{node: n, signal: make(chan struct{}, 1), cancel: cancel}
	if len(n.log.notedErasures()) > 0 {
		e.wake()
	}
	e.wg.Go(func() { e.run(ctx) })
	return e
}

func (e *eraser) wake() {
	select {
	case e.signal <- struct{}{}:
	default:
	}
}

func (e *eraser) stop() {
	e.cancel()
	e.wg.Wait()
}

func (e *eraser) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.signal:
		}
		pause := eraseDelay
		for again := true; again; {
			if !e.sleep(ctx, pause) {
				return
			}
			again, pause = e.round(ctx), eraseRetry
		}
	}
}

// round tries every noted store once, and reports whether any is left.
func (e *eraser) round(ctx context.Context) (again bool) {
	for _, id := range e.node.log.notedErasures() {
		if ctx.Err() != nil {
			return false
		}
		if err := e.attempt(ctx, id); err != nil && ctx.Err() == nil {
			e.node.opts.Logger.Warn("storage: erasure not finished, will be retried", "store", id.String(), "err", err)
			again = true
		}
	}
	return again
}

func (e *eraser) attempt(ctx context.Context, id StoreID) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := e.node.opts.Clock.AfterFunc(eraseLimit, cancel)
	defer limit.Stop()
	return e.node.Erase(ctx, id)
}

func (e *eraser) sleep(ctx context.Context, d time.Duration) bool {
	t := e.node.opts.Clock.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C():
		return true
	case <-ctx.Done():
		return false
	}
}
