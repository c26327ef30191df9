package peer

import (
	"errors"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/node"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// maxOutstanding bounds what one node has asked one other node and waits for. It is
	// what that node lets in from one.
	maxOutstanding = node.MaxCalls / 2
	// maxOutstandingBytes bounds its bytes: several imports of 64 MiB, or any number of
	// ordinary requests. What other nodes send is bounded alike on their side, and all
	// that they send together by Config.ForwardedBytes.
	maxOutstandingBytes = 192 << 20
)

// errNodeBusy means that as much is on its way to a node as may be.
var errNodeBusy = errors.New("too much is on its way to the other node")

// errParting means that a node has said that it is about to stop.
var errParting = errors.New("the other node is about to stop")

// questions are what this node has asked others and waits for. They have a bound for each node, and one that is about
// to stop is asked nothing more.
type questions struct {
	clock      clock.Clock
	instanceOf func(wire.ServerID) string // names the start of a node
	asked      atomic.Uint64              // for Stats
	lost       atomic.Uint64              // for Stats

	mu      sync.Mutex
	next    uint64 // begins anywhere, so that no question has the number of one from before a restart
	waiting map[uint64]*question
	load    map[wire.ServerID]*load
	parting map[wire.ServerID]*farewell // who is about to stop
}

// question is one on its way to another node.
type question struct {
	to       wire.ServerID
	bytes    int
	reply    chan *pb.NodeReply // buffered for one; nil: the connection is lost
	farewell bool               // it counts nowhere: two that stop would wait for each other
}

// load is what is on its way to one node.
type load struct{ calls, bytes int }

func (s *questions) init(c clock.Clock, instanceOf func(wire.ServerID) string) {
	s.clock, s.instanceOf = c, instanceOf
	s.waiting, s.load, s.parting = map[uint64]*question{}, map[wire.ServerID]*load{}, map[wire.ServerID]*farewell{}
}

// add takes a question in, numbers it, and says what waits for its answer.
func (s *questions) add(to wire.ServerID, ask *pb.NodeAsk) (id uint64, a *question, err error) {
	s.mu.Lock()
	if s.parts(to) {
		s.mu.Unlock()
		return 0, nil, errParting
	}
	s.next++
	ask.Id = s.next
	a = &question{to: to, bytes: proto.Size(ask), reply: make(chan *pb.NodeReply, 1), farewell: ask.GetFarewell() != nil}
	if !a.farewell && !s.takeOn(a) {
		s.mu.Unlock()
		return 0, nil, errNodeBusy
	}
	s.waiting[ask.GetId()] = a
	s.mu.Unlock()
	s.asked.Add(1)
	return ask.GetId(), a, nil
}

// takeOn counts a question; false: there are as many as there may be. s.mu is held.
func (s *questions) takeOn(a *question) bool {
	l := s.load[a.to]
	if l == nil {
		l = &load{}
	}
	if l.calls >= maxOutstanding || l.calls > 0 && l.bytes+a.bytes > maxOutstandingBytes {
		return false
	}
	l.calls++
	l.bytes += a.bytes
	s.load[a.to] = l
	return true
}

// settle hands an answer, or nil, to the caller that waits for it.
func (s *questions) settle(id uint64, r *pb.NodeReply) {
	if a := s.drop(id); a != nil {
		a.reply <- r
	}
}

// drop takes a question out of those that wait; nil: it was no more among them.
func (s *questions) drop(id uint64) *question {
	s.mu.Lock()
	a := s.waiting[id]
	var heard func()
	if a != nil {
		s.forget(id, a)
		heard = s.allAnswered(a.to)
	}
	s.mu.Unlock()
	if heard != nil {
		heard()
	}
	return a
}

// forget ends the counting of a question. s.mu is held.
func (s *questions) forget(id uint64, a *question) {
	delete(s.waiting, id)
	if a.farewell {
		return
	}
	l := s.load[a.to]
	l.calls--
	l.bytes -= a.bytes
	if l.calls == 0 {
		delete(s.load, a.to)
	}
}

// connectionLost ends the waiting for a node's answers: r is the answer to all.
func (s *questions) connectionLost(server wire.ServerID, r *pb.NodeReply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.parting[server]; f != nil {
		f.heard = nil // nobody is there to hear
	}
	for id, a := range s.waiting {
		if a.to == server {
			s.lost.Add(1)
			s.forget(id, a)
			a.reply <- r
		}
	}
}

// hearFarewell notes that a node is about to stop. heard is called when it has answered
// all that it was asked.
func (s *questions) hearFarewell(from wire.ServerID, heard func()) {
	s.mu.Lock()
	s.parting[from] = &farewell{at: s.clock.Now(), instance: s.instanceOf(from), heard: heard}
	now := s.allAnswered(from)
	s.mu.Unlock()
	if now != nil {
		now()
	}
}

// allAnswered returns what tells a node that it has answered everything; nil: it has
// not, or is not waiting for that. s.mu is held; what it returns is called without.
func (s *questions) allAnswered(server wire.ServerID) (heard func()) {
	f := s.parting[server]
	if f == nil || s.load[server] != nil {
		return nil
	}
	heard, f.heard = f.heard, nil
	return heard
}

// parts reports whether a node is about to stop, and is not to be asked. s.mu is held.
func (s *questions) parts(server wire.ServerID) bool {
	f := s.parting[server]
	if f == nil {
		return false
	}
	again := f.instance != "" && s.instanceOf(server) != f.instance
	if again || s.clock.Now().Sub(f.at) >= farewellHold {
		delete(s.parting, server)
		return false
	}
	return true
}

// resumed notes that a node asks: it has not stopped, or not any more.
func (s *questions) resumed(who wire.ServerID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.parting, who)
}
