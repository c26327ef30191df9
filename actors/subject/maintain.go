package subject

import (
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	"orgmem/storage"
)

const (
	// maxMerges bounds the merges after one slice, so that new content is not
	// kept waiting by old.
	maxMerges = 4
)

// Upkeep wakes the partitions whose workers have work that no request asks for.
type Upkeep struct {
	*tenant.Org
	tenant.NoModule
}

// Handle leaves all requests to the other modules.
func (o *Upkeep) Handle(*tenant.Call) bool { return false }

// Resume wakes the partitions that were to rewrite segments.
func (o *Upkeep) Resume() error { return o.resumeForgotten() }

// Tick wakes the partitions in which a forgotten node is to be removed.
func (o *Upkeep) Tick() { o.sweepTombstones() }

// current returns the partition's hot state and the embedder that its new
// chunks are embedded with.
func (w *worker) current() (*partition.Index, partition.Embedder, error) {
	var now *partition.Index
	err := w.org.WithStore(func(st *storage.Store) (err error) {
		now, err = w.org.Residents.Get(st, w.part, w.org.System.Embedders.Dim)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return now, w.org.System.Embedders.For(now), nil
}

// maintain does what can wait: removing what was forgotten long ago, and merging
// segments. It reports whether there is more to do.
func (w *worker) maintain(now *partition.Index, e partition.Embedder) (more bool, err error) {
	now, more, err = w.removeExpiredTombstones(now, e)
	if err != nil || more {
		return more, err
	}
	w.org.NoteVectors(now.State)
	return w.compact(now)
}

// compact merges segments where that pays, and rewrites those that hold something forgotten.
func (w *worker) compact(now *partition.Index) (more bool, err error) {
	if now, err = w.rewriteForgotten(now); err != nil {
		return false, err
	}
	for range maxMerges {
		plan, ok := now.Snapshot.Compact(index.MergePolicy{})
		if !ok {
			return false, nil
		}
		if now, err = w.index.merge(now, plan); err != nil {
			return false, err
		}
	}
	return true, nil
}
