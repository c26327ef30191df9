// Package drift counts how far an organization's graph has moved since its brain was
// trained.
//
// What the graph is made of are the live nodes that may be learned from, their passages,
// and the live edges; each counts alike. A partition counts what comes into that and
// what goes, in the commit in which it does (PartitionState.came, went), so that the
// drift of an organization is read from one record of each of its partitions:
//
//	(came + went since the training) / (what there was at the training + came since)
//
// which is the distance of Jaccard between the two graphs, but for what came and went
// again, which counts as both. A supersession and a forgetting take the node, its
// passages and, as far as they do, its edges; an edit takes the passages that it
// replaces.
package drift

import (
	"cmp"

	"orgmem/brain/cognition"
	pb "orgmem/proto"
)

// Share is what a node is of the graph, without its edges; the zero value: nothing.
type Share struct {
	nodes    uint64 // 1 or 0
	passages uint64
	first    uint64 // the number of its first passage: a node that is written anew has others
}

// ShareOf returns a node's share; of nil, nothing.
func ShareOf(n *pb.Node) Share {
	if n.GetStatus() != pb.StatusLive || n.GetUnlearned() {
		return Share{}
	}
	s := Share{nodes: 1, passages: uint64(len(n.GetChunks()))}
	if s.passages > 0 {
		s.first = n.GetChunks()[0]
	}
	return s
}

// Size is how many things of the graph a share is.
func (s Share) Size() uint64 { return s.nodes + s.passages }

// MoveNode counts what became of a node.
func MoveNode(state *pb.PartitionState, before, after Share) {
	if before.nodes != after.nodes {
		state.Came += after.nodes
		state.Went += before.nodes
	}
	if before.passages != after.passages || before.first != after.first {
		state.Came += after.passages
		state.Went += before.passages
	}
}

// InGraph reports whether an edge is of the graph that drifts. The likeness that a
// cycle finds is not: it follows from the passages, and comes when the cycle does.
func InGraph(e *pb.Edge) bool { return e.GetStatus() == pb.StatusLive && !FoundAlike(e) }

// FoundAlike reports whether an edge is a likeness that a cycle has found. A training
// finds its own.
func FoundAlike(e *pb.Edge) bool {
	return e.GetType() == cognition.EdgeSimilar && e.GetOrigin() == pb.OriginCognition
}

// MoveEdge counts what became of an edge; nil is an edge that does not exist.
func MoveEdge(state *pb.PartitionState, before, after *pb.Edge) {
	switch was, is := InGraph(before), InGraph(after); {
	case is && !was:
		state.Came++
	case was && !is:
		state.Went++
	}
}

// Rate is how far the graph has moved since a training, 0 to 1. seen is what the
// training noted of the partitions, now what they count today, by the bytes of their
// ids. A partition that only seen has is erased.
func Rate(seen []*pb.BrainSeen, now map[string]*pb.PartitionState) float64 {
	var moved, all uint64
	before := map[string]*pb.BrainSeen{}
	for _, s := range seen {
		before[string(s.GetPartition())] = s
	}
	for id, state := range now {
		then := before[id]
		delete(before, id)
		came, went := state.GetCame(), state.GetWent()
		if came >= then.GetCame() && went >= then.GetWent() {
			came, went = came-then.GetCame(), went-then.GetWent()
		} else { // it was emptied, and counts anew
			went = sizeSeen(then)
		}
		moved += came + went
		all += came + sizeSeen(then)
	}
	for _, gone := range before { // partitions that were erased
		moved += sizeSeen(gone)
		all += sizeSeen(gone)
	}
	if all == 0 {
		return 0
	}
	return min(1, float64(moved)/float64(all))
}

// sizeSeen is how much of a graph a training saw in a partition. One of an earlier
// version of this program has noted its passages only.
func sizeSeen(s *pb.BrainSeen) uint64 { return cmp.Or(s.GetSize(), s.GetChunks()) }
