package graph

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxPieceBytes is from where on the rest of an edit goes into another commit:
	// half a raft entry, so that what ends the edit always has room.
	MaxPieceBytes = storage.MaxBatchBytes / 2
)

// ErrUnfinished is how an edit's Run says that f is one piece of it: complete in
// itself, and to be committed before Run is called again for the rest.
var ErrUnfinished = errors.New("the edit is not finished")

// Edit is a change of a partition's graph that a call waits for. The partition's
// worker carries it out between two slices of ingestion, so it sees all that was
// before it, nothing changes under it, and the index that follows from it is
// published before it is answered.
type Edit struct {
	// Run decides: it changes f and returns the answer. A refusal, or an error,
	// changes nothing, whatever it did to f. It may be called again, with another
	// f: when it needs chunks that nobody has computed (Tx.Prepared), and to go
	// on behind a piece (ErrUnfinished). Each piece leaves degrees, lists and index
	// true; after a crash between two the request, repeated, does the rest.
	Run        func(f *Tx) (*pb.Reply, error)
	Want, Made *Prepared // what Run lacked, and what it then got
	Tries      int       // how often its chunks were computed
	created    bool      // an earlier piece has made the node
	Derived    bool      // a cognition cycle writes what it has found: that is no change to look at again
}

// SubmitEdit hands a call to the worker of its partition.
func SubmitEdit(o *tenant.Org, c *tenant.Call, run func(f *Tx) (*pb.Reply, error)) {
	c.Payload = &Edit{Run: run}
	o.Forward(c, c.Part)
}

// SubmitEditBusy is SubmitEdit for what forgets nodes: after a crash somebody must see to the
// rest of the erasure (package subject rewrites the segments).
func SubmitEditBusy(o *tenant.Org, c *tenant.Call, run func(f *Tx) (*pb.Reply, error)) {
	o.WithBusyMarkFor(c, func() { SubmitEdit(o, c, run) })
}

// Prepared returns an item for a node with its chunks. Without them it returns
// ErrNotPrepared: the edit runs again when they are computed.
func (f *Tx) Prepared(node pb.NodeID, item *pb.IngestItem) (*Prepared, error) {
	if m := f.State.GetModel(); m != "" && m != f.Index.model {
		return nil, tenant.ErrReembedding
	}
	ed := EditOf(f.Call)
	if m := ed.Made; m != nil && m.Node == node && m.Model == f.Index.model && proto.Equal(m.GetItem(), item) {
		return m, nil
	}
	ed.Want = &Prepared{Queued: Queued{QueueEntry: &pb.QueueEntry{Item: item}}, Node: node}
	return nil, ErrNotPrepared
}

// EditOf is what a call changes of its partition's graph; nil: nothing.
func EditOf(c *tenant.Call) *Edit {
	if c == nil {
		return nil
	}
	e, _ := c.Payload.(*Edit)
	return e
}
