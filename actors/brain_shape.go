package actors

import (
	"cmp"
	"maps"
	"slices"

	"orgmem/brain/community"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
)

// likeBatch is for how many passages one CPU task looks for the nearest others: some
// 20 ms.
const likeBatch = 32

// brainShape is what of a partition's graph its domains are cut from. Which texts are
// alike, and what belongs together, depends in the stored graph on the order in which
// texts came and on what has been forgotten since: a cycle joins what is new with what
// is there, and keeps the domains that people know. A brain must know nothing of that,
// so a training finds both anew, out of the content as it is now.
type brainShape struct {
	nodes []pb.NodeID // in the order of their ids
	at    map[pb.NodeID]int32
	edges []community.Edge
	// placed are the nodes that people have put into domains, by domain: what they have
	// put together is one for a brain, beside those that it finds.
	placed map[string]retriever.Domain
	// apart are the pairs of which a person has forgotten that they are alike.
	apart map[[2]pb.NodeID]bool
}

func newBrainShape() *brainShape {
	return &brainShape{at: map[pb.NodeID]int32{}, placed: map[string]retriever.Domain{}, apart: map[[2]pb.NodeID]bool{}}
}

// hold takes a node in.
func (s *brainShape) hold(n *pb.Node) {
	id := pb.NodeID(n.GetId())
	s.at[id] = int32(len(s.nodes))
	s.nodes = append(s.nodes, id)
	if n.GetPlaced() {
		s.placed[n.GetDomain()] = append(s.placed[n.GetDomain()], id)
	}
}

// join takes an edge in whose ends the shape holds.
func (s *brainShape) join(from, to pb.NodeID, kind edgeType, weight float64) {
	a, known := s.at[from]
	b, also := s.at[to]
	if !known || !also || weight <= 0 || len(s.edges) == maxBrainTies {
		return
	}
	t, ok := ties[kind]
	if !ok {
		t = community.Related
	}
	s.edges = append(s.edges, community.Edge{A: a, B: b, Tie: t, Weight: float32(min(weight, 1))})
}

// domains cuts the shape.
func (s *brainShape) domains() []retriever.Domain {
	slices.SortFunc(s.edges, func(x, y community.Edge) int { // they came by their ids, which are drawn
		return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B), cmp.Compare(x.Tie, y.Tie), cmp.Compare(x.Weight, y.Weight))
	})
	found := community.Find(community.NewGraph(len(s.nodes), s.edges), community.Earlier{}, community.Options{})
	out := make([]retriever.Domain, len(found.Communities))
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

// alike joins each text with the nearest others of its partition, as cycles do.
func (r *trainRun) alike(st *storage.Store, parts []*partitionRef, src *brainSource, snapshots []*index.Snapshot) error {
	near := make([][]likeness, len(src.places)) // by passage, the nearest documents
	docs := make([]int32, 0, len(src.places))
	for d := range src.Documents {
		for range src.Documents[d].Passages {
			docs = append(docs, int32(d))
		}
	}
	byID := make(map[pb.NodeID]int32, len(src.Documents))
	for d := range src.Documents {
		byID[src.Documents[d].ID] = int32(d)
	}
	var tasks []func(int) error
	for from := 0; from < len(near); from += likeBatch {
		tasks = append(tasks, func(worker int) error {
			own := &r.org.sys.computers[worker].comparer
			for p := from; p < min(from+likeBatch, len(near)); p++ {
				at := src.places[p]
				q, err := r.likenessOf(st, parts[at.part], at.seq)
				if err != nil {
					return err
				}
				if q == nil { // it is like nothing; those behind it may be
					continue
				}
				for _, x := range own.scratch.Candidates(snapshots[at.part:at.part+1], q) {
					if d, ok := byID[x.Node]; ok && d != docs[p] && x.Vector >= leastSimilar {
						near[p] = append(near[p], likeness{d, float64(x.Vector)})
					}
				}
				own.scratch.Reset()
			}
			return nil
		})
	}
	if err := r.compute(tasks...); err != nil {
		return err
	}
	src.join(near, docs)
	return nil
}

// likenessOf asks for what is near to a chunk; nil where it has no vector.
func (r *trainRun) likenessOf(st *storage.Store, part *partitionRef, seq uint64) (*index.Query, error) {
	now, err := r.org.sys.parts.get(st, part, r.org.sys.dim)
	if err != nil {
		return nil, err
	}
	model := now.state.GetModel()
	v, err := readVector(st, part, model, seq)
	if err != nil || v == nil {
		return nil, err
	}
	return r.org.sys.likenessQuery(model, v), nil
}

// join makes ties of what was found near to the passages of each document: to the
// nearest few others, as far as no person has taken that back.
func (src *brainSource) join(near [][]likeness, docs []int32) {
	type joint struct {
		a, b  int32
		shape *brainShape
	}
	var order []joint
	joined := map[[2]int32]float64{}
	for p := 0; p < len(near); {
		doc, best := docs[p], map[int32]float64{}
		shape := src.shapes[src.places[p].part]
		for ; p < len(near) && docs[p] == doc; p++ {
			for _, x := range near[p] {
				best[x.other] = max(best[x.other], x.cosine)
			}
		}
		found := make([]likeness, 0, len(best))
		for other, cosine := range best {
			a, b := src.Documents[doc].ID, src.Documents[other].ID
			if !shape.apart[[2]pb.NodeID{min(a, b), max(a, b)}] {
				found = append(found, likeness{other, cosine})
			}
		}
		slices.SortFunc(found, func(x, y likeness) int { return cmp.Or(cmp.Compare(y.cosine, x.cosine), cmp.Compare(x.other, y.other)) })
		for _, x := range found[:min(len(found), maxSimilar)] {
			pair := [2]int32{min(doc, x.other), max(doc, x.other)}
			if _, known := joined[pair]; !known {
				order = append(order, joint{doc, x.other, shape})
			}
			joined[pair] = max(joined[pair], min(x.cosine, 1))
		}
	}
	for _, x := range order {
		if len(src.Ties) == maxBrainTies {
			return
		}
		a, b, cosine := src.Documents[x.a].ID, src.Documents[x.b].ID, joined[[2]int32{min(x.a, x.b), max(x.a, x.b)}]
		src.Ties = append(src.Ties, retriever.Tie{From: a, To: b, Kind: retriever.TieSimilar, Weight: float32(cosine)})
		x.shape.join(a, b, edgeSimilar, cosine)
	}
}
