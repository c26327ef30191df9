package subject

import (
	"errors"

	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// maxEditTries bounds how often an edit's text is embedded before it is refused:
// each time somebody else has changed what it was embedded for.
const maxEditTries = 4

// takeEdit takes in an edit, from any goroutine of the worker.
func (w *worker) takeEdit(c *tenant.Call) {
	w.editing.Lock()
	w.edits = append(w.edits, c) // bounded by maxCallsPerOrg
	w.editing.Unlock()
}

// takeEdits takes out all that wait.
func (w *worker) takeEdits() []*tenant.Call {
	w.editing.Lock()
	defer w.editing.Unlock()
	edits := w.edits
	w.edits = nil
	return edits
}

func (w *worker) hasEdits() bool {
	w.editing.Lock()
	defer w.editing.Unlock()
	return len(w.edits) > 0
}

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

// editOne carries out one edit, piece by piece, and returns the partition after
// it.
func (w *worker) editOne(now *partition.Index, e partition.Embedder, c *tenant.Call) (next *partition.Index) {
	next = now
	defer func() {
		if r := recover(); r != nil {
			c.Fail(node.PanicError("edit", r))
		}
	}()
	for unfinished := true; unfinished; { // each piece leaves less to do
		if w.stopped.Load() {
			c.Fail(node.ErrClosing)
			return next
		}
		next, unfinished = w.editPiece(next, e, c)
	}
	return next
}

// editPiece runs an edit once. It answers the call unless the edit is unfinished.
func (w *worker) editPiece(
	now *partition.Index, e partition.Embedder, c *tenant.Call,
) (next *partition.Index, unfinished bool) {
	f := graph.NewTx(w.org, w.part, now, e)
	f.Call = c
	f.Batch.User = c.Principal.User.Bytes()
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

// prepareEdit computes the chunks that an edit lacks, beside the worker, so that
// neither ingestion nor another edit waits for it, and gives the edit back to it.
func (w *worker) prepareEdit(c *tenant.Call, e partition.Embedder) {
	w.preparing.Add(1)
	self, root := w.ctx.Self(), w.org.System.ActorRoot
	w.org.System.BackgroundTasks.Go(func() {
		defer w.preparing.Done()
		items := []graph.Prepared{*graph.EditOf(c).Want}
		err := w.embed(items, e, func() error {
			if w.stopped.Load() {
				return node.ErrClosing
			}
			return nil
		})
		if err == nil {
			err = items[0].Err
		}
		if err != nil {
			c.Fail(err)
			return
		}
		items[0].Model = e.ID()
		graph.EditOf(c).Made = &items[0]
		w.takeEdit(c)
		root.Send(self, editReady{})
	})
}
