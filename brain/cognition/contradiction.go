package cognition

import (
	"orgmem/brain/conflict"
	pb "orgmem/proto"
)

// Contradiction is a contradiction between two chunks.
type Contradiction struct {
	A, B    Chunk
	Finding conflict.Finding
}

// Gravest keeps of the contradictions that were found one for each pair of nodes: the
// first of the gravest. They stand in the order in which their pairs were found first.
func (g *Graph) Gravest(found [][]Contradiction) []Contradiction {
	type pair [2]pb.NodeID
	at := map[pair]int{}
	var out []Contradiction
	for _, list := range found {
		for _, x := range list {
			a, b := g.Nodes[x.A.Node].ID, g.Nodes[x.B.Node].ID
			p := pair{min(a, b), max(a, b)}
			i, known := at[p]
			switch {
			case !known:
				at[p] = len(out)
				out = append(out, x)
			case x.Finding.Severity > out[i].Finding.Severity:
				out[i] = x
			}
		}
	}
	return out
}
