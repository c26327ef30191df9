package mesh

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	"orgmem/proto/clock"
)

// counter is a state machine that remembers what was applied.
type counter struct {
	mu  sync.Mutex
	log []string
}

func (c *counter) Apply(l *raft.Log) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.log = append(c.log, string(l.Data))
	return nil
}

func (c *counter) has(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.log) == n
}

func (c *counter) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("not wanted here") }
func (c *counter) Restore(io.ReadCloser) error         { return errors.New("not wanted here") }

// member is one member of a raft group in memory, on a real network.
type raftMember struct {
	raft *raft.Raft
	fsm  *counter
}

// layer is a group's share of the network as raft wants it.
type layer struct{ *GroupStreams }

func (l layer) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return l.GroupStreams.Dial(wire.ServerID(to), timeout)
}

func startMember(t *testing.T, n *Network, group uint32, all []*Network) *raftMember {
	t.Helper()
	m := &raftMember{fsm: &counter{}}
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(n.Server())
	c.Logger = hclog.NewNullLogger()
	store := raft.NewInmemStore()
	conf := raft.Configuration{}
	for _, o := range all {
		conf.Servers = append(
			conf.Servers, raft.Server{ID: raft.ServerID(o.Server()), Address: raft.ServerAddress(o.Server())},
		)
	}
	trans := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: layer{n.OpenGroup(group, n.Server())}, MaxPool: 1, Timeout: 5 * time.Second,
		Logger: hclog.NewNullLogger(),
	})
	if err := raft.BootstrapCluster(c, store, store, raft.NewInmemSnapshotStore(), trans, conf); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.raft, err = raft.NewRaft(c, m.fsm, store, store, raft.NewInmemSnapshotStore(), trans); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.raft.Shutdown().Error() })
	return m
}

// leaderOf waits for a group's leader.
func leaderOf(t *testing.T, members []*raftMember) (leader *raftMember) {
	t.Helper()
	clustertest.WaitFor(t, func() bool {
		for _, m := range members {
			if m.raft.State() == raft.Leader && m.raft.VerifyLeader().Error() == nil {
				leader = m
				return true
			}
		}
		return false
	})
	return leader
}

func TestGroupsShareTheNetwork(t *testing.T) {
	w := newCampus(t, clock.Real())
	nodes := []*Network{w.first, w.grow(), w.grow()}
	acquainted(t, nodes...)
	const groups = 3
	members := make([][]*raftMember, groups)
	for g := range groups {
		for _, n := range nodes {
			members[g] = append(members[g], startMember(t, n, uint32(g), nodes))
		}
	}
	for g := range groups {
		leader := leaderOf(t, members[g])
		for i := range 50 {
			if err := leader.raft.Apply(fmt.Appendf(nil, "%d/%d", g, i), 0).Error(); err != nil {
				t.Fatal(err)
			}
		}
		for _, m := range members[g] {
			clustertest.WaitFor(t, func() bool { return m.fsm.has(50) })
			if last := m.fsm.log[49]; last != fmt.Sprintf("%d/49", g) {
				t.Errorf("group %d has %q of another", g, last)
			}
		}
	}
	// One group ends on one node; its streams go, both ways, and the others' stay.
	before := nodes[0].Status().Streams
	if err := members[0][0].raft.Shutdown().Error(); err != nil {
		t.Fatal(err)
	}
	mine := func(n *Network, id uint32) (count int) {
		n.streams.mu.Lock()
		defer n.streams.mu.Unlock()
		for s := range n.streams.open {
			if s.group != nil && s.group.id == id {
				count++
			}
		}
		return count
	}
	clustertest.WaitFor(t, func() bool { return mine(nodes[0], 0) == 0 })
	if mine(nodes[0], 1) == 0 || nodes[0].Status().Streams >= before {
		t.Errorf("%d streams before, %d after, %d of another group", before, nodes[0].Status().Streams, mine(nodes[0], 1))
	}
	for g := 1; g < groups; g++ {
		if err := leaderOf(t, members[g]).raft.Apply([]byte("more"), 0).Error(); err != nil {
			t.Errorf("group %d after another was closed: %v", g, err)
		}
	}
	// And it can be opened again on the same network.
	if err := leaderOf(t, members[0][1:]).raft.Apply([]byte("without it"), 0).Error(); err != nil {
		t.Fatal(err)
	}
	again := startMember(t, nodes[0], 0, nodes)
	clustertest.WaitFor(t, func() bool { return again.fsm.has(51) })
}

func TestCloseOfAGroupUnblocksAccept(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	g := w.first.OpenGroup(7, "one")
	ended := make(chan error, 1)
	go func() {
		_, err := g.Accept()
		ended <- err
	}()
	if err := errors.Join(g.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept ended with %v", err)
	}
	if g.Addr().String() != "one" || g.Addr().Network() == "" {
		t.Errorf("address %v", g.Addr())
	}
	// The listener lives, and a stream to a group that is not here is closed.
	s, err := two.dial(t.Context(), "one", w.first.Addr(), KindRaft, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sentAway(t, s)
	if _, err := two.Call(t.Context(), "one", probe()); err != nil {
		t.Error(err)
	}
	far := &GroupStreams{d: w.first.dialer, id: 8, self: "one", closed: make(chan struct{})}
	if _, err := far.Dial("nobody", time.Second); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("dialling nobody gave %v", err)
	}
}
