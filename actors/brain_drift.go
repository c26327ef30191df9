package actors

import (
	"cmp"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// A brain's drift is how far the graph has moved since the brain was trained. What
// the graph is made of are the live nodes that may be learned from, their passages,
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

// graphShare is what a node is of the graph, without its edges; the zero value:
// nothing.
type graphShare struct {
	nodes    uint64 // 1 or 0
	passages uint64
	first    uint64 // the number of its first passage: a node that is written anew has others
}

func graphShareOf(n *pb.Node) graphShare {
	if n.GetStatus() != pb.StatusLive || n.GetUnlearned() {
		return graphShare{}
	}
	s := graphShare{nodes: 1, passages: uint64(len(n.GetChunks()))}
	if s.passages > 0 {
		s.first = n.GetChunks()[0]
	}
	return s
}

func (s graphShare) size() uint64 { return s.nodes + s.passages }

// moveNode counts what became of a node.
func moveNode(state *pb.PartitionState, before, after graphShare) {
	if before.nodes != after.nodes {
		state.Came += after.nodes
		state.Went += before.nodes
	}
	if before.passages != after.passages || before.first != after.first {
		state.Came += after.passages
		state.Went += before.passages
	}
}

// inGraph reports whether an edge is of the graph that drifts. The likeness that a
// cycle finds is not: it follows from the passages, and comes when the cycle does.
func inGraph(e *pb.Edge) bool { return e.GetStatus() == pb.StatusLive && !foundAlike(e) }

// foundAlike reports whether an edge is a likeness that a cycle has found. A training
// finds its own.
func foundAlike(e *pb.Edge) bool {
	return e.GetType() == edgeSimilar && e.GetOrigin() == pb.OriginCognition
}

// moveEdge counts what became of an edge, which is nil where there is none.
func moveEdge(state *pb.PartitionState, before, after *pb.Edge) {
	switch was, is := inGraph(before), inGraph(after); {
	case is && !was:
		state.Came++
	case was && !is:
		state.Went++
	}
}

// drift is how far the graph has moved since a brain was trained, 0 to 1.
func drift(r storage.Reader, parts []*partition.Ref, artifact *pb.BrainArtifact) (float64, error) {
	var moved, all uint64
	seen := map[string]*pb.BrainSeen{}
	for _, s := range artifact.GetSeen() {
		seen[string(s.GetPartition())] = s
	}
	for _, part := range parts {
		now := &pb.PartitionState{}
		if _, err := r.Get(part.Space.Key(storage.TableState), now); err != nil {
			return 0, err
		}
		then := seen[string(part.ID.Bytes())]
		delete(seen, string(part.ID.Bytes()))
		came, went := now.GetCame(), now.GetWent()
		if came >= then.GetCame() && went >= then.GetWent() {
			came, went = came-then.GetCame(), went-then.GetWent()
		} else { // it was emptied, and counts anew
			went = sizeSeen(then)
		}
		moved += came + went
		all += came + sizeSeen(then)
	}
	for _, gone := range seen { // partitions that were erased
		moved += sizeSeen(gone)
		all += sizeSeen(gone)
	}
	if all == 0 {
		return 0, nil
	}
	return min(1, float64(moved)/float64(all)), nil
}

// sizeSeen is how much of a graph a training saw in a partition. One of an earlier
// version of this program has noted its passages only.
func sizeSeen(s *pb.BrainSeen) uint64 { return cmp.Or(s.GetSize(), s.GetChunks()) }
