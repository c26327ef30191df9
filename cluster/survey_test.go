package cluster

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

var surveyed = time.Unix(1_700_000_000, 0)

func TestAssembleBelievesTheNewestLeader(t *testing.T) {
	members := []Replica{{"a", true}, {"b", true}, {"c", false}}
	nodes := []*pb.NodeEntry{{Server: "c"}, {Server: "a", Zone: "z", Version: 2, Draining: true}, {Server: "b", Leaving: true}, {Server: "d"}, {Server: "x", Removed: true}}
	seen := map[ServerID]presence{"a": {alive: true, since: surveyed}, "b": {since: surveyed.Add(-time.Minute)}, "d": {alive: true, since: surveyed, leaving: true}}
	shards := &pb.ShardMap{Groups: []*pb.GroupPlacement{{Group: 0, Present: []string{"a"}}, {Group: 1, Present: []string{"a", "b"}}}}
	v := assemble(surveyed, surveyed.Add(-time.Hour), 7, nodes, seen, []report{
		{"a", []groupReport{{Group: 1, Leads: true, Term: 3, Index: 9, Applied: 40, Replicas: members[:2]}}},
		{"b", []groupReport{{Group: 1, Leads: true, Term: 4, Index: 12, Applied: 1000, Replicas: members}}},
		{"c", []groupReport{{Group: 1, Applied: 1000}}},
	}, shards)
	want := []nodeView{
		{id: "a", zone: "z", version: 2, alive: true, since: surveyed, draining: true},
		{id: "b", since: surveyed.Add(-time.Minute), leaving: true},
		{id: "c", since: surveyed.Add(-time.Hour)},
		{id: "d", alive: true, since: surveyed, draining: true},
	}
	if !slices.Equal(v.nodes, want) || v.version != 7 {
		t.Errorf("nodes %+v, version %d", v.nodes, v.version)
	}
	g := v.groups[1]
	// a is more than the tail behind.
	if g.leader != "b" || g.index != 12 || !slices.Equal(g.members, []memberView{{"a", true, false}, {"b", true, true}, {"c", false, true}}) {
		t.Errorf("group 1 is %+v", g)
	}
	if g := v.groups[0]; g.leader != "" || len(g.members) != 1 {
		t.Errorf("group 0, of which nobody says that he leads: %+v", g)
	}
}

// TestAssembleWantsMoreThanAShortTail: a group with gigabytes of stores may have a
// log of a dozen entries, all of them within the tail of an empty replica.
func TestAssembleWantsMoreThanAShortTail(t *testing.T) {
	shards := &pb.ShardMap{Groups: []*pb.GroupPlacement{{Group: 0}}}
	for _, c := range []struct {
		said groupReport
		want bool
	}{
		{groupReport{Applied: 0}, false},
		{groupReport{Applied: 11}, false},
		{groupReport{Applied: 12}, true},
		{groupReport{Applied: 12, Fresh: true}, false},
	} {
		v := assemble(surveyed, surveyed, 1, []*pb.NodeEntry{{Server: "a"}, {Server: "b"}}, nil, []report{
			{"a", []groupReport{{Leads: true, Term: 1, Index: 12, Applied: 14, Replicas: []Replica{{"a", true}, {"b", false}}}}},
			{"b", []groupReport{c.said}},
		}, shards)
		if m, _ := v.groups[0].member("b"); m.caughtUp != c.want {
			t.Errorf("%+v: caught up %t", c.said, m.caughtUp)
		}
	}
}

func TestRedrawNamesWhoeverMayHoldAReplica(t *testing.T) {
	old := &pb.ShardMap{Version: 5, Groups: []*pb.GroupPlacement{
		{Group: 0, Desired: []string{"a"}, Present: []string{"a", "gone"}},
		{Group: 1, Desired: []string{"a"}, Present: []string{"a", "silent"}},
	}}
	kept := proto.CloneOf(old)
	v := view{groups: []groupView{
		{id: 0, leader: "b", members: []memberView{{id: "b"}, {id: "a"}}},
		{id: 1, members: []memberView{{id: "a"}}}, // nobody leads
	}}
	goals := []goal{{group: 0, seats: []ServerID{"c", "a"}}, {group: 1, seats: []ServerID{"c"}}}
	fresh := redraw(old, v, []step{{kind: stepAdd, group: 0, node: "c"}, {kind: stepTransfer, group: 0, node: "a"}}, goals)
	if !proto.Equal(old, kept) {
		t.Error("the old map was changed")
	}
	if g := fresh.GetGroups()[0]; !slices.Equal(g.GetPresent(), []string{"a", "b", "c"}) || !slices.Equal(g.GetDesired(), []string{"a", "c"}) {
		t.Errorf("group 0: %v", g)
	}
	if g := fresh.GetGroups()[1]; !proto.Equal(g, kept.GetGroups()[1]) {
		t.Errorf("group 1 has no leader and changed: %v", g)
	}
	if again := redraw(fresh, v, []step{{kind: stepAdd, group: 0, node: "c"}}, goals); again != nil {
		t.Errorf("drawn again: %v", again)
	}
}
