package graph

import (
	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/drift"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxSuccessors bounds the way from a document's content to what a person has
	// put in its place, and in the place of that.
	maxSuccessors = 32
)

// supersedeNode puts another content in a node's place: a new node, or the one
// that holds it already. The old one stays readable and leaves search.
func (f *Tx) supersedeNode(op *pb.SupersedeNode) (*pb.Reply, error) {
	old, p, err := f.editable(pb.NodeID(op.GetId()))
	if err != nil {
		return nil, err
	}
	if p != nil {
		return tenant.Refuse(p), nil
	}
	text, err := f.Content(pb.NodeID(op.GetId()))
	if err != nil {
		return nil, err
	}
	id, err := NodeOfContent(f.Store, f.Part, op.GetContent())
	if err != nil {
		return nil, err
	}
	if op.GetContent() == text || id == pb.NodeID(op.GetId()) {
		return tenant.Refuse(tenant.Invalid("content", "must differ from what the node holds or held")), nil
	}
	item := itemOf(old, text)
	item.Content = op.GetContent()
	n, err := f.Node(id)
	if err != nil {
		return nil, err
	}
	created := n == nil || n.GetStatus() == pb.StatusTombstoned
	if created || n.GetErased() {
		it, err := f.Prepared(id, item)
		if err != nil {
			return nil, err
		}
		it.Variant = id != f.Part.NodeFor(op.GetContent())
		if err := f.take(it, created, n); err != nil {
			return nil, err
		}
	}
	ed := EditOf(f.Call)
	created = created || ed.created
	ed.created = created
	n = f.Nodes[id]
	if n.GetStatus() == pb.StatusSuperseded {
		if err := f.markActive(n, f.NowMs); err != nil {
			return nil, err
		}
	}
	n.Authority = max(n.GetAuthority(), old.GetAuthority()+(1-old.GetAuthority())/4)
	if n.GetDomain() == "" {
		n.Domain = old.GetDomain()
	}
	f.putUpdated(n)
	if err := f.moveEdges(pb.NodeID(op.GetId()), id); err != nil {
		return nil, err
	}
	f.markSuperseded(old, id, op.GetReason())
	edge, err := f.linkSuccessor(pb.NodeID(op.GetId()), id)
	if err != nil {
		return nil, err
	}
	f.Batch.Audit(f.Call.AuditOf("node.supersede", op.GetId()))
	if err := AddGraphUpdated(f.Batch, f.Org, f.Part, changeSuperseded, op.GetId(), 2); err != nil {
		return nil, err
	}
	data := map[string]any{"subject": f.Part.EventSubject(), "nodeId": op.GetId(), "supersededBy": string(id)}
	if err := f.Batch.Event(f.Org, pb.EventBeliefSuperseded, f.Part, data); err != nil {
		return nil, err
	}
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Superseded{Superseded: &pb.Superseded{
		OldNode: op.GetId(), NewNode: string(id), Edge: string(edge), Created: created, NewAuthority: n.GetAuthority(),
	}}}), nil
}

// take makes the node of a content: a new one, or one that was restored without it.
func (f *Tx) take(it *Prepared, created bool, n *pb.Node) error {
	if !created {
		was := n.GetStatus()
		if err := f.redescribe(it, n); err != nil {
			return err
		}
		if was == pb.StatusLive {
			f.note(it.Node, ActionRevived, "")
		}
		return nil
	}
	if err := f.create(it); err != nil {
		return err
	}
	f.Nodes[it.Node].Source.Type = pb.SourceSupersede
	return nil
}

// moveEdges lets the successor take a node's place among its neighbours: edges
// keep their ids and what they say. Where the successor has the same edge
// already, or is the neighbour itself, the old one ends where it is. What tells
// how the old node came about stays its own.
func (f *Tx) moveEdges(old, id pb.NodeID) error {
	edges, err := f.EdgesOfNode(old, append([]string{pb.StatusTombstoned}, EdgeOrigins...)...)
	if err != nil {
		return err
	}
	for _, e := range edges {
		forgotten := e.GetStatus() == pb.StatusTombstoned
		switch {
		case e.GetOrigin() == pb.OriginSupersede, e.GetValidToMs() != 0:
			continue // it has ended, perhaps before it was forgotten
		case forgotten && e.GetTombstonedWith() == "":
			continue // it was forgotten for itself
		case f.IsFull():
			return ErrUnfinished
		}
		moved := proto.CloneOf(e)
		moved.UpdatedMs = f.NowMs
		if moved.GetSource() == string(old) {
			moved.Source = string(id)
		}
		if moved.GetTarget() == string(old) {
			moved.Target = string(id)
		}
		same, err := f.EdgeByIdentity(EdgeIdentityOf(moved))
		if err != nil {
			return err
		}
		if moved.GetSource() == moved.GetTarget() || same != nil && same.GetStatus() != pb.StatusTombstoned {
			if forgotten {
				continue
			}
			ended := proto.CloneOf(e)
			ended.Status, ended.ValidToMs, ended.UpdatedMs = pb.StatusSuperseded, f.NowMs, f.NowMs
			if err := f.PutEdge(e, ended); err != nil {
				return err
			}
			continue
		}
		if same != nil {
			RemoveEdge(f.Batch.Batch, f.Part.Space, same)
		}
		if err := f.reconnect(e, moved); err != nil {
			return err
		}
	}
	return nil
}

// reconnect writes an edge that has other ends than before.
func (f *Tx) reconnect(before, after *pb.Edge) error {
	if before.GetStatus() != pb.StatusTombstoned {
		if err := f.addDegree(-1, before); err != nil {
			return err
		}
	}
	drift.MoveEdge(f.State, before, nil)
	RemoveEdge(f.Batch.Batch, f.Part.Space, before)
	return f.PutEdge(nil, after)
}

// supersession is the id of the edge from a node to its successor.
func supersession(old, by pb.NodeID) pb.EdgeID {
	return pb.EdgeID(string(old) + "_" + string(by) + "_" + typeSupersededBy)
}

// linkSuccessor writes that edge, or makes it live again.
func (f *Tx) linkSuccessor(old, by pb.NodeID) (pb.EdgeID, error) {
	id := supersession(old, by)
	before, err := f.Edge(id)
	if err != nil {
		return "", err
	}
	after := &pb.Edge{
		Id: string(id), Source: string(old), Target: string(by), Type: typeSupersededBy, Weight: 1, Confidence: 1,
		Origin: pb.OriginSupersede, Status: pb.StatusLive, ValidFromMs: f.NowMs, CreatedMs: f.NowMs, UpdatedMs: f.NowMs,
	}
	if before != nil {
		after.CreatedMs = before.GetCreatedMs()
	}
	return id, f.PutEdge(before, after)
}

// endSupersession ends that edge: the old node lives again.
func (f *Tx) endSupersession(old, by pb.NodeID) error {
	before, err := f.Edge(supersession(old, by))
	if err != nil || before == nil || before.GetStatus() != pb.StatusLive {
		return err
	}
	after := proto.CloneOf(before)
	after.Status, after.ValidToMs, after.UpdatedMs = pb.StatusSuperseded, f.NowMs, f.NowMs
	return f.PutEdge(before, after)
}

// successor returns the live node that a person has put in the place of another,
// "" when there is none.
func (f *Tx) successor(id pb.NodeID) (pb.NodeID, error) {
	n, err := f.Node(id)
	for range maxSuccessors {
		if err != nil || n == nil || n.GetStatus() != pb.StatusSuperseded {
			return "", err
		}
		if n, err = f.Node(pb.NodeID(n.GetSupersededBy())); err != nil || n == nil ||
			n.GetSource().GetType() != pb.SourceSupersede {
			return "", err
		}
		if n.GetStatus() == pb.StatusLive {
			return pb.NodeID(n.GetId()), nil
		}
	}
	return "", nil
}

// StandsByHand reports whether a document that says what it said before repeats
// what a person has changed since: then the change stands, as long as there is
// something in its place. Only other words of the document undo it.
func StandsByHand(
	r storage.Reader, node func(pb.NodeID) (*pb.Node, error), part *partition.Ref, n *pb.Node, content string,
) (bool, error) {
	id := pb.NodeID(n.GetId())
	switch n.GetStatus() {
	case pb.StatusLive:
		return n.GetEdited() && part.NodeFor(content) == id, nil
	case pb.StatusSuperseded: // by hand: otherwise the document would have moved on
		if part.NodeFor(content) != id {
			raw, found, err := r.GetRaw(part.ContentKey(content))
			if err != nil || !found || pb.NodeID(raw) != id {
				return false, err
			}
		}
		for range maxSuccessors {
			next, err := node(pb.NodeID(n.GetSupersededBy()))
			if err != nil || next == nil {
				return false, err
			}
			if n = next; n.GetStatus() != pb.StatusSuperseded {
				return n.GetStatus() == pb.StatusLive, nil
			}
		}
	}
	return false, nil
}

func (f *Tx) standsByHand(document pb.NodeID, content string) (bool, error) {
	if document == "" {
		return false, nil
	}
	n, err := f.Node(document)
	if err != nil || n == nil {
		return false, err
	}
	return StandsByHand(f.Store, f.Node, f.Part, n, content)
}
