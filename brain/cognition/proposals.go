package cognition

import "orgmem/brain/proposal"

const (
	// maxProposalNodes bounds the graph around what is new that is looked at.
	maxProposalNodes = 20_000
	// proposalSteps is how far from what is new links are looked for.
	proposalSteps = 2
)

// Around is the graph around some fresh chunks in which links may be missing, with the
// place in Nodes of each of its nodes; ask are the nodes of it that links are looked for
// of: the fresh texts, and the entities that they name.
func (g *Graph) Around(fresh []Chunk) (around *proposal.Graph, place, ask []int32) {
	touched := g.of(fresh)
	named := g.of(fresh)
	for _, e := range g.Edges { // what the new texts name
		if touched[e.A] && g.Nodes[e.B].Entity() && e.Kind == EdgeMentions {
			named[e.B] = true
		}
	}
	near := g.around(named, proposalSteps, maxProposalNodes)
	number := make([]int32, len(g.Nodes)) // in the graph that is looked at, plus one
	around = &proposal.Graph{Nodes: make([]proposal.Node, len(near))}
	for k, i := range near {
		n := &g.Nodes[i]
		around.Nodes[k] = proposal.Node{ID: n.ID, Title: n.Title, Kind: n.Kind, Text: len(n.Chunks) > 0}
		if number[i] = int32(k) + 1; named[i] {
			ask = append(ask, int32(k))
		}
	}
	for _, e := range g.Edges {
		if a, b := number[e.A], number[e.B]; a > 0 && b > 0 {
			around.Edges = append(around.Edges, proposal.Edge{A: a - 1, B: b - 1, Weight: e.Weight})
		}
	}
	return around, near, ask
}
