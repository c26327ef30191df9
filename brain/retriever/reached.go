package retriever

// node of a walk: passages, then concepts, then domains.
type node = int32

// reached are the nodes that a walk has come to, with what it knows of each. They have
// local numbers, in the order in which it came.
type reached struct {
	g *Graph

	local []int32 // of nodes of the graph; local[n] is valid where mark[n] is now
	mark  []uint32
	now   uint32

	nodes   []node
	origin  []int32 // the seed that a local node is, or -1
	seed    []Seed  // of local nodes that are passages
	scored  []bool
	start   []float64            // activation before the first step
	act     [steps + 1][]float64 // by step and local node
	further []further            // of local nodes
	looked  int                  // local nodes that look has seen
	missing []int32              // passages that look asks for
}

func newReached(g *Graph) reached {
	n := len(g.docOf) + len(g.concept) + len(g.large)
	return reached{g: g, local: make([]int32, n), mark: make([]uint32, n)}
}

// clear forgets the nodes, for the next walk.
func (r *reached) clear() {
	r.now++
	r.nodes, r.origin, r.seed, r.scored = r.nodes[:0], r.origin[:0], r.seed[:0], r.scored[:0]
	r.start, r.further, r.looked = r.start[:0], r.further[:0], 0
	for t := range r.act {
		r.act[t] = r.act[t][:0]
	}
}

// at gives the local number of a node, which is reached with that.
func (r *reached) at(n node) int32 {
	i := int32(len(r.nodes))
	if n != Unknown {
		if r.mark[n] == r.now {
			return r.local[n]
		}
		r.mark[n], r.local[n] = r.now, i
	}
	r.nodes = append(r.nodes, n)
	r.seed = append(r.seed, Seed{Passage: n})
	r.scored = append(r.scored, false)
	r.origin = append(r.origin, -1)
	r.start = append(r.start, 0)
	r.further = append(r.further, further{})
	for t := range r.act {
		r.act[t] = append(r.act[t], 0)
	}
	return i
}

func (r *reached) isPassage(i int32) bool { return int(r.nodes[i]) < len(r.g.docOf) }

func (r *reached) isDomain(i int32) bool { return int(r.nodes[i]) >= len(r.g.docOf)+len(r.g.concept) }

// docOf gives the document of a local node that is a passage, or Unknown.
func (r *reached) docOf(i int32) int32 {
	if n := r.nodes[i]; n != Unknown {
		return r.g.docOf[n]
	}
	return Unknown
}

// look asks for the scores of the passages that were reached for the first time.
func (r *reached) look(q *Question) {
	r.missing = r.missing[:0]
	for i := r.looked; i < len(r.nodes); i++ {
		if !r.scored[i] && r.isPassage(int32(i)) {
			r.missing = append(r.missing, r.nodes[i])
		}
	}
	r.looked = len(r.nodes)
	if len(r.missing) == 0 {
		return
	}
	for _, s := range q.Score(r.missing) {
		i := r.local[s.Passage]
		r.seed[i], r.scored[i] = s, true
	}
}
