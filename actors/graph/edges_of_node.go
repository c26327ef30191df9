package graph

import (
	"google.golang.org/protobuf/proto"

	"orgmem/brain/drift"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What becomes of a node's edges when the node is forgotten, restored, removed or superseded.

// TombstoneEdges forgets a node's edges with it. They come back with the node, without their notes and evidence. It is
// called before the rest of the node is forgotten, until it does not return ErrUnfinished: a hub has more edges than
// one commit takes.
func (r *EdgeRecords) TombstoneEdges(id pb.NodeID) error {
	edges, more, err := r.someEdges(id, EdgeOrigins...)
	if err != nil {
		return err
	}
	r.TouchesExports = true // what exports hold of the notes
	for _, e := range edges {
		if r.IsFull() {
			return ErrUnfinished
		}
		other, err := r.nodes.Node(OtherEnd(e, id))
		if err != nil {
			return err
		}
		if now, ok := r.current[EdgeIdentityOf(e)]; ok && now == nil || other.GetStatus() == pb.StatusTombstoned {
			continue // it went with the other one, in this very transaction
		}
		gone := proto.CloneOf(e)
		gone.Status, gone.TombstonedMs, gone.TombstonedWith, gone.UpdatedMs = pb.StatusTombstoned, r.NowMs, string(id),
			r.NowMs
		gone.Note, gone.Evidence = "", nil
		r.eraseNote(e)
		if e.GetOrigin() == pb.OriginAsserted {
			if err := r.history.eraseTypes(OtherEnd(e, id), id); err != nil {
				return err
			}
		}
		put := r.PutEdge
		if len(e.GetGrounds()) > 0 { // a ground of it may go in this transaction, too
			put = r.PutCurrent
		}
		if err := put(e, gone); err != nil {
			return err
		}
		if err := r.removeGroundsOf(e); err != nil {
			return err
		}
	}
	if more {
		return ErrUnfinished
	}
	return nil
}

// eraseNote erases an edge's note from the earlier versions of its record. No other record holds it: the outcomes of
// requests are kept without notes (Record of an idempotent request).
func (r *EdgeRecords) eraseNote(e *pb.Edge) {
	if e.GetOrigin() == pb.OriginAsserted || e.GetNote() != "" {
		r.Batch.Erase(r.Part.Space.Key(storage.TableEdge, storage.Str(e.GetId())))
	}
}

// restoreEdge brings an edge back with its node. Where its other node is forgotten too, the edge comes back with that.
func (r *EdgeRecords) restoreEdge(id pb.NodeID, e *pb.Edge) error {
	if e.GetOfEdge() {
		return r.restoreGround(e)
	}
	other, err := r.nodes.Node(OtherEnd(e, id))
	if err != nil || other == nil {
		return err
	}
	if e.GetSealed() != nil {
		if e.GetType() == "" {
			return nil // nobody can open it
		}
		same, err := r.EdgeByIdentity(EdgeIdentityOf(e))
		if err != nil || same != nil {
			return err // it was asserted anew while a crash left this one behind
		}
	}
	back := proto.CloneOf(e)
	if other.GetStatus() == pb.StatusTombstoned {
		back.TombstonedWith = other.GetId()
		return r.PutEdge(e, back)
	}
	back.Status, back.TombstonedMs, back.TombstonedWith, back.UpdatedMs = pb.StatusLive, 0, "", r.NowMs
	if back.GetValidToMs() != 0 {
		back.Status = pb.StatusSuperseded
	}
	if err := r.PutEdge(e, back); err != nil {
		return err
	}
	return r.PutGroundsOf(back)
}

// restoreGround brings back, with a node, that an asserted edge was derived from it.
func (r *EdgeRecords) restoreGround(e *pb.Edge) error {
	rests, err := r.currentByID(pb.EdgeID(e.GetSource()))
	if err != nil || rests == nil || rests.GetStatus() == pb.StatusTombstoned {
		return err
	}
	back := proto.CloneOf(e)
	back.Status, back.TombstonedMs, back.TombstonedWith, back.UpdatedMs = pb.StatusLive, 0, "", r.NowMs
	return r.PutCurrent(e, back)
}

// RemoveEdges removes the edges of a forgotten node, and reports whether there are more than it takes at a time. Those
// of a hub go in commits of their own before the transaction's. Nobody sees them any more, and the tombstone, which
// goes last, leads to the edges that a crash leaves behind.
func (r *EdgeRecords) RemoveEdges(id pb.NodeID) (more bool, err error) {
	edges, more, err := r.someEdges(id, pb.StatusTombstoned)
	if err != nil {
		return false, err
	}
	n, err := r.nodes.Node(id)
	if err != nil {
		return false, err
	}
	b := storage.NewBatch(r.Org.Store)
	for _, e := range edges {
		if e.GetTarget() == string(id) {
			if err := r.loseGround(e, pb.StaleForgotten, n.GetTombstonedMs()); err != nil {
				return false, err
			}
		}
		RemoveEdge(b, r.Part.Space, e)
		if b.Bytes() > r.maxBytes() {
			r.StagedBatches = append(r.StagedBatches, b)
			b = storage.NewBatch(r.Org.Store)
		}
	}
	if r.Batch.Bytes()+b.Bytes() > r.maxBytes() { // so do those of many nodes
		r.StagedBatches = append(r.StagedBatches, b)
		return more, nil
	}
	r.Batch.Append(b)
	return more, nil
}

// moveEdges lets the successor take a node's place among its neighbours. Edges keep their ids and what they say. Where
// the successor has the same edge already, or is the neighbour itself, the old edge ends where it is. The edges that
// say which nodes the old one superseded stay with it, and so do those that say what was derived: who said that rests
// on the old words, and the new ones do not rest on what the old ones did.
func (r *EdgeRecords) moveEdges(old, id pb.NodeID) error {
	edges, err := r.EdgesOfNode(old, append([]string{pb.StatusTombstoned}, EdgeOrigins...)...)
	if err != nil {
		return err
	}
	var twins map[EdgeIdentity]*pb.Edge // read for the first forgotten edge that moves
	for _, e := range edges {
		forgotten := e.GetStatus() == pb.StatusTombstoned
		switch {
		case e.GetType() == pb.EdgeDerivedFrom:
			continue
		case e.GetOrigin() == pb.OriginSupersede, e.GetValidToMs() != 0:
			continue // it has ended, perhaps before it was forgotten
		case forgotten && e.GetTombstonedWith() == "":
			continue // it was forgotten for itself
		case r.IsFull():
			return ErrUnfinished
		}
		moved := proto.CloneOf(e)
		moved.UpdatedMs = r.NowMs
		if moved.GetSource() == string(old) {
			moved.Source = string(id)
		}
		if moved.GetTarget() == string(old) {
			moved.Target = string(id)
		}
		same, err := r.EdgeByIdentity(EdgeIdentityOf(moved))
		if err != nil {
			return err
		}
		if moved.GetSource() == moved.GetTarget() || same != nil && same.GetStatus() != pb.StatusTombstoned {
			if forgotten {
				continue
			}
			ended := proto.CloneOf(e)
			ended.Status, ended.ValidToMs, ended.UpdatedMs = pb.StatusSuperseded, r.NowMs, r.NowMs
			if err := r.PutEdge(e, ended); err != nil {
				return err
			}
			continue
		}
		if forgotten && same == nil {
			if twins == nil {
				if twins, err = r.sealedEdges(id); err != nil {
					return err
				}
			}
			same = twins[EdgeIdentityOf(moved)]
		}
		if same != nil {
			RemoveEdge(r.Batch.Batch, r.Part.Space, same)
		}
		if err := r.reconnect(e, moved); err != nil {
			return err
		}
	}
	return nil
}

// sealedEdges are the edges of a node whose other node is forgotten and whose types are sealed. No identity leads to
// them. Left out are those that nobody can open, which do not come back.
func (r *EdgeRecords) sealedEdges(id pb.NodeID) (map[EdgeIdentity]*pb.Edge, error) {
	edges, err := r.EdgesOfNode(id, pb.StatusTombstoned)
	sealed := map[EdgeIdentity]*pb.Edge{}
	for _, e := range edges {
		if e.GetSealed() != nil && e.GetType() != "" {
			sealed[EdgeIdentityOf(e)] = e
		}
	}
	return sealed, err
}

// reconnect writes an edge that has other ends than before.
func (r *EdgeRecords) reconnect(before, after *pb.Edge) error {
	if before.GetStatus() != pb.StatusTombstoned {
		if err := r.addDegree(-1, before); err != nil {
			return err
		}
	}
	drift.MoveEdge(r.State, before, nil)
	RemoveEdge(r.Batch.Batch, r.Part.Space, before)
	return r.PutEdge(nil, after)
}

// supersession is the id of the edge from a node to its successor.
func supersession(old, by pb.NodeID) pb.EdgeID {
	return pb.EdgeID(string(old) + "_" + string(by) + "_" + typeSupersededBy)
}

// linkSuccessor writes the edge from a node to its successor, or makes it live again.
func (r *EdgeRecords) linkSuccessor(old, by pb.NodeID) (pb.EdgeID, error) {
	id := supersession(old, by)
	before, err := r.Edge(id)
	if err != nil {
		return "", err
	}
	after := &pb.Edge{
		Id: string(id), Source: string(old), Target: string(by), Type: typeSupersededBy, Weight: 1, Confidence: 1,
		Origin: pb.OriginSupersede, Status: pb.StatusLive, ValidFromMs: r.NowMs, CreatedMs: r.NowMs, UpdatedMs: r.NowMs,
	}
	if before != nil {
		after.CreatedMs = before.GetCreatedMs()
	}
	return id, r.PutEdge(before, after)
}

// endSupersession ends the edge from a node to its successor, since the node lives again.
func (r *EdgeRecords) endSupersession(old, by pb.NodeID) error {
	before, err := r.Edge(supersession(old, by))
	if err != nil || before == nil || before.GetStatus() != pb.StatusLive {
		return err
	}
	after := proto.CloneOf(before)
	after.Status, after.ValidToMs, after.UpdatedMs = pb.StatusSuperseded, r.NowMs, r.NowMs
	return r.PutEdge(before, after)
}
