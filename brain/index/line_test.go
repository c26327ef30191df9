package index

import (
	"math"
	"testing"

	pb "orgmem/proto"
)

// A model's line changes its cosines wherever they come from, and leaves chunks
// without vectors where they were.
func TestALineMapsCosines(t *testing.T) {
	b := NewBuilder("m", 2)
	for i, v := range [][]float32{{1, 0}, {0.6, 0.8}, nil, {0, 1}} {
		node := Node{ID: pb.NodeID(rune('a' + i)), Turn: true}
		if err := b.Add(Entry{Seq: uint64(i + 1), Node: node, Vector: v}); err != nil {
			t.Fatal(err)
		}
	}
	segment, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	snaps := []*Snapshot{(&Snapshot{}).With(0, segment)}
	for _, mode := range []Mode{VectorOnly, Hybrid} {
		q := &Query{Mode: mode, Config: DefaultConfig(), Vectors: map[ModelID][]float32{"m": {1, 0}}}
		q.Lines = map[ModelID]Line{"m": {Factor: 2, Offset: -0.5}}
		want := map[pb.NodeID]float64{"a": 1.5, "b": 0.7, "d": -0.5}
		var sc Scratch
		cands := sc.Candidates(snaps, q)
		exact := make([][]float32, len(cands))
		for i, c := range cands {
			w, has := want[c.Node]
			if !has && c.Vector != 0 || math.Abs(float64(c.Vector)-w) > 0.02 {
				t.Errorf("mode %d: chunk %s has %g, want %g", mode, c.Node, c.Vector, w)
			}
			if c.Node == "b" {
				exact[i] = []float32{0.6, 0.8}
			}
		}
		for _, h := range Fuse(cands, exact, q, 4) {
			if h.Node == "b" && math.Abs(float64(h.Vector)-0.7) > 1e-6 {
				t.Errorf("mode %d: the exact cosine became %g", mode, h.Vector)
			}
		}
	}
}
