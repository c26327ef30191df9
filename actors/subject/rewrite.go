package subject

import (
	"slices"
	"time"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// A stored segment holds of each chunk its quantised vector and the hashes of its
// words. Nobody reads a sentence from that, but whoever has the disk and a guess
// could test the guess. So the segments that hold something of a forgotten node
// are written anew without it. The partition's head remembers which they are.

const (
	// rewriteDelay lets forgettings come together: rewriting the segments of
	// 100,000 chunks is some 55 MB. What is left of the minute that is promised
	// goes to the files and the log.
	rewriteDelay = 10 * time.Second
	// maxResumed bounds the partitions that are looked at when an organization
	// opens, because they forgot something before it was closed.
	maxResumed = 64
)

// rewriteDue ends the wait before segments are rewritten.
type rewriteDue struct{}

// rewriteForgotten writes those segments anew, when it is time, and sets
// w.rewriteIn when it is not.
func (w *worker) rewriteForgotten(now *partition.Index) (*partition.Index, error) {
	w.rewriteIn = 0
	if len(now.State.GetForgottenSegments()) == 0 || len(now.Stale) > 0 { // those are replaced first
		return now, nil
	}
	due, at := now.State.GetForgottenMs()+rewriteDelay.Milliseconds(), clock.Millis(w.org.System.Clock.Now())
	if !IsDue(due, at, rewriteDelay) {
		w.rewriteIn = time.Duration(due-at) * time.Millisecond
		return now, nil
	}
	for _, id := range now.State.GetForgottenSegments() {
		i := slices.IndexFunc(now.Snapshot.Views, func(v index.View) bool { return v.ID == id })
		if i < 0 {
			continue // a merge has replaced it
		}
		next, err := w.merge(now, index.Plan{Views: []index.View{now.Snapshot.Views[i]}})
		if err != nil {
			return nil, err
		}
		now = next
	}
	next := &partition.Index{Snapshot: now.Snapshot, State: partition.CloneState(now.State), Stale: now.Stale}
	next.State.ForgottenSegments, next.State.ForgottenMs = nil, 0
	b := storage.NewBatch(w.org.Store)
	b.Put(w.part.Space.Key(storage.TableState), next.State)
	return w.publish(b, next)
}

// resumeForgotten wakes the partitions that were to rewrite segments when the
// organization was closed or its node stopped. They are among those that have
// forgotten something last.
func (o *Upkeep) resumeForgotten() error {
	var parts []pb.PartitionID
	return o.WithStore(func(st *storage.Store) error {
		for item, err := range st.Scan(o.Space.Prefix(storage.TableTombstoneDue),
			storage.ScanOptions{Reverse: true, Limit: tenant.MaxSweep}) {
			if err != nil {
				return err
			}
			key := item.Key.Parts()
			key.U64()
			id := pb.PartitionID(key.ID16())
			if err := key.Done(); err != nil {
				return err
			}
			if slices.Contains(parts, id) {
				continue
			}
			if parts = append(parts, id); len(parts) > maxResumed {
				return nil
			}
			state := &pb.PartitionState{}
			if _, err := st.Get(storage.PartitionSpace(o.Store, id).Key(storage.TableState), state); err != nil {
				return err
			}
			if len(state.GetForgottenSegments()) > 0 {
				o.WakePartition(id)
			}
		}
		return nil
	})
}

// armRewrite begins the wait for it.
func (w *worker) armRewrite() {
	if w.rewriteIn == 0 || w.rewrite != nil {
		return
	}
	self, root := w.ctx.Self(), w.org.System.ActorRoot
	w.rewrite = w.org.System.Clock.AfterFunc(w.rewriteIn, func() { root.Send(self, rewriteDue{}) })
}
