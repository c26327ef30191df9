package cluster

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// TestSilence: it counts from the first moment without a leader, and anew behind one.
func TestSilence(t *testing.T) {
	s := &silence{}
	for i, step := range []struct {
		led       bool
		now, want time.Duration
	}{
		{true, 0, 0},
		{false, 10, 0},
		{false, 15, 5},
		{true, 20, 0},
		{false, 1000, 0},
		{false, 1007, 7},
	} {
		if got := s.note(step.led, step.now); got != step.want {
			t.Errorf("step %d: silent for %d, want %d", i, got, step.want)
		}
	}
}

// standing is the real clock, but that the time stands still until a test moves it:
// an election takes no time at all, however busy the machine is.
type standing struct {
	clock.Clock
	at atomic.Pointer[time.Time]
}

func (c *standing) Now() time.Time { return *c.at.Load() }

func (c *standing) advance(d time.Duration) {
	next := c.at.Load().Add(d)
	c.at.Store(&next)
}

// TestElectionsTakeNobodyFromTheLoadBalancer: while the groups elect, every node goes
// on to say that it serves, though it is not Ready; a node that is cut off from the
// others says so after a while, and serves again when it has found them.
func TestElectionsTakeNobodyFromTheLoadBalancer(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	now := time.Unix(1_700_000_000, 0)
	clocks := &standing{Clock: clock.Real()}
	clocks.at.Store(&now)
	steered := func(c *Config, _ *storage.Options) { c.Clock = clocks }
	w := three(t, steered)
	for _, s := range w.all() {
		if err := s.host.Serves(); err != nil {
			t.Fatal(err)
		}
	}

	lost, _ := w.any().host.LeaderOf(wire.MetaGroup)
	w.kill(lost)
	left := w.all()
	clustertest.WaitFor(t, func() bool {
		elected := 0
		for _, s := range left {
			if leader, known := s.host.LeaderOf(wire.MetaGroup); known && leader != lost && s.host.Ready() == nil {
				elected++
			}
			if err := s.host.Serves(); err != nil {
				t.Fatalf("%s, while the others elect: %v", s.host.Server(), err)
			}
		}
		return elected == len(left)
	})

	w.part(lost)
	again := w.start(lost, false, steered)
	if err := again.host.Serves(); !errors.Is(err, wire.ErrNotReady) {
		t.Errorf("a node that has started and found nobody: %v", err)
	}
	w.heal()
	clustertest.WaitFor(t, func() bool { return again.host.Serves() == nil })

	w.part(lost)
	clustertest.WaitFor(t, func() bool { _, known := again.host.LeaderOf(wire.MetaGroup); return !known })
	if err := again.host.Serves(); err != nil {
		t.Errorf("cut off just now: %v", err)
	}
	clocks.advance(cutOffAfter)
	clustertest.WaitFor(t, func() bool { return errors.Is(again.host.Serves(), wire.ErrNotReady) })
	for _, s := range left {
		clustertest.WaitFor(t, func() bool { return s.host.Serves() == nil })
	}
	w.heal()
	clustertest.WaitFor(t, func() bool { return again.host.Serves() == nil })
}
