package community

import (
	"cmp"
	"math"
	"slices"
)

const (
	// MaxNear is up to how many texts all of them are set against each other: the
	// pairs of a thousand are some tenths of a second. Beyond, Similar ties have to do,
	// which a cycle finds of what is new only.
	MaxNear = 1000
	// nearest is how many others a text is joined to, however far they are: a note of
	// eight words shares its theme with others, and few of their words.
	nearest = 10
	// sharedWords is what the same words, all of them, add to a cosine of 1.
	sharedWords = 0.5
	// unrelated is the cosine of two texts that have nothing to do with each other.
	unrelated = 0.1
	// textsPerResolution sets the resolution of such a graph to the root of its texts
	// by 40: forty notes fall into some four themes, three hundred into some twenty.
	textsPerResolution = 40
)

// Text is what [Near] knows of a text.
type Text struct {
	Node   int32
	Vector []float32 // of unit length; nil where the text has no vector
	Terms  []uint64  // its words, each once, in any order
}

// Near joins each of at most [MaxNear] texts with those that are nearest to it by
// meaning and by words. factor*cosine + offset brings the cosines of the vectors'
// model to the range that thresholds are made for. Where more are given, it joins
// nothing.
func Near(texts []Text, factor, offset float32) []Edge {
	n := len(texts)
	if n > MaxNear {
		return nil
	}
	like := make([][]float64, n) // of each text to those before it
	near := make([][]Neighbour, n)
	words := newOverlaps(texts)
	for i := range texts {
		shared := words.with(i)
		like[i] = make([]float64, i)
		for k := range i {
			x := sharedWords * shared[k]
			if a, b := texts[i].Vector, texts[k].Vector; len(a) == len(b) && len(a) > 0 {
				x += float64(factor*dot(a, b) + offset)
			}
			like[i][k] = x
			near[i] = offer(near[i], Neighbour{int32(k), x})
			near[k] = offer(near[k], Neighbour{int32(i), x})
		}
	}
	// What is near to everything says little of what is near to it (cross-domain similarity local scaling, Conneau and
	// others 2018).
	usual := make([]float64, n)
	for i := range near {
		for _, x := range near[i] {
			usual[i] += x.Cosine / float64(len(near[i]))
		}
	}
	best := make([][]Neighbour, n)
	for i := range texts {
		for k, x := range like[i] {
			if x > unrelated {
				scaled := x - (usual[i]+usual[k])/2
				best[i] = offer(best[i], Neighbour{int32(k), scaled})
				best[k] = offer(best[k], Neighbour{int32(i), scaled})
			}
		}
	}
	var edges []Edge
	for i, near := range best {
		for _, x := range near {
			mutual := slices.ContainsFunc(best[x.Other], func(y Neighbour) bool { return y.Other == int32(i) })
			if mutual && int32(i) > x.Other {
				continue // the other one has it
			}
			weight := min((like[max(int32(i), x.Other)][min(int32(i), x.Other)]-unrelated)/(1-unrelated), 1)
			edges = append(edges, Edge{texts[i].Node, texts[x.Other].Node, Alike, float32(weight)})
		}
	}
	return edges
}

// offer keeps the nearest, the nearest first.
func offer(best []Neighbour, x Neighbour) []Neighbour {
	if len(best) == nearest {
		if best[nearest-1].Cosine >= x.Cosine {
			return best
		}
		best = best[:nearest-1]
	}
	at, _ := slices.BinarySearchFunc(best, x, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Other, b.Other))
	})
	return slices.Insert(best, at, x)
}

// dot is the scalar product, by four sums that a processor adds side by side.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}

// overlaps tells how much of their words texts share: the cosine of their words
// weighted by rarity.
type overlaps struct {
	texts  []Text
	hold   map[uint64][]int32 // the texts before the present one that hold a word
	rarity map[uint64]float64 // the square of the logarithm of how rare it is
	length []float64
	shared []float64
}

func newOverlaps(texts []Text) *overlaps {
	o := &overlaps{
		texts: texts, hold: map[uint64][]int32{}, rarity: map[uint64]float64{}, length: make([]float64, len(texts)),
		shared: make([]float64, len(texts)),
	}
	for i := range texts {
		for _, t := range texts[i].Terms {
			o.rarity[t]++
		}
	}
	for t, holders := range o.rarity {
		rare := math.Log(float64(len(texts)+1) / holders)
		o.rarity[t] = rare * rare
	}
	for i := range texts {
		for _, t := range texts[i].Terms {
			o.length[i] += o.rarity[t]
		}
		o.length[i] = math.Sqrt(o.length[i])
	}
	return o
}

// with gives what text i shares with each of those before it, and has to be asked in
// their order.
func (o *overlaps) with(i int) []float64 {
	row := o.shared[:i]
	clear(row)
	for _, t := range o.texts[i].Terms {
		for _, k := range o.hold[t] {
			row[k] += o.rarity[t]
		}
		o.hold[t] = append(o.hold[t], int32(i))
	}
	for k := range row {
		if row[k] > 0 {
			row[k] /= o.length[i] * o.length[k]
		}
	}
	return row
}
