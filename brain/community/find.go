package community

// Graph is an undirected weighted graph.
type Graph struct {
	nodes int
}

// NewGraph builds a graph of nodes numbered from 0. Edges to a node itself are
// left out, as are those without a positive weight.
func NewGraph(nodes int, edges []Edge) *Graph { return &Graph{nodes: nodes} }

// Find cuts the graph into communities.
func Find(g *Graph, earlier Earlier, opts Options) Partition { return Partition{} }
