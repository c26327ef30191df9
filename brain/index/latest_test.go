package index

import (
	"slices"
	"testing"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// What came in at once is ordered by when it happened; what has no such time by when it was recorded, and of one
// time the last that was recorded comes first.
func TestLatestByTheTimeThatATextIsOf(t *testing.T) {
	var a text.Analyzer
	snap, seq := &Snapshot{}, uint64(0)
	add := func(created int64, passages int, nodes ...Node) {
		t.Helper()
		b := NewBuilder("m", 0)
		for _, n := range nodes {
			n.CreatedMs = created
			for range passages {
				seq++
				if err := b.Add(Entry{Seq: seq, Node: n, Passage: a.Passage("", "The pump is new.")}); err != nil {
					t.Fatal(err)
				}
			}
		}
		s, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		snap = snap.With(seq, s)
	}
	add(500, 1, Node{ID: "now", Kind: "document"})
	add(1000, 3, Node{ID: "march", Kind: "document", OccurredMs: 30}, Node{ID: "may", Kind: "document", OccurredMs: 50},
		Node{ID: "april", Kind: "document", OccurredMs: 40}, Node{ID: "april too", Kind: "document", OccurredMs: 40},
		Node{ID: "Ann", Kind: "entity", OccurredMs: 50}, Node{ID: "to come", Kind: "document", OccurredMs: 9000})
	add(1001, 1, Node{ID: "old", Kind: "document", OccurredMs: 10}, Node{ID: "gone", Kind: "document"},
		Node{ID: "replaced", Kind: "document"})
	snap = snap.Forget("gone").Hide("replaced")
	texts := func(_ pb.NodeID, kind string) bool { return kind == "document" }
	want := []pb.NodeID{"to come", "now", "may", "april too", "april", "march", "old"}
	for most := range len(want) + 2 {
		if got := snap.Latest(most, 2000, texts); !slices.Equal(got, want[:min(most, len(want))]) {
			t.Errorf("the latest %d: %q, want %q", most, got, want)
		}
	}
	if got := (&Snapshot{}).Latest(3, 1, texts); len(got) > 0 {
		t.Errorf("of an empty index %q", got)
	}
}
