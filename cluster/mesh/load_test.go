package mesh

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/proto/clock"
)

func TestLoadIsTheShareOfProcessorsUsed(t *testing.T) {
	var used time.Duration
	now := time.Unix(1_700_000_000, 0)
	m := loadMeter{used: func() time.Duration { return used }, procs: 4}
	if load, ok := m.look(now); ok {
		t.Errorf("the first look says %d: there is nothing to compare with", load)
	}
	for _, s := range []struct {
		passed, spent time.Duration
		want          uint32
		ok            bool
	}{
		{10 * time.Second, 0, 0, true},
		{10 * time.Second, 10 * time.Second, 250, true},
		{10 * time.Second, 30 * time.Second, 750, true},
		{5 * time.Second, 20 * time.Second, 1000, true},
		{5 * time.Second, 21 * time.Second, 1000, true}, // two clocks, read one after the other
		{10 * time.Second, 59 * time.Millisecond, 1, true},
		{0, time.Second, 0, false},
		{-time.Hour, time.Second, 0, false}, // the clock was set back
		{10 * time.Second, 20 * time.Second, 500, true},
	} {
		used += s.spent
		now = now.Add(s.passed)
		if load, ok := m.look(now); load != s.want || ok != s.ok {
			t.Errorf("%v in %v: load %d, %v; want %d, %v", s.spent, s.passed, load, ok, s.want, s.ok)
		}
	}
}

// A node measures its load by itself, and the others hear of it when it has changed.
func TestOthersHearHowBusyANodeIs(t *testing.T) {
	fake := clock.NewFake(time.Unix(1_700_000_000, 0))
	w := newCampus(t, fake)
	var used atomic.Int64
	var looks atomic.Int64
	two := w.grow(func(c *Config) {
		c.CPUTime = func() time.Duration { looks.Add(1); return time.Duration(used.Load()) }
	})
	heard := func() uint32 {
		i := slices.IndexFunc(w.first.Members(), func(m Member) bool { return m.Server == two.Server() })
		return w.first.Members()[i].Load
	}
	// pass lets one look happen, after which the node has used a share of all it has.
	pass := func(share float64) {
		t.Helper()
		clustertest.WaitFor(t, func() bool { return fake.WaitersIn(loadEvery) > 0 })
		used.Add(int64(share * float64(loadEvery) * float64(processors())))
		before := looks.Load()
		fake.Advance(loadEvery)
		clustertest.WaitFor(t, func() bool { return looks.Load() > before })
	}
	if heard() != 0 {
		t.Fatalf("load %d before there was any", heard())
	}
	pass(0.5)
	clustertest.WaitFor(t, func() bool { return heard() == 500 })
	pass(0.51) // not worth telling: what is told next comes after it
	clustertest.WaitFor(t, func() bool { return fake.WaitersIn(loadEvery) > 0 })
	if load := two.Load(); load != 500 {
		t.Errorf("it says %d after a change of a hundredth", load)
	}
	pass(0)
	clustertest.WaitFor(t, func() bool { return heard() == 0 })
}
