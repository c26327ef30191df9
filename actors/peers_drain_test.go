package actors

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/peer"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
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
// until it is heard of again, from others or itself. That its connection has ended does
// not say that its process has.
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
	a.sayFarewell("c")
	for name, then := range map[string]func(){
		"it has said so":               func() {},
		"and its connection has ended": func() { c.lost("a", true) },
	} {
		a.sayFarewell("c")
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
	} {
		a.sayFarewell("c")
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

// sayFarewell lets a node tell another one, which waits for nothing from it, that it stops. It is told at once that it
// was heard.
func (n *townNode) sayFarewell(to wire.ServerID) {
	n.t.Helper()
	ask := &pb.NodeAsk{What: &pb.NodeAsk_Farewell{Farewell: &pb.Empty{}}}
	if _, err := n.sys.ActorRoot.RequestFuture(n.At(to), ask, patience).Result(); err != nil {
		n.t.Errorf("who has nothing to wait for does not say so: %v", err)
	}
}

// patientClock is a clock by which a node that stops waits for the others for as long as a test says.
type patientClock struct {
	clock.Clock
	patient *atomic.Bool
}

// NewTimer implements clock.Clock.
func (c patientClock) NewTimer(d time.Duration) clock.ChanTimer {
	if d == peer.FarewellWait && c.patient.Load() {
		d = patience
	}
	return c.Clock.NewTimer(d)
}

// Two that stop at once wait for the others' questions, and not for each other's word.
func TestTwoStopAtOnce(t *testing.T) {
	var patient atomic.Bool
	patient.Store(true)
	w := startTownWith(t, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Clock = patientClock{cfg.Clock, &patient}
	}, "a", "b")
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
		both.Go(func() {
			if !w.at(name).sys.peers.Drain() {
				late <- string(name) + " waits for the other one"
			}
		})
	}
	both.Wait()
	patient.Store(false)
	if n := said.Load(); n != 2 {
		t.Errorf("farewell was said %d times", n)
	}
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
