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
	"orgmem/storage"
)

// etagOf names a version of a node's own fields. Edges come and go without it: an
// edit that was made on what the node says must not fail because of them.
func etagOf(n *pb.Node) string {
	degree := n.GetDegree()
	n.Degree = 0 // n is its reader's alone, and a copy would cost more than the rest
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(n)
	n.Degree = degree
	if err != nil {
		panic(err) //nolint:forbidigo // it has been stored: only a message that is not UTF-8 fails
	}
	sum := sha256.Sum256(raw)
	tag := strconv.AppendInt([]byte{'"'}, n.GetUpdatedMs(), 10)
	return string(append(hex.AppendEncode(append(tag, '-'), sum[:8]), '"'))
}

// Content returns what a node holds, empty when it holds nothing.
func (f *Tx) Content(id pb.NodeID) (string, error) {
	c := &pb.Content{}
	_, err := f.Store.Get(f.Part.Space.Key(storage.TableContent, storage.Str(id)), c)
	return c.GetText(), err
}

// editable returns a node that can be edited, or why it cannot be.
func (f *Tx) editable(id pb.NodeID) (*pb.Node, *pb.Problem, error) {
	n, err := f.Node(id)
	switch {
	case err != nil:
		return nil, nil, err
	case n == nil, n.GetStatus() == pb.StatusTombstoned:
		return nil, nodeNotFound(), nil
	case n.GetStatus() == pb.StatusSuperseded:
		return nil, tenant.NewProblem(pb.CodeAlreadySuperseded,
			"The node has been superseded by %q.", n.GetSupersededBy()), nil
	}
	return n, nil, nil
}

// itemOf is the item that describes a node as it is. A title that was made from
// the text is left to be made again.
func itemOf(n *pb.Node, content string) *pb.IngestItem {
	item := &pb.IngestItem{Content: content, Kind: n.GetKind(), OccurredMs: n.GetOccurredMs(), Metadata: n.GetMetadata()}
	if text.Title(item.GetTitle(), item.GetContent()) != n.GetTitle() {
		item.Title = n.GetTitle()
	}
	return item
}

// editNode changes fields of a live node. Its id stays, whatever it holds.
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
		f.note(id, ActionUpdated, op.GetReason(), changes...)
		f.Batch.Audit(f.Call.AuditOf("node.update", op.GetId()))
		if err := AddGraphUpdated(f.Batch, f.Org, f.Part, changeUpdated, op.GetId(), 1); err != nil {
			return nil, err
		}
	}
	return f.nodeReply(n, item.GetContent()), nil
}

// rewrite makes a node what an item says, but for when it began to hold.
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

// hasDomain reports whether there is a domain; no domain at all is one.
func (f *Tx) hasDomain(name string) (bool, error) {
	if name == "" {
		return true, nil
	}
	id, err := pb.ParseDomainID(name)
	if err != nil {
		return false, nil //nolint:nilerr // what is no id names no domain
	}
	return f.Store.Get(f.Part.Space.Key(storage.TableDomain, storage.ID16(id)), &pb.Domain{})
}

// nodeReply answers a node as it is after the edit.
func (f *Tx) nodeReply(n *pb.Node, content string) *pb.Reply {
	info := nodeInfo(f.Part, n)
	info.Content = content
	return &pb.Reply{Result: &pb.Reply_Node{Node: info}}
}
