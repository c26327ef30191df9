package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestLeaseOfAMajority: the lease is as old as the newest moment for which a
// majority of voters has acknowledged a heartbeat sent then or later.
func TestLeaseOfAMajority(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []raft.ServerID{"self", "a", "b", "c", "d"}
		l := newLease("self")
		voters := slices.Clone(ids[:rapid.IntRange(2, 5).Draw(t, "voters")])
		l.elect(voters)
		newest := map[raft.ServerID]ack{}
		for range rapid.IntRange(1, 30).Draw(t, "heartbeats") {
			id := ids[rapid.IntRange(1, 4).Draw(t, "who")]
			a := ack{term: rapid.Uint64Range(1, 3).Draw(t, "term"), sent: time.Duration(rapid.IntRange(0, 50).Draw(t, "sent"))}
			l.heard(id, a.term, a.sent)
			if old := newest[id]; slices.Contains(voters, id) &&
				(a.term > old.term || (a.term == old.term && a.sent > old.sent)) {
				newest[id] = a
			}
			m := l.majority.Load()
			if m.term == 0 {
				continue
			}
			agree := 1 // self
			for _, v := range voters {
				// What was heard since may be of a later term; a later heartbeat is as good.
				if n := newest[v]; n.term > m.term || (n.term == m.term && n.sent >= m.sent) {
					agree++
				}
			}
			if agree < len(voters)/2+1 {
				t.Fatalf("%+v for a majority of %v, but heard were %v", *m, voters, newest)
			}
		}
	})
}

// TestLeadWithoutAMajority: a leader that is cut off stops answering before
// anybody else can lead, whatever it believes itself; one that hears again
// answers again.
func TestLeadWithoutAMajority(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	c := &writer{w: w, id: mainStore(0)}
	c.put()
	old := w.owner(c.id)
	// Whoever else says yes, the old one has said no before; it looks later.
	w.part(old.host.Server())
	clustertest.WaitFor(t, func() bool {
		for _, s := range w.all() {
			if s != old && s.host.Lead(c.id.Org) == nil {
				if err := old.host.Lead(c.id.Org); !errors.Is(err, wire.ErrNotLeader) {
					t.Errorf("two nodes answer: %v", err)
				}
				return true
			}
		}
		return false
	})
	c.put() // takes the new leader
	if _, err := old.host.OpenStore(t.Context(), c.id); err == nil {
		t.Error("a node that is cut off opened a store")
	}
	w.heal()
	w.ready()
	c.put()
	c.check()
}

// TestLeaseIsOfWhatWasSent: a leader that slept does not take an answer that
// waited for it as news.
func TestLeaseIsOfWhatWasSent(t *testing.T) {
	fake := clock.NewFake(time.Unix(1_700_000_000, 0))
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) { c.Clock = fake })
	g := s.host.group(1)
	term := g.leading.Load()
	g.setVoters([]raft.ServerID{"one", "two", "three"})
	sent := s.host.elapsed()
	g.lease.heard("two", term, sent)
	if err := g.lead(); err != nil {
		t.Fatalf("with a majority: %v", err)
	}
	fake.Advance(wire.LeaderLease) // it sleeps
	g.lease.heard("three", term, sent)
	answer := make(chan error, 1)
	ask := func() { // and see it wait, whatever else of the node comes to wait meanwhile
		go func() { answer <- g.lead() }()
		clustertest.WaitFor(t, func() bool { return fake.WaitersIn(wire.LeaderLease) > 0 })
	}
	ask()
	fake.Advance(wire.LeaderLease)
	if err := <-answer; !errors.Is(err, wire.ErrNotLeader) {
		t.Errorf("after a sleep: %v", err)
	}
	// A heartbeat that is sent now, and acknowledged, is news, and ends the wait.
	ask()
	g.lease.heard("two", term, s.host.elapsed())
	if err := <-answer; err != nil {
		t.Errorf("with news: %v", err)
	}
	g.lease.heard("two", term+1, s.host.elapsed()) // of a term that is not this node's
	fake.Advance(wire.LeaderLease)
	ask()
	fake.Advance(wire.LeaderLease)
	if err := <-answer; !errors.Is(err, wire.ErrNotLeader) {
		t.Errorf("with another term's heartbeats: %v", err)
	}
	g.readVoters()
	if err := g.lead(); err != nil {
		t.Errorf("alone again: %v", err)
	}
}

// TestWaryAfterAFailedHandOver: an heir that was asked may yet be elected, and its
// voters hear from this leader all the while. What they acknowledged before a question
// answers it no more.
func TestWaryAfterAFailedHandOver(t *testing.T) {
	fake := clock.NewFake(time.Unix(1_700_000_000, 0))
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) { c.Clock = fake })
	g := s.host.group(1)
	term := g.leading.Load()
	g.setVoters([]raft.ServerID{"one", "two", "three"})
	if err := g.handOver("nobody"); err == nil {
		t.Fatal("a transfer to nobody succeeded")
	}
	g.lease.heard("two", term, s.host.elapsed())
	fake.Advance(wire.LeaderLease / 2) // the lease has as long to go
	answer := make(chan error, 1)
	ask := func() {
		go func() { answer <- g.lead() }()
		clustertest.WaitFor(t, func() bool { return fake.WaitersIn(wire.LeaderLease) > 0 || len(answer) > 0 })
	}
	ask()
	fake.Advance(wire.LeaderLease)
	if err := <-answer; !errors.Is(err, wire.ErrNotLeader) {
		t.Errorf("by a heartbeat of before the question: %v", err)
	}
	ask()
	g.lease.heard("two", term, s.host.elapsed())
	if err := <-answer; err != nil {
		t.Errorf("by a heartbeat that was sent since: %v", err)
	}
}

// TestHandOverWaitsForSlowDisks: what was proposed before a planned move is waited for as
// long as the others are there, for nobody could say afterwards what became of it; where
// nobody answers, and after settleMost, it is not.
func TestHandOverWaitsForSlowDisks(t *testing.T) {
	fake := clock.NewFake(time.Unix(1_700_000_000, 0))
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) { c.Clock = fake })
	g := s.host.group(1)
	term := g.leading.Load()
	g.setVoters([]raft.ServerID{"one", "two", "three"})
	underway := func(n int) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.inFlight = n
	}
	// settle returns how long it waited, with heartbeats all the while or with none; the
	// disks have written after slow.
	settle := func(slow time.Duration, heartbeats bool) (waited time.Duration) {
		underway(1)
		defer underway(0)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			g.settle(term)
			g.proposals.resume()
		}()
		for began := s.host.elapsed(); ; {
			waited = s.host.elapsed() - began
			if heartbeats {
				g.lease.heard("two", term, s.host.elapsed())
			}
			over := false
			clustertest.WaitFor(t, func() bool {
				select {
				case <-ended:
					over = true
				default:
				}
				return over || fake.WaitersIn(settlePause) > 0
			})
			if over {
				return waited
			}
			if waited+settlePause == slow { // which it looks at when it wakes up
				underway(0)
			}
			fake.Advance(settlePause)
		}
	}
	const never = time.Hour
	if waited := settle(2*wire.LeaderLease, true); waited != 2*wire.LeaderLease {
		t.Errorf("for what took two leases it waits for %v", waited)
	}
	if waited := settle(never, true); waited != settleMost {
		t.Errorf("with heartbeats it waits for %v", waited)
	}
	g.lease.heard("two", term, s.host.elapsed())
	if waited := settle(never, false); waited != wire.LeaderLease {
		t.Errorf("without it waits for %v", waited)
	}
}

// TestHandOverLeavesTimeToWrite: who gives a shard away is told when it answers no more,
// and what it writes then is true, and read by whoever takes over.
func TestHandOverLeavesTimeToWrite(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	id := mainStore(0)
	key := storage.PartitionSpace(id, pb.PartitionID{1}).Key(storage.TableContent, storage.Str("last"))
	var w *fleet
	var mu sync.Mutex // guards what follows
	var lease Lease
	armed, wrote := false, 0
	w = three(t, func(c *Config, _ *storage.Options) {
		server := c.Server
		c.OnHandOver = func(shard uint32) {
			mu.Lock()
			defer mu.Unlock()
			if !armed { // the fleet is being set up
				return
			}
			h := w.servers[server].host
			if shard != h.Shard(id.Org) {
				return
			}
			if err := h.Lead(id.Org); !errors.Is(err, wire.ErrNotLeader) {
				t.Errorf("it still answers: %v", err)
			}
			b := storage.NewBatch(id)
			b.PutRaw(key, []byte("written at last"))
			if _, err := h.Propose(t.Context(), id, lease, b); err != nil {
				t.Errorf("its last write: %v", err)
			}
			lease = lease.Next() // on a busy machine a transfer may be tried again
			wrote++
		}
	})
	(&writer{w: w, id: id}).put() // it is there
	from := w.owner(id)
	to := wire.ServerID("two")
	if from.host.Server() == to {
		to = "three"
	}
	var err error
	mu.Lock()
	lease, err = from.host.OpenStore(t.Context(), id)
	armed = true
	mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	w.try("transfer", func() error { return from.host.TransferLeadership(t.Context(), from.host.Shard(id.Org), to) })
	clustertest.WaitFor(t, func() bool { return w.owner(id).host.Server() != from.host.Server() })
	mu.Lock()
	defer mu.Unlock()
	armed = false
	st, err := w.owner(id).node.Acquire(id)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Release()
	if got, found, err := st.GetRaw(key); wrote == 0 || err != nil || !found || string(got) != "written at last" {
		t.Errorf("after %d last writes there is %q, %v, %v", wrote, got, found, err)
	}
}

// atHandOver is a cluster of three and a shard's group on the node that leads it. The
// first time that this node is about to hand the shard over, once is called.
func atHandOver(t *testing.T, once func(w *fleet, from *server, g *group)) (w *fleet, from *server, g *group) {
	t.Helper()
	var mu sync.Mutex
	var hook func()
	w = three(t, func(c *Config, _ *storage.Options) {
		server := c.Server
		c.OnHandOver = func(shard uint32) {
			mu.Lock()
			f := hook
			if f == nil || server != from.host.Server() || shard != g.id {
				f = func() {}
			} else {
				hook = nil
			}
			mu.Unlock()
			f()
		}
	})
	id := mainStore(0)
	(&writer{w: w, id: id}).put() // it is there
	mu.Lock()
	defer mu.Unlock()
	from = w.owner(id)
	g = from.host.group(from.host.Shard(id.Org))
	hook = func() { once(w, from, g) }
	return w, from, g
}

// TestHandOverOfAnotherTerm: an order to hand over is for the leadership that it found.
// One that was lost and won again while the node wrote its last is not given away, since
// nobody has stopped answering in it.
func TestHandOverOfAnotherTerm(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	done := false
	_, from, g := atHandOver(t, func(w *fleet, from *server, g *group) {
		term := g.raft.CurrentTerm()
		clustertest.WaitFor(t, func() bool {
			_ = g.raft.LeadershipTransfer().Error() // on a busy machine it is tried again
			_, leader := g.raft.LeaderWithID()
			return leader != "" && wire.ServerID(leader) != from.host.Server()
		})
		clustertest.WaitFor(t, func() bool {
			if g.leading.Load() > term {
				return true
			}
			_ = w.servers["two"].host.TransferLeadership(t.Context(), g.id, from.host.Server())
			return false
		})
		done = true
	})
	to := wire.ServerID("three")
	if from.host.Server() == to {
		to = "one"
	}
	clustertest.WaitFor(t, func() bool {
		err := g.handOver(to)
		if done && !errors.Is(err, wire.ErrNotLeader) {
			t.Errorf("the leadership of a later term is handed over: %v", err)
		}
		return done
	})
}

// TestStepDownWaitsForAHandOver: a group that somebody else hands over is not given up
// before that is so, for it may fail.
func TestStepDownWaitsForAHandOver(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	done := false
	_, from, g := atHandOver(t, func(_ *fleet, from *server, g *group) {
		done = true
		over, cancel := context.WithCancel(t.Context())
		cancel()
		// A machine so busy that another node has been elected has nothing to wait for.
		if err := from.host.stepDown(over, g.id); err == nil && g.raft.State() == raft.Leader {
			t.Error("the node counts as stepped down while it hands over")
		}
	})
	clustertest.WaitFor(t, func() bool {
		if err := g.handOver("nobody"); err == nil {
			t.Error("a transfer to nobody succeeded")
		}
		return done
	})
	if err := from.host.stepDown(t.Context(), g.id); err != nil {
		t.Error(err)
	}
}

// TestStepDownWaitsForTheHeirs: a node that has given its groups away stays, and votes,
// until others lead them. A transfer is over for raft when the old leader steps back.
func TestStepDownWaitsForTheHeirs(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	id := mainStore(0)
	(&writer{w: w, id: id}).put() // it is there
	from := w.owner(id).host
	led := from.Leads()
	if err := from.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, shard := range led {
		if heir, ok := from.LeaderOf(shard); !ok || heir == from.Server() {
			t.Errorf("%s has stepped down, and %q leads shard %d", from.Server(), heir, shard)
		}
	}
}

// TestStoppedNodeTakesNothingOver: who hands a group to a node may not have heard that it
// is about to stop. With the node the group would lose its leader.
func TestStoppedNodeTakesNothingOver(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	id := mainStore(0)
	(&writer{w: w, id: id}).put() // it is there
	to := w.servers["two"].host
	if err := to.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	from := w.owner(id).host.Server()
	answers := make(chan raft.RPCResponse, 1)
	to.group(to.Shard(id.Org)).ballot.pass(raft.RPC{
		Command:  &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{ID: []byte(from)}},
		RespChan: answers,
	})
	if a := <-answers; !errors.Is(a.Error, errParting) {
		t.Errorf("it is told to take over and says %v", a.Error)
	}
}

// TestTransferLeadership moves a shard by request, of any node; the one that
// led says no before the other one says yes.
func TestTransferLeadership(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	type change struct {
		server wire.ServerID
		shard  uint32
		leads  bool
	}
	var mu sync.Mutex
	var changes []change
	w := three(t, func(c *Config, _ *storage.Options) {
		id := c.Server
		c.OnLead = func(shard uint32, leads bool) {
			mu.Lock()
			defer mu.Unlock()
			changes = append(changes, change{id, shard, leads})
		}
	})
	c := &writer{w: w, id: mainStore(0)}
	shard := w.servers["one"].host.Shard(c.id.Org)
	for _, to := range []wire.ServerID{"two", "three", "one", "three"} {
		c.put()
		from := w.owner(c.id).host.Server()
		asked := w.servers["two"].host
		if from != to {
			w.try("transfer", func() error { return asked.TransferLeadership(t.Context(), shard, to) })
		}
		clustertest.WaitFor(t, func() bool { return w.servers[to].host.Lead(c.id.Org) == nil })
		for _, s := range w.all() {
			if s.host.Server() != to && s.host.Lead(c.id.Org) == nil && w.servers[to].host.Lead(c.id.Org) == nil {
				t.Errorf("after a transfer to %s, %s answers, too", to, s.host.Server())
			}
			clustertest.WaitFor(t, func() bool {
				leader, ok := s.host.Leader(c.id.Org)
				if ok && leader != to { // on a busy machine it has lost it again
					_ = asked.TransferLeadership(t.Context(), shard, to)
				}
				return ok && leader == to
			})
		}
	}
	c.put()
	c.check()
	clustertest.WaitFor(t, func() bool { // the changes that were reported agree with the answers
		mu.Lock()
		defer mu.Unlock()
		leads := wire.ServerID("")
		for _, ch := range changes {
			switch {
			case ch.shard != shard:
			case ch.leads && leads != "":
				t.Errorf("%s leads while %s does: %v", ch.server, leads, changes)
			case ch.leads:
				leads = ch.server
			case ch.server == leads:
				leads = ""
			}
		}
		return t.Failed() || leads != "" && w.servers[leads].host.Lead(c.id.Org) == nil
	})
	if err := w.servers["two"].host.TransferLeadership(t.Context(), shard, "nobody"); err == nil {
		t.Error("a transfer to nobody succeeded")
	}
	c.put() // somebody leads on
}
