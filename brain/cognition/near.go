package cognition

import (
	"cmp"
	"math"
	"slices"

	"orgmem/brain/community"
	"orgmem/brain/text"
)

// FewPassages are the passages of a memory of few texts, in the order of their numbers:
// of those each is set against each other before domains are found. Nil: it has more
// than community.MaxNear.
func (g *Graph) FewPassages() []Chunk {
	all := g.passages(func(n *Node) bool { return !n.Entity() })
	if len(all) > community.MaxNear {
		return nil
	}
	slices.SortFunc(all, func(a, b Chunk) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}

// Texts puts together what [community.Near] has to know of some passages: of a text of
// several the middle of their vectors, and the words of all.
func Texts(passages []Chunk, vectors [][]float32, words [][]text.Term) []community.Text {
	at := map[int32]int{}
	var all []community.Text
	for i, p := range passages {
		k, known := at[p.Node]
		if !known {
			k = len(all)
			at[p.Node] = k
			all = append(all, community.Text{Node: p.Node})
		}
		t := &all[k]
		if t.Vector == nil {
			t.Vector = slices.Clone(vectors[i])
		} else if len(vectors[i]) == len(t.Vector) {
			for d, x := range vectors[i] {
				t.Vector[d] += x
			}
		}
		for _, w := range words[i] {
			if w != text.Break {
				t.Terms = append(t.Terms, uint64(w))
			}
		}
	}
	for i := range all {
		t := &all[i]
		slices.Sort(t.Terms)
		t.Terms = slices.Compact(t.Terms)
		length := 0.0
		for _, x := range t.Vector {
			length += float64(x) * float64(x)
		}
		if length == 0 {
			t.Vector = nil
			continue
		}
		for d := range t.Vector {
			t.Vector[d] /= float32(math.Sqrt(length))
		}
	}
	return all
}
