//go:build invariants

package tenant

import (
	"sync"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// checks are about the workers of a node.
type checks struct {
	mu   sync.Mutex
	busy map[writer]bool
}

// writer is who may write a partition's memory under one lease. An activation
// that has lost its own may still be at work beside the next; it has no effect.
type writer struct {
	lease *commit.Committer
	part  pb.PartitionID
}

// Enter: a partition has a single writer.
func (c *checks) Enter(o *View, part *partition.Ref) (leave func()) {
	me := writer{o.Committer, part.ID}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy == nil {
		c.busy = map[writer]bool{}
	}
	if c.busy[me] {
		commit.Violated("two writers of partition %s", part.ID)
	}
	c.busy[me] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.busy, me)
	}
}

// Committed: what readers are shown is what the store says.
func (*checks) Committed(o *View, part *partition.Ref, next *partition.Index) {
	state := &pb.PartitionState{}
	err := o.WithStore(func(st *storage.Store) error {
		_, err := st.Get(part.Space.Key(storage.TableState), state)
		return err
	})
	if err != nil {
		return // the store is closing, or has no place: nothing is known
	}
	// An erasure is decided elsewhere and takes all of it.
	if got, want := state.GetIndexVersion(), next.State.GetIndexVersion(); got != want && got != 0 {
		commit.Violated("partition %s is to be shown at version %d, and is stored at %d", part.ID, want, got)
	}
}
