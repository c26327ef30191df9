package graph

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	"orgmem/brain/drift"
	pb "orgmem/proto"
	"orgmem/storage"
)

// NodeRecords are the nodes that a transaction has looked at, with what it has changed of them. The records are written
// once, at its end: a slice may change one node for each of its items.
type NodeRecords struct {
	*Pending
	Nodes        map[pb.NodeID]*pb.Node    // as they are now; nil: there is none
	storedPlaces map[pb.NodeID]NodePlace   // where they are in the lists, as stored
	storedShares map[pb.NodeID]drift.Share // what they count for in the graph's drift, as stored
	changed      []pb.NodeID
	isChanged    map[pb.NodeID]bool // the same as a set
}

func newNodeRecords(p *Pending) NodeRecords {
	return NodeRecords{
		Pending: p, Nodes: map[pb.NodeID]*pb.Node{}, storedPlaces: map[pb.NodeID]NodePlace{},
		storedShares: map[pb.NodeID]drift.Share{}, isChanged: map[pb.NodeID]bool{},
	}
}

// Node returns the current record, or nil.
func (r *NodeRecords) Node(id pb.NodeID) (*pb.Node, error) {
	if n, ok := r.Nodes[id]; ok {
		return n, nil
	}
	n := &pb.Node{}
	found, err := r.Store.Get(r.Part.Space.Key(storage.TableNode, storage.Str(id)), n)
	if err != nil {
		return nil, err
	}
	if !found {
		n = nil
	}
	r.Nodes[id], r.storedPlaces[id], r.storedShares[id] = n, PlaceOf(n), drift.ShareOf(n)
	return n, nil
}

// putUpdated changes a node, and says that it was updated now.
func (r *NodeRecords) putUpdated(n *pb.Node) {
	n.UpdatedMs = r.NowMs
	r.PutNodeRecord(n)
}

// PutNodeRecord changes a node without saying that it was updated, such as its degree.
func (r *NodeRecords) PutNodeRecord(n *pb.Node) {
	id := pb.NodeID(n.GetId())
	r.Nodes[id] = n
	if !r.isChanged[id] {
		r.isChanged[id] = true
		r.changed = append(r.changed, id)
		r.deferredBytes += proto.Size(n)
	}
}

// RemoveNode takes a node's record and its entries in lists away. What else belongs to it (content, chunks, edges,
// history) is the caller's.
func (r *NodeRecords) RemoveNode(id pb.NodeID) {
	RemoveNode(r.Batch.Batch, r.Part.Space, r.storedPlaces[id], id)
}

// dropNode is RemoveNode for a node that others of the transaction may ask for: they find none.
func (r *NodeRecords) dropNode(n *pb.Node) {
	id := pb.NodeID(n.GetId())
	r.RemoveNode(id)
	r.PutNodeRecord(n) // it is among what changed,
	r.Nodes[id] = nil  // as nothing
	r.storedPlaces[id] = NodePlace{}
}

// writeNodes puts the changed nodes into the batch.
func (r *NodeRecords) writeNodes() {
	for _, id := range r.changed {
		n := r.Nodes[id]
		drift.MoveNode(r.State, r.storedShares[id], drift.ShareOf(n))
		if n != nil { // else it was removed
			PutNode(r.Batch.Batch, r.Part.Space, r.storedPlaces[id], n)
		}
	}
}

// domainChanges counts by how many live nodes each domain grows or shrinks.
func (r *NodeRecords) domainChanges() map[string]int {
	by := map[string]int{}
	for _, id := range r.changed {
		if was := r.storedPlaces[id]; was.domain != "" && was.status == pb.StatusLive {
			by[was.domain]--
		}
		if n := r.Nodes[id]; n.GetDomain() != "" && n.GetStatus() == pb.StatusLive {
			by[n.GetDomain()]++
		}
	}
	return by
}

// editable returns a node that can be edited, or why it cannot be.
func (r *NodeRecords) editable(id pb.NodeID) (*pb.Node, *pb.Problem, error) {
	n, err := r.Node(id)
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

// StillHolds reports whether a node still carries what a cycle found in it: it is live, may be learned from, and has
// the chunk. Chunk 0 is any.
func (r *NodeRecords) StillHolds(id pb.NodeID, chunk uint64) (bool, error) {
	n, err := r.Node(id)
	return err == nil && Holds(n, chunk), err
}

// Holds tells whether something may be derived from a node, and whether it still has the chunk, unless that is 0.
func Holds(n *pb.Node, chunk uint64) bool {
	return n.GetStatus() == pb.StatusLive && !n.GetUnlearned() && (chunk == 0 || slices.Contains(n.GetChunks(), chunk))
}

// StillHolding returns those of some nodes of which StillHolds is true.
func (r *NodeRecords) StillHolding(ids []string) (still []string, err error) {
	for _, id := range ids {
		ok, err := r.StillHolds(pb.NodeID(id), 0)
		if err != nil {
			return nil, err
		}
		if ok {
			still = append(still, id)
		}
	}
	return still, nil
}

// successor returns the live node that a person has put in the place of another,
// "" when there is none.
func (r *NodeRecords) successor(id pb.NodeID) (pb.NodeID, error) {
	n, err := r.Node(id)
	for range maxSuccessors {
		if err != nil || n == nil || n.GetStatus() != pb.StatusSuperseded {
			return "", err
		}
		if n, err = r.Node(pb.NodeID(n.GetSupersededBy())); err != nil || n == nil ||
			n.GetSource().GetType() != pb.SourceSupersede {
			return "", err
		}
		if n.GetStatus() == pb.StatusLive {
			return pb.NodeID(n.GetId()), nil
		}
	}
	return "", nil
}

// standsByHand is StandsByHand for the node that a document means so far, "" when it means none.
func (r *NodeRecords) standsByHand(document pb.NodeID, content string) (bool, error) {
	if document == "" {
		return false, nil
	}
	n, err := r.Node(document)
	if err != nil || n == nil {
		return false, err
	}
	return StandsByHand(r.Store, r.Node, r.Part, n, content)
}
