package actors

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/commit"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/brain/drift"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxEditTries bounds how often an edit's text is embedded before it is refused:
	// each time somebody else has changed what it was embedded for.
	maxEditTries = 4
	// maxPieceBytes is from where on the rest of an edit goes into another commit:
	// half a raft entry, so that what ends the edit always has room.
	maxPieceBytes = storage.MaxBatchBytes / 2
)

var (
	// errUnfinished is how an edit's run says that f is one piece of it: complete in
	// itself and to be committed, before run goes on from what is stored then.
	errUnfinished = errors.New("the edit is not finished")
)

// edit is a change of a partition's graph that a call waits for. The partition's
// worker carries it out between two slices of ingestion, so it sees all that was
// before it, nothing changes under it, and the index that follows from it is
// published before it is answered.
type edit struct {
	// run decides: it changes f and returns the answer. A refusal, or an error,
	// changes nothing, whatever it did to f. It may be called again, with another
	// f: when it needs chunks that nobody has computed (effect.prepared), and to go
	// on behind a piece (errUnfinished). Each piece leaves degrees, lists and index
	// true; after a crash between two the request, repeated, does the rest.
	run        func(f *effect) (*pb.Reply, error)
	want, made *prepared // what run lacked, and what it then got
	tries      int
	created    bool // an earlier piece has made the node
	derived    bool // a cognition cycle writes what it has found: that is no change to look at again
}

// edit hands a call to the worker of its partition.
func (o *orgActor) edit(c *call, run func(f *effect) (*pb.Reply, error)) {
	c.edit = &edit{run: run}
	o.forward(c, c.part)
}

// editBusy is edit for what forgets nodes: after a crash somebody must see to the
// rest of the erasure (rewrite.go).
func (o *orgActor) editBusy(c *call, run func(f *effect) (*pb.Reply, error)) {
	o.whenBusyFor(c, func() { o.edit(c, run) })
}

// takeEdit takes in an edit, from any goroutine of the worker.
func (w *worker) takeEdit(c *call) {
	w.editing.Lock()
	w.edits = append(w.edits, c) // bounded by maxCallsPerOrg
	w.editing.Unlock()
}

// takeEdits takes out all that wait.
func (w *worker) takeEdits() []*call {
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
func (w *worker) editAll(calls []*call) sliceDone {
	now, e, err := w.current()
	for _, c := range calls {
		if err != nil {
			c.fail(err)
			continue
		}
		now = w.editOne(now, e, c)
	}
	return sliceDone{edited: true}
}

// editOne carries out one edit, piece by piece, and returns the partition after
// it.
func (w *worker) editOne(now *partition.Index, e partition.Embedder, c *call) (next *partition.Index) {
	next = now
	defer func() {
		if r := recover(); r != nil {
			c.fail(node.PanicError("edit", r))
		}
	}()
	for unfinished := true; unfinished; { // each piece leaves less to do
		if w.stopped.Load() {
			c.fail(node.ErrClosing)
			return next
		}
		next, unfinished = w.editPiece(next, e, c)
	}
	return next
}

// editPiece runs an edit once. It answers the call unless the edit is unfinished.
func (w *worker) editPiece(now *partition.Index, e partition.Embedder, c *call) (next *partition.Index, unfinished bool) {
	f := w.newEffect(now, e)
	f.call = c
	f.batch.User = c.who.user.Bytes()
	var r *pb.Reply
	err := w.org.withStore(func(st *storage.Store) (err error) {
		f.st = st
		r, err = c.edit.run(f)
		return err
	})
	switch {
	case errors.Is(err, errNotPrepared):
		if c.edit.tries++; c.edit.tries > maxEditTries {
			c.fail(errUnsettled)
			return now, false
		}
		w.prepareEdit(c, e)
		return now, false
	case errors.Is(err, errUnfinished):
		unfinished = true
	case err != nil:
		c.fail(err)
		return now, false
	case r.GetProblem() != nil:
		c.refuseSettled(r.GetProblem())
		return now, false
	}
	f.charge(c.env.GetCapability(), c.who.key)
	if !unfinished {
		if cost, ok := c.cost(); ok {
			f.batch.Cost(cost)
			c.charged = true
		}
		if err := c.idem.record(f.batch.Batch, r); err != nil {
			c.fail(err)
			return now, false
		}
	}
	next, err = w.settle(f, now, e)
	switch {
	case err != nil:
		c.fail(err)
		return now, false
	case unfinished:
		w.org.sys.cfg.pieceDone()
	default:
		c.reply(r)
	}
	return next, unfinished
}

// prepareEdit computes the chunks that an edit lacks, beside the worker, so that
// neither ingestion nor another edit waits for it, and gives the edit back to it.
func (w *worker) prepareEdit(c *call, e partition.Embedder) {
	w.preparing.Add(1)
	self, root := w.ctx.Self(), w.org.sys.root
	w.org.sys.wg.Go(func() {
		defer w.preparing.Done()
		items := []prepared{*c.edit.want}
		err := w.embed(items, e, func() error {
			if w.stopped.Load() {
				return node.ErrClosing
			}
			return nil
		})
		if err == nil {
			err = items[0].err
		}
		if err != nil {
			c.fail(err)
			return
		}
		items[0].model = e.ID()
		c.edit.made = &items[0]
		w.takeEdit(c)
		root.Send(self, editReady{})
	})
}

// prepared returns an item for a node with its chunks. Without them it returns
// errNotPrepared: the edit runs again when they are computed.
func (f *effect) prepared(node pb.NodeID, item *pb.IngestItem) (*prepared, error) {
	if m := f.state.GetModel(); m != "" && m != f.model {
		return nil, errReembedding
	}
	ed := f.call.edit
	if m := ed.made; m != nil && m.node == node && m.model == f.model && proto.Equal(m.GetItem(), item) {
		return m, nil
	}
	ed.want = &prepared{queued: queued{QueueEntry: &pb.QueueEntry{Item: item}}, node: node}
	return nil, errNotPrepared
}

// newEffect begins an effect on the partition as it is now.
func (w *worker) newEffect(now *partition.Index, e partition.Embedder) *effect {
	return &effect{
		org: w.org, part: w.part, now: clock.Millis(w.org.sys.clock.Now()), model: e.ID(),
		batch: commit.New(w.org.store), state: partition.CloneState(now.State),
		nodes: map[pb.NodeID]*pb.Node{}, places: map[pb.NodeID]nodePlace{}, shares: map[pb.NodeID]drift.Share{}, kept: map[pb.NodeID]bool{}, refs: map[pb.ExternalID]pb.NodeID{},
		entities: map[pb.NodeID]*pb.Entity{}, renewed: map[pb.NodeID]bool{}, entityKeys: map[string][]pb.NodeID{}, written: map[edgeTriple]*pb.Edge{}, follows: map[string]pb.NodeID{}, traces: map[pb.NodeID]*pb.Trace{},
		domains: map[string]*pb.Domain{}, views: map[string]proto.Message{}, undone: map[string]bool{}, changesBefore: now.State.GetChanges(),
	}
}
