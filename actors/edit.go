package actors

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/drift"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxPieceBytes is from where on the rest of an edit goes into another commit:
	// half a raft entry, so that what ends the edit always has room.
	maxPieceBytes = storage.MaxBatchBytes / 2
)

// errUnfinished is how an edit's run says that f is one piece of it: complete in
// itself and to be committed, before run goes on from what is stored then.
var errUnfinished = errors.New("the edit is not finished")

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

// submitEdit hands a call to the worker of its partition.
func submitEdit(o *tenant.Org, c *tenant.Call, run func(f *effect) (*pb.Reply, error)) {
	c.Work = &edit{run: run}
	o.Forward(c, c.Part)
}

// submitEditBusy is submitEdit for what forgets nodes: after a crash somebody must see to the
// rest of the erasure (rewrite.go).
func submitEditBusy(o *tenant.Org, c *tenant.Call, run func(f *effect) (*pb.Reply, error)) {
	o.WhenBusyFor(c, func() { submitEdit(o, c, run) })
}

// prepared returns an item for a node with its chunks. Without them it returns
// errNotPrepared: the edit runs again when they are computed.
func (f *effect) prepared(node pb.NodeID, item *pb.IngestItem) (*prepared, error) {
	if m := f.state.GetModel(); m != "" && m != f.model {
		return nil, tenant.ErrReembedding
	}
	ed := editOf(f.call)
	if m := ed.made; m != nil && m.node == node && m.model == f.model && proto.Equal(m.GetItem(), item) {
		return m, nil
	}
	ed.want = &prepared{queued: queued{QueueEntry: &pb.QueueEntry{Item: item}}, node: node}
	return nil, errNotPrepared
}

// newEffect begins an effect on the partition as it is now.
func newEffect(org *tenant.View, part *partition.Ref, now *partition.Index, e partition.Embedder) *effect {
	return &effect{
		org: org, part: part, now: clock.Millis(org.System.Clock.Now()), model: e.ID(),
		batch: commit.New(org.Store), state: partition.CloneState(now.State),
		nodes: map[pb.NodeID]*pb.Node{}, places: map[pb.NodeID]nodePlace{}, shares: map[pb.NodeID]drift.Share{}, kept: map[pb.NodeID]bool{}, refs: map[pb.ExternalID]pb.NodeID{},
		entities: map[pb.NodeID]*pb.Entity{}, renewed: map[pb.NodeID]bool{}, entityKeys: map[string][]pb.NodeID{}, written: map[edgeTriple]*pb.Edge{}, follows: map[string]pb.NodeID{}, traces: map[pb.NodeID]*pb.Trace{},
		domains: map[string]*pb.Domain{}, views: map[string]proto.Message{}, undone: map[string]bool{}, changesBefore: now.State.GetChanges(),
	}
}

// editOf is what a call changes of its partition's graph; nil: nothing.
func editOf(c *tenant.Call) *edit {
	if c == nil {
		return nil
	}
	e, _ := c.Work.(*edit)
	return e
}
