package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
)

// node is what all parts of a host share: what they are configured with, whose data
// directory it is, the state machines, and how one part tells the others that
// something has changed, has failed or is about to end.
type node struct {
	cfg       Config
	identity  identity
	peers     peers // nil: a node alone
	directory *state.Directory
	machines  []*state.Stores // of the shards: group number less one
	started   time.Time

	inFlightBytes atomic.Int64 // of all groups
	logBytes      atomic.Int64 // of all groups, since their markers
	stats         counters

	changes      broadcast   // a group became ready, or its leader changed
	steppingDown atomic.Bool // StepDown has begun: no group is taken over

	haltOnce sync.Once
	halted   chan struct{} // closed when a state machine has stopped
	closing  chan struct{} // closed when Close has begun
}

// newNode reads whose data directory it is, or creates the groups of a new one. Its
// caller opens the directory, which needs the parts that are made of the node.
func newNode(ctx context.Context, cfg Config) (*node, error) {
	n := &node{
		cfg: cfg, peers: cfg.peers, started: cfg.Clock.Now(),
		halted: make(chan struct{}), closing: make(chan struct{}),
	}
	var err error
	if n.identity, err = establish(ctx, cfg); err != nil {
		return nil, err
	}
	n.machines = make([]*state.Stores, n.identity.Shards)
	for i := range n.machines {
		n.machines[i] = state.NewStores(uint32(i+1), n.identity.Shards, cfg.Storage)
	}
	return n, nil
}

// broadcast wakes all who wait for something to change.
type broadcast struct {
	mu   sync.Mutex
	next chan struct{} // closed and nil again at each wake; nil while nobody waits
}

// wait returns a channel that is closed at the next wake. Take it before looking.
func (b *broadcast) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *broadcast) wake() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}

// LeadersChanged returns a channel that is closed when this node notices that
// some group has another leader, or none, or is ready. Take it before looking.
func (n *node) LeadersChanged() <-chan struct{} { return n.changes.wait() }

// halt is a group's word that it cannot go on.
func (n *node) halt(msg string) {
	// In this order: the goroutines that wait must not end the process with other words.
	n.cfg.Fatal(msg)
	n.haltOnce.Do(func() { close(n.halted) })
}

// logFailed is called when the log refuses an append. What storage knows to be
// bad for the disk has stopped the process before; what is left is a broken
// invariant (a gap in a log), after which no entry's place is certain.
func (n *node) logFailed(group uint32, err error) {
	n.halt(fmt.Sprintf("cluster: group %d cannot append to its log: %v", group, err))
}

// Server returns this node's id.
func (n *node) Server() wire.ServerID { return n.identity.Server }

// Shards returns the number of shard groups.
func (n *node) Shards() int { return n.identity.Shards }

// Directory returns the host's directory.
func (n *node) Directory() *state.Directory { return n.directory }

// Meta returns the host's copy of what the cluster knows of itself.
func (n *node) Meta() *state.Meta { return n.directory.Meta() }

// isClosing reports whether Close has begun.
func (n *node) isClosing() bool {
	select {
	case <-n.closing:
		return true
	default:
		return false
	}
}

// elapsed is the time since the host was started, by the monotonic clock.
func (n *node) elapsed() time.Duration { return n.cfg.Clock.Now().Sub(n.started) }

// Draining reports whether the operator has asked this node to lead nothing.
func (n *node) Draining() bool {
	self, ok := n.Meta().Node(n.identity.Server)
	return ok && self.GetDraining()
}

// stays reports whether a node is there and not about to leave, as far as gossip
// knows.
func (n *node) stays(server wire.ServerID) bool {
	if n.cfg.Network == nil {
		return true // a test's network does not gossip
	}
	return slices.ContainsFunc(n.cfg.Network.Members(), func(m mesh.Member) bool {
		return m.Server == server && m.State == mesh.MemberAlive && !m.Leaving
	})
}

// forgotten is how long a node waits before it may vote: it may have promised a leader
// not to vote for another, and have forgotten that.
func (n *node) forgotten() time.Duration { return wire.LeaderLease }
