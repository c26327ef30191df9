package community

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// around gives a vector of unit length near to one of the axes.
func around(r *rand.Rand, axis int, stray float32) []float32 {
	v := make([]float32, 32)
	length := float32(0)
	for i := range v {
		v[i] = stray * float32(r.NormFloat64())
		if i == axis {
			v[i]++
		}
		length += v[i] * v[i]
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(float64(length)))
	}
	return v
}

// Notes of four themes, none of which is like another outright, are four communities; two people who are named in all
// themes change nothing.
func TestNotesOfFewTextsAreThemes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var texts []Text
	for i := range 40 {
		texts = append(texts, Text{Node: int32(i), Vector: around(r, i%4, 0.18)})
	}
	edges := Near(texts, 1, 0)
	for i := range int32(40) {
		edges = append(edges, Edge{i, 40 + i/4%2, Mentions, 1})
	}
	p := Find(NewGraph(42, edges), Earlier{}, Options{})
	if len(p.Communities) != 4 {
		t.Fatalf("%d communities", len(p.Communities))
	}
	for i := range 40 {
		if p.Of[i] != p.Of[i%4] {
			t.Errorf("note %d is not with its theme", i)
		}
	}
}

func TestSameWordsBringTextsTogether(t *testing.T) {
	texts := []Text{
		{Node: 3, Terms: []uint64{1, 2}},
		{Node: 5, Terms: []uint64{1, 2}},
		{Node: 7, Terms: []uint64{2, 9, 10, 11, 12}},
		{Node: 8, Vector: []float32{1, 0}},
	}
	edges := Near(texts, 1, 0)
	if len(edges) != 1 || edges[0].A != 3 || edges[0].B != 5 || edges[0].Tie != Alike {
		t.Errorf("%+v", edges)
	}
	if all := Near(make([]Text, MaxNear+1), 1, 0); all != nil {
		t.Errorf("%d ties of too many texts", len(all))
	}
}

// Texts that are near to everything, as courtesies are, do not come between those of a theme, though each of these is
// nearer to them than to its own.
func TestHubsDoNotComeBetween(t *testing.T) {
	const each = 12
	var texts []Text
	for i := range 3 * each {
		v := make([]float32, 3+3*each)
		v[0] = 1
		if i < 2*each { // two themes: .45 to their own, .5 to the hubs
			v[0], v[1+i/each], v[3+i] = 0.5, 0.45, 0.74
		}
		texts = append(texts, Text{Node: int32(i), Vector: v})
	}
	ties := Near(texts, 1, 0)
	for _, e := range ties {
		if e.A/each != e.B/each {
			t.Errorf("%d and %d are joined", e.A, e.B)
		}
	}
	if len(ties) < 3*each*(nearest/2) {
		t.Errorf("%d ties", len(ties))
	}
}

// Whatever the texts are, each pair is joined once, and with a weight that NewGraph takes.
func TestNearJoinsPairsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Text {
			terms := rapid.SliceOfNDistinct(rapid.Uint64Range(0, 9), 0, 5, rapid.ID).Draw(t, "terms")
			return Text{Vector: rapid.SliceOfN(rapid.Float32Range(-1, 1), 0, 3).Draw(t, "vector"), Terms: terms}
		}), 0, 30).Draw(t, "texts")
		for i := range texts {
			texts[i].Node = int32(i)
		}
		seen := map[[2]int32]bool{}
		for _, e := range Near(texts, 1, 0) {
			pair := [2]int32{min(e.A, e.B), max(e.A, e.B)}
			if seen[pair] || e.A == e.B || e.Weight <= 0 || e.Weight > 1 {
				t.Fatalf("%+v", e)
			}
			seen[pair] = true
		}
	})
}

func BenchmarkNear(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	texts := make([]Text, MaxNear)
	for i := range texts {
		texts[i] = Text{Node: int32(i), Vector: make([]float32, 384)}
		for d := range texts[i].Vector {
			texts[i].Vector[d] = float32(r.NormFloat64()) / 20
		}
		for k := range uint64(8) {
			texts[i].Terms = append(texts[i].Terms, 8*r.Uint64N(250)+k)
		}
	}
	for b.Loop() {
		Near(texts, 1, 0)
	}
}
