package peer

import (
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/node"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// largeForwarded is from how many bytes on a request is large: imports and batches
	// are. Large ones together take three quarters of the room at most, like uploads at
	// the edge, so that they leave room for the others.
	largeForwarded        = 64 << 10
	defaultForwardedBytes = 128 << 20
)

// forwarded counts the bytes of requests that other nodes have sent on. The edge of those
// nodes counts them there; here they are held once more, until they are answered.
type forwarded struct {
	room int

	mu           sync.Mutex // guards what follows
	small, large int
}

// enter counts a question in, and returns what counts it out; false: there is no room. Of
// the large ones one is let in whatever there is, or the largest would never be.
func (f *forwarded) enter(ask *pb.NodeAsk) (leave func(), ok bool) {
	if ask.GetEnvelope() == nil { // an operator's, one after the other, or one of a few bytes
		return func() {}, true
	}
	n := proto.Size(ask)
	f.mu.Lock()
	defer f.mu.Unlock()
	held, most := &f.small, max(f.room/4, f.room-f.large)
	if n > largeForwarded {
		held, most = &f.large, min(f.room/4*3, f.room-f.small)
	}
	if *held+n > most && (n <= largeForwarded || *held > 0) {
		return nil, false
	}
	*held += n
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		*held -= n
	}, true
}

// visitor is a question of another node.
type visitor struct {
	from wire.ServerID
	id   uint64
}

// visitors are the questions of other nodes that this one is answering.
type visitors struct {
	room     forwarded     // what their requests take
	count    atomic.Int64  // as many as are in here
	answered atomic.Uint64 // for Stats

	mu     sync.Mutex
	here   map[visitor]struct{}
	askers map[wire.ServerID]struct{} // who has asked something since it was last lost
}

func (s *visitors) init(bytes int) {
	s.room.room = bytes
	s.here, s.askers = map[visitor]struct{}{}, map[wire.ServerID]struct{}{}
}

// enter lets a question in, and returns what gives its bytes back; false: there are too many, or too large ones.
func (s *visitors) enter(v visitor, ask *pb.NodeAsk) (release func(), ok bool) {
	release, room := s.room.enter(ask)
	if s.count.Add(1) > node.MaxCalls || !room {
		s.count.Add(-1)
		if room {
			release()
		}
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here[v] = struct{}{} // bounded by node.MaxCalls
	return release, true
}

// leave ends a question that was let in.
func (s *visitors) leave(v visitor, release func()) {
	s.mu.Lock()
	delete(s.here, v)
	s.mu.Unlock()
	release()
	s.count.Add(-1)
}

// worksOn reports whether a question is being answered.
func (s *visitors) worksOn(v visitor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.here[v]
	return there
}

// HeldBytes says how many bytes of small requests of other nodes, and of large ones, are held now.
func (o *Router) HeldBytes() (small, large int) {
	f := &o.visitors.room
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.small, f.large
}

// noteAsker notes a node that this one must say farewell to when it stops.
func (s *visitors) noteAsker(who wire.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.askers[who] = struct{}{}
}

// dropAsker notes that a node's connection has ended.
func (s *visitors) dropAsker(who wire.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.askers, who)
}

// askersBut lists the nodes that this one still has to say farewell to, and adds them to told.
func (s *visitors) askersBut(told map[wire.ServerID]bool) (more []wire.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for who := range s.askers {
		if !told[who] {
			told[who] = true
			more = append(more, who)
		}
	}
	return more
}
