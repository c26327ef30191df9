package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/cluster/wire"
)

// town is a cluster of which only the placement is modelled: a step that the
// planner asks for is done at once, and learners are filled when the test says so.
// That a step is allowed at all is checked where it is done, against the plain
// rules of raft's membership, not against the planner's own.
type town struct {
	View
	policy Policy
	added  []Step // every StepAdd so far
}

func newTown(shards int) *town {
	w := &town{View: View{Now: time.Unix(1_700_000_000, 0), Version: 1}, policy: DefaultPolicy()}
	for g := range shards + 1 {
		w.Groups = append(w.Groups, Group{ID: uint32(g), Index: 1})
	}
	return w
}

// join adds a node; the first one has everything.
func (w *town) join(id wire.ServerID, zone string) {
	first := len(w.Nodes) == 0
	w.Nodes = append(w.Nodes, Node{ID: id, Zone: zone, Version: 1, Alive: true, Since: w.Now})
	slices.SortFunc(w.Nodes, func(a, b Node) int { return strings.Compare(string(a.ID), string(b.ID)) })
	if first {
		for i := range w.Groups {
			w.Groups[i].Members = []Member{{ID: id, Voter: true, CaughtUp: true}}
		}
	}
	w.elect()
}

func (w *town) find(id wire.ServerID) *Node {
	for i := range w.Nodes {
		if w.Nodes[i].ID == id {
			return &w.Nodes[i]
		}
	}
	return nil
}

func (w *town) up(id wire.ServerID) bool { n := w.find(id); return n != nil && n.Alive }

// set lets a node die or come back.
func (w *town) set(id wire.ServerID, alive bool) {
	if n := w.find(id); n.Alive != alive {
		n.Alive, n.Since = alive, w.Now
	}
	w.elect()
}

// elect gives every group that can have one a leader.
func (w *town) elect() {
	for i := range w.Groups {
		g := &w.Groups[i]
		alive := 0
		var first wire.ServerID
		for _, m := range g.Members {
			if m.Voter && w.up(m.ID) {
				if alive++; first == "" {
					first = m.ID
				}
			}
		}
		switch {
		case alive <= len(g.voters())/2:
			g.Leader = ""
		case !w.up(g.Leader) || !g.voter(g.Leader):
			g.Leader = first
		}
	}
}

// fill lets the learners that are alive catch up.
func (w *town) fill() {
	for i := range w.Groups {
		for j := range w.Groups[i].Members {
			if m := &w.Groups[i].Members[j]; w.up(m.ID) {
				m.CaughtUp = true
			}
		}
	}
}

// filling counts the replicas that are being filled.
func (w *town) filling() int {
	n := 0
	for _, g := range w.Groups[1:] {
		for _, m := range g.Members {
			if !m.Voter && !m.CaughtUp && w.up(m.ID) {
				n++
			}
		}
	}
	return n
}

func (w *town) liveVoters(g *Group) int {
	n := 0
	for _, id := range g.voters() {
		if w.up(id) {
			n++
		}
	}
	return n
}

// carry out does one plan, and reports what it may not do.
func (w *town) carryOut(t failer) int {
	steps, goals := Next(w.View, w.policy)
	if len(goals) != len(w.Groups) {
		t.Fatalf("%d goals for %d groups", len(goals), len(w.Groups))
	}
	seen := map[uint32]bool{}
	begun, passed := w.filling(), 0
	for _, s := range steps {
		if s.Reason == "" {
			t.Fatalf("%v without a reason", s)
		}
		switch s.Kind {
		case StepForget:
			w.forget(t, s)
			continue
		case StepRaise:
			for _, n := range w.Nodes {
				if n.Version < s.Version {
					t.Fatalf("version raised to %d; %s understands %d", s.Version, n.ID, n.Version)
				}
			}
			if s.Version <= w.Version {
				t.Fatalf("version %d after %d", s.Version, w.Version)
			}
			w.Version = s.Version
			continue
		default:
		}
		if seen[s.Group] {
			t.Fatalf("two steps for group %d", s.Group)
		}
		seen[s.Group] = true
		g := &w.Groups[s.Group]
		if s.Index != g.Index {
			t.Fatalf("step for configuration %d, present one is %d", s.Index, g.Index)
		}
		if g.Leader == "" {
			t.Fatalf("%v of a group without a leader", s)
		}
		if s.Kind == StepAdd && s.Group != wire.MetaGroup {
			if begun++; begun > w.policy.MaxMoves {
				t.Fatalf("%d replicas are being filled", begun)
			}
			w.added = append(w.added, s)
		}
		if s.Kind == StepTransfer {
			passed++
		}
		w.do(t, g, s)
	}
	if passed > w.policy.MaxTransfers {
		t.Fatalf("%d leaderships handed over at a time", passed)
	}
	w.elect()
	return len(steps)
}

type failer interface {
	Fatalf(format string, args ...any)
}

// do is raft's part: it changes the membership and refuses what loses data or a
// majority.
func (w *town) do(t failer, g *Group, s Step) {
	m, member := g.member(s.Node)
	before := w.liveVoters(g)
	at := slices.IndexFunc(g.Members, func(m Member) bool { return m.ID == s.Node })
	if s.Kind != StepTransfer {
		g.Index++
	}
	switch s.Kind {
	case StepAdd:
		if n := w.find(s.Node); member || n == nil || !n.Alive || n.Leaving || n.Version < w.Version {
			t.Fatalf("group %d: %s cannot be added", g.ID, s.Node)
		}
		g.Members = append(g.Members, Member{ID: s.Node})
	case StepPromote:
		if !member || m.Voter || !m.CaughtUp || !w.up(s.Node) {
			t.Fatalf("group %d: %s is promoted and not ready", g.ID, s.Node)
		}
		g.Members[at].Voter = true
	case StepDemote:
		if !m.Voter || s.Node == g.Leader {
			t.Fatalf("group %d: %s cannot be demoted", g.ID, s.Node)
		}
		g.Members[at].Voter = false
	case StepRemove:
		if !member || s.Node == g.Leader {
			t.Fatalf("group %d: %s cannot be removed", g.ID, s.Node)
		}
		g.Members = slices.Delete(g.Members, at, at+1)
	case StepTransfer:
		if n := w.find(s.Node); !m.Voter || !m.CaughtUp || s.Node == g.Leader || !n.Alive || n.Draining || n.Leaving {
			t.Fatalf("group %d: %s cannot lead", g.ID, s.Node)
		}
		g.Leader = s.Node
	default:
		t.Fatalf("step %v of a group", s.Kind)
	}
	live, voters := w.liveVoters(g), len(g.voters())
	if live <= voters/2 {
		t.Fatalf("group %d: %v %s leaves %d of %d voters alive", g.ID, s.Kind, s.Node, live, voters)
	}
	// The safe number: as many as there should be, or as there were.
	if full := min(w.policy.Replicas, w.staying(g)); live < before && live < full {
		t.Fatalf("group %d: %v %s takes a live voter away and leaves %d", g.ID, s.Kind, s.Node, live)
	}
}

// staying counts the nodes that could vote in a group: those that do and will
// stay, and those that have settled and may get a place.
func (w *town) staying(g *Group) int {
	n := 0
	for _, x := range w.Nodes {
		here := x.Alive && w.Now.Sub(x.Since) >= w.policy.Settle && !x.Draining && x.Version >= w.Version
		if !x.Leaving && (here || g.voter(x.ID) && (x.Alive || w.Now.Sub(x.Since) < w.policy.GoneAfter)) {
			n++
		}
	}
	return n
}

func (w *town) forget(t failer, s Step) {
	if n := w.find(s.Node); n == nil || !n.Leaving {
		t.Fatalf("%s is forgotten and stays", s.Node)
	}
	for _, g := range w.Groups {
		if _, member := g.member(s.Node); member || g.Leader == "" {
			t.Fatalf("%s is forgotten and group %d may count on it", s.Node, g.ID)
		}
	}
	w.Nodes = slices.DeleteFunc(w.Nodes, func(n Node) bool { return n.ID == s.Node })
}

// rest lets the planner work until it has nothing to do.
func (w *town) rest(t failer) {
	// Each round may fill MaxMoves of at most 3 replicas of each group, and every
	// replica takes three rounds more; level needs a few.
	bound := 8*len(w.Groups)*w.policy.Replicas + 100
	for range bound {
		w.Now = w.Now.Add(time.Second)
		w.fill()
		if w.carryOut(t) == 0 && w.idle() {
			return
		}
	}
	steps, _ := Next(w.View, w.policy)
	t.Fatalf("no rest after %d rounds: %v", bound, steps)
}

// idle reports whether time alone changes nothing any more: nobody is about to
// settle, or to be gone.
func (w *town) idle() bool {
	for _, n := range w.Nodes {
		if n.Alive && w.Now.Sub(n.Since) < w.policy.Settle {
			return false
		}
	}
	return true
}

// wantFull checks a town at rest whose nodes are all well: every shard has as
// many voters as it should, spread over zones, led by those who may.
func (w *town) wantFull(t failer) {
	zones := map[string]int{}
	nodes := 0
	for _, n := range w.Nodes {
		if !n.Draining {
			zones[n.Zone]++
			nodes++
		}
	}
	leads := map[wire.ServerID]int{}
	for _, g := range w.Groups {
		voters := g.voters()
		want := min(w.policy.Replicas, len(w.Nodes))
		if g.ID == wire.MetaGroup && len(w.Nodes) >= w.policy.MetaVoters {
			want = w.policy.MetaVoters
		}
		// Two nodes have one voter, or two after a third one left. A draining node
		// gets no new place.
		if len(voters) != want && !(want == 2 && len(voters) == 1) && nodes == len(w.Nodes) {
			t.Fatalf("group %d has voters %v of %d nodes", g.ID, voters, len(w.Nodes))
		}
		if g.ID == wire.MetaGroup {
			if len(g.Members) != len(w.Nodes) {
				t.Fatalf("the meta group has %d members of %d nodes", len(g.Members), len(w.Nodes))
			}
			continue
		}
		if len(g.Members) > w.policy.Replicas {
			t.Fatalf("group %d has members %v", g.ID, g.Members)
		}
		leads[g.Leader]++
		if n := w.find(g.Leader); n.Draining && nodes > 0 && len(voters) > 1 &&
			slices.ContainsFunc(voters, func(id wire.ServerID) bool { return !w.find(id).Draining }) {
			t.Fatalf("group %d is led by %s, which is being drained", g.ID, g.Leader)
		}
		seen := map[string]int{}
		for _, m := range g.Members {
			seen[w.find(m.ID).Zone]++
		}
		if nodes == len(w.Nodes) && len(seen) < min(len(zones), len(g.Members)) {
			t.Fatalf("group %d lies in zones %v of %v", g.ID, seen, zones)
		}
	}
}

func TestPlanGrowsFromOneToManyAndShrinksBack(t *testing.T) {
	w := newTown(32)
	w.join("a", "")
	w.rest(t)
	w.wantFull(t)
	w.join("b", "")
	w.rest(t)
	w.wantFull(t)
	for _, g := range w.Groups {
		if len(g.voters()) != 1 || len(g.Members) != 2 {
			t.Errorf("two nodes: group %d has %v, want one voter and a learner", g.ID, g.Members)
		}
	}
	w.join("c", "")
	w.rest(t)
	w.wantFull(t)
	w.join("d", "")
	w.join("e", "")
	w.rest(t)
	w.wantFull(t)
	if v := w.Groups[wire.MetaGroup].voters(); len(v) != 5 {
		t.Errorf("five nodes: meta group has voters %v", v)
	}
	for _, id := range []wire.ServerID{"e", "a", "c", "d"} {
		w.find(id).Leaving = true
		w.rest(t)
		w.wantFull(t)
		if w.find(id) != nil {
			t.Fatalf("%s has not left", id)
		}
	}
	for _, g := range w.Groups {
		if g.Leader != "b" || len(g.Members) != 1 {
			t.Errorf("one node left: group %d has %v", g.ID, g.Members)
		}
	}
}

// TestPlanNeverHasTwoVotersOnTheWayUp: growing through two would let the second
// machine's death stop what one machine alone served.
func TestPlanNeverHasTwoVotersOnTheWayUp(t *testing.T) {
	w := newTown(4)
	w.join("a", "")
	w.join("b", "")
	w.join("c", "")
	for range 200 {
		w.Now = w.Now.Add(time.Second)
		// Only b catches up.
		for i := range w.Groups {
			for j := range w.Groups[i].Members {
				if m := &w.Groups[i].Members[j]; m.ID == "b" {
					m.CaughtUp = true
				}
			}
		}
		w.carryOut(t)
	}
	for _, g := range w.Groups {
		if len(g.voters()) != 1 {
			t.Errorf("group %d has voters %v while c is not filled", g.ID, g.voters())
		}
	}
	_, goals := Next(w.View, w.policy)
	if !slices.ContainsFunc(goals, func(g Goal) bool { return strings.Contains(g.Blocked, "third voter") }) {
		t.Errorf("nobody says what is waited for: %+v", goals)
	}
	w.rest(t)
	w.wantFull(t)
}

func TestPlanRepairsWhatIsGone(t *testing.T) {
	w := newTown(32)
	for _, id := range []wire.ServerID{"a", "b", "c", "d"} {
		w.join(id, "")
	}
	w.rest(t)
	held := 0
	for _, g := range w.Groups[1:] {
		if g.voter("b") {
			held++
		}
	}
	w.set("b", false)
	w.added = nil
	for range int(w.policy.GoneAfter/time.Second) - 1 {
		w.Now = w.Now.Add(time.Second)
		w.carryOut(t)
	}
	if len(w.added) > 0 {
		t.Fatalf("replicas are made anew %v before b is gone for good", w.added)
	}
	w.rest(t)
	if len(w.added) != held {
		t.Errorf("%d replicas made anew, b had %d", len(w.added), held)
	}
	for _, g := range w.Groups[1:] {
		if w.liveVoters(&g) != 3 || len(g.Members) != 3 {
			t.Errorf("group %d has %v", g.ID, g.Members)
		}
	}
	// It comes back with an old disk: it gets its share again, and nothing else moves.
	w.set("b", true)
	w.added = nil
	w.rest(t)
	w.wantFull(t)
	if len(w.added) != held || slices.ContainsFunc(w.added, func(s Step) bool { return s.Node != "b" }) {
		t.Errorf("after b's return: %v", w.added)
	}
}

// TestPlanKeepsADeadVoterWithoutReplacement: with three nodes there is nobody to
// take its place, and when it comes back nothing has to be copied.
func TestPlanKeepsADeadVoterWithoutReplacement(t *testing.T) {
	w := newTown(8)
	for _, id := range []wire.ServerID{"a", "b", "c"} {
		w.join(id, "")
	}
	w.rest(t)
	w.set("c", false)
	w.Now = w.Now.Add(time.Hour)
	w.rest(t)
	_, goals := Next(w.View, w.policy)
	for i, g := range w.Groups {
		if len(g.voters()) != 3 {
			t.Errorf("group %d has voters %v", g.ID, g.voters())
		}
		if goals[i].Blocked == "" {
			t.Errorf("group %d: nothing says that c is away", g.ID)
		}
	}
	// The operator says that it will not come back.
	w.find("c").Leaving = true
	w.rest(t)
	if w.find("c") != nil {
		t.Error("c is still a node")
	}
	w.join("d", "")
	w.rest(t)
	w.wantFull(t)
}

func TestPlanDrainsAndGivesBack(t *testing.T) {
	w := newTown(32)
	for _, id := range []wire.ServerID{"a", "b", "c"} {
		w.join(id, "")
	}
	w.rest(t)
	w.find("a").Draining = true
	w.added = nil
	w.rest(t)
	for _, g := range w.Groups {
		if g.Leader == "a" {
			t.Errorf("group %d is still led by a", g.ID)
		}
		if !g.voter("a") {
			t.Errorf("group %d has lost its replica on a", g.ID)
		}
	}
	w.find("a").Draining = false
	w.rest(t)
	leads := map[wire.ServerID]int{}
	for _, g := range w.Groups[1:] {
		leads[g.Leader]++
	}
	for _, n := range w.Nodes {
		if leads[n.ID] < 10 || leads[n.ID] > 12 {
			t.Errorf("leaderships after the drain: %v", leads)
		}
	}
	if len(w.added) > 0 {
		t.Errorf("a drain moved replicas: %v", w.added)
	}
}

func TestPlanRaisesTheVersionWithTheLastNode(t *testing.T) {
	w := newTown(2)
	for _, id := range []wire.ServerID{"a", "b", "c"} {
		w.join(id, "")
	}
	w.rest(t)
	w.find("a").Version, w.find("b").Version = 2, 2
	w.rest(t)
	if w.Version != 1 {
		t.Fatalf("version %d while c understands 1", w.Version)
	}
	w.find("c").Version = 3
	w.rest(t)
	if w.Version != 2 {
		t.Fatalf("version %d, want 2", w.Version)
	}
	// One that does not understand it gets nothing.
	w.join("old", "")
	w.added = nil
	for range 60 {
		w.Now = w.Now.Add(time.Second)
		w.fill()
		w.carryOut(t)
	}
	for _, g := range w.Groups {
		if _, member := g.member("old"); member {
			t.Errorf("group %d was given to a node of version 1", g.ID)
		}
	}
}

// TestPlanMovesFew: a node that joins takes its share from the others, and
// nothing moves between those.
func TestPlanMovesFew(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newTown(rapid.IntRange(1, 40).Draw(rt, "shards"))
		zones := rapid.IntRange(1, 4).Draw(rt, "zones")
		n := rapid.IntRange(1, 9).Draw(rt, "nodes")
		name := func(i int) (wire.ServerID, string) {
			return wire.ServerID(
				fmt.Sprintf("n-%x", rapid.Uint32().Draw(rt, "id")) + fmt.Sprint(i),
			), fmt.Sprint(rapid.IntRange(1, zones).Draw(rt, "zone"))
		}
		for i := range n {
			w.join(name(i))
		}
		w.rest(rt)
		w.wantFull(rt)
		had := map[uint32][]wire.ServerID{}
		for _, g := range w.Groups {
			for _, m := range g.Members {
				had[g.ID] = append(had[g.ID], m.ID)
			}
		}
		id, zone := name(n)
		w.join(id, zone)
		w.added = nil
		w.rest(rt)
		w.wantFull(rt)
		for _, s := range w.added {
			if s.Node != id {
				rt.Fatalf("%s joined, and %v", id, s)
			}
		}
		// It leaves again: everything is where it was.
		w.find(id).Leaving = true
		w.rest(rt)
		for _, g := range w.Groups[1:] {
			for _, m := range g.Members {
				if !slices.Contains(had[g.ID], m.ID) {
					rt.Fatalf("group %d: %s has a replica that it had not before %s came and went", g.ID, m.ID, id)
				}
			}
		}
	})
}

// TestPlanHistories lets nodes come, go, die, drain and leave at random while the
// planner works. Every step is checked by town.do; in the end, with every node
// well again, all is as it should be and stays so.
func TestPlanHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newTown(rapid.IntRange(1, 12).Draw(rt, "shards"))
		w.policy.MaxMoves = rapid.IntRange(1, 5).Draw(rt, "moves")
		w.join("first", "0")
		next := 0
		node := func() *Node { return &w.Nodes[rapid.IntRange(0, len(w.Nodes)-1).Draw(rt, "node")] }
		rt.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) {
				if len(w.Nodes) >= 8 {
					t.Skip("enough")
				}
				next++
				w.join(wire.ServerID(fmt.Sprint("n", next)), fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "zone")))
			},
			"die":    func(*rapid.T) { w.set(node().ID, false) },
			"return": func(*rapid.T) { w.set(node().ID, true) },
			"drain":  func(*rapid.T) { n := node(); n.Draining = !n.Draining },
			"leave": func(t *rapid.T) {
				n, staying := node(), 0
				for _, x := range w.Nodes {
					if !x.Leaving && x.ID != n.ID {
						staying++
					}
				}
				if staying == 0 {
					t.Skip("somebody must stay")
				}
				n.Leaving = true
			},
			"upgrade": func(*rapid.T) { n := node(); n.Version = min(n.Version+1, 3) },
			"fill":    func(*rapid.T) { w.fill() },
			"lag": func(t *rapid.T) {
				g := &w.Groups[rapid.IntRange(0, len(w.Groups)-1).Draw(t, "group")]
				if m := &g.Members[rapid.IntRange(0, len(g.Members)-1).Draw(t, "member")]; m.ID != g.Leader {
					m.CaughtUp = false
				}
			},
			"wait": func(t *rapid.T) {
				w.Now = w.Now.Add(time.Duration(rapid.IntRange(1, 700).Draw(t, "seconds")) * time.Second)
			},
			"": func(t *rapid.T) { w.carryOut(t) },
		})
		for i := range w.Nodes {
			w.Nodes[i].Draining, w.Nodes[i].Version = false, 3
			w.set(w.Nodes[i].ID, true)
		}
		w.rest(rt)
		w.wantFull(rt)
		for _, n := range w.Nodes {
			if n.Leaving {
				rt.Fatalf("%s has not left", n.ID)
			}
		}
	})
}

// TestPlanDoesNotFlap: a node that comes and goes faster than it settles gets
// nothing, and nobody else does because of it.
func TestPlanDoesNotFlap(t *testing.T) {
	w := newTown(16)
	for _, id := range []wire.ServerID{"a", "b", "c", "d"} {
		w.join(id, "")
	}
	w.rest(t)
	w.added = nil
	led := map[uint32]wire.ServerID{}
	w.set("d", false)
	w.carryOut(t)
	for _, g := range w.Groups {
		led[g.ID] = g.Leader
	}
	for i := range 500 {
		w.set("d", i%2 == 0)
		for range 5 {
			w.Now = w.Now.Add(time.Second)
			w.fill()
			w.carryOut(t)
		}
		for _, g := range w.Groups {
			if g.Leader == "d" {
				t.Fatalf("group %d is led by d again", g.ID)
			}
		}
	}
	if len(w.added) > 0 {
		t.Errorf("moves: %v", w.added)
	}
}

func TestPlanFillsZones(t *testing.T) {
	w := newTown(32)
	for i := range 9 {
		w.join(wire.ServerID(fmt.Sprint("n", i)), []string{"x", "y", "z"}[i/3])
	}
	w.rest(t)
	w.wantFull(t)
	held := map[wire.ServerID]int{}
	for _, g := range w.Groups[1:] {
		for _, m := range g.Members {
			held[m.ID]++
		}
	}
	// 96 replicas over nine nodes; the hash is no ruler.
	for _, n := range w.Nodes {
		if held[n.ID] < 4 || held[n.ID] > 20 {
			t.Errorf("replicas per node: %v", held)
		}
	}
	zones := map[string]int{}
	for _, id := range w.Groups[wire.MetaGroup].voters() {
		zones[w.find(id).Zone]++
	}
	for zone, n := range zones {
		if n > 2 {
			t.Errorf("zone %s has %d of five votes", zone, n)
		}
	}
}
