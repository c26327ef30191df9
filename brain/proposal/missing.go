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

// Finder looks for missing links in one graph. It holds working memory, so it is for
// one goroutine at a time.
type Finder struct {
	g    *Graph
	near [][]int32 // see neighbours
	// Of the node that is looked at, by place: how many neighbours each other node
	// shares with it, and what they say. met are the places where there are any.
	shared    []int32
	structure []float64
	met       []int32
}

// NewFinder reads the edges of a graph, which stays the caller's: vectors may be put
// into it up to Missing.
func NewFinder(g *Graph) *Finder {
	return &Finder{
		g: g, near: neighbours(g), shared: make([]int32, len(g.Nodes)), structure: make([]float64, len(g.Nodes)),
	}
}

// Compared are the places, ascending, of the nodes whose vectors Missing looks at, of
// those that hold text. They are few where hubs are what joins most.
func (f *Finder) Compared(touched []int32) []int32 {
	wanted := make([]bool, len(f.g.Nodes))
	for _, a := range touched {
		if !f.g.Nodes[a].Text {
			continue
		}
		for _, b := range f.candidates(a) {
			if f.g.Nodes[b].Text {
				wanted[a], wanted[b] = true, true
			}
		}
	}
	var out []int32
	for i, w := range wanted {
		if w {
			out = append(out, int32(i))
		}
	}
	return out
}

// Missing proposes links for the nodes at the places touched, best first.
func (f *Finder) Missing(touched []int32) []Link {
	var all []Link
	for _, a := range touched {
		all = f.around(all, a)
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
			l.Rationale, l.Through = f.rationale(l)
			out = append(out, l)
		}
	}
	return out
}

// neighbours are the places next to each node, ascending, each once.
func neighbours(g *Graph) [][]int32 {
	degree := make([]int, len(g.Nodes))
	for _, e := range g.Edges {
		if e.A != e.B {
			degree[e.A]++
			degree[e.B]++
		}
	}
	near := make([][]int32, len(g.Nodes))
	for i, n := range degree {
		near[i] = make([]int32, 0, n)
	}
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

// candidates are the nodes that share enough neighbours with a and are not linked to
// it, in no order; shared and structure hold of them. Valid until the next call.
func (f *Finder) candidates(a int32) []int32 {
	for _, b := range f.met {
		f.shared[b], f.structure[b] = 0, 0
	}
	f.met = f.met[:0]
	for _, m := range f.near[a] {
		if len(f.near[m]) > maxHub {
			continue
		}
		for _, b := range f.near[m] {
			if b == a {
				continue
			}
			if f.shared[b] == 0 {
				f.met = append(f.met, b)
			}
			f.shared[b]++
			f.structure[b] += 1 / float64(len(f.near[m]))
		}
	}
	out := make([]int32, 0, len(f.met))
	for _, b := range f.met {
		if f.shared[b] < leastShared {
			continue
		}
		if _, linked := slices.BinarySearch(f.near[a], b); !linked {
			out = append(out, b)
		}
	}
	return out
}

// around adds the links of a with what is at a distance of two from it.
func (f *Finder) around(all []Link, a int32) []Link {
	for _, b := range f.candidates(a) {
		meaning, known := f.meaning(a, b)
		if known && meaning < leastCosine {
			continue
		}
		// Saturating: the fifth shared neighbour tells less than the second.
		structure := f.structure[b]
		score := 0.5*structure/(structure+0.5) + 0.5*meaning
		if score >= leastScore {
			all = append(all, Link{A: min(a, b), B: max(a, b), Type: "related", Score: score})
		}
	}
	return all
}

// meaning is the cosine of two nodes, and 0.5 where one of them has no vector.
func (f *Finder) meaning(a, b int32) (cos float64, known bool) {
	x, y := f.g.Nodes[a].Vector, f.g.Nodes[b].Vector
	if x == nil || y == nil {
		return 0.5, false
	}
	return cosine(x, y), true
}

func cosine(x, y []float32) float64 {
	sum := 0.0
	for i := range min(len(x), len(y)) {
		sum += float64(x[i]) * float64(y[i])
	}
	return sum
}

// rationale names the two, and the shared neighbours that speak most, which it gives:
// those that few share.
func (f *Finder) rationale(l Link) (_ string, through []int32) {
	for _, m := range f.near[l.A] {
		if _, both := slices.BinarySearch(f.near[l.B], m); both && len(f.near[m]) <= maxHub {
			through = append(through, m)
		}
	}
	slices.SortFunc(through, func(x, y int32) int {
		return cmp.Or(cmp.Compare(len(f.near[x]), len(f.near[y])), cmp.Compare(x, y))
	})
	nodes := f.g.Nodes
	words := wordsOf(nodes[l.A].Title + ". " + nodes[l.B].Title)
	names := make([]string, min(maxNamed, len(through)))
	for i := range names {
		names[i] = words.quote(nodes[through[i]].Title)
	}
	s := fmt.Sprintf(words.linked, words.quote(nodes[l.A].Title), words.quote(nodes[l.B].Title), strings.Join(names, ", "))
	if more := len(through) - maxNamed; more > 0 {
		s += fmt.Sprintf(words.more, more)
	}
	if meaning, known := f.meaning(l.A, l.B); known {
		s += fmt.Sprintf(words.similar, meaning)
	}
	return s + ".", through[:len(names)]
}
