package cluster

import (
	"errors"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/raftlog"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// placeGroup changes the shard map for one group.
func (w *fleet) placeGroup(group uint32, desired ...string) {
	w.t.Helper()
	w.remap(func(sm *pb.ShardMap) {
		sm.Groups[group] = &pb.GroupPlacement{Group: group, Desired: desired, Present: desired}
	})
}

// TestGroupsComeAndGo: a node gives up a group that the map takes from it, with
// stores and log, but not before its leader says so; it remembers how it voted;
// and it can have the group back.
func TestGroupsComeAndGo(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	id := mainStore(0)
	c := &writer{w: w, id: id}
	for range 10 {
		c.put()
	}
	ctx := t.Context()
	one := w.servers["one"].host
	shard := one.Shard(id.Org)
	w.try("transfer", func() error {
		if w.owner(id).host != one {
			return one.TransferLeadership(ctx, shard, "one")
		}
		return nil
	})
	clustertest.WaitFor(t, func() bool { return one.Lead(id.Org) == nil })
	three := w.servers["three"]
	w.placeGroup(shard, "one", "two")
	clustertest.WaitFor(t, func() bool { return !three.host.hosting.wants(shard) })
	w.try("look whether to give up", func() error { return three.host.hosting.dropGroup(ctx, shard) })
	if three.host.group(shard) == nil {
		t.Fatal("a member gave up its group")
	}
	w.try("remove", func() error { return one.RemoveReplica(ctx, shard, "three", 0) })
	clustertest.WaitFor(t, func() bool {
		if err := three.host.hosting.dropGroup(ctx, shard); err != nil && !errors.Is(err, wire.ErrNotApplied) {
			t.Logf("give up: %v", err)
		}
		there, err := three.node.Exists(id)
		left, err2 := three.host.hosting.leftovers(shard)
		return three.host.group(shard) == nil && !there && !left && err == nil && err2 == nil
	})
	stable := &raftlog.StableStore{Log: three.node.Log(), Group: shard}
	if term, err := stable.GetUint64([]byte("CurrentTerm")); err != nil || term == 0 {
		t.Errorf("the term was forgotten: %d, %v", term, err)
	}
	if three.host.Lead(id.Org) == nil {
		t.Error("a node answers for a shard that it does not have")
	}
	if _, err := three.host.OpenStore(ctx, id); !errors.Is(err, wire.ErrNotApplied) || !errors.Is(err, wire.ErrNotLeader) {
		t.Errorf("open a store of a shard that is not here: %v", err)
	}
	w.try("ask others for the membership", func() error { _, err := three.host.Membership(ctx, shard); return err })
	if leader, ok := three.host.LeaderOf(shard); !ok || leader != "one" && leader != "two" {
		t.Errorf("the leader of a shard that is elsewhere is %q, %t", leader, ok)
	}
	for range 10 {
		c.put()
	}
	w.placeGroup(shard, "one", "two", "three")
	w.join(shard, "three")
	w.ready()
	c.put()
	c.check()
}

// TestWhoStartsElectsNobodyYet: a node that starts has forgotten which leader it has just
// promised not to vote for another, who answers by that promise until its lease is over.
// So long it opens no group.
func TestWhoStartsElectsNobodyYet(t *testing.T) {
	w := newFleet(t)
	street, fake := w.move("one"), clock.NewFake(time.Unix(1_700_000_000, 0))
	begun := make(chan *server, 1)
	go func() {
		s, err := tryBegin(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) { c.Clock, c.peers = fake, street })
		if err != nil {
			t.Error(err)
		}
		begun <- s
	}()
	clustertest.WaitFor(t, func() bool { return fake.WaitersIn(wire.LeaderLease) > 0 || len(begun) > 0 })
	street.mu.Lock()
	open := len(street.groups)
	street.mu.Unlock()
	if open > 0 || len(begun) > 0 {
		t.Errorf("%d groups are open that may vote", open)
	}
	fake.Advance(wire.LeaderLease)
	<-begun
}

// TestChangesOfMembership: compare-and-set, refusals, and what is not for us.
func TestChangesOfMembership(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	ctx := t.Context()
	h := w.servers["two"].host
	var m Membership
	w.try("membership", func() (err error) { m, err = h.Membership(ctx, 1); return err })
	if len(m.Replicas) != 3 || m.Index == 0 {
		t.Fatalf("membership is %+v", m)
	}
	if err := w.settle(
		"remove", func() error { return h.RemoveReplica(ctx, 1, "three", m.Index+1) },
	); !errors.Is(err, wire.ErrMapChanged) {
		t.Errorf("a change of a membership that is not the newest: %v", err)
	}
	again := false
	w.try("demote", func() error {
		err := h.Demote(ctx, 1, notLeading(t, w, 1), m.Index)
		if again && errors.Is(err, wire.ErrMapChanged) {
			return nil // by an attempt that nobody knew the outcome of
		}
		again = true
		return err
	})
	var after Membership
	w.try("membership", func() (err error) { after, err = h.Membership(ctx, 1); return err })
	learners := 0
	for _, r := range after.Replicas {
		if !r.Voter {
			learners++
		}
	}
	if learners != 1 || after.Index <= m.Index {
		t.Errorf("after a demotion: %+v", after)
	}
	if err := h.AddLearner(ctx, 1, "not/a/name", 0); !errors.Is(err, wire.ErrNotApplied) {
		t.Errorf("a server with a bad name: %v", err)
	}
	if err := h.AddLearner(ctx, 99, "four", 0); !errors.Is(err, wire.ErrNotApplied) {
		t.Errorf("a group that does not exist: %v", err)
	}
	// Writes of stores are proposed under leases, which are not for others to forward.
	id := mainStore(0)
	for _, cmd := range []*pb.Command{
		{},
		{Kind: &pb.Command_Open{Open: &pb.OpenStore{Store: id.Ref()}}},
		{Kind: &pb.Command_Write{Write: &pb.WriteStore{Store: id.Ref(), Changes: storage.NewBatch(id).Changes()}}},
	} {
		if mayForward(cmd) {
			t.Errorf("%v may be forwarded", cmd)
		}
	}
}

// notLeading returns a member of a group that does not lead it.
func notLeading(t *testing.T, w *fleet, group uint32) wire.ServerID {
	t.Helper()
	for _, s := range w.all() {
		if s.host.group(group).leading.Load() == 0 && s.host.Server() != "two" {
			return s.host.Server()
		}
	}
	t.Fatal("everybody leads")
	return ""
}
