package graph

import (
	"errors"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// A content is held by one node: the one whose id is made from it. Editing breaks
// that in two ways, and both have a record in TableContentHash. A node that was
// edited holds a content that its id says nothing of; and the content that it
// held before, when it comes back, finds its id taken, and gets a variant of it.

// maxVariants bounds how often one content can come back after the node that held
// it was edited to hold another.
const maxVariants = 1000

var errTooManyVariants = errors.New("a content has come back too often")

// NodeOfContent returns the node that holds a content, or would, if there were one.
func NodeOfContent(r storage.Reader, part *partition.Ref, content string) (pb.NodeID, error) {
	raw, found, err := r.GetRaw(part.ContentKey(content))
	if err != nil || found {
		return pb.NodeID(raw), err
	}
	for n := range maxVariants {
		id, node := part.VariantFor(content, n), &pb.Node{}
		found, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(id)), node)
		if err != nil {
			return "", err
		}
		if !found || !node.GetEdited() { // also one that was forgotten: it lives again
			return id, nil
		}
	}
	return "", errTooManyVariants
}

// UpdateContentKey keeps the way from contents to nodes when what a node holds changes;
// empty: nothing. A content that another node holds already stays that one's.
// Events of sessions stand apart.
func (r *NodeRecords) UpdateContentKey(n *pb.Node, before, after string) error {
	id := pb.NodeID(n.GetId())
	if before != "" {
		key := r.Part.ContentKey(before)
		raw, found, err := r.Store.GetRaw(key)
		if err != nil {
			return err
		}
		if found && pb.NodeID(raw) == id {
			r.Batch.Delete(key)
		}
	}
	if after == "" {
		n.Edited = false
		return nil
	}
	if n.GetSource().GetType() == pb.SourceSession {
		n.Edited = true // nothing that is sent outside of its session is about it
		return nil
	}
	holder, err := NodeOfContent(r.Store, r.Part, after)
	if err != nil {
		return err
	}
	n.Edited = id != r.Part.NodeFor(after)
	if holder == id {
		return nil
	}
	other, err := r.Node(holder)
	if err != nil {
		return err
	}
	if other == nil || other.GetStatus() == pb.StatusTombstoned || other.GetErased() {
		r.Batch.PutRaw(r.Part.ContentKey(after), []byte(id))
	}
	return nil
}
