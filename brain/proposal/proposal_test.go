package proposal

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
)

// graph has two reports (0, 1) about the same two rare things (2, 3), one about
// something else (4), and a hub (5) that everybody knows.
func graph() Graph {
	g := Graph{Nodes: []Node{
		{ID: "a", Title: "March report", Vector: []float32{1, 0}},
		{ID: "b", Title: "April report", Vector: []float32{0.8, 0.6}},
		{ID: "x", Title: "Importer"},
		{ID: "y", Title: "Lisbon office"},
		{ID: "c", Title: "Menu", Vector: []float32{0, 1}},
		{ID: "h", Title: "Company"},
	}}
	for _, e := range [][2]int32{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {4, 5}, {0, 5}, {1, 5}} {
		g.Edges = append(g.Edges, Edge{A: e[0], B: e[1], Weight: 1})
	}
	return g
}

// missing looks for links in a graph.
func missing(g Graph, touched []int32) []Link { return NewFinder(&g).Missing(touched) }

func TestMissing(t *testing.T) {
	got := missing(graph(), []int32{0})
	if len(got) != 1 || got[0].A != 0 || got[0].B != 1 {
		t.Fatalf("%+v", got)
	}
	if !slices.Equal(got[0].Through, []int32{2, 3, 5}) {
		t.Errorf("it names %v beside the ends", got[0].Through)
	}
	for _, name := range []string{graph().Nodes[0].Title, graph().Nodes[1].Title, "Importer", "Lisbon office"} {
		if !strings.Contains(got[0].Rationale, name) {
			t.Errorf("the rationale %q does not name %s", got[0].Rationale, name)
		}
	}
	linked := graph()
	linked.Edges = append(linked.Edges, Edge{A: 1, B: 0})
	if got := missing(linked, []int32{0, 1}); len(got) != 0 {
		t.Errorf("proposed what is linked: %+v", got)
	}
	apart := graph()
	apart.Nodes[1].Vector = []float32{0, 1}
	if got := missing(apart, []int32{0, 1}); len(got) != 0 {
		t.Errorf("proposed what means something else: %+v", got)
	}
}

// A neighbour that very many share says nothing.
func TestHubsSayNothing(t *testing.T) {
	g := Graph{}
	for range maxHub + 10 {
		g.Nodes = append(g.Nodes, Node{ID: pb.NodeID("n"), Vector: []float32{1}})
	}
	hubs := []int32{0, 1}
	for i := int32(2); int(i) < len(g.Nodes); i++ {
		for _, h := range hubs {
			g.Edges = append(g.Edges, Edge{A: h, B: i})
		}
	}
	if got := missing(g, []int32{2, 3, 4}); len(got) != 0 {
		t.Errorf("%d proposals through hubs", len(got))
	}
}

func TestMissingHoldsForAnyGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 14).Draw(t, "nodes")
		g := Graph{}
		for range n {
			vector := rapid.SampledFrom([][]float32{{1, 0}, {0.8, 0.6}, {0, 1}, nil}).Draw(t, "vector")
			g.Nodes = append(g.Nodes, Node{Vector: vector})
		}
		end := rapid.Int32Range(0, int32(n-1))
		g.Edges = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Edge {
			return Edge{A: end.Draw(t, "a"), B: end.Draw(t, "b"), Weight: 1}
		}), 0, 50).Draw(t, "edges")
		touched := rapid.SliceOf(end).Draw(t, "touched")
		got := missing(g, touched)
		if len(got) > MaxLinks {
			t.Fatalf("%d links", len(got))
		}
		count := map[int32]int{}
		for i, l := range got {
			if l.A >= l.B || l.Score < leastScore || l.Score > 1 || l.Rationale == "" {
				t.Fatalf("%+v", l)
			}
			if !slices.Contains(touched, l.A) && !slices.Contains(touched, l.B) {
				t.Fatalf("nobody asked about %+v", l)
			}
			if slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.A == l.A && e.B == l.B || e.A == l.B && e.B == l.A }) {
				t.Fatalf("%+v is linked", l)
			}
			if i > 0 && got[i-1].Score < l.Score {
				t.Fatal("not the best first")
			}
			count[l.A]++
			count[l.B]++
			if count[l.A] > maxPerNode || count[l.B] > maxPerNode {
				t.Fatalf("too many of one node: %+v", got)
			}
		}
		texts := g
		texts.Nodes = nil
		for _, x := range g.Nodes {
			texts.Nodes = append(texts.Nodes, Node{Text: x.Vector != nil})
		}
		late := NewFinder(&texts) // which is given the vectors that it asks for, and no other
		for _, i := range late.Compared(touched) {
			texts.Nodes[i].Vector = g.Nodes[i].Vector
		}
		if again := late.Missing(touched); !reflect.DeepEqual(got, again) {
			t.Fatalf("with the vectors that are compared %+v, with all %+v", again, got)
		}
		slices.Reverse(touched)
		slices.Reverse(g.Edges)
		if again := missing(g, touched); !reflect.DeepEqual(got, again) {
			t.Fatalf("another order, other links: %+v, %+v", got, again)
		}
	})
}
