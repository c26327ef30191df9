package proposal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxHub is the degree above which a neighbour says nothing about who shares
	// it, and would cost the most.
	maxHub = 200
	// MaxLinks bounds what one call proposes: nobody decides on more at a sitting.
	MaxLinks = 50
	// maxPerNode keeps one node from taking all of the places.
	maxPerNode = 3
	// leastScore is from where on a link is proposed.
	leastScore = 0.5
	// leastCosine: below it the two texts are about different things, whatever they
	// share.
	leastCosine = 0.35
	// leastShared is how many neighbours a pair must share.
	leastShared = 2
	// maxNamed is how many of them a rationale names.
	maxNamed = 3
)

// Missing proposes links for the nodes at the places touched, best first.
func Missing(g Graph, touched []int32) []Link {
	near := neighbours(g)
	var all []Link
	for _, a := range touched {
		all = append(all, around(g, near, a)...)
	}
	slices.SortFunc(all, func(x, y Link) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	all = slices.CompactFunc(all, func(x, y Link) bool { return x.A == y.A && x.B == y.B })
	taken := map[int32]int{}
	out := all[:0]
	for _, l := range all {
		if len(out) == MaxLinks {
			break
		}
		if taken[l.A] < maxPerNode && taken[l.B] < maxPerNode {
			taken[l.A]++
			taken[l.B]++
			out = append(out, l)
		}
	}
	return out
}

// neighbours are the places next to each node, ascending, each once.
func neighbours(g Graph) [][]int32 {
	near := make([][]int32, len(g.Nodes))
	for _, e := range g.Edges {
		if e.A != e.B {
			near[e.A] = append(near[e.A], e.B)
			near[e.B] = append(near[e.B], e.A)
		}
	}
	for i := range near {
		slices.Sort(near[i])
		near[i] = slices.Compact(near[i])
	}
	return near
}

// around scores the nodes at a distance of two from a.
func around(g Graph, near [][]int32, a int32) []Link {
	shared := map[int32][]int32{}
	for _, m := range near[a] {
		if len(near[m]) > maxHub {
			continue
		}
		for _, b := range near[m] {
			if b != a {
				shared[b] = append(shared[b], m)
			}
		}
	}
	var out []Link
	for b, through := range shared {
		if _, linked := slices.BinarySearch(near[a], b); linked || len(through) < leastShared {
			continue
		}
		l := Link{A: min(a, b), B: max(a, b), Type: "related"}
		meaning := 0.5 // unknown
		if x, y := g.Nodes[a].Vector, g.Nodes[b].Vector; x != nil && y != nil {
			if meaning = cosine(x, y); meaning < leastCosine {
				continue
			}
		}
		structure := 0.0
		for _, m := range through {
			structure += 1 / float64(len(near[m]))
		}
		// Saturating: the fifth shared neighbour tells less than the second.
		l.Score = 0.5*structure/(structure+0.5) + 0.5*meaning
		if l.Score < leastScore {
			continue
		}
		l.Rationale = rationale(g, near, l, through, meaning)
		out = append(out, l)
	}
	return out
}

func cosine(x, y []float32) float64 {
	sum := 0.0
	for i := range min(len(x), len(y)) {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

// rationale names the two, and the shared neighbours that speak most: those that few
// share.
func rationale(g Graph, near [][]int32, l Link, through []int32, meaning float64) string {
	slices.SortFunc(through, func(x, y int32) int {
		return cmp.Or(cmp.Compare(len(near[x]), len(near[y])), cmp.Compare(x, y))
	})
	names := make([]string, min(maxNamed, len(through)))
	for i := range names {
		names[i] = "“" + g.Nodes[through[i]].Title + "”"
	}
	s := "“" + g.Nodes[l.A].Title + "” and “" + g.Nodes[l.B].Title + "” are both linked to " + strings.Join(names, ", ")
	if more := len(through) - maxNamed; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	if g.Nodes[l.A].Vector != nil && g.Nodes[l.B].Vector != nil {
		s += fmt.Sprintf("; their texts are similar (%.2f)", meaning)
	}
	return s + "."
}
