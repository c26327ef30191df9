package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// etagOf names a version of a node's own fields. It does not depend on the node's edges: an edit must not fail because
// one was added.
func etagOf(n *pb.Node) string {
	degree, grounds := n.GetDegree(), n.GetGrounds()
	n.Degree, n.Grounds = 0, nil // n is its reader's alone, and a copy would cost more than the rest
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	n.Degree, n.Grounds = degree, grounds
	if err != nil {
		panic(err) //nolint:forbidigo // it has been stored: only a message that is not UTF-8 fails
	}
	sum := sha256.Sum256(raw)
	tag := strconv.AppendInt([]byte{'"'}, n.GetUpdatedMs(), 10)
	return string(append(hex.AppendEncode(append(tag, '-'), sum[:8]), '"'))
}

// itemOf is the item that describes a node as it is. It leaves out a title that was made from the text, which is then
// made again.
func itemOf(n *pb.Node, content string) *pb.IngestItem {
	item := &pb.IngestItem{Content: content, Kind: n.GetKind(), OccurredMs: n.GetOccurredMs(), Metadata: n.GetMetadata()}
	if text.Title(item.GetTitle(), item.GetContent()) != n.GetTitle() {
		item.Title = n.GetTitle()
	}
	return item
}

// editNode changes fields of a live node. Its id stays the same, even with another content.
func (f *Tx) editNode(op *pb.EditNode) (*pb.Reply, error) {
	id := pb.NodeID(op.GetId())
	n, p, err := f.editable(id)
	switch {
	case err != nil:
		return nil, err
	case p != nil:
		return tenant.Refuse(p), nil
	case len(op.GetIfMatch()) > 0 && !slices.Contains(op.GetIfMatch(), "*") &&
		!slices.Contains(op.GetIfMatch(), etagOf(n)):
		return tenant.Refuse(tenant.NewProblem(pb.CodePreconditionFailed, "The node is at version %s.", etagOf(n))), nil
	}
	before := proto.CloneOf(n)
	text, err := f.Content(id)
	if err != nil {
		return nil, err
	}
	item := itemOf(n, text)
	if op.Content != nil {
		item.Content = op.GetContent()
	}
	if op.Title != nil {
		item.Title = op.GetTitle()
	}
	if op.Kind != nil {
		item.Kind = op.GetKind()
	}
	if op.Metadata != nil {
		item.Metadata = op.GetMetadata()
	}
	if op.Domain != nil && op.GetDomain() != n.GetDomain() {
		found, err := f.hasDomain(op.GetDomain())
		if err != nil {
			return nil, err
		}
		if !found {
			return tenant.Refuse(tenant.NewProblem(pb.CodeDomainNotFound, "There is no such domain.")), nil
		}
		n.Domain, n.Placed = op.GetDomain(), op.GetDomain() != ""
	}
	rewritten := item.GetContent() != text
	if rewritten || redescribed(n, item) {
		if err := f.rewrite(n, item); err != nil {
			return nil, err
		}
		n.Curated = true
	}
	if rewritten {
		f.PutContent(n, item.GetContent())
		if err := f.UpdateContentKey(n, text, item.GetContent()); err != nil {
			return nil, err
		}
	}
	changes := described(before, n)
	if rewritten {
		changes = append(changes, fieldChange("content", text, item.GetContent()))
	}
	if len(changes) > 0 {
		f.putUpdated(n)
		f.History.note(id, ActionUpdated, op.GetReason(), changes...)
		if err := f.announce("node.update", changeUpdated, op.GetId(), 1); err != nil {
			return nil, err
		}
	}
	return f.nodeReply(n, item.GetContent())
}

// rewrite gives a node what an item says. The time from which it holds stays.
func (f *Tx) rewrite(n *pb.Node, item *pb.IngestItem) error {
	if item.GetContent() == "" { // it was forgotten, and has nothing to be found by yet
		n.Kind, n.Title, n.Metadata = item.GetKind(), item.GetTitle(), item.GetMetadata()
		f.putUpdated(n)
		return nil
	}
	it, err := f.Prepared(pb.NodeID(n.GetId()), item)
	if err != nil {
		return err
	}
	since := n.GetValidFromMs()
	if err := f.redescribe(it, n); err != nil {
		return err
	}
	n.ValidFromMs = since
	return nil
}
