package actors

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/ground"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage/storagetest"
)

// derived is a document that says what it was derived from.
func derived(ext, content string, from ...string) *pb.IngestItem {
	return &pb.IngestItem{ExternalId: ext, Content: content, DerivedFrom: from}
}

// infer takes in a text that was derived from others and returns its node's id.
func (c client) infer(content string, from ...string) string {
	c.n.t.Helper()
	item := c.ingest(derived("", content, from...)).GetItems()[0]
	if item.GetNode() == "" {
		c.n.t.Fatalf("%q: %s", content, item.GetError())
	}
	return item.GetNode()
}

// told says what a staleness tells, an entry each.
func told(s *pb.Staleness) []string {
	var out []string
	for _, e := range s.GetEntries() {
		out = append(out, fmt.Sprintf("%s %s %d", e.GetBecause(), e.GetReason(), e.GetSinceMs()))
	}
	if s.GetIncomplete() {
		out = append(out, "and more")
	}
	return out
}

// stale says what GET of a node tells of what it rests on.
func (c client) stale(id string) []string {
	c.n.t.Helper()
	return told(c.ok(getNodeOp(id)).GetNode().GetStale())
}

// shown says what every way of looking at a node tells of what it rests on, by the way. word is one that only it holds.
func (c client) shown(id, word string) map[string][]string {
	c.n.t.Helper()
	out := map[string][]string{"node": c.stale(id)}
	for _, h := range c.search(keyword(word)) {
		if h.GetNode() == id {
			out["search"] = told(h.GetStale())
		}
	}
	for _, h := range c.ok(retrieveOp(&pb.Retrieve{Query: word})).GetMind().GetRetrieved().GetHits() {
		if h.GetNode() == id {
			out["retrieve"] = told(h.GetStale())
		}
	}
	list := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Q: word}}}))
	for _, n := range list.GetGraph().GetNodes().GetNodes() {
		out["list"] = told(n.GetStale())
	}
	context := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_NodeContext{NodeContext: &pb.NodeContext{Id: id}}}))
	out["recalled node"] = told(context.GetGraph().GetSurroundings().GetNode().GetStale())
	view := c.ok(recallOp(&pb.Recall{Type: pb.RecallGraph})).GetMind().GetGraph()
	out["recalled graph"] = told(view.GetStale()[id])
	answered := c.ok(&pb.Envelope{Op: &pb.Envelope_Mind{Mind: &pb.MindOp{Op: &pb.MindOp_BrainAnswer{
		BrainAnswer: &pb.BrainAnswer{Query: word},
	}}}}).GetMind().GetAnswered()
	out["answer"] = told(answered.GetStale())
	for _, cited := range answered.GetCitations() {
		out["citation"] = told(cited.GetStale())
	}
	return out
}

// all expects every way of looking at a node to tell the same.
func (c client) all(id, word string, want ...string) {
	c.n.t.Helper()
	got := c.shown(id, word)
	if len(got) != 8 {
		c.n.t.Errorf("it was not found in every way: %v", slices.Sorted(maps.Keys(got)))
	}
	for way, tells := range got {
		if !slices.Equal(tells, want) {
			c.n.t.Errorf("%s tells %q, want %q", way, tells, want)
		}
	}
}

func TestWhatIsShownTellsWhatItRestsOnNoLongerStands(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	ground := c.ingest(doc("minutes", "The budget is ten thousand.")).GetItems()[0].GetNode()
	other := c.note("The forecast says rain.")
	middle := c.infer("We can afford the roof.", "minutes", other)
	top := c.infer("Plumtree may start building.", middle)
	c.all(top, "Plumtree")

	n.clock.Advance(time.Hour)
	since := clock.Millis(n.clock.Now())
	c.ingest(doc("minutes", "The budget is five thousand."))
	superseded := fmt.Sprintf("%s superseded %d", ground, since)
	c.all(top, "Plumtree", superseded)
	if got := c.stale(middle); !slices.Equal(got, []string{superseded}) {
		t.Errorf("what rests on it itself tells %q", got)
	}
	if got := c.stale(ground); got != nil {
		t.Errorf("what was superseded, and rests on nothing, tells %q", got)
	}

	n.clock.Advance(time.Hour)
	c.forget(other)
	forgotten := fmt.Sprintf("%s forgotten %d", other, clock.Millis(n.clock.Now()))
	c.all(top, "Plumtree", superseded, forgotten)
	c.ok(undeleteOp(other))
	c.all(top, "Plumtree", superseded)

	// The old content comes back.
	c.ingest(doc("minutes", "The budget is ten thousand."))
	c.all(top, "Plumtree")
	// What became of it later than the time that is asked about is not told.
	c.ingest(doc("minutes", "The budget is three thousand."))
	op := keyword("Plumtree")
	for asOf, want := range map[int64]int{clock.Millis(n.clock.Now()): 1, clock.Millis(n.clock.Now()) - 1: 0} {
		op.Filters = &pb.Filters{AsOfMs: asOf}
		if hits := c.search(op); len(hits) != 1 || len(told(hits[0].GetStale())) != want {
			t.Errorf("as of %d: %v", asOf, hits)
		}
	}
}

// What a person puts in the place of a ground does not become the ground of what was said before.
func TestSupersedingByHandMovesNoGround(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	root := c.note("The lease ends in May.")
	ground := c.infer("We move out in May.", root)
	top := c.infer("Book the movers for May.", ground)
	n.clock.Advance(time.Minute)
	to := c.supersede(ground, "We move out in June.").GetNewNode()
	want := []string{fmt.Sprintf("%s superseded %d", ground, clock.Millis(n.clock.Now()))}
	if got := c.stale(top); !slices.Equal(got, want) {
		t.Errorf("it tells %q, want %q", got, want)
	}
	c.forget(root)
	if got := c.stale(to); got != nil {
		t.Errorf("the person's own words rest on nothing, and tell %q", got)
	}
	if got := c.stale(top); len(got) != 2 {
		t.Errorf("it tells %q, without what its ground rests on", got)
	}
}

// Who says again what was derived, from what holds now, has it stand again.
func TestDerivedAnewFromWhatHoldsNow(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a, b := c.note("Ada runs the shop."), c.note("Ben runs the shop.")
	top := c.infer("The shop is run well.", a, a)
	c.forget(a)
	if got := c.stale(top); len(got) != 1 {
		t.Fatalf("it tells %q", got)
	}
	item := c.ingest(derived("", "The shop is run well.", b)).GetItems()[0]
	if item.GetStatus() != pb.ItemSuperseded || item.GetNode() != top || c.stale(top) != nil {
		t.Errorf("%v, and it tells %q", item, c.stale(top))
	}
	if again := c.ingest(derived("", "The shop is run well.", b)).GetItems()[0]; again.GetStatus() != pb.ItemUnchanged {
		t.Errorf("repeated: %v", again)
	}
	if plain := c.ingest(doc("", "The shop is run well.")).GetItems()[0]; plain.GetStatus() != pb.ItemUnchanged {
		t.Errorf("repeated without: %v", plain)
	}
	edges := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{
		Type: pb.EdgeDerivedFrom,
	}}})).GetGraph().GetEdges().GetEdges()
	if len(edges) != 1 || edges[0].GetSource() != top || edges[0].GetTarget() != b ||
		edges[0].GetOrigin() != pb.OriginIngest {
		t.Errorf("the edges are %v", edges)
	}
	// Somebody takes it back.
	c.ok(forgetEdgeOp(edges[0].GetId()))
	c.forget(b)
	if got := c.stale(top); got != nil {
		t.Errorf("it rests on nothing, and tells %q", got)
	}
}

func TestDerivationsThatAreRefused(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	a := c.note("The gate is open.")
	b := c.infer("The dog is out.", a)
	foreign := c.as("anna").ingest(doc("annas", "Anna has a cat.")).GetItems()[0].GetNode()
	gone := c.note("The key is lost.")
	c.forget(gone)
	const unknown = "names no node and no document of this memory"
	for name, x := range map[string]struct {
		item *pb.IngestItem
		want string
	}{
		"unknown":            {derived("", "One.", a, "ingest:x:y"), "derivedFrom[1] " + unknown},
		"another's node":     {derived("", "Two.", foreign), "derivedFrom[0] " + unknown},
		"another's document": {derived("", "Three.", "annas"), "derivedFrom[0] " + unknown},
		"forgotten":          {derived("", "Four.", gone), "derivedFrom[0] " + unknown},
		"itself":             {derived("", "The dog is out.", b), "derivedFrom[0] is the item itself"},
		"a circle":           {derived("", "The gate is open.", b), "derivedFrom[0] was itself derived from the item"},
	} {
		job := c.ingest(x.item)
		got := job.GetItems()[0]
		if got.GetStatus() != pb.ItemFailed || got.GetError() != x.want || job.GetErrorCode() != pb.CodeValidation {
			t.Errorf("%s: %v, %s", name, got, job.GetErrorCode())
		}
		if x.item.GetContent() != "The dog is out." && x.item.GetContent() != "The gate is open." &&
			len(c.search(keyword(strings.TrimSuffix(x.item.GetContent(), ".")))) > 0 {
			t.Errorf("%s: it was taken in all the same", name)
		}
	}
	// A refused item takes no other along, and what stands before it may be what it rests on.
	items := c.ingest(doc("x", "First."), derived("", "Bad.", "nothing"), derived("", "Last.", "x")).GetItems()
	if items[0].GetStatus() != pb.ItemCreated || items[1].GetStatus() != pb.ItemFailed ||
		items[2].GetStatus() != pb.ItemCreated {
		t.Errorf("the batch came to %v", items)
	}

	edge := func(op *pb.AssertEdge) *pb.Problem { return c.refused(pb.CodeValidation, assertOp(op)) }
	p := edge(&pb.AssertEdge{
		Source: a, Target: b, Type: "t", DerivedFrom: &pb.DerivedFrom{Ids: []string{"x", foreign, "nothing"}},
	})
	if len(p.GetErrors()) != 2 || p.GetErrors()[0].GetField() != "derivedFrom[1]" ||
		p.GetErrors()[1].GetField() != "derivedFrom[2]" {
		t.Errorf("an edge: %v", p)
	}
	p = edge(&pb.AssertEdge{Source: a, Target: b, Type: pb.EdgeDerivedFrom})
	if len(p.GetErrors()) != 1 || p.GetErrors()[0].GetField() != "target" {
		t.Errorf("a circle: %v", p)
	}
}

func TestAnAssertedEdgeTellsWhatItRestsOnNoLongerStands(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a, b := c.note("Zanzibar is far."), c.note("Ships are slow.")
	root := c.note("The atlas says so.")
	ground := c.infer("It takes two weeks.", root)
	e, _ := c.assertEdge(&pb.AssertEdge{
		Source: a, Target: b, Type: "explains", DerivedFrom: &pb.DerivedFrom{Ids: []string{ground}},
	})
	told2 := func() map[string][]string {
		t.Helper()
		out := map[string][]string{"edge": told(c.ok(getEdgeOp(e.GetId())).GetGraph().GetEdge().GetStale())}
		list := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{Type: "explains"}}}))
		out["list"] = told(list.GetGraph().GetEdges().GetStale()[e.GetId()])
		near := c.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_NodeContext{NodeContext: &pb.NodeContext{Id: a}}}))
		for _, x := range near.GetGraph().GetSurroundings().GetNeighbours() {
			out["neighbour"] = told(x.GetStale())
		}
		found := c.ok(retrieveOp(&pb.Retrieve{Query: "Zanzibar", MaxHops: 1})).GetMind().GetRetrieved()
		for _, p := range found.GetPaths() {
			if len(p.GetEdges()) == 1 {
				out["path"] = told(p.GetStale())
			}
		}
		return out
	}
	expect := func(want ...string) {
		t.Helper()
		got := told2()
		for _, way := range []string{"edge", "list", "neighbour", "path"} {
			if tells, ok := got[way]; !ok || !slices.Equal(tells, want) {
				t.Errorf("%s tells %q (%v), want %q", way, tells, ok, want)
			}
		}
	}
	expect()
	grounds := func() []string { return c.edges(&pb.ListEdges{Source: e.GetId(), Type: pb.EdgeDerivedFrom}, 10) }
	if got := grounds(); len(got) != 1 {
		t.Errorf("it is kept as the edges %q", got)
	}
	n.clock.Advance(time.Minute)
	c.forget(root)
	gone := fmt.Sprintf("%s forgotten %d", root, clock.Millis(n.clock.Now()))
	expect(gone)
	n.clock.Advance(time.Minute)
	c.forget(ground)
	expect(fmt.Sprintf("%s forgotten %d", ground, clock.Millis(n.clock.Now())))
	if got := grounds(); len(got) != 0 {
		t.Errorf("its ground is forgotten, and the edges are %q", got)
	}
	c.ok(undeleteOp(ground))
	expect(gone)
	c.ok(undeleteOp(root))
	expect()

	// It goes with its node, and comes back with what it rests on.
	degree := func() uint32 { return c.ok(getNodeOp(ground)).GetNode().GetNode().GetDegree() }
	was := degree()
	c.forget(b)
	if got := grounds(); len(got) != 0 || degree() != was-1 {
		t.Errorf("it is forgotten, and the edges are %q; the degree is %d, was %d", got, degree(), was)
	}
	c.ok(undeleteOp(b))
	if got := grounds(); len(got) != 1 || degree() != was {
		t.Errorf("it is back, and the edges are %q; the degree is %d, was %d", got, degree(), was)
	}
	c.forget(ground)
	if got := told2()["edge"]; len(got) != 1 {
		t.Errorf("it is back, and tells %q", got)
	}
	c.ok(undeleteOp(ground))

	// An update says anew what it rests on, or leaves it.
	same, status := c.assertEdge(&pb.AssertEdge{Source: a, Target: b, Type: "explains"})
	if status != 200 || len(same.GetGrounds()) != 1 {
		t.Errorf("%d %v", status, same)
	}
	c.assertEdge(&pb.AssertEdge{Source: a, Target: b, Type: "explains", DerivedFrom: &pb.DerivedFrom{}})
	c.forget(ground)
	if got := told2()["edge"]; got != nil || len(grounds()) != 0 {
		t.Errorf("it rests on nothing, and tells %q", got)
	}
}

// Thirty days later nothing of what was forgotten is there, and what rests on it still says so.
func TestStaleOutlivesTheTombstone(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a, b := c.note("Oak burns slowly."), c.note("Ash burns quickly.")
	ground := c.note("The stove was tested.")
	top := c.infer("Heat with oak.", ground)
	e, _ := c.assertEdge(&pb.AssertEdge{
		Source: a, Target: b, Type: "outlasts", DerivedFrom: &pb.DerivedFrom{Ids: []string{ground}},
	})
	n.clock.Advance(time.Minute)
	c.forget(ground)
	want := []string{fmt.Sprintf("%s forgotten %d", ground, clock.Millis(n.clock.Now()))}
	n.clock.Advance(31 * 24 * time.Hour)
	n.until(func() bool {
		return c.ask(historyOp(ground, nil)).GetProblem().GetCode() == pb.CodeNodeNotFound
	})
	if got := c.stale(top); !slices.Equal(got, want) {
		t.Errorf("a node tells %q, want %q", got, want)
	}
	if got := told(c.ok(getEdgeOp(e.GetId())).GetGraph().GetEdge().GetStale()); !slices.Equal(got, want) {
		t.Errorf("an edge tells %q, want %q", got, want)
	}
}

// Beyond what is followed it is said that there is more.
func TestGroundsAreFollowedToABound(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	batch := []*pb.IngestItem{doc("0", "Step zero.")}
	for i := 1; i <= ground.MaxGroundDepth+1; i++ {
		batch = append(batch, derived(fmt.Sprint(i), fmt.Sprintf("Step number %d.", i), fmt.Sprint(i-1)))
	}
	items := c.ingest(batch...).GetItems()
	last, first := items[len(items)-1].GetNode(), items[0].GetNode()
	if got := c.stale(items[ground.MaxGroundDepth].GetNode()); got != nil {
		t.Errorf("at the bound it tells %q", got)
	}
	if got := c.stale(last); !slices.Equal(got, []string{"and more"}) {
		t.Errorf("beyond the bound it tells %q", got)
	}
	c.forget(first)
	if got := c.stale(items[ground.MaxGroundDepth].GetNode()); len(got) != 1 {
		t.Errorf("at the bound it tells %q", got)
	}
}

// A belief that nothing states any more has ended, and so has what rests on it.
func TestWhatNothingStatesAnyMoreHasEnded(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	text := c.note("I think that the bridge is unsafe. The weather was fine.")
	beliefs := c.nodes(&pb.ListNodes{Kind: "belief"}, 10)
	if len(beliefs) != 1 {
		t.Fatalf("the text states %q", beliefs)
	}
	top := c.infer("Take the ferry.", beliefs[0])
	n.clock.Advance(time.Minute)
	c.edit(&pb.EditNode{Id: text, Content: new("The weather was fine.")})
	want := []string{fmt.Sprintf("%s ended %d", beliefs[0], clock.Millis(n.clock.Now()))}
	if got := c.stale(top); !slices.Equal(got, want) {
		t.Errorf("it tells %q, want %q", got, want)
	}
	// It is stated again, and is another ground; only who derives from it anew rests on it.
	c.note("I think that the bridge is unsafe. It rained.")
	if got := c.stale(top); !slices.Equal(got, want) {
		t.Errorf("it tells %q, want %q", got, want)
	}
	c.ingest(derived("", "Take the ferry.", c.nodes(&pb.ListNodes{Kind: "belief"}, 10)...))
	if got := c.stale(top); got != nil {
		t.Errorf("it tells %q", got)
	}
}

func TestDerivationsComeBackFromAnExport(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a, b := c.note("Oak burns slowly."), c.note("Ash burns quickly.")
	lost, ground := c.note("The stove was tested."), c.note("The wood is dry.")
	top := c.infer("Heat with oak.", lost, ground)
	c.assertEdge(&pb.AssertEdge{
		Source: a, Target: b, Type: "outlasts", DerivedFrom: &pb.DerivedFrom{Ids: []string{lost, ground}},
	})
	c.forget(lost)
	n.clock.Advance(31 * 24 * time.Hour)
	n.until(func() bool { return c.ask(historyOp(lost, nil)).GetProblem().GetCode() == pb.CodeNodeNotFound })

	_, there := c.comesBack(t)
	if got := there.nodes(&pb.ListNodes{}, 10); len(got) != 4 {
		t.Fatalf("there are %q", got)
	}
	id := func(word string) string { return there.hits(keyword(word))[0] }
	there.forget(id("dry"))
	got := there.stale(id("Heat"))
	if len(got) != 2 || !strings.Contains(got[0], pb.StaleForgotten) || !strings.HasPrefix(got[1], id("Ash")[:40]) &&
		!strings.Contains(got[1], pb.StaleForgotten) {
		t.Errorf("a node tells %q; here it tells %q", got, c.stale(top))
	}
	edges := there.ok(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{Type: "outlasts"}}})).
		GetGraph().GetEdges()
	if len(edges.GetEdges()) != 1 || len(told(edges.GetStale()[edges.GetEdges()[0].GetId()])) != 2 {
		t.Errorf("an edge tells %v", edges)
	}
}

// believed is a memory of derivations as a reader would draw it on paper: what rests on what, and what became of each.
type believed struct {
	rests map[string][]string // by node
	fate  map[string]string   // of those that do not stand
}

// stale is what a node rests on and does not stand.
func (m *believed) stale(id string) []string {
	seen, out := map[string]bool{id: true}, []string(nil)
	var follow func(string)
	follow = func(at string) {
		for _, g := range m.rests[at] {
			if seen[g] {
				continue
			}
			seen[g] = true
			if m.fate[g] != "" {
				out = append(out, g+" "+m.fate[g])
			}
			if m.fate[g] != pb.StaleForgotten {
				follow(g)
			}
		}
	}
	follow(id)
	slices.Sort(out)
	return out
}

// An answer names what a plain walk over all derivations finds, after any changes to a memory in any order.
func TestClosureIsWhatAPlainWalkFinds(t *testing.T) {
	steps := storagetest.LessUnderRace(t, 120, 40)
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			n := startNode(t, storagetest.NewDisk())
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			draw := rand.New(rand.NewPCG(seed, 1))
			m := &believed{rests: map[string][]string{}, fate: map[string]string{}}
			var all []string
			pick := func(fate string) string {
				for range 20 {
					if len(all) == 0 {
						return ""
					}
					if id := all[draw.IntN(len(all))]; m.fate[id] == fate {
						return id
					}
				}
				return ""
			}
			for step := range steps {
				switch id := pick(""); draw.IntN(6) {
				case 0, 1, 2:
					var from []string
					for range draw.IntN(4) {
						if g := pick([]string{"", pb.StaleSuperseded}[draw.IntN(2)]); g != "" && !slices.Contains(from, g) {
							from = append(from, g)
						}
					}
					made := c.infer(fmt.Sprintf("Thought number %d.", step), from...)
					all, m.rests[made] = append(all, made), from
				case 3:
					if id != "" {
						c.forget(id)
						m.fate[id] = pb.StaleForgotten
					}
				case 4:
					if id != "" {
						all = append(all, c.supersede(id, fmt.Sprintf("Second thought number %d.", step)).GetNewNode())
						m.fate[id] = pb.StaleSuperseded
					}
				case 5:
					if gone := pick(pb.StaleForgotten); gone != "" {
						back := c.ok(undeleteOp(gone)).GetNode().GetNode()
						m.fate[gone] = map[string]string{pb.StatusSuperseded: pb.StaleSuperseded}[back.GetStatus()]
					}
				}
			}
			for _, id := range all {
				if m.fate[id] == pb.StaleForgotten {
					continue
				}
				var got []string
				for _, e := range c.ok(getNodeOp(id)).GetNode().GetStale().GetEntries() {
					got = append(got, e.GetBecause()+" "+e.GetReason())
				}
				slices.Sort(got)
				if want := m.stale(id); !slices.Equal(got, want) {
					t.Errorf("%s tells %q, want %q", id, got, want)
				}
			}
		})
	}
}
