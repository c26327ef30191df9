package community

import (
	"cmp"
	"slices"
)

// MaxSimilar is to how many others a text is joined as similar: few, and near ones, are
// what keeps topics apart.
const MaxSimilar = 5

// Neighbour is a text that is near to another one.
type Neighbour struct {
	Other  int32   // its number
	Cosine float64 // of the passages that are nearest to each other
}

// Neighbours are the texts that were found near to the passages of one text, each with
// the best cosine.
type Neighbours map[int32]float64

// Add takes in what was found near to one of the passages.
func (n Neighbours) Add(x Neighbour) { n[x.Other] = max(n[x.Other], x.Cosine) }

// Nearest returns the nearest MaxSimilar of them, the nearest first, those of one cosine
// by their numbers.
func (n Neighbours) Nearest() []Neighbour {
	order := make([]Neighbour, 0, len(n))
	for other, cosine := range n {
		order = append(order, Neighbour{other, cosine})
	}
	slices.SortFunc(order, func(a, b Neighbour) int {
		return cmp.Or(cmp.Compare(b.Cosine, a.Cosine), cmp.Compare(a.Other, b.Other))
	})
	return order[:min(len(order), MaxSimilar)]
}
