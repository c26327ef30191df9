package subject

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/budget"
	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
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
	// sliceDone is the end of a slice, from its goroutine.
	sliceDone struct {
		last   uint64 // the newest entry dealt with; 0: the queue was empty
		more   bool
		err    error
		upkeep error // what went wrong behind the content
		edited bool  // it was not a slice but edits, which answer for themselves
	}
	// editReady says that an edit has got its chunks.
	editReady struct{}
	// BackOffEnded ends the wait after a failed slice.
	BackOffEnded struct{}
	// upkeepPauseEnded ends the wait after failed upkeep.
	upkeepPauseEnded struct{}
	// cancel is a request to cancel a job.
	cancel struct {
		call *tenant.Call
		op   *pb.CancelJob
	}
)

// worker is a subject's ingest child. It takes the queue in slices, one at a
// time; its mailbox stays free meanwhile.
type worker struct {
	org    *tenant.View
	part   *partition.Ref
	parent *actor.PID
	ctx    actor.Context

	running           bool
	ended             chan struct{} // closed when the slice that runs has ended
	stopped           atomic.Bool
	lifetime          context.Context //nolint:containedctx // it lasts as long as the actor: what waits for memory ends with it
	endLifetime       context.CancelFunc
	wokenWhileRunning bool // woken while running
	timer             clock.Timer
	upkeepPause       clock.Timer // upkeep waits meanwhile, content does not
	rewrite           clock.Timer // segments that hold what was forgotten wait meanwhile
	failures          int         // of the slice at the head of the queue, in a row
	upkeepFailures    int         // failures of upkeep, in a row
	dead              bool        // it has panicked: another activation goes on
	cancels           []cancel
	editing           sync.Mutex
	edits             []*tenant.Call // waiting; guarded by editing
	edited            bool           // the last that ran were edits: a slice has its turn
	// preparing counts the edits whose chunks are being computed.
	preparing       sync.WaitGroup
	cancelRequested atomic.Pointer[[]pb.JobID] // jobs whose cancellation waits for this slice
	woken           uint64                     // the newest wake
	seen            uint64                     // the newest wake before the slice that runs
	attempted       pb.JobID                   // whose attempt the slice that runs has begun
	noted           chan error                 // says that this is stored; nil: it was before
	// rewriteIn is how long the last slice found that they have to wait; 0: there
	// are none.
	rewriteIn time.Duration
	// reembedded is the last chunk that was embedded with the new model.
	reembedded uint64
}

func newWorker(org *tenant.View, part *partition.Ref, parent *actor.PID) *worker {
	w := &worker{org: org, part: part, parent: parent}
	w.lifetime, w.endLifetime = context.WithCancel(org.System.Lifetime)
	return w
}

// Receive implements actor.Actor.
func (w *worker) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			w.dead = true
			w.stopped.Store(true)
			w.endLifetime()
			w.org.Panicked("ingest worker", r)
			w.refuseWaiting()
		}
	}()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		w.ctx = ctx
		w.start()
	case *actor.Stopping:
		w.stopped.Store(true)
		w.endLifetime()
		w.org.System.Config.StopRequested()
		if w.ended != nil {
			<-w.ended // whoever waits for this actor's end counts on nothing coming after it
		}
		w.preparing.Wait()
		for _, t := range []clock.Timer{w.timer, w.upkeepPause, w.rewrite} {
			if t != nil {
				t.Stop()
			}
		}
		w.refuseWaiting()
	case Wake:
		w.woken = max(w.woken, m.N)
		w.start()
	case cancel:
		w.cancels = append(w.cancels, m)
		if w.dead {
			w.refuseWaiting()
			return
		}
		if id, err := pb.ParseJobID(m.op.GetId()); err == nil {
			ids := []pb.JobID{id}
			if before := w.cancelRequested.Load(); before != nil {
				ids = append(ids, *before...)
			}
			w.cancelRequested.Store(&ids)
			w.org.System.Config.CancelRequested(id)
		}
		if !w.running {
			w.settleCancels()
			w.start()
		}
	case *tenant.Call:
		w.takeEdit(m)
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
		w.timer = nil
		w.start()
	case rewriteDue:
		w.rewrite = nil
		w.start()
	case upkeepPauseEnded:
		w.upkeepPause = nil
		w.start()
	case sliceDone:
		if w.dead {
			return
		}
		w.running = false
		w.cancelRequested.Store(nil)
		w.settleCancels()
		w.next(m)
	}
}

// refuseWaiting answers the cancellations and edits that this worker will not carry
// out.
func (w *worker) refuseWaiting() {
	for _, c := range w.cancels {
		c.call.Fail(commit.ErrLost)
	}
	w.cancels = nil
	for _, c := range w.takeEdits() {
		c.Fail(commit.ErrLost)
	}
}

// start begins a slice, or the edits that wait, unless one is under way. Edits
// and slices take turns; a back-off holds up slices only.
func (w *worker) start() {
	edits := !w.running && !w.dead && (!w.edited || w.timer != nil) && w.hasEdits()
	if w.running || w.dead || w.timer != nil && !edits {
		w.wokenWhileRunning = true
		return
	}
	w.edited = edits
	w.running, w.wokenWhileRunning, w.seen = true, false, w.woken
	w.ended = make(chan struct{})
	ended := w.ended
	self, root := w.ctx.Self(), w.org.System.ActorRoot
	limit := MaxSliceItems
	if w.failures > 0 {
		limit = 1 // find out which item it is
	}
	upkeep := w.upkeepPause == nil
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
			done = w.editAll(w.takeEdits())
			return
		}
		done = w.slice(limit, upkeep)
		if _, own := errors.AsType[itemError](done.err); own {
			w.noteFailure()
		}
	})
}

// next decides what follows a slice.
func (w *worker) next(d sliceDone) {
	if d.last > 0 {
		w.ctx.Send(w.parent, workerProgress{d.last})
	}
	var pause tenant.WaitError
	switch {
	case d.edited:
		w.start() // behind edits there may be upkeep, and work that waited
	case tenant.Superseded(d.err), tenant.Superseded(d.upkeep):
		// Another activation goes on from what is in the store. Edits that came
		// meanwhile are answered: this one stays until all its calls are.
		w.refuseWaiting()
	case errors.As(d.err, &pause):
		self, root := w.ctx.Self(), w.org.System.ActorRoot
		w.timer = w.org.System.Clock.AfterFunc(pause.Wait, func() { root.Send(self, BackOffEnded{}) })
		if w.hasEdits() {
			w.start()
		}
	case d.err != nil:
		w.failures++
		own, ok := errors.AsType[itemError](d.err)
		w.org.System.Log.Error("ingest failed; it is tried again", "org", w.org.ID.String(), "partition", w.part.ID.String(),
			"failures", w.failures, "item", ok, "err", cmp.Or(own.error, d.err))
		w.timer = w.after(w.failures, BackOffEnded{})
		if w.hasEdits() { // they came while it ran, and nothing else wakes them
			w.start()
		}
	default:
		w.failures = 0
		switch {
		case d.upkeep != nil:
			w.upkeepFailures++
			w.org.System.Log.Error("upkeep failed; it is tried again", "org", w.org.ID.String(), "partition", w.part.ID.String(),
				"failures", w.upkeepFailures, "err", d.upkeep)
			w.upkeepPause = w.after(w.upkeepFailures, upkeepPauseEnded{})
		case w.upkeepPause == nil:
			w.upkeepFailures = 0
		}
		if d.more || w.wokenWhileRunning || w.hasEdits() {
			w.start()
			return
		}
		if w.armRewrite(); w.rewrite == nil && w.upkeepPause == nil { // until it is done the worker stays
			w.ctx.Send(w.parent, workerIdle{w.seen})
		}
	}
}

// after sends the worker a message when the n-th failure in a row has been
// waited for.
func (w *worker) after(n int, message any) clock.Timer {
	wait := min(w.org.System.Config.MaxBackOff, tenant.MinBackOff<<min(n-1, 10))
	self, root := w.ctx.Self(), w.org.System.ActorRoot
	return w.org.System.Clock.AfterFunc(wait, func() { root.Send(self, message) })
}

// slice does the oldest work of the queue, and behind it, with upkeep, what can
// wait.
func (w *worker) slice(limit int, upkeep bool) sliceDone {
	now, e, err := w.current()
	if err != nil {
		return sliceDone{err: err}
	}
	if len(now.Stale) > 0 {
		// Before new content: a merge of what was rebuilt must not leave behind what
		// it was rebuilt from.
		return sliceDone{more: true, err: w.reseal(now)}
	}
	if m := now.State.GetModel(); m != "" && w.org.System.Embedders.ByID(m) == nil {
		// The vectors are of a model that this node has not got: nothing is found
		// by meaning until they are made anew, so that comes before new content.
		_, err := w.reembed(now, w.org.System.Config.Embedder)
		return sliceDone{more: true, err: err}
	}
	entries, err := w.take(limit)
	if err != nil {
		return sliceDone{err: err}
	}
	if len(entries) == 0 {
		done := sliceDone{}
		if upkeep {
			done.more, done.upkeep = w.maintain(now)
		}
		return done
	}
	if entries[0].GetWork() != "" {
		return w.runUpkeep(now, e, entries[0])
	}
	memory, entries, err := w.reserve(limit, entries)
	if err != nil {
		return sliceDone{err: err}
	}
	defer memory.End()
	// After the last slice one more look finds the queue empty and does the
	// maintenance; so there is always more.
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

// sliceMemory is what a byte of content takes until it is stored: cut into chunks, with
// their vectors and the words that they are found by. Measured: 17 to 20.
const sliceMemory = 20

// reserve waits for the memory that entries take to be stored, for as long as it takes:
// nobody waits for them. Meanwhile they are not held, but taken anew.
func (w *worker) reserve(limit int, entries []graph.Queued) (*budget.Work, []graph.Queued, error) {
	need := sliceMemory * bytesOf(entries)
	now, stop := context.WithCancel(w.lifetime)
	stop()
	memory, err := w.org.System.EmbeddingMemory.Begin(now, w.org.ID, need, need, 0)
	if err == nil {
		return memory, entries, nil
	}
	entries = nil //nolint:ineffassign,wastedassign // so that they are not held
	if memory, err = w.org.System.EmbeddingMemory.Begin(w.lifetime, w.org.ID, need, need, 0); err != nil {
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

// settleCancels carries out cancellations between two slices.
func (w *worker) settleCancels() {
	for _, c := range w.cancels {
		w.cancelNow(c)
	}
	w.cancels = nil
}

// QueuedOf is where the entries of a job lie in the queue.
func QueuedOf(part *partition.Ref, job *pb.Job) storage.Range {
	return storage.Between(
		part.Space.Key(storage.TableQueue, storage.U64(job.GetQueueSeq())),
		part.Space.Key(storage.TableQueue, storage.U64(job.GetQueueSeq()+job.GetTotal())),
	)
}

// cancelNow ends a job: what it has done stays, the rest of it leaves the queue.
func (w *worker) cancelNow(m cancel) {
	c := m.call
	var job *pb.Job
	err := w.org.WithStore(func(st *storage.Store) (err error) {
		if job, err = w.org.FindJob(st, c.Principal, m.op.GetId()); err == nil && job != nil {
			err = w.org.ReadItems(st, job)
		}
		return err
	})
	switch {
	case err != nil:
		c.Fail(err)
		return
	case job == nil:
		c.Refuse(tenant.JobNotFound())
		return
	case tenant.Terminal(job.GetStatus()):
		c.Refuse(tenant.NotCancellable(job))
		return
	}
	items := job.Items
	job.Items = nil
	job.Status, job.FinishedMs = pb.JobCancelled, clock.Millis(w.org.System.Clock.Now())
	b := commit.New(w.org.Store)
	if err := tenant.EndJob(b, w.org, job); err != nil {
		c.Fail(err)
		return
	}
	if job.GetType() != pb.JobCognition { // which has nothing in the queue
		b.DeleteRange(QueuedOf(w.part, job))
	}
	if job.GetSession() {
		err := w.org.WithStore(func(st *storage.Store) error {
			return AddToCounter(st, b.Batch, w.part, CounterDone, job.GetTotal()-job.GetDone(), 0, job.GetFinishedMs())
		})
		if err != nil {
			c.Fail(err)
			return
		}
	}
	// Waiting here is short, and nothing else may touch the job meanwhile.
	if err := w.org.Committer.CommitChange(b); err != nil {
		c.Fail(err)
		return
	}
	w.org.JobsEnded(pb.JobID(job.GetId()))
	if job.GetType() == pb.JobCognition {
		w.ctx.Send(w.parent, JobCancelled{pb.JobID(job.GetId())})
	}
	job.Items = items
	c.Reply(&pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}})
}
