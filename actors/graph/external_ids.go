package graph

import (
	"slices"

	pb "orgmem/proto"
	"orgmem/storage"
)

// ExternalIDs are the nodes that a client's own ids of documents mean, as the transaction leaves them.
type ExternalIDs struct {
	*Pending
	nodes map[pb.ExternalID]pb.NodeID // those that were asked for
}

// Resolve returns the node that an external id means, "" when it is new.
func (x *ExternalIDs) Resolve(ext pb.ExternalID) (pb.NodeID, error) {
	if id, ok := x.nodes[ext]; ok {
		return id, nil
	}
	r := &pb.ExternalRef{}
	_, err := x.Store.Get(x.Part.Space.Key(storage.TableExternalID, storage.Str(ext)), r)
	if err != nil {
		return "", err
	}
	x.nodes[ext] = pb.NodeID(r.GetNode())
	return x.nodes[ext], nil
}

// Put makes an external id mean a node.
func (x *ExternalIDs) Put(ext pb.ExternalID, id pb.NodeID) {
	x.nodes[ext] = id
	x.Batch.Put(x.Part.Space.Key(storage.TableExternalID, storage.Str(ext)), &pb.ExternalRef{Node: string(id)})
}

// keepCurrent takes out of a node's record the external ids that have moved on to other content.
func (x *ExternalIDs) keepCurrent(n *pb.Node) error {
	kept := n.Source.ExternalIds[:0]
	for _, id := range n.GetSource().GetExternalIds() {
		current, err := x.Resolve(pb.ExternalID(id))
		if err != nil {
			return err
		}
		if string(current) == n.GetId() {
			kept = append(kept, id)
		}
	}
	n.Source.ExternalIds = kept
	return nil
}

// heldByAnother reports whether a document other than ext still has a node's content.
func (x *ExternalIDs) heldByAnother(n *pb.Node, ext pb.ExternalID) (bool, error) {
	for _, other := range n.GetSource().GetExternalIds() {
		if other == string(ext) {
			continue
		}
		if current, err := x.Resolve(pb.ExternalID(other)); err != nil || string(current) == n.GetId() {
			return err == nil, err
		}
	}
	return false, nil
}

// erase takes a node's external ids out of the store: the entries that lead from them to it, and their mention in the
// outcomes of jobs. That includes outcomes of other nodes, which the same document held before.
func (x *ExternalIDs) erase(n *pb.Node) error {
	ids := n.GetSource().GetExternalIds()
	if len(ids) == 0 {
		return nil
	}
	for _, id := range ids {
		current, err := x.Resolve(pb.ExternalID(id))
		if err != nil {
			return err
		}
		if string(current) == n.GetId() { // else it has moved on to another content
			x.Batch.Erase(x.Part.Space.Key(storage.TableExternalID, storage.Str(id)))
		}
	}
	for rec, err := range storage.ScanRecords(x.Store, x.Part.Space.Prefix(storage.TableJobItem), storage.ScanOptions{},
		func() *pb.JobItem { return &pb.JobItem{} }) {
		if err != nil {
			return err
		}
		if ext := rec.Value.GetExternalId(); ext != "" && (rec.Value.GetNode() == n.GetId() || slices.Contains(ids, ext)) {
			rec.Value.ExternalId = ""
			x.Batch.Erase(rec.Key)
			x.Batch.Put(rec.Key, rec.Value)
		}
	}
	return nil
}
