package index

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
)

// Exact vectors of the candidates that Open names give the hits that exact
// vectors of all would give, in the same order.
func TestOpenNamesAllThatMatter(t *testing.T) {
	saved := false
	rapid.Check(t, func(t *rapid.T) {
		query := []float32{1, 0}
		q := &Query{
			Mode: rapid.SampledFrom([]Mode{Hybrid, VectorOnly}).Draw(t, "mode"), Config: DefaultConfig(),
			Vectors: map[ModelID][]float32{"m": query},
		}
		n := rapid.IntRange(0, 40).Draw(t, "candidates")
		var cands []Candidate
		vectors := map[uint64][]float32{}
		for i := range n {
			exact := float32(rapid.IntRange(0, 300).Draw(t, "cosine")) / 2000 // close together
			doubt := float32(rapid.SampledFrom([]int{0, 1, 10, 40}).Draw(t, "doubt")) / 10_000
			wrong := float32(rapid.IntRange(-100, 100).Draw(t, "error")) / 101 * doubt
			c := Candidate{
				Seq: uint64(i), Node: pb.NodeID(rune('a' + rapid.IntRange(0, 25).Draw(t, "node"))), Model: "m",
				Vector: exact + wrong, Doubt: doubt,
			}
			c.Keyword = float32(rapid.IntRange(0, 10).Draw(t, "keyword")) / 1000
			c.Score = q.score(&c)
			cands = append(cands, c)
			vectors[c.Seq] = []float32{exact, float32(math.Sqrt(1 - float64(exact)*float64(exact)))}
		}
		slices.SortFunc(cands, func(a, b Candidate) int {
			return compareRanked(ranked{score: a.Score, seq: a.Seq}, ranked{score: b.Score, seq: b.Seq})
		})
		topK := rapid.IntRange(1, 12).Draw(t, "topK")
		open := Open(cands, q, topK)
		some, all := make([][]float32, n), make([][]float32, n)
		for i, c := range cands {
			all[i] = vectors[c.Seq]
		}
		for _, i := range open {
			some[i] = all[i]
		}
		saved = saved || len(open) < n
		got, want := Fuse(cands, some, q, topK), Fuse(cands, all, q, topK)
		same := func(a, b Hit) bool {
			doubt := 1e-6
			for _, c := range cands {
				if c.Seq == a.Seq {
					doubt += float64(c.Doubt)
				}
			}
			return a.Seq == b.Seq && math.Abs(float64(a.Score-b.Score)) <= doubt && math.Abs(float64(a.Vector-b.Vector)) <= doubt
		}
		if !slices.EqualFunc(got, want, same) {
			t.Fatalf("exact vectors of %d of %d:\n got %v\nwant %v", open, n, got, want)
		}
	})
	if !saved {
		t.Error("Open always named all")
	}
}

func TestOpenAsksForNothingInKeywordSearch(t *testing.T) {
	if open := Open(make([]Candidate, 3), &Query{Mode: KeywordOnly}, 10); len(open) != 0 {
		t.Errorf("%d", open)
	}
}
