package cluster

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"orgmem/cluster/wire"
)

// leadership says whether this node may answer for a group: it leads, has applied
// what there was, and nobody else can lead.
type leadership struct {
	node  *node
	group uint32

	// leading is the term in which this node leads and has applied all that its
	// log held when it was elected; 0 while it does not.
	leading atomic.Uint64
	shift   sync.Mutex // held while leading changes and OnLead is called
	// alone says that this node is the only voter. It is false before raft may count
	// a second one.
	alone atomic.Bool
	lease *lease
	// wary is set for the rest of a term in which a leadership transfer has failed.
	wary atomic.Bool
}

// assume makes the node answer for the group.
func (l *leadership) assume(term uint64) {
	l.shift.Lock()
	defer l.shift.Unlock()
	l.leading.Store(term)
	l.node.changes.wake()
	l.notifyLead(true)
}

// resign makes the node stop answering for the group. It returns the term in
// which it did, 0 if it did not.
func (l *leadership) resign() uint64 {
	l.shift.Lock()
	defer l.shift.Unlock()
	term := l.leading.Swap(0)
	if term != 0 {
		l.notifyLead(false)
	}
	return term
}

// notifyLead passes a change of leadership on.
func (l *leadership) notifyLead(leads bool) {
	if f := l.node.cfg.OnLead; f != nil && l.group != wire.MetaGroup {
		f(l.group, leads)
	}
}

func (l *leadership) setVoters(voters []raft.ServerID) {
	l.lease.elect(voters)
	l.alone.Store(len(voters) == 1 && voters[0] == raft.ServerID(l.node.identity.Server))
}

// addVoter notes a voter that is about to be added, before raft may count it.
func (l *leadership) addVoter(server wire.ServerID) {
	voters := *l.lease.voters.Load()
	if !slices.Contains(voters, raft.ServerID(server)) {
		l.setVoters(append(slices.Clone(voters), raft.ServerID(server)))
	}
}

// votes reports whether this node is a voter of the group, by the newest membership
// that it knows.
func (l *leadership) votes() bool {
	return slices.Contains(*l.lease.voters.Load(), raft.ServerID(l.node.identity.Server))
}

// heard reports whether a majority has acknowledged a heartbeat of a term that was sent
// within the last LeaderLease.
func (l *leadership) heard(term uint64) bool {
	m := l.lease.majority.Load()
	return m.term == term && l.node.elapsed()-m.sent < wire.LeaderLease
}

// confirm waits until a majority has acknowledged a heartbeat that was sent after the
// call began. raft sends one every 100 to 200 ms; where none is acknowledged within the
// lease, there is no majority or another leader has it.
func (l *leadership) confirm(term uint64) error {
	asked := l.node.elapsed()
	timer := l.node.cfg.Clock.NewTimer(wire.LeaderLease)
	defer timer.Stop()
	for {
		news := l.lease.next()
		if l.leading.Load() != term {
			return wire.ErrNotLeader
		}
		if m := l.lease.majority.Load(); m.term == term && m.sent >= asked {
			return nil
		}
		select {
		case <-news:
		case <-timer.C():
			return fmt.Errorf("%w: no majority has answered", wire.ErrNotLeader)
		case <-l.node.closing:
			return wire.ErrClosed
		}
	}
}

// holds returns nil while this node may answer for the group.
func (l *leadership) holds() error {
	term := l.leading.Load()
	if term == 0 {
		return wire.ErrNotLeader
	}
	if l.alone.Load() || !leased {
		return nil
	}
	if !l.wary.Load() && l.heard(term) {
		return nil
	}
	return l.confirm(term)
}
