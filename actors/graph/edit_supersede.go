package graph

import (
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxSuccessors bounds the chain of nodes that people have put in the place of a document's content, one after the
	// other.
	maxSuccessors = 32
)

// supersedeNode puts another content in a node's place: in a new node, or the one that holds it already. The old node
// stays readable and leaves search.
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
	if err := f.announce("node.supersede", changeSuperseded, op.GetId(), 2); err != nil {
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

// take makes the node of a content: a new one, or one that was restored without its content.
func (f *Tx) take(it *Prepared, created bool, n *pb.Node) error {
	if !created {
		was := n.GetStatus()
		if err := f.redescribe(it, n); err != nil {
			return err
		}
		if was == pb.StatusLive {
			f.History.note(it.Node, ActionRevived, "")
		}
		return nil
	}
	if err := f.create(it); err != nil {
		return err
	}
	f.Nodes[it.Node].Source.Type = pb.SourceSupersede
	return nil
}

// StandsByHand reports whether a document only repeats what a person has changed since. Then the change stands, as long
// as a live node is in the place of the old content. Only new words of the document undo it.
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
