package mesh

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"

	"orgmem/cluster/wire"
)

// streams are the open connections with other nodes, and who serves those that come in.
type streams struct {
	node *node

	mu       sync.Mutex // guards what follows; node.mu may be taken under it
	handlers map[Kind]streamHandler
	open     map[*stream]struct{}
	perPeer  map[wire.ServerID]int
	groups   map[uint32]*GroupStreams
}

type streamHandler func(ctx context.Context, peer wire.ServerID, conn net.Conn)

func newStreams(n *node) *streams {
	return &streams{
		node: n, handlers: map[Kind]streamHandler{}, open: map[*stream]struct{}{},
		perPeer: map[wire.ServerID]int{}, groups: map[uint32]*GroupStreams{},
	}
}

// Handle registers what serves the streams of a kind; f owns the connection and
// closes it. The context ends when the network closes, which waits for f. peer is
// who the other side's certificate says.
func (all *streams) Handle(kind Kind, f func(ctx context.Context, peer wire.ServerID, conn net.Conn)) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.handlers[kind] = f
}

// stream is one connection between two nodes. Its user closes it; it is known here so
// that it ends with the network, the peer or the group.
type stream struct {
	*tls.Conn
	of    *streams
	peer  wire.ServerID
	group *GroupStreams // nil unless KindRaft
	once  sync.Once
}

// Close closes the connection. It may be called twice.
func (s *stream) Close() error {
	var err error
	s.once.Do(func() {
		s.of.forget(s)
		err = s.Conn.Close()
	})
	return err
}

// cut ends the connection without a goodbye, which could wait for a peer that does
// not read. Its users see an error; raft keeps some in a pool that nobody uses
// any more when its group has ended.
func (s *stream) cut() {
	_ = s.NetConn().Close() // before the goodbye
	_ = s.Close()           // cannot say goodbye any more
}

// adopt makes a connection a stream of this network.
func (all *streams) adopt(conn *tls.Conn, peer wire.ServerID) (*stream, error) {
	s := &stream{Conn: conn, of: all, peer: peer}
	all.mu.Lock()
	defer all.mu.Unlock()
	// Under the lock: who closes the network or removes a node cuts the streams after it
	// has said so, and finds this one, or this one finds what was said.
	if err := all.node.mayStream(peer); err != nil {
		return nil, err
	}
	if all.perPeer[peer] >= maxStreams {
		return nil, fmt.Errorf("%s: %w", peer, errTooManyStreams)
	}
	all.open[s] = struct{}{}
	all.perPeer[peer]++
	return s, nil
}

func (all *streams) forget(s *stream) {
	all.mu.Lock()
	defer all.mu.Unlock()
	delete(all.open, s)
	if all.perPeer[s.peer]--; all.perPeer[s.peer] == 0 {
		delete(all.perPeer, s.peer)
	}
}

// cut ends the streams that match.
func (all *streams) cut(match func(*stream) bool) {
	all.mu.Lock()
	var cut []*stream
	for s := range all.open {
		if match(s) {
			cut = append(cut, s)
		}
	}
	all.mu.Unlock()
	for _, s := range cut {
		s.cut()
	}
}

// count returns how many are open.
func (all *streams) count() int {
	all.mu.Lock()
	defer all.mu.Unlock()
	return len(all.open)
}

// serve hands an inbound stream to its group, or to what serves its kind.
func (all *streams) serve(s *stream, h header) {
	if h.kind == KindRaft {
		all.deliver(h.group, s)
		return
	}
	all.mu.Lock()
	serve := all.handlers[h.kind]
	all.mu.Unlock()
	if serve == nil { // not yet, or of a newer version
		all.node.cfg.Logger.Debug(
			"cluster: nobody serves this kind of stream", "kind", byte(h.kind), "peer", string(s.peer),
		)
		_ = s.Close()
		return
	}
	serve(all.node.life, s.peer, s)
}

// deliver hands an inbound stream to its group, if this node has it.
func (all *streams) deliver(group uint32, s *stream) {
	all.mu.Lock()
	g := all.groups[group]
	s.group = g
	all.mu.Unlock()
	if g == nil { // the group is not open yet, or not here any more: raft tries again
		_ = s.Close()
		return
	}
	select {
	case g.arrived <- s:
	case <-g.closed:
		_ = s.Close()
	case <-all.node.life.Done():
		_ = s.Close()
	}
}
