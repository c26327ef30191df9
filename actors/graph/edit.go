package graph

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxPieceBytes is the size at which an edit's commit is full, and the rest goes into another: half a raft entry, so
	// that there is always room for what ends the edit.
	MaxPieceBytes = storage.MaxBatchBytes / 2
)

// ErrUnfinished is returned by an edit's Run when f is one piece of the edit: it is complete in itself, and is
// committed before Run is called again for the rest.
var ErrUnfinished = errors.New("the edit is not finished")

// Edit is a change of a partition's graph that a call waits for. The partition's worker carries it out between two
// slices of ingestion, so it sees everything before it and nothing changes meanwhile. The index that follows from it is
// published before it is answered.
type Edit struct {
	// Run makes the change in f and returns the answer. When it refuses, or fails, f is dropped. It may be called again,
	// with another f: when it needs chunks that were not computed yet (Tx.Prepared), and for the next piece
	// (ErrUnfinished). Each piece leaves degrees, lists and index true. After a crash between two, the request, repeated,
	// does the rest.
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

// SubmitEditBusy is SubmitEdit for edits that forget nodes. It marks the organization as busy first, so that another
// node finishes the erasure after a crash (package subject rewrites the segments).
func SubmitEditBusy(o *tenant.Org, c *tenant.Call, run func(f *Tx) (*pb.Reply, error)) {
	o.WithBusyMarkFor(c, func() { SubmitEdit(o, c, run) })
}

// Prepared returns an item for a node with its chunks. Where they are not computed yet it returns ErrNotPrepared, and
// the edit runs again when they are.
func (f *Tx) Prepared(node pb.NodeID, item *pb.IngestItem) (*Prepared, error) {
	ed := EditOf(f.Call)
	if m := ed.Made; m != nil && m.Node == node && m.Model == f.Index.model && proto.Equal(m.GetItem(), item) {
		return m, nil
	}
	ed.Want = &Prepared{Queued: Queued{QueueEntry: &pb.QueueEntry{Item: item}}, Node: node}
	return nil, ErrNotPrepared
}

// EditOf is the edit of a call; nil when it changes no graph.
func EditOf(c *tenant.Call) *Edit {
	if c == nil {
		return nil
	}
	e, _ := c.Payload.(*Edit)
	return e
}
