package cluster

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// lease is what a leader knows of its followers' patience.
type lease struct {
	mu   sync.Mutex // guards what follows
	acks map[raft.ServerID]ack
	news chan struct{} // closed and replaced when majority moves on

	// majority is the newest moment for which a majority of voters, this node
	// included, has acknowledged a heartbeat sent then or later.
	majority atomic.Pointer[ack]
	voters   atomic.Pointer[[]raft.ServerID] // of the group's newest membership
	self     raft.ServerID
}

// ack is a heartbeat that was acknowledged: the term it was sent in, and when, in
// Host.elapsed.
type ack struct {
	term uint64
	sent time.Duration
}

func newLease(self wire.ServerID) *lease {
	l := &lease{self: raft.ServerID(self), acks: map[raft.ServerID]ack{}, news: make(chan struct{})}
	l.majority.Store(&ack{})
	l.voters.Store(&[]raft.ServerID{})
	return l
}

// elect says who votes. Before raft may count a new voter it must be named here:
// with one too many the lease is only harder to hold.
func (l *lease) elect(voters []raft.ServerID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.voters.Store(&voters)
	for id := range l.acks {
		if !slices.Contains(voters, id) {
			delete(l.acks, id)
		}
	}
}

// heard notes that a follower acknowledged a heartbeat.
func (l *lease) heard(id raft.ServerID, term uint64, sent time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	voters := *l.voters.Load()
	if old := l.acks[id]; !slices.Contains(voters, id) || term < old.term || (term == old.term && sent <= old.sent) {
		return
	}
	l.acks[id] = ack{term: term, sent: sent}
	var moments []time.Duration
	for _, v := range voters {
		if a, ok := l.acks[v]; ok && v != l.self && a.term == term {
			moments = append(moments, a.sent)
		}
	}
	// This node agrees with itself now; others are needed for the rest.
	need := len(voters)/2 + 1
	if slices.Contains(voters, l.self) {
		need--
	}
	if need == 0 || len(moments) < need {
		return
	}
	slices.Sort(moments)
	m := ack{term: term, sent: moments[len(moments)-need]}
	if old := l.majority.Load(); m.term > old.term || (m.term == old.term && m.sent > old.sent) {
		l.majority.Store(&m)
		close(l.news)
		l.news = make(chan struct{})
	}
}

// next returns a channel that is closed when the majority's moment moves on. Take
// it before looking.
func (l *lease) next() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news
}

// elapsed is the time since the host was started, by the monotonic clock.
func (h *Host) elapsed() time.Duration { return h.cfg.Clock.Now().Sub(h.started) }

// lead returns nil while this node may answer for the group.
func (g *group) lead() error {
	if g == nil {
		return wire.ErrNotLeader
	}
	term := g.leading.Load()
	if term == 0 {
		return wire.ErrNotLeader
	}
	if g.alone.Load() || !leased {
		return nil
	}
	if !g.wary.Load() && g.heard(term) {
		return nil
	}
	return g.confirm(term)
}

// heard reports whether a majority has acknowledged a heartbeat of a term that was sent
// within the last LeaderLease.
func (g *group) heard(term uint64) bool {
	m := g.lease.majority.Load()
	return m.term == term && g.host.elapsed()-m.sent < wire.LeaderLease
}

// confirm waits until a majority has acknowledged a heartbeat that was sent after
// the call began. raft sends one every 100 to 200 ms; where none is acknowledged
// within the lease there is no majority to be had, or somebody else has it.
func (g *group) confirm(term uint64) error {
	asked := g.host.elapsed()
	timer := g.host.cfg.Clock.NewTimer(wire.LeaderLease)
	defer timer.Stop()
	for {
		news := g.lease.next()
		if g.leading.Load() != term {
			return wire.ErrNotLeader
		}
		if m := g.lease.majority.Load(); m.term == term && m.sent >= asked {
			return nil
		}
		select {
		case <-news:
		case <-timer.C():
			return fmt.Errorf("%w: no majority has answered", wire.ErrNotLeader)
		case <-g.host.closing:
			return wire.ErrClosed
		}
	}
}

// Lead returns nil only while this node may answer for an organization: it leads
// the organization's shard, has applied all that its log held when it was
// elected, and, where there are several voters, a majority of them has heard from
// it so lately that nobody else can lead. Ask it for every request at the owner:
// with one voter it is two atomic loads, with several a comparison more while
// heartbeats are answered, and at most LeaderLease when they are not. The error is
// ErrNotLeader or ErrClosed; Leader says who may know better.
func (h *Host) Lead(org pb.OrgID) error { return h.group(h.Shard(org)).lead() }

// Leader returns who leads an organization's shard as far as this node knows;
// false while nobody does. It is a hint: ask Lead there.
func (h *Host) Leader(org pb.OrgID) (wire.ServerID, bool) { return h.LeaderOf(h.Shard(org)) }

// LeaderOf is Leader of a group. Of a group that does not count on this node it
// knows what the last call said.
func (h *Host) LeaderOf(group uint32) (wire.ServerID, bool) {
	if g := h.group(group); g != nil {
		if _, leader := g.raft.LeaderWithID(); leader != "" || h.counted(g) {
			return wire.ServerID(leader), leader != ""
		}
	}
	leader := h.hints[group].Load()
	if leader == nil {
		return "", false
	}
	return *leader, true
}

// Shard returns the number of an organization's shard group, 1 to Shards.
func (h *Host) Shard(org pb.OrgID) uint32 { return wire.ShardOf(org, h.identity.Shards) }

// Leads returns the shards that this node leads now, as far as it knows: unlike
// Lead it does not look at the others.
func (h *Host) Leads() []uint32 {
	var shards []uint32
	for _, g := range h.hosted() {
		if g.id != wire.MetaGroup && g.leading.Load() != 0 {
			shards = append(shards, g.id)
		}
	}
	return shards
}
