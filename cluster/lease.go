package cluster

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/wire"
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
// node.elapsed.
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
