package retriever

import (
	"cmp"
	"maps"
	"slices"

	"orgmem/brain/community"
	pb "orgmem/proto"
)

const (
	// MaxTies bounds the ties of a source, and of a shape.
	MaxTies = 1_000_000
	// maxSuperseded is how often in a row something may be superseded to be one example.
	maxSuperseded = 16
)

// Shape is what of a partition's graph its domains are cut from. Which texts are
// alike, and what belongs together, depends in the stored graph on the order in which
// texts came and on what has been forgotten since: a cycle joins what is new with what
// is there, and keeps the domains that people know. A brain must know nothing of that,
// so a training finds both anew, out of the content as it is now.
type Shape struct {
	nodes []pb.NodeID // in the order in which Hold got them
	at    map[pb.NodeID]int32
	edges []community.Edge
	// placed are the nodes that people have put into domains, by domain: what they have
	// put together is one for a brain, beside those that it finds.
	placed map[string]Domain
	// apart are the pairs of which a person has forgotten that they are alike.
	apart map[[2]pb.NodeID]bool
}

// NewShape returns an empty shape.
func NewShape() *Shape {
	return &Shape{at: map[pb.NodeID]int32{}, placed: map[string]Domain{}, apart: map[[2]pb.NodeID]bool{}}
}

// Hold takes a node in. Nodes come in the order of their ids.
func (s *Shape) Hold(n *pb.Node) {
	id := pb.NodeID(n.GetId())
	s.at[id] = int32(len(s.nodes))
	s.nodes = append(s.nodes, id)
	if n.GetPlaced() {
		s.placed[n.GetDomain()] = append(s.placed[n.GetDomain()], id)
	}
}

// Join takes an edge in whose ends the shape holds. Of its weight at most 1 counts.
func (s *Shape) Join(from, to pb.NodeID, tie community.Tie, weight float64) {
	a, known := s.at[from]
	b, also := s.at[to]
	if !known || !also || weight <= 0 || len(s.edges) == MaxTies {
		return
	}
	s.edges = append(s.edges, community.Edge{A: a, B: b, Tie: tie, Weight: float32(min(weight, 1))})
}

// KeepApart notes that a person has forgotten that two texts are alike.
func (s *Shape) KeepApart(a, b pb.NodeID) { s.apart[[2]pb.NodeID{min(a, b), max(a, b)}] = true }

// Domains cuts the shape into domains (package community), beside which those of people
// stand, in the order of their names.
func (s *Shape) Domains() []Domain {
	slices.SortFunc(s.edges, func(x, y community.Edge) int { // they came by their ids, which are drawn
		return cmp.Or(
			cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(x.Tie, y.Tie), cmp.Compare(x.Weight, y.Weight))
	})
	found := community.Find(community.NewGraph(len(s.nodes), s.edges), community.Earlier{}, community.Options{})
	out := make([]Domain, len(found.Communities))
	for i, of := range found.Of {
		if of != community.None {
			out[of] = append(out[of], s.nodes[i])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.placed)) {
		out = append(out, s.placed[name])
	}
	return out
}

// JoinSimilar makes ties of what was found near to the passages of each document: to the
// nearest few others, unless a person has taken that back. near has for each passage the
// documents that are near to it, docs the passage's own document, and shapeOf gives the
// shape of a passage's partition, which gets the ties, too.
func (s *Source) JoinSimilar(near [][]community.Neighbour, docs []int32, shapeOf func(passage int) *Shape) {
	type joint struct {
		a, b  int32
		shape *Shape
	}
	var order []joint
	joined := map[[2]int32]float64{}
	for p := 0; p < len(near); {
		doc, best := docs[p], community.Neighbours{}
		shape := shapeOf(p)
		for ; p < len(near) && docs[p] == doc; p++ {
			for _, x := range near[p] {
				best.Add(x)
			}
		}
		maps.DeleteFunc(best, func(other int32, _ float64) bool {
			a, b := s.Documents[doc].ID, s.Documents[other].ID
			return shape.apart[[2]pb.NodeID{min(a, b), max(a, b)}]
		})
		for _, x := range best.Nearest() {
			pair := [2]int32{min(doc, x.Other), max(doc, x.Other)}
			if _, known := joined[pair]; !known {
				order = append(order, joint{doc, x.Other, shape})
			}
			joined[pair] = max(joined[pair], min(x.Cosine, 1))
		}
	}
	for _, x := range order {
		if len(s.Ties) == MaxTies {
			return
		}
		a, b := s.Documents[x.a].ID, s.Documents[x.b].ID
		cosine := joined[[2]int32{min(x.a, x.b), max(x.a, x.b)}]
		s.Ties = append(s.Ties, Tie{From: a, To: b, Kind: TieSimilar, Weight: float32(cosine)})
		x.shape.Join(a, b, community.Similar, cosine)
	}
}

// FollowFormer finds what stands in the place of the former documents now: what has
// superseded one may be superseded itself.
func (s *Source) FollowFormer() {
	by := make(map[pb.NodeID]pb.NodeID, len(s.Former))
	for _, f := range s.Former {
		by[f.ID] = f.By
	}
	for i := range s.Former {
		f := &s.Former[i]
		for range maxSuperseded {
			next, ok := by[f.By]
			if !ok {
				break
			}
			f.By = next
		}
	}
}
