package cluster

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
)

// TestNothingForWhoLeaves: what a node hands over before it stops makes it the one that
// leads least, and nobody gives it anything back: not the controller, which sees it as
// drained (assemble), and not a leader that was told to before.
func TestNothingForWhoLeaves(t *testing.T) {
	dir := t.TempDir()
	dirs := [2]string{filepath.Join(dir, "one"), filepath.Join(dir, "two")}
	if err := foundStation(t.Context(), dirs[0], 1, nil); err != nil {
		t.Fatal(err)
	}
	first, err := openStation(t.Context(), dirs[0], stationPort(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = first.close() })
	if err := first.host.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	port := stationPort(t)
	if err := joinStation(t.Context(), dirs[1], port, first); err != nil {
		t.Fatal(err)
	}
	// Its network alone, which gossips.
	two, err := openNetwork(t.Context(), dirs[1], port, first.network.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = two.Close() })
	clustertest.WaitFor(t, func() bool {
		return slices.ContainsFunc(
			first.network.Members(), func(m mesh.Member) bool { return m.Server == two.Server() && m.State == mesh.MemberAlive },
		)
	})
	n := &node{cfg: Config{Network: first.network}, identity: identity{Server: first.network.Server()}}
	c := &controller{node: n, members: first.network.Members}
	g := &group{id: 1, node: n}
	if err := g.handOver(two.Server()); errors.Is(err, wire.ErrNotReady) || c.seen()[two.Server()].Leaving {
		t.Errorf("a node that stays gets nothing: %v", err)
	}
	two.SetLeaving(true)
	clustertest.WaitFor(t, func() bool { return c.seen()[two.Server()].Leaving })
	if err := g.handOver(two.Server()); !errors.Is(err, wire.ErrNotReady) {
		t.Errorf("a group was handed to a node that leaves: %v", err)
	}
}
