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

// A stored segment holds the quantised vector of each chunk and the hashes of its words. No sentence can be read from
// that, but a guess at one could be tested. So the segments that hold something of a forgotten node are rewritten
// without it. The partition's state lists them (ForgottenSegments).

const (
	// rewriteDelay lets several forgettings share one rewrite: rewriting the segments of 100,000 chunks is some 55 MB. The
	// rest of the promised minute is for the files and the log.
	rewriteDelay = 10 * time.Second
	// maxResumed bounds the partitions that are looked at when an organization opens, since they may have forgotten
	// something before it was closed.
	maxResumed = 64
)

// rewriteDue ends the wait before segments are rewritten.
type rewriteDue struct{}

// rewriteWait is the wait before segments are rewritten.
type rewriteWait struct {
	in    time.Duration // how long they have to wait, as the last slice found; 0: there are none
	timer clock.Timer
}

// arm begins the wait, unless it is under way or there is nothing to wait for.
func (r *rewriteWait) arm(c clock.Clock, then func()) {
	if r.in > 0 && r.timer == nil {
		r.timer = c.AfterFunc(r.in, then)
	}
}

func (r *rewriteWait) waiting() bool { return r.timer != nil }

// over is called when the wait has ended.
func (r *rewriteWait) over() { r.timer = nil }

// stop ends the wait with the actor.
func (r *rewriteWait) stop() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// rewriteForgotten writes the segments that hold something forgotten anew, when it is time, and otherwise says how long
// they have to wait (w.rewrite).
func (w *worker) rewriteForgotten(now *partition.Index) (*partition.Index, error) {
	w.rewrite.in = 0
	if len(now.State.GetForgottenSegments()) == 0 || len(now.Stale) > 0 { // those are replaced first
		return now, nil
	}
	due, at := now.State.GetForgottenMs()+rewriteDelay.Milliseconds(), clock.Millis(w.org.System.Clock.Now())
	if !IsDue(due, at, rewriteDelay) {
		w.rewrite.in = time.Duration(due-at) * time.Millisecond
		return now, nil
	}
	for _, id := range now.State.GetForgottenSegments() {
		i := slices.IndexFunc(now.Snapshot.Views, func(v index.View) bool { return v.ID == id })
		if i < 0 {
			continue // a merge has replaced it
		}
		next, err := w.index.merge(now, index.Plan{Views: []index.View{now.Snapshot.Views[i]}})
		if err != nil {
			return nil, err
		}
		now = next
	}
	next := &partition.Index{Snapshot: now.Snapshot, State: partition.CloneState(now.State), Stale: now.Stale}
	next.State.ForgottenSegments, next.State.ForgottenMs = nil, 0
	b := storage.NewBatch(w.org.Store)
	b.Put(w.part.Space.Key(storage.TableState), next.State)
	return w.index.publish(b, next)
}

// resumeForgotten wakes the partitions that still had to rewrite segments when the organization was closed or its node
// stopped. It looks among those that forgot something last.
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
