package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// TestThreeNodes replicate, lose the leader, elect another, go on writing, and
// take the lost one back.
func TestThreeNodes(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	var clients []*writer
	for i := range 6 {
		clients = append(clients, &writer{w: w, id: mainStore(i)})
	}
	writeAll := func(n int) {
		for range n {
			for _, c := range clients {
				c.put()
			}
		}
	}
	writeAll(5)
	for _, c := range clients {
		c.check()
	}
	lost := w.owner(clients[0].id).host.Server()
	w.kill(lost)
	writeAll(5)
	w.start(lost, false)
	w.ready()
	writeAll(5)
	for _, c := range clients {
		c.check()
	}
}

// TestAnyNodeAnswersForTheDirectory: proposals to the meta group work everywhere,
// and what one node was told another one knows when it is asked.
func TestAnyNodeAnswersForTheDirectory(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	ctx := t.Context()
	n := 0
	for _, s := range w.all() {
		w.try("put an organization", func() error {
			return s.host.Directory().PutOrg(ctx, &pb.OrgEntry{Org: org(n).Bytes(), Slug: string(s.host.Server())})
		})
		key := pb.KeyHash{byte(n + 1)}
		w.try("put a key", func() error { return s.host.Directory().PutKey(ctx, key, org(n)) })
		for _, other := range w.all() {
			find := func(key pb.KeyHash) (got pb.OrgID, ok bool) {
				w.try("find a key", func() (err error) { got, ok, err = other.host.Directory().Find(ctx, key); return err })
				return got, ok
			}
			if got, ok := find(key); !ok || got != org(n) {
				t.Errorf("%s looks for a key of %s: %v, %t", other.host.Server(), s.host.Server(), got, ok)
			}
			if _, ok := find(pb.KeyHash{99}); ok {
				t.Error("a key that nobody has is found")
			}
		}
		err := w.settle("put it again", func() error {
			return s.host.Directory().PutOrg(ctx, &pb.OrgEntry{Org: org(77).Bytes(), Slug: string(s.host.Server())})
		})
		if !errors.Is(err, wire.ErrSlugTaken) {
			t.Errorf("a slug that is taken, on %s: %v", s.host.Server(), err)
		}
		n++
	}
	// A removal reaches every replica, whoever is asked for it.
	c := &writer{w: w, id: mainStore(0)}
	c.put()
	for _, s := range w.all() {
		if s.host.Lead(c.id.Org) == nil {
			continue
		}
		w.try("remove", func() error { return s.host.Directory().RemoveOrg(ctx, c.id.Org) })
		break
	}
	for _, s := range w.all() {
		clustertest.WaitFor(t, func() bool {
			gone, err := s.host.StoresRemoved(c.id.Org)
			there, err2 := s.node.Exists(c.id)
			if err := errors.Join(err, err2); err != nil {
				t.Fatal(err)
			}
			return gone && !there
		})
	}
}

// TestGrowAndShrink: a node alone becomes three while it is written to, by logs
// and, where it has cut its own, by fetching stores; then it shrinks back to any
// one of them.
func TestGrowAndShrink(t *testing.T) {
	w := newFleet(t)
	w.start("one", false).ready()
	var clients []*writer
	for i := range 5 {
		clients = append(clients, &writer{w: w, id: mainStore(i)})
	}
	gone := &writer{w: w, id: mainStore(9)}
	for range 20 {
		for _, c := range append(clients, gone) {
			c.put()
		}
	}
	one := w.servers["one"].host
	if err := one.Directory().PutOrg(t.Context(), &pb.OrgEntry{Org: gone.id.Org.Bytes()}); err != nil {
		t.Fatal(err)
	}
	if err := one.Directory().RemoveOrg(t.Context(), gone.id.Org); err != nil {
		t.Fatal(err)
	}
	for _, g := range one.hosted() { // what follows cannot come by the log
		if err := one.compactor.compact(g); err != nil {
			t.Fatal(err)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for _, c := range clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				c.put()
			}
		})
	}
	w.place([]wire.ServerID{"one"}, "one", "two", "three")
	w.start("two", true)
	w.start("three", true)
	for _, id := range []wire.ServerID{"two", "three"} {
		w.joinAll(id)
	}
	cancel()
	wg.Wait()
	w.ready()
	if w.servers["two"].host.Stats().Transfers == 0 {
		t.Error("nothing was fetched: the test proves too little")
	}
	for _, c := range clients {
		c.check()
	}
	for _, s := range w.all() {
		if done, err := s.host.StoresRemoved(gone.id.Org); err != nil || !done {
			t.Errorf("%s does not know of the removal: %t, %v", s.host.Server(), done, err)
		}
	}

	for _, id := range []wire.ServerID{"one", "three"} {
		w.leave(id)
		w.stop(id)
	}
	for _, c := range clients {
		c.put()
		c.check()
	}
	// The last one is a cluster of one again, after a restart as well, and waits for
	// nobody.
	w.kill("two")
	w.start("two", false).ready()
	for _, c := range clients {
		c.put()
		c.check()
	}
}

// TestFaultsAtRandom: partitions, power failures of one and of all, transfers of
// leadership and logs that are cut, under load. Nothing acknowledged is lost, and
// nothing is taken twice.
func TestFaultsAtRandom(t *testing.T) {
	w, rng := three(t, func(c *Config, _ *storage.Options) { c.CompactBytes = 2_000 }), seeded(t)
	ids := []wire.ServerID{"one", "two", "three"}
	var clients []*writer
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 4 {
		c := &writer{w: w, id: mainStore(i)}
		clients = append(clients, c)
		wg.Go(func() {
			for ctx.Err() == nil {
				c.put()
			}
		})
	}
	restart := func(ids ...wire.ServerID) {
		w.kill(ids...)
		for _, id := range ids {
			w.start(id, false)
		}
	}
	for range 7 {
		someone := ids[rng.IntN(3)]
		switch rng.IntN(5) {
		case 0:
			restart(someone)
		case 1:
			restart(ids...)
		case 2:
			w.heal() // one at a time: two sides that are cut leave no majority
			w.part(someone)
		case 3:
			w.heal()
		case 4:
			s := w.servers[someone]
			for _, g := range s.host.hosted() {
				_ = g.handOver("")                            // where it leads, and if somebody is there
				_ = s.host.compactor.compactTo(g, ^uint64(0)) // whoever is behind fetches stores
			}
		}
		for _, c := range clients[:1] { // at least one more write between two faults, if there can be one
			was := c.acked.Load()
			clustertest.WaitFor(t, func() bool { return c.acked.Load() > was+2 })
		}
	}
	w.heal()
	cancel()
	wg.Wait()
	w.ready()
	total := 0
	for _, c := range clients {
		c.check()
		total += int(c.acked.Load())
	}
	t.Logf("%d acknowledged writes", total)
}

// TestMoreLogThanTheSnapshot: a leader that was cut off comes back with more
// entries, which nobody else has, than the snapshot that replaces them.
func TestMoreLogThanTheSnapshot(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	c := &writer{w: w, id: mainStore(0)}
	c.put()
	var old *server
	g, last := w.strand(func() *group {
		old = w.owner(c.id)
		return old.host.shard(c.id)
	}, func() {
		lease, err := old.host.OpenStore(t.Context(), c.id)
		if err != nil {
			return // it has just lost its leadership
		}
		w.part(old.host.Server())
		var told sync.WaitGroup
		for range 100 {
			told.Add(1)
			err := old.host.ProposeAsync(t.Context(), c.id, lease, put(c.id, "nobody has this", "v"), func(_ uint64, err error) {
				defer told.Done()
				if err == nil {
					t.Error("a node that is cut off acknowledged a write")
				}
			})
			if err != nil {
				told.Done()
			}
			lease = lease.Next()
		}
		told.Wait()
	})
	for range 5 {
		c.put()
	}
	for _, s := range w.all() {
		if s != old {
			clustertest.WaitFor(t, func() bool { return s.host.compactor.compactTo(s.host.shard(c.id), ^uint64(0)) == nil })
			if m := s.host.shard(c.id).log.Marks.Index.Load(); m >= last {
				t.Fatalf("snapshot at %d, the old log ends at %d: the test proves nothing", m, last)
			}
		}
	}
	w.heal()
	clustertest.WaitFor(t, func() bool { now := old.host.shard(c.id); return now != nil && now != g })
	c.put()
	c.check()
	// It was restored, or the test would prove nothing.
	clustertest.WaitFor(t, func() bool { g := old.host.shard(c.id); return g != nil && g.log.Marks.Index.Load() > 0 })
}

// strand cuts a leader off, by cut, in the middle of so many proposals that its log has
// more than others will have soon, and returns the group and where its log ends. A
// leader may lose that just before; then another one is cut off.
func (w *fleet) strand(leader func() *group, cut func()) (g *group, last uint64) {
	w.t.Helper()
	clustertest.WaitFor(w.t, func() bool {
		w.heal()
		g = leader()
		before := g.raft.LastIndex()
		cut()
		var err error
		if last, err = g.log.Logs.LastIndex(); err != nil {
			w.t.Fatal(err)
		}
		return last > before+50
	})
	return g, last
}

// TestMetaGroupOpenedAgain: the same happens to the directory, which every request
// asks. While its group is closed to be opened again the node says that it is not
// ready, and goes on.
func TestMetaGroupOpenedAgain(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	old := w.servers["one"]
	g, last := w.strand(func() *group {
		w.leads(wire.MetaGroup, "one")
		return old.host.group(wire.MetaGroup)
	}, func() {
		w.part("one")
		var told sync.WaitGroup
		for range 100 {
			told.Go(func() {
				cmd := &pb.Command{Kind: &pb.Command_SetClusterVersion{SetClusterVersion: &pb.SetClusterVersion{Version: 1}}}
				if _, err := old.host.group(wire.MetaGroup).proposeAndWait(t.Context(), cmd); err == nil {
					t.Error("a node that is cut off acknowledged a command")
				}
			})
		}
		told.Wait()
	})
	for range 5 {
		w.try("write", func() error { return w.servers["two"].host.Meta().SetVersion(t.Context(), 1) })
	}
	for _, id := range []wire.ServerID{"two", "three"} {
		s := w.servers[id]
		clustertest.WaitFor(
			t, func() bool { return s.host.compactor.compactTo(s.host.group(wire.MetaGroup), ^uint64(0)) == nil },
		)
		if m := s.host.group(wire.MetaGroup).log.Marks.Index.Load(); m >= last {
			t.Fatalf("snapshot at %d, the old log ends at %d: the test proves nothing", m, last)
		}
	}
	w.heal()
	away := false
	clustertest.WaitFor(t, func() bool {
		now := old.host.group(wire.MetaGroup)
		if now == nil {
			away = true
			if err := old.host.Directory().Fresh(t.Context()); !errors.Is(err, wire.ErrNotReady) &&
				old.host.group(wire.MetaGroup) == nil {
				t.Errorf("fresh without the group: %v", err)
			}
			err := newBarrier(old.host.leaders).catchUp()
			if !errors.Is(err, wire.ErrNotReady) && old.host.group(wire.MetaGroup) == nil {
				t.Errorf("a round of the barrier without the group: %v", err)
			}
			for what, look := range map[string]func() error{"ready": old.host.Ready, "the sweep": old.host.sweeper.sweepable} {
				if err := look(); !errors.Is(err, wire.ErrNotReady) && old.host.group(wire.MetaGroup) == nil {
					t.Errorf("%s without the group: %v", what, err)
				}
			}
		}
		return now != nil && now != g
	})
	if !away {
		t.Log("nobody looked while the group was away")
	}
	clustertest.WaitFor(
		t, func() bool { return old.host.Directory().Fresh(t.Context()) == nil && old.host.Ready() == nil },
	)
	if old.host.group(wire.MetaGroup).log.Marks.Index.Load() == 0 {
		t.Error("it was not restored: the test proves nothing")
	}
}

// TestFreshBehindABarrier: a node whose marker is at the barrier of an election counts
// it as applied, which no other node ever does. When it leads the directory, the
// others are level with it all the same, without a command that moves them.
func TestFreshBehindABarrier(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	at := func(id wire.ServerID) uint64 { return w.servers[id].host.group(wire.MetaGroup).fsm.applied.Load() }
	w.leads(wire.MetaGroup, "one")
	w.leads(wire.MetaGroup, "two")
	one, two := w.servers["one"].host.group(wire.MetaGroup).raft, w.servers["two"].host.group(wire.MetaGroup).raft
	clustertest.WaitFor(t, func() bool { return one.AppliedIndex() >= two.LastIndex() })
	w.stop("one")
	w.start("one", false)
	w.ready()
	w.leads(wire.MetaGroup, "one")
	if at("one") <= at("three") {
		t.Fatalf("one is at entry %d, three at %d: there is no barrier between them", at("one"), at("three"))
	}
	clustertest.WaitFor(t, func() bool { return w.servers["three"].host.Directory().Fresh(t.Context()) == nil })
}
