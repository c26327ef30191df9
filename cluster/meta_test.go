package cluster

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestMeta: the node table, the shard map, the authority and the tokens are
// decided where they are applied, and survive, from the log and from the store.
func TestMeta(t *testing.T) {
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) { c.Shards = 1 })
	ctx, m := t.Context(), s.host.Meta()
	want := func(what string, err, is error) {
		t.Helper()
		if !errors.Is(err, is) {
			t.Errorf("%s: %v, want %v", what, err, is)
		}
	}
	changed := m.Changed()
	want("a node", m.PutNode(ctx, &pb.NodeEntry{Server: "a", Name: "anna", Address: "a:1"}), nil)
	select {
	case <-changed:
	default:
		t.Error("nobody was told of a change")
	}
	want("another address", m.PutNode(ctx, &pb.NodeEntry{Server: "a", Name: "anna", Address: "a:2"}), nil)
	want("a bad id", m.PutNode(ctx, &pb.NodeEntry{Server: "a b"}), wire.ErrNotApplied)
	want("a second node", m.PutNode(ctx, &pb.NodeEntry{Server: "b"}), nil)
	want("removal", m.RemoveNode(ctx, "b"), nil)
	want("removal again", m.RemoveNode(ctx, "b"), nil)
	want("removal of nobody", m.RemoveNode(ctx, "x"), wire.ErrNodeUnknown)
	want("a removed node", m.PutNode(ctx, &pb.NodeEntry{Server: "b"}), wire.ErrNodeRemoved)

	place := func(version uint64) *pb.ShardMap {
		return &pb.ShardMap{Version: version, Groups: []*pb.GroupPlacement{
			{Group: 0, Desired: []string{"a"}}, {Group: 1, Desired: []string{"a"}, Present: []string{"a", "b"}},
		}}
	}
	want("a map", m.PutShardMap(ctx, place(0)), nil)
	want("a map that was overtaken", m.PutShardMap(ctx, place(0)), wire.ErrMapChanged)
	want("the next map", m.PutShardMap(ctx, place(1)), nil)
	want("a map without groups", m.PutShardMap(ctx, &pb.ShardMap{Version: 2}), wire.ErrNotApplied)
	twice := place(2)
	twice.Groups[1].Present = []string{"a", "a"}
	want("a map that names a server twice", m.PutShardMap(ctx, twice), wire.ErrNotApplied)
	nobody := place(2)
	nobody.Groups[0].Desired = nil
	want("a map that leaves a group to nobody", m.PutShardMap(ctx, nobody), wire.ErrNotApplied)

	want("an authority", m.PutAuthority(ctx, &pb.AuthorityEntry{Data: []byte("one")}), nil)
	want("an overtaken one", m.PutAuthority(ctx, &pb.AuthorityEntry{Data: []byte("two")}), wire.ErrMapChanged)
	want("an empty one", m.PutAuthority(ctx, &pb.AuthorityEntry{Version: 1}), wire.ErrNotApplied)

	now := s.clock.Now()
	want("a token", m.PutJoinToken(ctx, [32]byte{1}, now.Add(time.Hour)), nil)
	want("a short one", m.PutJoinToken(ctx, [32]byte{2}, now.Add(time.Minute)), nil)
	want("joining", m.UseJoinToken(ctx, [32]byte{1}, "c"), nil)
	want("joining again", m.UseJoinToken(ctx, [32]byte{1}, "c"), nil)
	want("another machine", m.UseJoinToken(ctx, [32]byte{1}, "d"), wire.ErrTokenUsed)
	want("no token", m.UseJoinToken(ctx, [32]byte{9}, "d"), wire.ErrTokenUnknown)
	want("a removed node with a token", m.UseJoinToken(ctx, [32]byte{2}, "b"), wire.ErrNodeRemoved)
	s.clock.Advance(time.Minute)
	want("an expired token", m.UseJoinToken(ctx, [32]byte{2}, "d"), wire.ErrTokenUnknown)
	for i := range state.MaxJoinTokens - 1 { // the expired one makes room
		want("a token", m.PutJoinToken(ctx, [32]byte{3, byte(i)}, now.Add(time.Hour)), nil)
	}
	want("one too many", m.PutJoinToken(ctx, [32]byte{4}, now.Add(time.Hour)), wire.ErrTooManyTokens)

	want("a version", m.SetVersion(ctx, 2), nil)
	want("a lower version", m.SetVersion(ctx, 1), nil)
	want("one that this program does not speak", m.SetVersion(ctx, wire.ProtocolVersion+1), wire.ErrNotSpoken)

	check := func(s *server) {
		t.Helper()
		m := s.host.Meta()
		if n, ok := m.Node("a"); !ok || n.GetAddress() != "a:2" || len(m.Nodes()) != 2 {
			t.Errorf("nodes are %v", m.Nodes())
		}
		if n, ok := m.Node("b"); !ok || !n.GetRemoved() {
			t.Errorf("the removed node is %v", n)
		}
		if sm := m.ShardMap(); sm.GetVersion() != 2 || fmt.Sprint(sm.GetGroups()[1].GetPresent()) != "[a b]" {
			t.Errorf("the map is %v", sm)
		}
		if a := m.Authority(); a.GetVersion() != 1 || string(a.GetData()) != "one" {
			t.Errorf("the authority is %v", a)
		}
		if err := m.UseJoinToken(ctx, [32]byte{1}, "d"); !errors.Is(err, wire.ErrTokenUsed) {
			t.Errorf("a used token: %v", err)
		}
		if m.Version() != 2 {
			t.Errorf("version %d", m.Version())
		}
	}
	check(s)
	one := func(c *Config, _ *storage.Options) { c.Shards = 1 }
	// The directory belongs to "one", which the map does not name: it has the meta
	// group only.
	check(begin(t, s.crash(), one).metaReady())
	if err := s.host.compactor.compact(s.host.group(wire.MetaGroup)); err != nil {
		t.Fatal(err)
	}
	check(begin(t, s.crash(), one).metaReady())
}

// metaReady waits for the meta group alone.
func (s *server) metaReady() *server {
	s.t.Helper()
	clustertest.WaitFor(s.t, s.host.group(wire.MetaGroup).ready)
	return s
}
