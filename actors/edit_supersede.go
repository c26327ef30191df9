package actors

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
func (f *effect) supersedeNode(op *pb.SupersedeNode) (*pb.Reply, error) {
	old, p, err := f.editable(pb.NodeID(op.GetId()))
	if err != nil {
		return nil, err
	}
	if p != nil {
		return tenant.Refuse(p), nil
	}
	text, err := f.content(pb.NodeID(op.GetId()))
	if err != nil {
		return nil, err
	}
	id, err := nodeOfContent(f.st, f.part, op.GetContent())
	if err != nil {
		return nil, err
	}
	if op.GetContent() == text || id == pb.NodeID(op.GetId()) {
		return tenant.Refuse(tenant.Invalid("content", "must differ from what the node holds or held")), nil
	}
	item := itemOf(old, text)
	item.Content = op.GetContent()
	n, err := f.node(id)
	if err != nil {
		return nil, err
	}
	created := n == nil || n.GetStatus() == pb.StatusTombstoned
	if created || n.GetErased() {
		it, err := f.prepared(id, item)
		if err != nil {
			return nil, err
		}
		it.variant = id != f.part.NodeFor(op.GetContent())
		if err := f.take(it, created, n); err != nil {
			return nil, err
		}
	}
	ed := editOf(f.call)
	created = created || ed.created
	ed.created = created
	n = f.nodes[id]
	if n.GetStatus() == pb.StatusSuperseded {
		if err := f.revive(n, f.now); err != nil {
			return nil, err
		}
	}
	n.Authority = max(n.GetAuthority(), old.GetAuthority()+(1-old.GetAuthority())/4)
	if n.GetDomain() == "" {
		n.Domain = old.GetDomain()
	}
	f.touch(n)
	if err := f.moveEdges(pb.NodeID(op.GetId()), id); err != nil {
		return nil, err
	}
	f.retire(old, id, op.GetReason())
	edge, err := f.linkSuccessor(pb.NodeID(op.GetId()), id)
	if err != nil {
		return nil, err
	}
	f.batch.Audit(f.call.AuditOf("node.supersede", op.GetId()))
	if err := addGraphUpdated(f.batch, f.org, f.part, changeSuperseded, op.GetId(), 2); err != nil {
		return nil, err
	}
	data := map[string]any{"subject": f.part.EventSubject(), "nodeId": op.GetId(), "supersededBy": string(id)}
	if err := f.batch.Event(f.org, pb.EventBeliefSuperseded, f.part, data); err != nil {
		return nil, err
	}
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Superseded{Superseded: &pb.Superseded{
		OldNode: op.GetId(), NewNode: string(id), Edge: string(edge), Created: created, NewAuthority: n.GetAuthority(),
	}}}), nil
}

// take makes the node of a content: a new one, or one that was restored without it.
func (f *effect) take(it *prepared, created bool, n *pb.Node) error {
	if !created {
		was := n.GetStatus()
		if err := f.redescribe(it, n); err != nil {
			return err
		}
		if was == pb.StatusLive {
			f.note(it.node, actionRevived, "")
		}
		return nil
	}
	if err := f.create(it); err != nil {
		return err
	}
	f.nodes[it.node].Source.Type = pb.SourceSupersede
	return nil
}

// moveEdges lets the successor take a node's place among its neighbours: edges
// keep their ids and what they say. Where the successor has the same edge
// already, or is the neighbour itself, the old one ends where it is. What tells
// how the old node came about stays its own.
func (f *effect) moveEdges(old, id pb.NodeID) error {
	edges, err := f.edgesOfNode(old, append([]string{pb.StatusTombstoned}, edgeOrigins...)...)
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
		case f.full():
			return errUnfinished
		}
		moved := proto.CloneOf(e)
		moved.UpdatedMs = f.now
		if moved.GetSource() == string(old) {
			moved.Source = string(id)
		}
		if moved.GetTarget() == string(old) {
			moved.Target = string(id)
		}
		same, err := f.edgeOfTriple(tripleOf(moved))
		if err != nil {
			return err
		}
		if moved.GetSource() == moved.GetTarget() || same != nil && same.GetStatus() != pb.StatusTombstoned {
			if forgotten {
				continue
			}
			ended := proto.CloneOf(e)
			ended.Status, ended.ValidToMs, ended.UpdatedMs = pb.StatusSuperseded, f.now, f.now
			if err := f.putEdge(e, ended); err != nil {
				return err
			}
			continue
		}
		if same != nil {
			removeEdge(f.batch.Batch, f.part.Space, same)
		}
		if err := f.reconnect(e, moved); err != nil {
			return err
		}
	}
	return nil
}

// reconnect writes an edge that has other ends than before.
func (f *effect) reconnect(before, after *pb.Edge) error {
	if before.GetStatus() != pb.StatusTombstoned {
		if err := f.addDegree(-1, before); err != nil {
			return err
		}
	}
	drift.MoveEdge(f.state, before, nil)
	removeEdge(f.batch.Batch, f.part.Space, before)
	return f.putEdge(nil, after)
}

// supersession is the id of the edge from a node to its successor.
func supersession(old, by pb.NodeID) pb.EdgeID {
	return pb.EdgeID(string(old) + "_" + string(by) + "_" + typeSupersededBy)
}

// linkSuccessor writes that edge, or makes it live again.
func (f *effect) linkSuccessor(old, by pb.NodeID) (pb.EdgeID, error) {
	id := supersession(old, by)
	before, err := f.edge(id)
	if err != nil {
		return "", err
	}
	after := &pb.Edge{
		Id: string(id), Source: string(old), Target: string(by), Type: typeSupersededBy, Weight: 1, Confidence: 1,
		Origin: pb.OriginSupersede, Status: pb.StatusLive, ValidFromMs: f.now, CreatedMs: f.now, UpdatedMs: f.now,
	}
	if before != nil {
		after.CreatedMs = before.GetCreatedMs()
	}
	return id, f.putEdge(before, after)
}

// endSupersession ends that edge: the old node lives again.
func (f *effect) endSupersession(old, by pb.NodeID) error {
	before, err := f.edge(supersession(old, by))
	if err != nil || before == nil || before.GetStatus() != pb.StatusLive {
		return err
	}
	after := proto.CloneOf(before)
	after.Status, after.ValidToMs, after.UpdatedMs = pb.StatusSuperseded, f.now, f.now
	return f.putEdge(before, after)
}

// successor returns the live node that a person has put in the place of another,
// "" when there is none.
func (f *effect) successor(id pb.NodeID) (pb.NodeID, error) {
	n, err := f.node(id)
	for range maxSuccessors {
		if err != nil || n == nil || n.GetStatus() != pb.StatusSuperseded {
			return "", err
		}
		if n, err = f.node(pb.NodeID(n.GetSupersededBy())); err != nil || n == nil || n.GetSource().GetType() != pb.SourceSupersede {
			return "", err
		}
		if n.GetStatus() == pb.StatusLive {
			return pb.NodeID(n.GetId()), nil
		}
	}
	return "", nil
}

// standsByHand reports whether a document that says what it said before repeats
// what a person has changed since: then the change stands, as long as there is
// something in its place. Only other words of the document undo it.
func standsByHand(r storage.Reader, node func(pb.NodeID) (*pb.Node, error), part *partition.Ref, n *pb.Node, content string) (bool, error) {
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

func (f *effect) standsByHand(document pb.NodeID, content string) (bool, error) {
	if document == "" {
		return false, nil
	}
	n, err := f.node(document)
	if err != nil || n == nil {
		return false, err
	}
	return standsByHand(f.st, f.node, f.part, n, content)
}
