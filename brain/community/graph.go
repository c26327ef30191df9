package community

import (
	"math"
	"slices"
)

// Graph is an undirected weighted graph in compressed rows. It is read only.
type Graph struct {
	rows   []int32 // node v's neighbours are to[rows[v]:rows[v+1]]
	to     []int32
	weight []float64
	degree []float64 // sum of a node's weights, a loop counted twice
	loops  []float64 // weight inside an aggregated node
	total  float64   // sum of all degrees, 2m
	named  []bool    // the node is an entity that passages mention
	texts  int       // nodes with a tie of [Near]
}

// How kinds of edges weigh against each other. A passage has some ten similar
// ones and names a few entities, so a strong similarity and a telling mention
// count alike; what merely follows says little.
const (
	weightMention = 0.5
	weightRelated = 0.5
	weightFollows = 0.25
	// entitiesOfFew takes weight from the ties of entities in a graph of few texts: a
	// note that names two people would be torn from its theme by them.
	entitiesOfFew = 0.1
	// farApart is the cosine from which two passages have something in common:
	// below, sentence models see little but that both are sentences.
	farApart = 0.3
)

// weigh turns an edge's weight into one of the graph. busy is how many mentions
// its entity has.
func (e *Edge) weigh(busy int32) float64 {
	w := float64(e.Weight)
	switch e.Tie {
	case Similar:
		// The square tells near from very near, which the cosine hardly does.
		w = max(0, w-farApart) / (1 - farApart)
		return w * w
	case Mentions:
		// What a thousand passages name is no topic: all its edges together grow with
		// the root of their number only.
		return weightMention * w / math.Sqrt(float64(max(busy, 1)))
	case Related:
		return weightRelated * w
	case Follows:
		return weightFollows * w
	case Alike:
		return w
	default:
		return 0
	}
}

// NewGraph builds a graph of nodes numbered from 0. Edges to a node itself, beyond
// the nodes, or without a positive weight are left out.
func NewGraph(nodes int, edges []Edge) *Graph {
	busy := make([]int32, nodes)
	named := make([]bool, nodes)
	few := slices.ContainsFunc(edges, func(e Edge) bool { return e.Tie == Alike })
	alike := make([]bool, nodes)
	fits := func(e *Edge) bool {
		return e.A != e.B && e.A >= 0 && e.B >= 0 && int(e.A) < nodes && int(e.B) < nodes && e.Weight > 0 &&
			!(few && e.Tie == Similar)
	}
	rows := make([]int32, nodes+1)
	for i := range edges {
		e := &edges[i]
		if !fits(e) {
			continue
		}
		switch e.Tie {
		case Mentions:
			busy[e.B]++
			named[e.B] = true
		case Alike:
			alike[e.A], alike[e.B] = true, true
		default:
		}
		rows[e.A+1]++
		rows[e.B+1]++
	}
	for v := range nodes {
		rows[v+1] += rows[v]
	}
	to := make([]int32, rows[nodes])
	weight := make([]float64, rows[nodes])
	at := make([]int32, nodes)
	copy(at, rows)
	for i := range edges {
		e := &edges[i]
		if !fits(e) {
			continue
		}
		var w float64
		if e.Tie == Mentions {
			w = e.weigh(busy[e.B])
		} else {
			w = e.weigh(0)
		}
		if few && (named[e.A] || named[e.B]) {
			w *= entitiesOfFew
		}
		to[at[e.A]], weight[at[e.A]] = e.B, w
		at[e.A]++
		to[at[e.B]], weight[at[e.B]] = e.A, w
		at[e.B]++
	}
	g := &Graph{rows: rows, to: to, weight: weight, loops: make([]float64, nodes), named: named}
	for _, yes := range alike {
		if yes {
			g.texts++
		}
	}
	g.merge()
	g.sum()
	return g
}

// merge adds up the weights of parallel edges and drops those without weight.
func (g *Graph) merge() {
	n := g.nodes()
	last := make([]int32, n) // where the row has its edge to a node, plus one
	out := int32(0)
	for v := range n {
		start := out
		from, until := g.rows[v], g.rows[v+1]
		g.rows[v] = start
		for k := from; k < until; k++ {
			u, w := g.to[k], g.weight[k]
			if w <= 0 {
				continue
			}
			if p := last[u]; p > start {
				g.weight[p-1] += w
				continue
			}
			g.to[out], g.weight[out] = u, w
			out++
			last[u] = out
		}
	}
	g.rows[n] = out
	g.to, g.weight = g.to[:out], g.weight[:out]
}

// sum fills the degrees.
func (g *Graph) sum() {
	g.degree = make([]float64, g.nodes())
	g.total = 0
	for v := range g.nodes() {
		d := 2 * g.loops[v]
		for k := g.rows[v]; k < g.rows[v+1]; k++ {
			d += g.weight[k]
		}
		g.degree[v] = d
		g.total += d
	}
}

func (g *Graph) nodes() int { return len(g.rows) - 1 }

// aggregate makes one node of each group; of is the group of each node, numbered
// from 0 to groups-1.
func (g *Graph) aggregate(of []int32, groups int) *Graph {
	members, first := byGroup(of, groups)
	a := &Graph{rows: make([]int32, groups+1), loops: make([]float64, groups)}
	sums := make([]float64, groups)
	var touched []int32
	for c := range groups {
		touched = touched[:0]
		for _, v := range members[first[c]:first[c+1]] {
			a.loops[c] += g.loops[v]
			for k := g.rows[v]; k < g.rows[v+1]; k++ {
				d := of[g.to[k]]
				if int(d) == c {
					a.loops[c] += g.weight[k] / 2 // seen from both ends
					continue
				}
				if sums[d] == 0 {
					touched = append(touched, d)
				}
				sums[d] += g.weight[k]
			}
		}
		for _, d := range touched {
			a.to, a.weight = append(a.to, d), append(a.weight, sums[d])
			sums[d] = 0
		}
		a.rows[c+1] = int32(len(a.to))
	}
	a.sum()
	return a
}

// byGroup lists the nodes of each group: those of c are members[first[c]:first[c+1]].
// Nodes of no group are left out.
func byGroup(of []int32, groups int) (members, first []int32) {
	first = make([]int32, groups+1)
	for _, c := range of {
		if c != None {
			first[c+1]++
		}
	}
	for c := range groups {
		first[c+1] += first[c]
	}
	members = make([]int32, first[groups])
	at := make([]int32, groups)
	copy(at, first)
	for v, c := range of {
		if c != None {
			members[at[c]] = int32(v)
			at[c]++
		}
	}
	return members, first
}
