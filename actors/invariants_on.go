//go:build invariants

package actors

import (
	"fmt"
	"sync"

	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/storage"
)

// violated ends the process, from a goroutine of its own: actors recover from
// panics, and this must not be recovered from.
func violated(format string, args ...any) {
	message := fmt.Sprintf("invariant violated: "+format, args...)
	go panic(message) //nolint:forbidigo // see above
	select {}
}

// checks are about the workers of a node.
type checks struct {
	mu   sync.Mutex
	busy map[writer]bool
}

// writer is who may write a partition's memory under one lease. An activation
// that has lost its own may still be at work beside the next; it has no effect.
type writer struct {
	lease *committer
	part  pb.PartitionID
}

// enter: a partition has a single writer.
func (c *checks) enter(w *worker) (leave func()) {
	me := writer{w.org.committer, w.part.id}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy == nil {
		c.busy = map[writer]bool{}
	}
	if c.busy[me] {
		violated("two writers of partition %s", w.part.id)
	}
	c.busy[me] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.busy, me)
	}
}

// committed: what readers are shown is what the store says.
func (*checks) committed(w *worker, next *loaded) {
	state := &pb.PartitionState{}
	err := w.org.withStore(func(st *storage.Store) error {
		_, err := st.Get(w.part.space.Key(storage.TableState), state)
		return err
	})
	if err != nil {
		return // the store is closing, or has no place: nothing is known
	}
	// An erasure is decided elsewhere and takes all of it.
	if got, want := state.GetIndexVersion(), next.state.GetIndexVersion(); got != want && got != 0 {
		violated("partition %s is to be shown at version %d, and is stored at %d", w.part.id, want, got)
	}
}

// leaseOrder is about one committer.
type leaseOrder struct {
	mu   sync.Mutex
	last uint64
}

// applied: groups are applied in the order of their proposals, each at the
// version that its lease counted on.
func (o *leaseOrder) applied(lease cluster.Lease, version uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		return
	}
	if version != lease.Version+1 || version <= o.last {
		violated("version %d was applied under a lease at %d, after %d", version, lease.Version, o.last)
	}
	o.last = version
}
