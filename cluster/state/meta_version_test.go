package state

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// TestVersionIsJudged: however nodes come, go, are upgraded and downgraded, the
// version never falls, and from the one that is judged on no node of the table is
// below it.
func TestVersionIsJudged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMeta(nil)
		m.version = wire.JudgedVersion
		id := rapid.SampledFrom([]string{"a", "b", "c", "d"})
		version := rapid.Uint32Range(wire.JudgedVersion-1, wire.JudgedVersion+3)
		carryOut := func(t *rapid.T, cmd *pb.Command, refusals ...error) {
			publish, err := m.judge(cmd, storage.NewBatch(storage.MetaStore))
			if err == nil {
				publish()
				return
			}
			for _, r := range refusals {
				if errors.Is(err, r) {
					return
				}
			}
			t.Fatalf("%v: %v", cmd, err)
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				carryOut(t, &pb.Command{Kind: &pb.Command_PutNode{PutNode: &pb.PutNode{
					Node: &pb.NodeEntry{Server: id.Draw(t, "node"), Version: version.Draw(t, "version")},
				}}}, wire.ErrOutdated, wire.ErrNodeRemoved)
			},
			"remove": func(t *rapid.T) {
				carryOut(
					t, &pb.Command{Kind: &pb.Command_RemoveNode{RemoveNode: &pb.RemoveNode{Server: id.Draw(t, "node")}}},
					wire.ErrNodeUnknown,
				)
			},
			"raise": func(t *rapid.T) {
				was, to := m.version, version.Draw(t, "version")
				carryOut(
					t, &pb.Command{Kind: &pb.Command_SetClusterVersion{SetClusterVersion: &pb.SetClusterVersion{Version: to}}},
					wire.ErrNotSpoken,
				)
				if m.version < was || m.version != was && m.version != to {
					t.Fatalf("raised from %d to %d: %d", was, to, m.version)
				}
			},
			"": func(t *rapid.T) {
				for id, n := range m.nodes {
					if !n.GetRemoved() && n.GetVersion() < m.version {
						t.Fatalf("%s speaks %d in a cluster of version %d", id, n.GetVersion(), m.version)
					}
				}
			},
		})
	})
}
