package insight

import (
	"cmp"
	"slices"
)

// Find returns the insights, kind by kind, the surest of each kind first.
func Find(in Input) []Insight {
	ties := tiesOf(&in)
	return slices.Concat(
		surest(turns(&in, KindRising)),
		surest(turns(&in, KindFading)),
		surest(outliers(&in, ties)),
	)
}

// surest keeps the best of a kind.
func surest(all []Insight) []Insight {
	slices.SortStableFunc(all, func(a, b Insight) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return all[:min(len(all), MaxPerKind)]
}

// tie is an edge as one of its nodes sees it: the node at the other end and the weight.
type tie struct {
	to     int32
	weight float64
}

// tiesOf lists each node's ties; edges that lead nowhere are left out.
func tiesOf(in *Input) [][]tie {
	n := int32(len(in.Nodes))
	counts := make([]int32, n)
	fits := func(e *Edge) bool {
		return e.A != e.B && e.A >= 0 && e.B >= 0 && e.A < n && e.B < n && e.Weight > 0
	}
	for i := range in.Edges {
		if e := &in.Edges[i]; fits(e) {
			counts[e.A]++
			counts[e.B]++
		}
	}
	ties := make([][]tie, n)
	for v, k := range counts {
		ties[v] = make([]tie, 0, k)
	}
	for i := range in.Edges {
		if e := &in.Edges[i]; fits(e) {
			ties[e.A] = append(ties[e.A], tie{e.B, float64(e.Weight)})
			ties[e.B] = append(ties[e.B], tie{e.A, float64(e.Weight)})
		}
	}
	return ties
}

// domain is a node's domain, None if it has none or names one that is not there.
func (in *Input) domain(v int32) int32 {
	if d := in.Nodes[v].Domain; d >= 0 && int(d) < len(in.Domains) {
		return d
	}
	return None
}

// name is how an insight speaks of a node.
func (in *Input) name(words *shapeWords, v int32) string {
	if t := in.Nodes[v].Title; t != "" {
		return "“" + t + "”"
	}
	return words.passage
}

// topic is how an insight speaks of a domain.
func (in *Input) topic(words *shapeWords, d int32) string {
	if l := in.Domains[d].Label; l != "" {
		return "“" + l + "”"
	}
	return words.domain
}
