package plan

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

var surveyed = time.Unix(1_700_000_000, 0)

func TestAssembleBelievesTheNewestLeader(t *testing.T) {
	members := []Replica{{"a", true}, {"b", true}, {"c", false}}
	nodes := []*pb.NodeEntry{
		{Server: "c"},
		{Server: "a", Zone: "z", Version: 2, Draining: true},
		{Server: "b", Leaving: true},
		{Server: "d"},
		{Server: "x", Removed: true},
	}
	seen := map[wire.ServerID]Presence{
		"a": {Alive: true, Since: surveyed}, "b": {Since: surveyed.Add(-time.Minute)},
		"d": {Alive: true, Since: surveyed, Leaving: true},
	}
	shards := &pb.ShardMap{
		Groups: []*pb.GroupPlacement{{Group: 0, Present: []string{"a"}}, {Group: 1, Present: []string{"a", "b"}}},
	}
	v := Assemble(surveyed, surveyed.Add(-time.Hour), 7, nodes, seen, []Report{
		{"a", []GroupReport{{Group: 1, Leads: true, Term: 3, Index: 9, Applied: 40, Replicas: members[:2]}}},
		{"b", []GroupReport{{Group: 1, Leads: true, Term: 4, Index: 12, Applied: 1000, Replicas: members}}},
		{"c", []GroupReport{{Group: 1, Applied: 1000}}},
	}, shards)
	want := []Node{
		{ID: "a", Zone: "z", Version: 2, Alive: true, Since: surveyed, Draining: true},
		{ID: "b", Since: surveyed.Add(-time.Minute), Leaving: true},
		{ID: "c", Since: surveyed.Add(-time.Hour)},
		{ID: "d", Alive: true, Since: surveyed, Draining: true},
	}
	if !slices.Equal(v.Nodes, want) || v.Version != 7 {
		t.Errorf("nodes %+v, version %d", v.Nodes, v.Version)
	}
	g := v.Groups[1]
	// a is more than the tail behind.
	if g.Leader != "b" || g.Index != 12 ||
		!slices.Equal(g.Members, []Member{{"a", true, false}, {"b", true, true}, {"c", false, true}}) {
		t.Errorf("group 1 is %+v", g)
	}
	if g := v.Groups[0]; g.Leader != "" || len(g.Members) != 1 {
		t.Errorf("group 0, of which nobody says that he leads: %+v", g)
	}
}

// TestAssembleWantsMoreThanAShortTail: a group with gigabytes of stores may have a
// log of a dozen entries, all of them within the tail of an empty replica.
func TestAssembleWantsMoreThanAShortTail(t *testing.T) {
	shards := &pb.ShardMap{Groups: []*pb.GroupPlacement{{Group: 0}}}
	for _, c := range []struct {
		said GroupReport
		want bool
	}{
		{GroupReport{Applied: 0}, false},
		{GroupReport{Applied: 11}, false},
		{GroupReport{Applied: 12}, true},
		{GroupReport{Applied: 12, Fresh: true}, false},
	} {
		v := Assemble(surveyed, surveyed, 1, []*pb.NodeEntry{{Server: "a"}, {Server: "b"}}, nil, []Report{
			{"a", []GroupReport{{Leads: true, Term: 1, Index: 12, Applied: 14, Replicas: []Replica{{"a", true}, {"b", false}}}}},
			{"b", []GroupReport{c.said}},
		}, shards)
		if m, _ := v.Groups[0].member("b"); m.CaughtUp != c.want {
			t.Errorf("%+v: caught up %t", c.said, m.CaughtUp)
		}
	}
}

func TestRedrawNamesWhoeverMayHoldAReplica(t *testing.T) {
	old := &pb.ShardMap{Version: 5, Groups: []*pb.GroupPlacement{
		{Group: 0, Desired: []string{"a"}, Present: []string{"a", "gone"}},
		{Group: 1, Desired: []string{"a"}, Present: []string{"a", "silent"}},
	}}
	kept := proto.CloneOf(old)
	v := View{Groups: []Group{
		{ID: 0, Leader: "b", Members: []Member{{ID: "b"}, {ID: "a"}}},
		{ID: 1, Members: []Member{{ID: "a"}}}, // nobody leads
	}}
	goals := []Goal{{Group: 0, Voters: []wire.ServerID{"c", "a"}}, {Group: 1, Voters: []wire.ServerID{"c"}}}
	fresh := Redraw(old, v, []Step{{Kind: StepAdd, Group: 0, Node: "c"}, {Kind: StepTransfer, Group: 0, Node: "a"}}, goals)
	if !proto.Equal(old, kept) {
		t.Error("the old map was changed")
	}
	if g := fresh.GetGroups()[0]; !slices.Equal(g.GetPresent(), []string{"a", "b", "c"}) ||
		!slices.Equal(g.GetDesired(), []string{"a", "c"}) {
		t.Errorf("group 0: %v", g)
	}
	if g := fresh.GetGroups()[1]; !proto.Equal(g, kept.GetGroups()[1]) {
		t.Errorf("group 1 has no leader and changed: %v", g)
	}
	if again := Redraw(fresh, v, []Step{{Kind: StepAdd, Group: 0, Node: "c"}}, goals); again != nil {
		t.Errorf("drawn again: %v", again)
	}
}
