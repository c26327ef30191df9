package subject

import (
	"cmp"
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/budget"
	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxSliceItems and maxSliceBytes bound what is computed and committed
	// together: enough to fill the CPU workers, little enough that a cancellation
	// or a neighbour waits well under a second.
	MaxSliceItems = 64
	maxSliceBytes = 128 << 10
)

type (
	// Wake tells the worker that there may be something in the queue. N counts these messages.
	Wake struct{ N uint64 }
	// stepAsked is a step, and the n-th wake.
	stepAsked struct {
		step *MoveStep
		wake uint64
	}
	// sliceDone is the end of a slice, from its goroutine.
	sliceDone struct {
		last   uint64 // the newest entry dealt with; 0: the queue was empty
		more   bool
		err    error
		upkeep error     // what went wrong behind the content
		edited bool      // it was not a slice but edits, which answer for themselves
		moved  *MoveStep // that was carried out; nil: none was
	}
	// editReady says that an edit has got its chunks.
	editReady struct{}
	// BackOffEnded ends the wait after a failed slice.
	BackOffEnded struct{}
	// upkeepPauseEnded ends the wait after failed upkeep.
	upkeepPauseEnded struct{}
)

// worker is the actor that writes a partition's memory, a child of the subject's. It takes the queue in slices, one at
// a time, each in a goroutine, so its mailbox stays free meanwhile.
type worker struct {
	org    *tenant.View
	part   *partition.Ref
	parent *actor.PID
	ctx    actor.Context

	life    lifetime
	dead    bool // it has panicked: another activation goes on
	turn    turn
	edits   editQueue
	cancels cancellations
	attempt attempt
	content backOff // of the slice at the head of the queue
	upkeep  backOff // content goes on meanwhile
	rewrite rewriteWait
	steps   moveSteps
	index   indexWriter
}

func newWorker(org *tenant.View, part *partition.Ref, parent *actor.PID) *worker {
	w := &worker{org: org, part: part, parent: parent, index: indexWriter{org: org, part: part}}
	w.life.begin(org.System.Lifetime)
	return w
}

// Receive implements actor.Actor.
func (w *worker) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			w.dead = true
			w.life.end()
			w.org.Panicked("ingest worker", r)
			w.refuseWaiting()
		}
	}()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		w.ctx = ctx
		w.start()
	case *actor.Stopping:
		w.life.end()
		w.org.System.Config.StopRequested()
		w.turn.await() // those who wait for this actor's end count on no write after it
		w.edits.awaitPrepared()
		w.content.stop()
		w.upkeep.stop()
		w.rewrite.stop()
		w.refuseWaiting()
	case stepAsked:
		w.turn.woken = max(w.turn.woken, m.wake)
		if w.steps.add(m.step, w.dead || w.upkeep.waiting()) {
			w.start()
		}
	case Wake:
		w.turn.woken = max(w.turn.woken, m.N)
		w.start()
	case cancel:
		w.cancels.waiting = append(w.cancels.waiting, m)
		if w.dead {
			w.refuseWaiting()
			return
		}
		if id, err := pb.ParseJobID(m.op.GetId()); err == nil {
			w.cancels.request(id)
			w.org.System.Config.CancelRequested(id)
		}
		if !w.turn.running {
			w.settleCancels()
			w.start()
		}
	case *tenant.Call:
		w.edits.add(m)
		if w.dead {
			w.refuseWaiting()
			return
		}
		w.start()
	case editReady:
		if w.dead {
			w.refuseWaiting()
			return
		}
		w.start()
	case BackOffEnded:
		w.content.over()
		w.start()
	case rewriteDue:
		w.rewrite.over()
		w.start()
	case upkeepPauseEnded:
		w.upkeep.over()
		w.start()
	case sliceDone:
		if w.dead {
			return
		}
		w.turn.running = false
		w.cancels.requested.Store(nil)
		w.settleCancels()
		w.next(m)
	}
}

// refuseWaiting fails the cancellations and edits that this worker will not carry out.
func (w *worker) refuseWaiting() {
	w.cancels.each(func(c cancel) { c.call.Fail(commit.ErrLost) })
	for _, c := range w.edits.takeAll() {
		c.Fail(commit.ErrLost)
	}
	w.steps.end(commit.ErrLost)
}

// start begins a slice, or the edits that wait, unless one is under way. Edits
// and slices take turns; a back-off holds up slices only.
func (w *worker) start() {
	edits := !w.turn.running && !w.dead && (!w.turn.ofEdits || w.content.waiting()) && w.edits.waiting()
	if w.turn.running || w.dead || w.content.waiting() && !edits {
		w.turn.again = true
		return
	}
	ended := w.turn.begin(edits)
	self, root := w.ctx.Self(), w.org.System.ActorRoot
	limit := MaxSliceItems
	if w.content.failures > 0 {
		limit = 1 // find out which item it is
	}
	upkeep, step := !w.upkeep.waiting(), w.steps.next
	w.org.System.BackgroundTasks.Go(func() {
		done := sliceDone{}
		defer close(ended)
		defer func() {
			if r := recover(); r != nil {
				done.err = node.PanicError("slice", r)
			}
			root.Send(self, done)
		}()
		defer w.org.System.Checks.Enter(w.org, w.part)()
		if edits {
			done = w.editAll(w.edits.takeAll())
			return
		}
		done = w.slice(limit, upkeep, step)
		if _, own := errors.AsType[itemError](done.err); own {
			w.attempt.failed(w.org)
		}
	})
}

// next decides what follows a slice.
func (w *worker) next(d sliceDone) {
	w.steps.done(d.moved)
	if d.last > 0 {
		w.ctx.Send(w.parent, workerProgress{d.last})
	}
	var pause tenant.WaitError
	switch {
	case d.edited:
		w.start() // behind edits there may be upkeep, and work that waited
	case tenant.Superseded(d.err), tenant.Superseded(d.upkeep):
		// Another activation continues from the store. This one stays until all its calls are answered, so it answers the
		// edits that came meanwhile.
		w.refuseWaiting()
	case errors.As(d.err, &pause):
		w.content.wait(w.org.System, pause.Wait, w.sends(BackOffEnded{}))
		if w.edits.waiting() {
			w.start()
		}
	case d.err != nil:
		w.content.failed(w.org.System, w.sends(BackOffEnded{}))
		own, ok := errors.AsType[itemError](d.err)
		w.org.System.Log.Error("ingest failed; it is tried again", "org", w.org.ID.String(), "partition", w.part.ID.String(),
			"failures", w.content.failures, "item", ok, "err", cmp.Or(own.error, d.err))
		if w.edits.waiting() { // they came while it ran, and nothing else wakes them
			w.start()
		}
	default:
		w.content.failures = 0
		switch {
		case d.upkeep != nil:
			w.upkeep.failed(w.org.System, w.sends(upkeepPauseEnded{}))
			w.steps.end(errUpkeepFails)
			w.org.System.Log.Error("upkeep failed; it is tried again", "org", w.org.ID.String(), "partition", w.part.ID.String(),
				"failures", w.upkeep.failures, "err", d.upkeep)
		case !w.upkeep.waiting():
			w.upkeep.failures = 0
		}
		if d.more || w.turn.again || w.edits.waiting() {
			w.start()
			return
		}
		w.rewrite.arm(w.org.System.Clock, w.sends(rewriteDue{}))
		if !w.rewrite.waiting() && !w.upkeep.waiting() { // until it is done the worker stays
			w.ctx.Send(w.parent, workerIdle{w.turn.seen})
		}
	}
}

// sends returns a function that sends the worker a message, from any goroutine.
func (w *worker) sends(message any) func() {
	self, root := w.ctx.Self(), w.org.System.ActorRoot
	return func() { root.Send(self, message) }
}

// slice does the oldest work of the queue, and after it, with upkeep, some of what can wait. step, which may be nil, is
// what is to be embedded anew where there is nothing else to do.
func (w *worker) slice(limit int, upkeep bool, step *MoveStep) sliceDone {
	now, e, err := w.current()
	if err != nil {
		return sliceDone{err: err}
	}
	if len(now.Stale) > 0 {
		// Before new content: a merge of a rebuilt segment must not leave the segment behind that it was rebuilt from.
		return sliceDone{more: true, err: w.index.reseal(now)}
	}
	entries, err := w.take(limit)
	if err != nil {
		return sliceDone{err: err}
	}
	if len(entries) == 0 {
		return w.rest(now, e, upkeep, step)
	}
	if entries[0].GetWork() != "" {
		return w.runUpkeep(now, e, entries[0])
	}
	memory, entries, err := w.reserve(limit, entries)
	if err != nil {
		return sliceDone{err: err}
	}
	defer memory.End()
	// After the last slice one more look finds the queue empty and does the upkeep. So there is always more.
	done := sliceDone{more: true}
	n := 0
	if n, now, done.err = w.ingest(now, e, entries); done.err == nil {
		if n > 0 {
			done.last = entries[n-1].Seq
		}
		if upkeep {
			_, done.upkeep = w.compact(now)
		}
	}
	return done
}

// rest is what a slice does where the queue is empty.
func (w *worker) rest(now *partition.Index, e partition.Embedder, upkeep bool, step *MoveStep) (done sliceDone) {
	if !upkeep {
		return done
	}
	if done.more, done.upkeep = w.maintain(now, e); step == nil || done.more || done.upkeep != nil {
		return done
	}
	done.moved = step
	done.upkeep = w.move(step)
	return done
}

// sliceMemory is the memory for a byte of content until it is stored: cut into chunks, with their vectors and the words
// that they are found by. Measured: 17 to 20.
const sliceMemory = 20

// reserve waits for the memory that storing some entries takes, however long. It drops the entries while it waits, and
// takes them anew.
func (w *worker) reserve(limit int, entries []graph.Queued) (*budget.Work, []graph.Queued, error) {
	need := sliceMemory * bytesOf(entries)
	now, stop := context.WithCancel(w.life.ctx)
	stop()
	memory, err := w.org.System.EmbeddingMemory.Begin(now, w.org.ID, need, need, 0)
	if err == nil {
		return memory, entries, nil
	}
	entries = nil //nolint:ineffassign,wastedassign // so that they are not held
	if memory, err = w.org.System.EmbeddingMemory.Begin(w.life.ctx, w.org.ID, need, need, 0); err != nil {
		return nil, nil, node.ErrClosing
	}
	if entries, err = w.take(limit); err != nil {
		memory.End()
		return nil, nil, err
	}
	return memory, entries, nil
}

func bytesOf(entries []graph.Queued) (n int) {
	for _, e := range entries {
		n += len(e.GetItem().GetContent())
	}
	return n
}

// take reads the head of the queue.
func (w *worker) take(limit int) (entries []graph.Queued, err error) {
	size := 0
	err = w.org.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, w.part.Space.Prefix(storage.TableQueue),
			storage.ScanOptions{Limit: limit}, func() *pb.QueueEntry { return &pb.QueueEntry{} }) {
			if err != nil {
				return err
			}
			if size > maxSliceBytes || rec.Value.GetWork() != "" && len(entries) > 0 {
				return nil
			}
			seq, err := queueSeq(rec.Key)
			if err != nil {
				return err
			}
			entries = append(entries, graph.Queued{Seq: seq, QueueEntry: rec.Value})
			if rec.Value.GetWork() != "" {
				return nil // it is done by itself
			}
			size += len(rec.Value.GetItem().GetContent())
		}
		return nil
	})
	return entries, err
}
