package graph

import (
	"errors"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// A content is held by one node, whose id is made from the content. Editing breaks that in two ways, and
// TableContentHash has a record for both. An edited node holds a content that its id was not made from. And when the
// content that it held before comes back, its id is taken, so it gets a variant of that id.

// maxVariants bounds how often one content can come back after its node was edited to hold another.
const maxVariants = 1000

var errTooManyVariants = errors.New("a content has come back too often")

// NodeOfContent returns the id of the node that holds a content, or of the one that would be made for it.
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

// UpdateContentKey changes the entries that lead from contents to nodes when a node gets another content; empty means
// none. A content that another node holds already stays that node's. Events of sessions have no entries.
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
