package index

import (
	"slices"
	"testing"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// alike is a snapshot of passages that mean the same to the model, of nodes a, b and so on.
func alike(t *testing.T, a *text.Analyzer, passages ...string) *Snapshot {
	t.Helper()
	b := NewBuilder("m", 2)
	for i, s := range passages {
		e := Entry{
			Seq: uint64(i + 1), Node: Node{ID: pb.NodeID(rune('a' + i))}, Vector: []float32{1, 0}, Passage: a.Passage("", s),
		}
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	segment, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return (&Snapshot{}).With(0, segment)
}

// Of two chunks that mean the same to the model, the one that says more comes first, unless the few words are those
// that were asked for. Searches by words or by meaning alone rank by these.
func TestShortChunksStandBack(t *testing.T) {
	var a text.Analyzer
	snap := alike(t, &a, "Thanks, lovely.",
		"The plumber mended the kitchen tap this morning and left the bill under the door mat.", "Boiler serviced.")
	order := func(mode Mode, words string) (ids []pb.NodeID) {
		q := &Query{
			Terms: a.Query(words, snap.Langs()), Vectors: map[ModelID][]float32{"m": {1, 0}}, Mode: mode,
			Config: DefaultConfig(),
		}
		var sc Scratch
		for _, h := range Fuse(sc.Candidates([]*Snapshot{snap}, q), nil, q, 3) {
			ids = append(ids, h.Node)
		}
		return ids
	}
	for _, c := range []struct {
		mode  Mode
		words string
		want  []pb.NodeID
	}{
		{Hybrid, "repairs", []pb.NodeID{"b", "a", "c"}},
		{Hybrid, "boiler", []pb.NodeID{"c", "b", "a"}},
		{VectorOnly, "repairs", []pb.NodeID{"a", "b", "c"}},
		{KeywordOnly, "boiler", []pb.NodeID{"c"}},
	} {
		if got := order(c.mode, c.words); !slices.Equal(got, c.want) {
			t.Errorf("mode %d, %q: %v, want %v", c.mode, c.words, got, c.want)
		}
	}
}
