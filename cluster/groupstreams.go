package cluster

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

const (
	// raftTimeout is how long one RPC may take before its connection is given up.
	// After a cut network heals, a group's old connections may hang until their next
	// retransmission; this is how long a follower can be behind for that. A disk that
	// stalls for longer costs a new connection and sending a batch again.
	raftTimeout = 5 * time.Second
	// raftPool is how many idle connections a group keeps to each of its members,
	// beside the two of its pipeline and its heartbeat: one is taken back and forth by
	// votes and by RPCs that fall out of the pipeline.
	raftPool = 1
	// raftTimeoutScale stretches the time-out of an InstallSnapshot by raftTimeout for
	// each byte of the snapshot. Ours is a manifest of some hundred bytes, and the RPC
	// waits while the stores that it lists are being fetched, up to hours. A source
	// that died meanwhile is noticed by the transfer, not by this RPC.
	raftTimeoutScale = 1
)

var _ transports = (*Network)(nil)

// group implements transports.
func (n *Network) group(id uint32, self ServerID) raft.Transport {
	g := &groupStreams{n: n, id: id, self: self, arrived: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	n.groups[id] = g
	n.mu.Unlock()
	t := raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: g, MaxPool: raftPool, Timeout: raftTimeout, Logger: newTransportLogger(n.cfg.Logger, id),
	})
	t.TimeoutScale = raftTimeoutScale
	return t
}

// groupStreams is one group's share of the network: raft's StreamLayer. Addresses
// are server ids. Its Close ends what belongs to the group and spares the
// listener, which all groups share.
type groupStreams struct {
	n       *Network
	id      uint32
	self    ServerID
	arrived chan net.Conn // handed over one by one; raft takes each at once
	once    sync.Once
	closed  chan struct{}
}

// deliver hands an inbound stream to its group, if this node has it.
func (n *Network) deliver(group uint32, s *stream) {
	n.mu.Lock()
	g := n.groups[group]
	s.group = g
	n.mu.Unlock()
	if g == nil { // the group is not open yet, or not here any more: raft tries again
		_ = s.Close()
		return
	}
	select {
	case g.arrived <- s:
	case <-g.closed:
		_ = s.Close()
	case <-n.life.Done():
		_ = s.Close()
	}
}

// Accept waits for the next stream of the group.
func (g *groupStreams) Accept() (net.Conn, error) {
	select {
	case c := <-g.arrived:
		return c, nil
	case <-g.closed:
		return nil, net.ErrClosed
	}
}

// Dial opens a stream to the same group of another node.
func (g *groupStreams) Dial(to raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(g.n.life, timeout)
	defer cancel()
	address, err := g.n.addressOf(ServerID(to))
	if err != nil {
		return nil, err
	}
	s, err := g.n.dial(ctx, ServerID(to), address, KindRaft, g.id)
	if err != nil {
		return nil, err
	}
	g.n.mu.Lock()
	s.group = g
	g.n.mu.Unlock()
	select {
	case <-g.closed: // Close may have looked before this stream was the group's
		s.cut()
	default:
	}
	return s, nil
}

// Close ends the group's streams, in both directions: raft keeps idle ones in a
// pool that it does not empty.
func (g *groupStreams) Close() error {
	g.once.Do(func() {
		close(g.closed)
		g.n.mu.Lock()
		if g.n.groups[g.id] == g {
			delete(g.n.groups, g.id)
		}
		g.n.mu.Unlock()
		g.n.cutStreams(func(s *stream) bool { return s.group == g })
	})
	return nil
}

// Addr is the server id: raft knows no other addresses.
func (g *groupStreams) Addr() net.Addr { return serverAddr(g.self) }

type serverAddr ServerID

func (serverAddr) Network() string  { return "orgmem" }
func (a serverAddr) String() string { return string(a) }

// newTransportLogger makes debug lines of all that raft's transports say: each
// death of a peer would be an error for each of its connections.
func newTransportLogger(to *slog.Logger, group uint32) hclog.Logger {
	l := newRaftLogger(slog.New(slog.DiscardHandler), group)
	sinks, ok := l.(hclog.InterceptLogger)
	if ok {
		sinks.RegisterSink(quietSink{&raftSink{to: to.With("group", group)}})
	}
	return l
}

type quietSink struct{ to *raftSink }

// Accept is hclog.SinkAdapter's.
func (s quietSink) Accept(name string, level hclog.Level, msg string, args ...any) {
	s.to.Accept(name, min(level, hclog.Warn), msg, args...)
}
