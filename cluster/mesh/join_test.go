package mesh

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// TestOutdatedMachineIsRefused: a machine with an older program is told so at
// once, and its token admits a newer one afterwards; while the version is about to
// rise it is told to ask again. Gossip of an old program is not believed.
func TestOutdatedMachineIsRefused(t *testing.T) {
	w := newCampus(t, clock.Real())
	clustertest.WaitFor(t, func() bool { return len(w.meta.Nodes()) == 1 }) // the first has entered itself
	w.meta.raise(wire.ProtocolVersion)
	tok := w.token()
	cfg := w.joinConfig(tok)
	cfg.speaks = wire.ProtocolVersion - 1
	_, err := Join(t.Context(), cfg)
	if !errors.Is(err, ErrJoinRefused) || !strings.Contains(
		err.Error(),
		fmt.Sprintf("the cluster is at version %d, this program speaks %d", wire.ProtocolVersion, wire.ProtocolVersion-1),
	) {
		t.Fatalf("an old machine: %v", err)
	}
	cfg.speaks = wire.ProtocolVersion + 1
	creds, err := Join(t.Context(), cfg)
	if err != nil {
		t.Fatalf("a new machine with the same token: %v", err)
	}

	two := w.open(creds, func(cfg *Config) { cfg.Join, cfg.speaks = []string{w.first.Addr()}, wire.ProtocolVersion+1 })
	acquainted(t, w.first, two)
	if err := two.shut(); err != nil {
		t.Fatal(err)
	}
	clustertest.WaitFor(t, func() bool { return state(w.first, two.Server()) != MemberAlive })
	old := w.open(creds, func(cfg *Config) { cfg.Join, cfg.speaks = []string{w.first.Addr()}, wire.ProtocolVersion-1 })
	three := w.grow()
	acquainted(t, w.first, three) // whatever gossips has been round
	clustertest.WaitFor(t, func() bool { return state(old, w.first.Server()) == MemberAlive })
	if state(w.first, old.Server()) == MemberAlive {
		t.Error("an old program is counted on")
	}
}

// TestOldMachineWaitsForTheVersion: what an old machine will have to understand is
// not known before the version has risen to what all nodes speak.
func TestOldMachineWaitsForTheVersion(t *testing.T) {
	for _, tc := range []struct {
		name        string
		version     uint32
		EncodeError error
		again       bool
	}{
		{"older than the cluster", 1, wire.ErrOutdated, false},
		{"older than all nodes, whose version is about to be the cluster's", 2, wire.ErrNotReady, true},
		{"as new as the nodes", 3, nil, false},
		{"newer", 4, nil, false},
	} {
		m := newFakeMeta(clock.Real())
		m.nodes["a"] = &pb.NodeEntry{Server: "a", Version: 3}
		m.nodes["gone"] = &pb.NodeEntry{Server: "gone", Removed: true}
		m.raise(2)
		if again, err := mayJoin(m, 3, tc.version); !errors.Is(err, tc.EncodeError) ||
			(err != nil) != (tc.EncodeError != nil) || again != tc.again {
			t.Errorf("%s: %v, %t", tc.name, err, again)
		}
		// With another old node nothing is about to rise.
		m.nodes["b"] = &pb.NodeEntry{Server: "b", Version: 2}
		if _, err := mayJoin(m, 3, tc.version); (err != nil) != (tc.version < 2) {
			t.Errorf("%s, beside an old node: %v", tc.name, err)
		}
	}
}

func (m *fakeMeta) raise(version uint32) {
	_ = m.change(func() error {
		m.version = version
		return nil
	})
}
