package cognition_test

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"orgmem/brain/cognition"
	"orgmem/brain/community"
	"orgmem/brain/conflict"
	pb "orgmem/proto"
)

// graph has two texts, each of which names an entity, and a person whom the first names.
//
//	0 ── 2     1 ── 3     0 ── 4
func graph() *cognition.Graph {
	g := &cognition.Graph{At: map[pb.NodeID]int32{}}
	for i, n := range []cognition.Node{
		{ID: "a", Kind: "document", Title: "Boiler", AtMS: 1_000, Chunks: []uint64{1, 2}, Own: true},
		{ID: "b", Kind: cognition.KindSession, Title: "Garden", AtMS: 2_000, Chunks: []uint64{3}},
		{ID: "x", Kind: cognition.KindEntity, Title: "Initech"},
		{ID: "y", Kind: cognition.KindEntity, Title: "Globex"},
		{ID: "p", Kind: cognition.KindEntity, Title: "Jane Lee", Person: true},
	} {
		n.Domain = "d"
		g.At[n.ID] = int32(i)
		g.Nodes = append(g.Nodes, n)
	}
	for _, e := range [][2]int32{{0, 2}, {1, 3}, {0, 4}} {
		g.Edges = append(g.Edges, cognition.Edge{A: e[0], B: e[1], Kind: cognition.EdgeMentions, Weight: 0.5})
	}
	return g
}

func TestTouched(t *testing.T) {
	g := graph()
	if got := g.Touched([]cognition.Chunk{{Seq: 1, Node: 0}}); !slices.Equal(got, []int32{0, 2, 4}) {
		t.Errorf("of a fresh text %v", got)
	}
	g.Nodes[3].Domain = ""
	if got := g.Touched(nil); !slices.Equal(got, []int32{1, 3}) {
		t.Errorf("of a node without a domain %v", got)
	}
}

// Each text is joined with the nearest few others, a pair once, by its nearest passages.
func TestJoinSimilar(t *testing.T) {
	g := graph()
	before := len(g.Edges)
	fresh := []cognition.Chunk{{Seq: 1, Node: 0}, {Seq: 2, Node: 0}, {Seq: 3, Node: 1}}
	near := func(other int32, cosine float64) []community.Neighbour {
		return []community.Neighbour{{Other: other, Cosine: cosine}}
	}
	made := g.JoinSimilar(fresh, [][]community.Neighbour{near(1, 0.5), near(1, 1.2), near(0, 0.6)})
	want := cognition.Edge{A: 0, B: 1, Kind: cognition.EdgeSimilar, Weight: 1}
	if len(made) != 1 || made[0] != want || len(g.Edges) != before+1 {
		t.Errorf("%+v", made)
	}
}

func TestPassages(t *testing.T) {
	g := graph()
	if got := g.NewestPassages(2); !slices.Equal(got, []cognition.Chunk{{Seq: 2, Node: 0}, {Seq: 3, Node: 1}}) {
		t.Errorf("newest %v", got)
	}
	if got := g.OwnPassages(9); !slices.Equal(got, []cognition.Chunk{{Seq: 1, Node: 0}, {Seq: 2, Node: 0}}) {
		t.Errorf("own %v", got)
	}
	if got := g.Written(); !slices.Equal(got, []int32{0}) {
		t.Errorf("written %v", got)
	}
	if n := g.SessionEdges(); n != 1 {
		t.Errorf("%d edges of sessions", n)
	}
}

// A person's choice of a domain stays, and what is found in none leaves its own.
func TestSettle(t *testing.T) {
	g := graph()
	found := []cognition.Domain{{ID: pb.DomainID{1}}}
	g.Nodes[1].Placed = true
	none := community.None
	if got := g.Settle([]int32{0, none, none, 0, 0}, found); !slices.Equal(got, []int32{0, 2, 3, 4}) {
		t.Errorf("%v", got)
	}
	if g.Nodes[0].Domain != found[0].ID.String() || g.Nodes[1].Domain != "d" || g.Nodes[2].Domain != "" {
		t.Errorf("%+v", g.Nodes)
	}
	if got := g.Settle([]int32{0, none, none, 0, 0}, found); len(got) > 0 {
		t.Errorf("once more %v", got)
	}
}

func TestSameTop(t *testing.T) {
	g := graph()
	was := &pb.Domain{Label: "boiler", Keywords: []string{"boiler"}, NamedBy: []string{"a", "b"}}
	if !g.SameTop(was, []int32{0, 1}) || g.SameTop(was, []int32{1, 0}) || g.SameTop(was, []int32{0}) ||
		g.SameTop(nil, nil) {
		t.Error("a domain is the same if its label is, and the nodes that name it are")
	}
}

func TestGroupOf(t *testing.T) {
	g := graph()
	group, err := g.GroupOf([]int32{0, 2}, func(seq uint64) (string, error) {
		return "Text " + strconv.Itoa(int(seq)), nil
	})
	if err != nil || len(group.Passages) != 2 || group.Passages[0].Title != "Boiler" || group.Passages[1].Title != "" {
		t.Errorf("passages %+v: %v", group.Passages, err)
	}
	if len(group.Names) != 1 || group.Names[0].Title != "Initech" || !slices.Equal(group.People, []string{"Jane Lee"}) {
		t.Errorf("%+v", group)
	}
	broken := errors.New("broken")
	if _, err := g.GroupOf([]int32{0}, func(uint64) (string, error) { return "", broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// A basin is named by the passages that lie in it, of a long text not by others, and not by its title.
func TestGroupOfPassages(t *testing.T) {
	g := graph()
	read := func(seq uint64) (string, error) { return "Text " + strconv.Itoa(int(seq)), nil }
	group, err := g.GroupOfPassages([]cognition.Chunk{{Seq: 2, Node: 0}, {Seq: 3, Node: 1}}, read)
	if err != nil || len(group.Passages) != 2 || len(group.Names) > 0 ||
		!slices.Equal(group.People, []string{"Jane Lee"}) {
		t.Fatalf("%+v: %v", group, err)
	}
	a, b := group.Passages[0], group.Passages[1]
	if a.Text != "Text 2" || a.Title != "" || b.Text != "Text 3" || b.Title != g.Nodes[1].Title || a.Of == b.Of {
		t.Errorf("%+v", group.Passages)
	}
	broken := errors.New("broken")
	read = func(uint64) (string, error) { return "", broken }
	if _, err := g.GroupOfPassages([]cognition.Chunk{{Seq: 2}}, read); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// Links are looked for of what is new and of what it names, within two steps.
func TestAround(t *testing.T) {
	around, place, ask := graph().Around([]cognition.Chunk{{Seq: 3, Node: 1}})
	if !slices.Equal(place, []int32{1, 3}) || !slices.Equal(ask, []int32{0, 1}) || len(around.Edges) != 1 {
		t.Errorf("%v, %v, %+v", place, ask, around)
	}
}

func TestGravest(t *testing.T) {
	g := graph()
	contradiction := func(a, b int32, severity float64) cognition.Contradiction {
		return cognition.Contradiction{
			A: cognition.Chunk{Node: a}, B: cognition.Chunk{Node: b}, Finding: conflict.Finding{Severity: severity},
		}
	}
	got := g.Gravest([][]cognition.Contradiction{
		{contradiction(0, 1, 0.2), contradiction(2, 3, 0.5)},
		{contradiction(1, 0, 0.9), contradiction(3, 2, 0.5)},
	})
	if len(got) != 2 || got[0].Finding.Severity != 0.9 || got[0].A.Node != 1 || got[1].A.Node != 2 {
		t.Errorf("%+v", got)
	}
}

func TestTemporalView(t *testing.T) {
	view, trends := (&cognition.Graph{}).TemporalView(nil)
	if view.GetCadence() != nil || len(trends) > 0 {
		t.Errorf("of nothing %v, %v", view, trends)
	}
	const day = 24 * 3600 * 1000
	g := &cognition.Graph{}
	d := cognition.Domain{Label: "boiler"}
	for i := range int32(60) { // each day, and of the boiler in the last weeks only
		g.Nodes = append(g.Nodes, cognition.Node{
			ID: pb.NodeID(strconv.Itoa(int(i))), Kind: "document",
			AtMS: int64(i+1) * day,
		})
		if i >= 40 {
			d.Members = append(d.Members, i)
			d.Top = append(d.Top, i)
		}
	}
	view, trends = g.TemporalView([]cognition.Domain{d})
	if view.GetCadence().GetEveryMs() != day {
		t.Errorf("cadence %v", view.GetCadence())
	}
	if len(trends) != 1 || trends[0].GetTopic() != "boiler" || len(trends[0].OfNodes) != 10 || len(trends[0].Nodes) != 10 {
		t.Errorf("trends %v", trends)
	}
}

// What lies in a few domains is called after them, and what is strewn over all after none.
func TestCalledAfter(t *testing.T) {
	t.Parallel()
	domains := []cognition.Domain{
		{Label: "Kiln, clay", Keywords: []string{"kiln", "clay"}, Members: []int32{0, 1, 2, 3}},
		{Label: "", Members: []int32{4, 5, 6}},
		{Label: "Choir", Keywords: []string{"choir"}, Members: []int32{7, 8, 9}},
		{Label: "Boat", Keywords: []string{"boat"}, Members: []int32{10}},
		{Label: "Roof", Keywords: []string{"roof"}, Members: []int32{11}},
	}
	homes := cognition.Homes(domains)
	for _, x := range []struct {
		nodes []int32
		want  string
	}{
		{[]int32{0, 1, 2, 7}, "Kiln, clay"},
		{[]int32{0, 7, 8, 12}, "Choir, kiln"},
		{[]int32{4, 5, 6, 0}, ""},
		{[]int32{0, 7, 10, 11, 4, 5}, ""},
		{nil, ""},
	} {
		if got := cognition.CalledAfter(homes(x.nodes), domains); got != x.want {
			t.Errorf("%v are called %q, want %q", x.nodes, got, x.want)
		}
	}
}
