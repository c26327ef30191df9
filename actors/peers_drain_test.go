package actors

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// What is on its way while a node stops, be it a question or its answer, arrives: a
// write that goes through another node is not refused because nobody knows whether it
// was done.
func TestNothingIsLostWhenANodeStops(t *testing.T) {
	for name, is := range map[string]func(from wire.ServerID, m proto.Message) bool{
		"a question on its way": func(from wire.ServerID, m proto.Message) bool {
			ask, ok := m.(*pb.NodeAsk)
			return ok && from == "b" && ask.GetEnvelope().GetPutSubject() != nil
		},
		"an answer on its way": func(from wire.ServerID, m proto.Message) bool {
			r, ok := m.(*pb.NodeReply)
			return ok && from == "a" && r.GetReply() != nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := startTown(t, "a", "b")
			made := w.org("a", pb.PlanUnlimited)
			b := w.at("b").client(made.APIKey)
			b.ok(me())
			slow, release := make(chan struct{}), make(chan struct{})
			var one, two sync.Once
			w.hold(func(from wire.ServerID, m proto.Message) <-chan struct{} {
				if ask, ok := m.(*pb.NodeAsk); ok && ask.GetFarewell() != nil {
					two.Do(func() { close(release) })
				} else if is(from, m) {
					until := (<-chan struct{})(nil)
					one.Do(func() {
						close(slow)
						until = release
					})
					return until
				}
				return nil
			})
			answered := make(chan error, 1)
			go func() {
				_, err := w.at("b").sys.Ask(t.Context(),
					b.envelope(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "s"}}}))
				answered <- err
			}()
			<-slow
			w.lead("b")
			if err := w.at("a").sys.Close(); err != nil {
				t.Error(err)
			}
			two.Do(func() { close(release) }) // without a farewell it is too late
			if err := <-answered; err != nil {
				t.Error(err)
			}
		})
	}
}

// A node that has said that it stops is asked nothing more, whoever is thought to lead,
// until it is heard of again, from others or itself, or farewellHold is over. That its
// connection has ended does not say that its process has.
func TestWhoStopsIsNotAsked(t *testing.T) {
	w := startTown(t, "a", "b", "c")
	made := w.org("a", pb.PlanUnlimited)
	w.lead("b")
	a, c := w.at("a"), w.at("c")
	come := func() int {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.carried
	}
	thinks := func(n *townNode, who wire.ServerID) (looked int) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.believe = who
		return n.looked
	}
	heard := 0
	for range 2 {
		c.sys.peers.hearFarewell("a", func() { heard++ })
	}
	if heard != 2 {
		t.Errorf("who has nothing to wait for says so: %d times of 2", heard)
	}
	for name, then := range map[string]func(){
		"it has said so":               func() {},
		"and its connection has ended": func() { c.lost("a", true) },
	} {
		c.sys.peers.hearFarewell("a", func() {})
		then()
		before, looked := come(), thinks(c, "a")
		answered := make(chan error, 1)
		go func() {
			_, err := c.sys.Ask(t.Context(), c.client(made.APIKey).envelope(me()))
			answered <- err
		}()
		c.waitFor(func() bool {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.looked > looked+3
		})
		thinks(c, "")
		if err := <-answered; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if n := come() - before; n != 0 {
			t.Errorf("%s: %d messages came to who stops", name, n)
		}
	}
	for name, back := range map[string]func(){
		"it has been started again": func() { a.again() },
		"it asks": func() {
			thinks(a, "c")
			a.client(made.APIKey).ok(me())
			thinks(a, "")
		},
		"time is over": func() {
			c.sys.peers.mu.Lock()
			defer c.sys.peers.mu.Unlock()
			f := c.sys.peers.parting["a"]
			f.at = f.at.Add(-farewellHold)
		},
	} {
		c.sys.peers.hearFarewell("a", func() {})
		back()
		before := come()
		thinks(c, "a")
		c.client(made.APIKey).ok(me())
		if come() == before {
			t.Errorf("%s: it is not asked again", name)
		}
		thinks(c, "")
	}
}

// Two that stop at once wait for the others' questions, and not for each other's word.
func TestTwoStopAtOnce(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	w.at("b").client(made.APIKey).ok(me()) // b has asked a
	w.lead("b")
	w.at("a").client(made.APIKey).ok(me()) // and a has asked b
	release := make(chan struct{})
	var said atomic.Int64
	w.hold(func(_ wire.ServerID, m proto.Message) <-chan struct{} {
		if ask, ok := m.(*pb.NodeAsk); !ok || ask.GetFarewell() == nil {
			return nil
		}
		if said.Add(1) == 2 {
			close(release)
		}
		return release
	})
	late := make(chan string, 2)
	var both sync.WaitGroup
	for _, name := range []wire.ServerID{"a", "b"} {
		o := w.at(name).sys.peers
		both.Go(func() {
			asked := o.sayFarewell(o.askersBut(map[wire.ServerID]bool{}))
			if len(asked) != 1 {
				late <- fmt.Sprintf("%s says farewell to %d", name, len(asked))
			}
			for id, a := range asked {
				select {
				case <-a.reply:
				case <-time.After(patience):
					late <- fmt.Sprintf("%s waits for %s", name, a.to)
				}
				o.drop(id)
			}
		})
	}
	both.Wait()
	close(late)
	for what := range late {
		t.Error(what)
	}
}

// An organization that is opened when its shard has just been given up is not: nobody
// would tell it that it has moved.
func TestNothingOpensBehindAMove(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	w.lead("b")
	if err := w.at("a").sys.AwaitMovedAway(t.Context()); err != nil { // it is out of memory
		t.Fatal(err)
	}
	ran := false
	err := w.at("a").sys.Visit(t.Context(), made.Org, func(_ *tenant.Org, done func(error)) {
		ran = true
		done(nil)
	})
	if !errors.Is(err, wire.ErrNotLeader) || ran {
		t.Errorf("it opens, and works %v: %v", ran, err)
	}
	w.at("b").client(made.APIKey).ok(me())
}

// hold keeps messages on their way as long as it says.
func (w *town) hold(held func(from wire.ServerID, m proto.Message) (until <-chan struct{})) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = held
}
