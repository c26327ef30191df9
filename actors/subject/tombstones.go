package subject

import (
	"time"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxLate is how long a tombstone stays after it can no longer be restored, so that a late request is answered with
	// that, and not with "no such node". Where the retention is shorter, it stays as long as that.
	maxLate = 10 * time.Minute
	// maxRemoved bounds the nodes that one commit removes, and maxPartitionsSwept the partitions that one sweep wakes. The
	// next sweep wakes the rest.
	maxRemoved         = 500
	maxPartitionsSwept = 32
)

// removedUntil is a time in Unix milliseconds: tombstones that could be restored until before it are removed now.
func removedUntil(s *tenant.System) int64 {
	return clock.Millis(s.Clock.Now().Add(-min(s.Config.TombstoneRetention, maxLate)))
}

// sweepTombstones wakes the partitions in which a forgotten node is to be removed.
// Their workers do it (worker.removeExpiredTombstones).
func (o *Upkeep) sweepTombstones() {
	if o.Failed != nil || o.Retired || o.Record() == nil {
		return
	}
	until := removedUntil(o.System)
	due := map[pb.PartitionID]bool{}
	done := storage.NewBatch(o.Store)
	err := o.WithStore(func(st *storage.Store) error {
		for item, err := range st.Scan(o.Space.Prefix(storage.TableTombstoneDue),
			storage.ScanOptions{Limit: tenant.MaxSweep}) {
			if err != nil {
				return err
			}
			parts := item.Key.Parts()
			at, id := int64(parts.U64()), pb.PartitionID(parts.ID16())
			if err := parts.Done(); err != nil {
				return err
			}
			if at >= until || len(due) == maxPartitionsSwept {
				return nil
			}
			if !due[id] {
				waits, err := tombstonesWait(st, storage.PartitionSpace(o.Store, id), at)
				if err != nil {
					return err
				}
				due[id] = waits
			}
			if !due[id] { // restored, removed, or erased with the partition
				done.Delete(item.Key)
			}
		}
		return nil
	})
	if err != nil {
		o.System.Log.Error("looking for tombstones failed; it is tried again", "org", o.ID.String(), "err", err)
		return
	}
	if done.Len() > 0 {
		o.Committer.Submit(done, func(error) {}) // otherwise the next sweep does it
	}
	for id, waits := range due {
		if waits {
			o.LookAfter(id)
		}
	}
}

// tombstonesWait reports whether a partition has tombstones that could be restored until a time, or until before it.
func tombstonesWait(r storage.Reader, space storage.Space, at int64) (bool, error) {
	for item, err := range r.Scan(space.Prefix(storage.TableTombstone), storage.ScanOptions{Limit: 1}) {
		if err != nil {
			return false, err
		}
		return int64(item.Key.Parts().U64()) <= at, nil
	}
	return false, nil
}

// removeExpiredTombstones removes forgotten nodes that can no longer be restored, with their edges
// and history, and reports whether there are more.
func (w *worker) removeExpiredTombstones(now *partition.Index, e partition.Embedder) (next *partition.Index, more bool,
	err error,
) {
	f := graph.NewTx(w.org, w.part, now, e)
	last := removedUntil(w.org.System)
	removed, rest := 0, false // rest: of the edges of one
	err = w.org.WithStore(func(st *storage.Store) error {
		f.Store = st
		for item, err := range st.Scan(w.part.Space.Prefix(storage.TableTombstone), storage.ScanOptions{Limit: maxRemoved}) {
			if err != nil {
				return err
			}
			parts := item.Key.Parts()
			until, id := int64(parts.U64()), pb.NodeID(parts.Str())
			if err := parts.Done(); err != nil {
				return err
			}
			if until >= last {
				return nil
			}
			n, err := f.Node(id)
			if err != nil {
				return err
			}
			if n != nil {
				if rest, err = f.RemoveEdges(id); err != nil || rest {
					return err
				}
				f.Batch.EraseRange(w.part.Space.Prefix(storage.TableHistory, storage.Str(id)))
				f.RemoveNode(id)
			}
			f.Batch.Delete(item.Key) // behind the edges: it leads to what a crash leaves
			removed++
		}
		return nil
	})
	if err != nil || removed == 0 && !rest {
		return now, false, err
	}
	next, err = w.settle(f, now, e)
	return next, rest || removed == maxRemoved, err
}
