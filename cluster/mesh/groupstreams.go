package mesh

import (
	"context"
	"net"
	"sync"
	"time"

	"orgmem/cluster/wire"
)

// GroupStreams is one group's share of the network: a net.Listener that also dials,
// as raft's StreamLayer does. Addresses are server ids. Its Close ends what belongs to
// the group and spares the listener, which all groups share.
type GroupStreams struct {
	d       *dialer
	id      uint32
	self    wire.ServerID
	arrived chan net.Conn // handed over one by one; raft takes each at once
	once    sync.Once
	closed  chan struct{}
}

// OpenGroup returns a group's share of the network, which its caller closes. self is
// what Addr says. Streams of a group that is not open are closed at once.
func (d *dialer) OpenGroup(id uint32, self wire.ServerID) *GroupStreams {
	g := &GroupStreams{d: d, id: id, self: self, arrived: make(chan net.Conn), closed: make(chan struct{})}
	d.streams.mu.Lock()
	defer d.streams.mu.Unlock()
	d.streams.groups[id] = g
	return g
}

// Accept waits for the next stream of the group.
func (g *GroupStreams) Accept() (net.Conn, error) {
	select {
	case c := <-g.arrived:
		return c, nil
	case <-g.closed:
		return nil, net.ErrClosed
	}
}

// Dial opens a stream to the same group of another node; errors as Network.Dial.
func (g *GroupStreams) Dial(to wire.ServerID, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(g.d.node.life, timeout)
	defer cancel()
	address, err := g.d.addressOf(to)
	if err != nil {
		return nil, err
	}
	s, err := g.d.dial(ctx, to, address, KindRaft, g.id)
	if err != nil {
		return nil, err
	}
	g.d.streams.mu.Lock()
	s.group = g
	g.d.streams.mu.Unlock()
	select {
	case <-g.closed: // Close may have looked before this stream was the group's
		s.cut()
	default:
	}
	return s, nil
}

// Close ends the group's streams, in both directions: raft keeps idle ones in a
// pool that it does not empty.
func (g *GroupStreams) Close() error {
	g.once.Do(func() {
		close(g.closed)
		g.d.streams.mu.Lock()
		if g.d.streams.groups[g.id] == g {
			delete(g.d.streams.groups, g.id)
		}
		g.d.streams.mu.Unlock()
		g.d.streams.cut(func(s *stream) bool { return s.group == g })
	})
	return nil
}

// Addr is the server id: raft knows no other addresses.
func (g *GroupStreams) Addr() net.Addr { return serverAddr(g.self) }

type serverAddr wire.ServerID

func (serverAddr) Network() string  { return "orgmem" }
func (a serverAddr) String() string { return string(a) }
