package storage

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"orgmem/storage/disk"
	"orgmem/storage/scratch"
)

// reserveStores is how far above Options.MaxOpenStores AcquireForApply may go
// when every open store is held by an actor. One replica group applies to one
// store at a time, so 33 groups need no more than this.
const reserveStores = 64

var (
	// ErrTooManyStores says that as many stores as may be open are in use. It is
	// a designed state: the caller answers 503.
	ErrTooManyStores = errors.New("too many stores in use")
	// ErrNoStore says that a store to be read does not exist.
	ErrNoStore = errors.New("store does not exist")
	// ErrInUse says that a store cannot be removed while somebody holds it.
	ErrInUse = errors.New("store is in use")
	// ErrNoSpace says that the disk has too little free space to take writes. Reads
	// go on; writes are taken again when space has returned.
	ErrNoSpace = disk.ErrNoSpace
)

// Node is a process's data directory: the raft log and the organizations'
// stores. All methods may be called from any goroutine.
type Node struct {
	opts      Options
	disk      *disk.Disk
	layout    layout
	lock      io.Closer
	caches    caches
	log       *Log
	eraser    *eraser
	compactor *compactor
	outages   *outages
	limits    limits

	counts  counts
	resting sync.WaitGroup // of stores that are closed for idleness
	copies  atomic.Int64   // made for other nodes; names their directories
	open    openStores
	end     ending
}

// caches are what all Pebble instances of a Node share.
type caches struct {
	blocks *pebble.Cache
	tables *pebble.FileCache
	// durable are the directories that need no sync when they are opened again.
	durable *scratch.Durable
}

// limits are how many stores may be open and how many connections, after looking at the
// descriptor limit.
type limits struct{ stores, connections int }

// ending is how Close ended.
type ending struct {
	done chan struct{} // closed when Close has finished
	err  error         // set before
}

// Open takes the data directory and opens the log. It returns ErrLocked when
// another process has the directory, ErrNotWritable when nothing can be written
// into it, ErrIncompatible when a newer version wrote it. Stores are opened by
// Acquire.
func Open(opts Options) (*Node, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	n := &Node{
		opts:      opts,
		open:      openStores{stores: map[StoreID]*openStore{}, unheld: list.New()},
		end:       ending{done: make(chan struct{})},
		compactor: newCompactor(),
		outages:   newOutages(),
		caches:    caches{durable: scratch.NewDurable()},
	}
	n.disk = disk.New(disk.Config{
		FS: opts.FS, Dir: opts.Dir, Ballast: ballastFile, MinFree: opts.MinFreeBytes, BallastBytes: opts.BallastBytes,
		FreeSpace: opts.FreeSpace, Clock: opts.Clock, Logger: opts.Logger,
		Stopper: disk.NewStopper(opts.Fatal, opts.Logger),
	})
	n.layout = layout{fs: n.disk, dir: opts.Dir}
	descriptors, err := disk.RaiseFileLimit()
	if err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	n.limits.stores = min(opts.MaxOpenStores, disk.StoresFor(descriptors))
	n.limits.connections = disk.Connections(descriptors, n.limits.stores)

	if err := disk.MakeDir(n.disk, opts.Dir); err != nil {
		return nil, fmt.Errorf("open storage: %w", asNotWritable(err))
	}
	if n.lock, err = n.layout.lock(); err != nil {
		return nil, fmt.Errorf("open storage: %w", err)
	}
	if err := n.openLocked(descriptors); err != nil {
		return nil, errors.Join(fmt.Errorf("open storage in %s: %w", opts.Dir, err), n.lock.Close())
	}
	return n, nil
}

func (n *Node) openLocked(descriptors uint64) error {
	if err := n.layout.checkVersion(); err != nil {
		return err
	}
	for _, dir := range []string{logDir, storesDir} {
		if err := disk.MakeDir(n.disk, n.layout.path(dir)); err != nil {
			return err
		}
	}
	if err := n.layout.checkLog(); err != nil {
		return err
	}
	if err := n.layout.emptyTrash(); err != nil {
		return err
	}
	if err := n.layout.finishCopies(); err != nil {
		return err
	}
	if err := n.disk.Start(); err != nil {
		return err
	}
	// Pebble takes memtables out of the cache it is given: with 256 open stores
	// of at least 128 KiB each, a cache of 64 MiB would hold half as many blocks.
	memtables := int64(n.limits.stores)*2*smallMemtableBytes + logMemtableBytes
	n.caches.blocks = pebble.NewCache(n.opts.CacheBytes + memtables)
	n.caches.tables = pebble.NewFileCache(disk.FileCacheShards, disk.FileCacheSize(descriptors, n.limits.stores))
	log, err := openLog(n)
	if err != nil {
		n.caches.tables.Unref()
		n.caches.blocks.Unref()
		return err
	}
	n.log = log
	n.eraser = startEraser(n)
	return nil
}

// Connections returns how many connections the process may have open beside what the node
// opens itself.
func (n *Node) Connections() int { return n.limits.connections }

// Log returns the raft log and stable store of all groups.
func (n *Node) Log() *Log { return n.log }

// Stores lists the stores on disk, in no particular order.
func (n *Node) Stores() ([]StoreID, error) { return n.layout.stores() }

// Exists reports whether a store is on disk, without opening it.
func (n *Node) Exists(id StoreID) (bool, error) {
	n.open.mu.Lock()
	_, open := n.open.stores[id]
	n.open.mu.Unlock()
	if open {
		return true, nil
	}
	return n.layout.exists(id)
}

// Acquire returns a handle on a store, opening it (and creating it on first
// use) if needed. The store stays open until the handle is released; a store
// that nobody holds stays open until another one needs its place. Errors:
// ErrTooManyStores, ErrBadStoreID, ErrClosed, ErrOutOfService, and what opening met.
func (n *Node) Acquire(id StoreID) (*Store, error) { return n.acquire(id, n.limits.stores, true) }

// AcquireToRead is Acquire that creates nothing: a store that does not exist is
// ErrNoStore. A reader that comes too late must not make the directory of a
// removed store anew.
func (n *Node) AcquireToRead(id StoreID) (*Store, error) {
	return n.acquire(id, n.limits.stores, false)
}

// AcquireForApply is Acquire for the replica that applies the log: it is not
// refused while actors hold all places, because a replica that cannot apply
// cannot go on. Hold the handle for one batch only.
func (n *Node) AcquireForApply(id StoreID) (*Store, error) {
	return n.acquire(id, n.limits.stores+reserveStores, true)
}

func (n *Node) acquire(id StoreID, limit int, create bool) (*Store, error) {
	if err := id.Check(); err != nil {
		return nil, fmt.Errorf("acquire: %w", err)
	}
	if err := n.outages.of(id); err != nil {
		return nil, fmt.Errorf("acquire %w", err)
	}
	for {
		n.open.mu.Lock()
		if n.open.closed {
			n.open.mu.Unlock()
			return nil, fmt.Errorf("acquire %v: %w", id, ErrClosed)
		}
		s := n.open.stores[id]
		if s != nil && s.closing {
			n.open.mu.Unlock()
			<-s.gone
			continue
		}
		if s != nil {
			n.open.pinLocked(s)
			n.open.mu.Unlock()
			<-s.ready
			switch {
			case create && errors.Is(s.err, ErrNoStore):
				continue // it was opened by one who must not create it
			case s.err != nil:
				return nil, s.err
			}
			return &Store{s: s}, nil
		}
		if n.open.held >= limit {
			n.open.mu.Unlock()
			return nil, fmt.Errorf("acquire %v: %w", id, ErrTooManyStores)
		}
		s = &openStore{
			id: id, node: n, gate: newGate(),
			ready: make(chan struct{}), gone: make(chan struct{}),
		}
		n.open.stores[id] = s
		n.open.pinLocked(s)
		victims := n.open.surplusLocked(n.limits.stores)
		n.open.mu.Unlock()

		n.evict(victims)
		if err := s.openAs(create); err != nil {
			s.err = fmt.Errorf("acquire %v: %w", id, err)
			n.open.mu.Lock()
			delete(n.open.stores, id)
			n.open.held--
			n.open.mu.Unlock()
			close(s.ready)
			close(s.gone)
			return nil, s.err
		}
		n.counts.opens.Add(1)
		close(s.ready)
		return &Store{s: s}, nil
	}
}

// openAs opens a store, which must be there unless it may be created.
func (s *openStore) openAs(create bool) error {
	if !create {
		if there, err := s.node.layout.exists(s.id); err != nil || !there {
			return cmp.Or(err, ErrNoStore)
		}
	}
	err := s.open()
	if errors.Is(err, ErrCorrupt) {
		s.node.damageFound(s.id, err)
		return errors.Join(s.node.outages.of(s.id), err)
	}
	return err
}

// unpin gives up a hold. The last one makes the store a candidate for eviction.
func (n *Node) unpin(s *openStore) {
	n.open.mu.Lock()
	if s.pins--; s.pins > 0 {
		n.open.mu.Unlock()
		return
	}
	n.open.held--
	s.element, s.since = n.open.unheld.PushFront(s), n.opts.Clock.Now()
	var victims []*openStore
	if !n.open.closed {
		victims = n.open.surplusLocked(n.limits.stores)
		n.awaitIdleLocked()
	}
	n.open.mu.Unlock()
	n.evict(victims)
}

// evict flushes and closes stores. The flush is not a courtesy: with the WAL
// off, what only the memtable has is gone with the instance, and raft replays
// it only when the process starts, not when the store is next opened.
func (n *Node) evict(victims []*openStore) {
	n.counts.evictions.Add(int64(len(victims)))
	n.shut(victims)
}

// shut closes stores that were taken.
func (n *Node) shut(victims []*openStore) {
	for _, s := range victims {
		if err := s.close(true); err != nil {
			// A store that cannot be flushed or closed leaves applied entries
			// nowhere. There is nobody to tell but the operator.
			n.disk.Stop("evict store %v: %v", s.id, err)
		}
		n.open.forget(s)
	}
}

// Remove closes a store and deletes its directory; a crash leaves it whole or
// gone. It returns ErrInUse while a handle or a snapshot is held. A store that
// does not exist is no error. What was collected of it from another node goes
// with it.
func (n *Node) Remove(id StoreID) error {
	if err := id.Check(); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	place, err := n.vacate(id, "remove")
	if err != nil {
		return err
	}
	defer n.open.forget(place)
	there, err := n.layout.exists(id)
	if err != nil {
		return err
	}
	if there { // before: a crash must not leave what nobody knows of
		if err := n.log.noteRemoval(id); err != nil {
			return err
		}
	}
	if err := errors.Join(n.layout.remove(id), n.layout.discard(id)); err != nil {
		return err
	}
	n.outages.end(id)
	return n.log.clearErasure(id)
}

// vacate closes a store without flushing it and returns a placeholder that keeps
// others from opening the directory while it goes; the caller forgets it.
func (n *Node) vacate(id StoreID, op string) (*openStore, error) {
	n.open.mu.Lock()
	for {
		if n.open.closed {
			n.open.mu.Unlock()
			return nil, fmt.Errorf("%s %v: %w", op, id, ErrClosed)
		}
		s := n.open.stores[id]
		if s == nil {
			break
		}
		if s.closing {
			n.open.mu.Unlock()
			<-s.gone
			n.open.mu.Lock()
			continue
		}
		if s.pins > 0 {
			n.open.mu.Unlock()
			return nil, fmt.Errorf("%s %v: %w", op, id, ErrInUse)
		}
		n.open.takeLocked(s)
		n.open.mu.Unlock()
		if err := s.close(false); err != nil {
			n.disk.Stop("close store %v: %v", id, err)
		}
		n.open.forget(s)
		n.open.mu.Lock()
	}
	n.caches.durable.Drop(n.layout.store(id)) // another directory may take its place
	s := &openStore{id: id, node: n, holds: holds{closing: true}, gone: make(chan struct{})}
	n.open.stores[id] = s
	n.open.closing++
	n.open.mu.Unlock()
	return s, nil
}

// FlushStores makes every applied entry of the chosen open stores durable in
// tables. After it returns nil, entries up to the applied index that the caller
// saw before may leave the raft log: stores that are not open were flushed when
// they were closed, and those on their way out are waited for. match nil means
// all.
func (n *Node) FlushStores(ctx context.Context, match func(StoreID) bool) error {
	n.open.mu.Lock()
	var open []*Store
	var leaving []*openStore
	for id, s := range n.open.stores {
		switch {
		case match != nil && !match(id):
		case s.closing:
			leaving = append(leaving, s)
		default:
			n.open.pinLocked(s)
			open = append(open, &Store{s: s})
		}
	}
	n.open.mu.Unlock()

	// Flushes wait for the disk, not for the processor; more than a few at once
	// only queue there.
	const parallel = 8
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	work := make(chan *Store)
	for range min(parallel, len(open)) {
		wg.Go(func() {
			for h := range work {
				err := ctx.Err()
				if err == nil {
					<-h.s.ready
					switch err = h.s.err; {
					case err == nil:
						err = h.Flush()
					case errors.Is(err, ErrNoStore):
						err = nil // a reader asked for what is not there
					}
				}
				if err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
				if h.s.err == nil {
					h.Release()
				}
			}
		})
	}
	for _, h := range open {
		work <- h
	}
	close(work)
	wg.Wait()
	for _, s := range leaving {
		<-s.gone
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("flush stores: %w", err)
	}
	n.disk.Guard()
	return nil
}

// Writable returns nil, or ErrNoSpace when free space is below the watermark.
// It is cheap; call it before every proposal.
func (n *Node) Writable() error { return n.disk.Writable() }

// Finishable is Writable for a write that finishes what was decided upon while there was
// room, and without which something could not be read: it refuses at a quarter of the
// watermark.
func (n *Node) Finishable() error { return n.disk.Finishable() }

// Close waits for operations and snapshots, flushes and closes everything and
// gives up the directory. Handles that are still held answer ErrClosed
// afterwards. Further calls wait for the first and return the same.
func (n *Node) Close() error {
	n.open.mu.Lock()
	if n.open.closed {
		n.open.mu.Unlock()
		<-n.end.done
		return n.end.err
	}
	n.open.closed = true
	if n.open.idle.timer != nil {
		n.open.idle.timer.Stop()
	}
	n.open.mu.Unlock()

	n.eraser.stop()
	var errs []error
	for {
		n.open.mu.Lock()
		var next *openStore
		for _, s := range n.open.stores {
			next = s
			if !s.closing {
				break
			}
		}
		if next == nil {
			n.open.mu.Unlock()
			break
		}
		if next.closing {
			n.open.mu.Unlock()
			<-next.gone
			continue
		}
		if next.element != nil {
			n.open.unheld.Remove(next.element)
			next.element = nil
		}
		next.closing = true
		n.open.closing++
		n.open.mu.Unlock()
		<-next.ready
		if next.err == nil {
			errs = append(errs, next.close(true))
			n.open.forget(next)
		}
	}
	n.resting.Wait()
	errs = append(errs, n.log.close())
	n.caches.tables.Unref()
	n.caches.blocks.Unref()
	errs = append(errs, n.lock.Close())
	if err := errors.Join(errs...); err != nil {
		n.end.err = fmt.Errorf("close storage: %w", err)
	}
	close(n.end.done)
	return n.end.err
}
