package subject

import (
	"errors"
	"sync"

	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

// maxEditTries bounds how often an edit's text is embedded before the edit is refused. Each time, another change has
// altered what it was embedded for.
const maxEditTries = 4

// editQueue are the edits that wait for their turn. Its methods may be called from any goroutine.
type editQueue struct {
	mu        sync.Mutex
	calls     []*tenant.Call
	preparing sync.WaitGroup // edits whose chunks are being computed: they come back by add
}

func (q *editQueue) add(c *tenant.Call) {
	q.mu.Lock()
	q.calls = append(q.calls, c) // bounded by maxCallsPerOrg
	q.mu.Unlock()
}

// takeAll takes out all that wait.
func (q *editQueue) takeAll() []*tenant.Call {
	q.mu.Lock()
	defer q.mu.Unlock()
	calls := q.calls
	q.calls = nil
	return calls
}

// waiting reports whether there are any.
func (q *editQueue) waiting() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.calls) > 0
}

// awaitPrepared waits for the edits whose chunks are being computed.
func (q *editQueue) awaitPrepared() { q.preparing.Wait() }

// editAll carries out edits in the order in which they came, in place of a slice.
func (w *worker) editAll(calls []*tenant.Call) sliceDone {
	now, e, err := w.current()
	for _, c := range calls {
		if err != nil {
			c.Fail(err)
			continue
		}
		now = w.editOne(now, e, c)
	}
	return sliceDone{edited: true}
}

// editOne carries out one edit, piece by piece, and returns the partition's index after it.
func (w *worker) editOne(now *partition.Index, e partition.Embedder, c *tenant.Call) (next *partition.Index) {
	next = now
	defer func() {
		if r := recover(); r != nil {
			c.Fail(node.PanicError("edit", r))
		}
	}()
	for unfinished := true; unfinished; { // each piece leaves less to do
		if err := w.life.goOn(); err != nil {
			c.Fail(err)
			return next
		}
		next, unfinished = w.editPiece(next, e, c)
	}
	return next
}

// editPiece runs an edit once, and commits it. It answers the call unless the edit is unfinished.
func (w *worker) editPiece(
	now *partition.Index, e partition.Embedder, c *tenant.Call,
) (next *partition.Index, unfinished bool) {
	f := graph.NewTx(w.org, w.part, now, e)
	f.Call = c
	f.Batch.User = c.Principal.User.Bytes()
	f.Batch.In(c.RecordedTrace())
	var r *pb.Reply
	err := w.org.WithStore(func(st *storage.Store) (err error) {
		f.Store = st
		r, err = graph.EditOf(c).Run(f)
		return err
	})
	switch {
	case errors.Is(err, graph.ErrNotPrepared):
		ed := graph.EditOf(c)
		if ed.Tries++; ed.Tries > maxEditTries {
			c.Fail(tenant.ErrEditContention)
			return now, false
		}
		w.prepareEdit(c, e)
		return now, false
	case errors.Is(err, graph.ErrUnfinished):
		unfinished = true
	case err != nil:
		c.Fail(err)
		return now, false
	case r.GetProblem() != nil:
		c.RefuseSettled(r.GetProblem())
		return now, false
	}
	f.Charge(c.Env.GetCapability(), c.Principal.Key)
	if !unfinished {
		if cost, ok := c.Cost(); ok {
			f.Batch.Cost(cost)
			c.Charged = true
		}
		if err := c.Idempotency.Record(f.Batch.Batch, r); err != nil {
			c.Fail(err)
			return now, false
		}
	}
	next, err = w.settle(f, now, e)
	switch {
	case err != nil:
		c.Fail(err)
		return now, false
	case unfinished:
		w.org.System.Config.PieceCommitted()
	default:
		c.Reply(r)
	}
	return next, unfinished
}

// prepareEdit computes the chunks that an edit lacks, and then puts the edit back into the queue. It does so beside the
// worker, so that neither ingestion nor another edit waits.
func (w *worker) prepareEdit(c *tenant.Call, e partition.Embedder) {
	w.edits.preparing.Add(1)
	ready := w.sends(editReady{})
	w.org.System.BackgroundTasks.Go(func() {
		defer w.edits.preparing.Done()
		items := []graph.Prepared{*graph.EditOf(c).Want}
		err := w.embed(items, e, tracing.Contexts(nil).With(c.RecordedTrace()), w.life.goOn)
		if err == nil {
			err = items[0].Err
		}
		if err != nil {
			c.Fail(err)
			return
		}
		items[0].Model = e.ID()
		graph.EditOf(c).Made = &items[0]
		w.edits.add(c)
		ready()
	})
}
