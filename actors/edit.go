package actors

import (
	"errors"
	"fmt"
	"runtime/debug"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// maxEditTries bounds how often an edit's text is embedded before it is refused:
// each time somebody else has changed what it was embedded for.
const maxEditTries = 4

var (
	// errUnsettled means that what an edit depends on changed as often as it was
	// prepared for.
	errUnsettled = errors.New("what is to be edited keeps changing")
	// errReembedding means that text cannot be taken in by hand now: the vectors
	// are of a model that this node has not got, and are being made anew.
	errReembedding = errors.New("the memory is being embedded anew")
)

// edit is a change of a partition's graph that a call waits for. The partition's
// worker carries it out between two slices of ingestion, so it sees all that was
// before it, nothing changes under it, and the index that follows from it is
// published before it is answered.
type edit struct {
	// run decides: it changes f and returns the answer. A refusal, or an error,
	// changes nothing, whatever it did to f. It may be called again, with another
	// f: when it needs chunks that nobody has computed (effect.prepared).
	run        func(f *effect) (*pb.Reply, error)
	want, made *prepared // what run lacked, and what it then got
	tries      int
}

// edit hands a call to the worker of its partition.
func (o *orgActor) edit(c *call, run func(f *effect) (*pb.Reply, error)) {
	c.edit = &edit{run: run}
	o.forward(c, c.part)
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
		if w.stopped.Load() {
			err = errClosing
		}
		if err != nil {
			c.fail(err)
			continue
		}
		now = w.editOne(now, e, c)
	}
	return sliceDone{edited: true}
}

// editOne carries out one edit and returns the partition after it.
func (w *worker) editOne(now *loaded, e Embedder, c *call) (next *loaded) {
	next = now
	defer func() {
		if r := recover(); r != nil {
			c.fail(fmt.Errorf("edit panicked: %v\n%s", r, debug.Stack()))
		}
	}()
	f := w.newEffect(now, e)
	f.call = c
	f.batch.user = c.who.user.Bytes()
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
			return now
		}
		w.prepareEdit(c, e)
		return now
	case err != nil:
		c.fail(err)
		return now
	case r.GetProblem() != nil:
		c.refuseSettled(r.GetProblem())
		return now
	}
	f.charge(c.env.GetCapability(), c.who.key)
	if err := c.idem.record(f.batch.Batch, r); err != nil {
		c.fail(err)
		return now
	}
	after, err := w.settle(f, now, e)
	if err != nil {
		c.fail(err)
		return now
	}
	c.reply(r)
	return after
}

// prepareEdit computes the chunks that an edit lacks, beside the worker, so that
// neither ingestion nor another edit waits for it, and gives the edit back to it.
func (w *worker) prepareEdit(c *call, e Embedder) {
	w.preparing.Add(1)
	self, root := w.ctx.Self(), w.org.sys.root
	w.org.sys.wg.Go(func() {
		defer w.preparing.Done()
		items := []prepared{*c.edit.want}
		err := w.embed(items, e, func() error {
			if w.stopped.Load() {
				return errClosing
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
func (w *worker) newEffect(now *loaded, e Embedder) *effect {
	return &effect{
		org: w.org, part: w.part, now: clock.Millis(w.org.sys.clock.Now()), model: e.ID(),
		batch: newChange(w.org.store), state: cloneState(now.state),
		nodes: map[pb.NodeID]*pb.Node{}, places: map[pb.NodeID]nodePlace{}, refs: map[pb.ExternalID]pb.NodeID{},
	}
}
