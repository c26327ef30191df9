package retriever

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
)

// TestNamesOfNothing: a question that names what is gone, or another's, is to the gate
// and to the walk one that names nothing, and names within such a name are found; where
// all is there nothing changes.
func TestNamesOfNothing(t *testing.T) {
	t.Parallel()

	src := village(40, 7)
	src.Documents = append(src.Documents,
		Document{ID: "gone", Title: "Zephyr Report", Passages: []string{"Written in May by Quorv Ltd."}},
		Document{ID: "here", Title: "Report", Passages: []string{"Written in June."}})
	src.Entities = append(src.Entities, Entity{ID: "firm", Names: []string{"Quorv Ltd"}},
		Entity{ID: "told", Names: []string{"Umbrel Inc"}})
	src.Ties = append(src.Ties, Tie{From: "told", To: "here", Kind: TieStated, Weight: 1})
	g := NewGraph(src, testSalt)
	p := Prior()
	look := func(text string, here func(int32) bool, lives func(pb.NodeID) bool) *Walk {
		q := asked(g, src, "mother bees") // the same seeds for all
		q.Text, q.Here, q.Lives = text, here, lives
		w := NewWalk(g, testSalt)
		w.Forward(&p, &q)
		return w
	}
	all := func(int32) bool { return true }
	here := func(p int32) bool { return g.docs[g.docOf[p]] != "gone" }
	lives := func(id pb.NodeID) bool { return id != "firm" }
	for named, nothing := range map[string]string{
		"What did Zephyr Report say?": "What did Blaphyr Report say?", // what the second word names is still there
		"Who is Quorv Ltd?":           "Who is Blorv Ltd?",
	} {
		a, b := look(named, here, lives), look(nothing, here, lives)
		if a.gate != b.gate || a.Confidence() != b.Confidence() || !slices.Equal(a.Entities(10), b.Entities(10)) {
			t.Errorf("%q: gate %v, %v, and where nothing is named %v, %v", named, a.gate, a.Entities(10), b.gate, b.Entities(10))
		}
		if c := look(named, nil, nil); c.gate == b.gate {
			t.Errorf("%q names nothing when it is there: the test says nothing", named)
		}
	}
	if w := look("Who is Umbrel Inc?", here, lives); w.gate.seen[gateNames] == 0 {
		t.Error("an entity that no text names is no longer known")
	}

	rapid.Check(t, func(t *rapid.T) {
		src := village(30, rapid.Uint64().Draw(t, "seed"))
		g := NewGraph(src, testSalt)
		q := asked(g, src, src.Documents[rapid.IntRange(0, 29).Draw(t, "document")].Title+" mother, the old mill")
		walk := func() []Ranked {
			w := NewWalk(g, testSalt)
			w.Forward(&p, &q)
			return w.Passages(30)
		}
		before := walk()
		q.Here, q.Lives = all, func(pb.NodeID) bool { return true }
		if after := walk(); !slices.Equal(before, after) {
			t.Fatalf("%v, and asked what is there %v", before, after)
		}
	})
}
