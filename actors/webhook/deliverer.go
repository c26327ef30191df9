package webhook

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/egress"
	"orgmem/actors/node"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// maxConcurrent is how many attempts of one endpoint are under way at a time. It begins with one, doubles with each
	// round that succeeds and falls back to one with a failure, so that a receiver which hangs holds one place.
	maxConcurrent = 8
	// stopGrace is how long the attempts under way have to end when the node stops. One that is cut off is made again
	// by the next activation.
	stopGrace = 3 * time.Second
)

// deliverer is an endpoint's child. It delivers what the outbox holds after the endpoint's cursor, in rounds: some
// deliveries, then one commit of their outcomes and the cursor. It lives while there is something to deliver.
type deliverer struct {
	module *Module
	org    *tenant.View
	id     pb.WebhookID
	ctx    actor.Context

	running bool
	again   bool   // woken while running
	dead    bool   // it has panicked
	woken   uint64 // the newest wake
	seen    uint64 // the newest wake before the round that runs
	wait    nextRound
	stop    stopSignal
	ended   chan struct{} // closed when the round that runs has ended

	// Of the round that runs.
	receiver receiver
	passed   uint64 // events up to here are not for the endpoint; at least the cursor
}

func newDeliverer(m *Module, id pb.WebhookID) *deliverer {
	return &deliverer{
		module: m, org: &m.View, id: id, stop: stopSignal{ch: make(chan struct{})}, receiver: receiver{concurrent: 1},
	}
}

// Receive implements actor.Actor.
func (w *deliverer) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			w.dead = true
			w.stop.set()
			w.org.Panicked("webhook", r)
		}
	}()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		w.ctx = ctx
	case *actor.Stopping:
		w.stop.set()
		if w.ended != nil {
			<-w.ended
		}
		w.wait.cancel()
		w.receiver.close()
	case subject.Wake:
		w.woken = max(w.woken, m.N)
		w.start()
	case subject.BackOffEnded:
		w.wait.timer = nil
		w.start()
	case roundDone:
		w.running = false
		w.next(m)
	}
}

// start begins a round, unless one is under way or failed a moment ago.
func (w *deliverer) start() {
	if w.running || w.dead || w.wait.backingOff() {
		w.again = true
		return
	}
	w.wait.cancel()
	// Close waits for what has begun, so that a stop leaves no delivery unrecorded.
	if !w.org.System.AdmitVisit() {
		return
	}
	w.running, w.again, w.seen = true, false, w.woken
	w.ended = make(chan struct{})
	ended, self, root := w.ended, w.ctx.Self(), w.org.System.ActorRoot
	w.org.System.BackgroundTasks.Go(func() {
		done := roundDone{}
		defer close(ended)
		defer w.org.System.EndVisit()
		defer func() {
			if r := recover(); r != nil {
				done = roundDone{err: node.PanicError("webhook", r)}
			}
			root.Send(self, done)
		}()
		done = w.round()
	})
}

// next decides what follows a round.
func (w *deliverer) next(d roundDone) {
	switch {
	case w.dead, tenant.Superseded(d.err): // another activation goes on
	case d.err != nil:
		wait := w.wait.failed(w.org.System.Config.MaxBackOff)
		w.org.System.Log.Error("a round of webhook deliveries failed; it is tried again", "org", w.org.ID.String(),
			"webhook", w.id.String(), "failures", w.wait.failures, "err", d.err)
		w.startAfter(wait)
	case d.more || w.again:
		w.wait.failures = 0
		w.start()
	case d.due > 0:
		w.wait.failures = 0
		wait := time.Duration(d.due-clock.Millis(w.org.System.Clock.Now())) * time.Millisecond
		wait = min(wait, 2*slices.Max(w.module.feature.delays)) // the clock may have been set back this moment
		w.startAfter(max(wait, time.Millisecond))
	default:
		w.wait.failures = 0
		w.module.deliverers.releaseSoon(w.id, w.ctx.Self(), w.seen)
	}
}

func (w *deliverer) startAfter(wait time.Duration) {
	self, root := w.ctx.Self(), w.org.System.ActorRoot
	w.wait.timer = w.org.System.Clock.AfterFunc(wait, func() { root.Send(self, subject.BackOffEnded{}) })
}

// nextRound is the wait before a round: for the next retry, or after a round that could not be recorded.
type nextRound struct {
	timer    clock.Timer // nil: none waits
	failures int         // rounds that could not be recorded, in a row
}

// backingOff reports whether a round failed a moment ago.
func (n *nextRound) backingOff() bool { return n.timer != nil && n.failures > 0 }

func (n *nextRound) cancel() {
	if n.timer != nil {
		n.timer.Stop()
		n.timer = nil
	}
}

// failed notes that a round could not be recorded, and returns the wait before the next.
func (n *nextRound) failed(most time.Duration) time.Duration {
	n.failures++
	return min(most, tenant.MinBackOff<<min(n.failures-1, 10))
}

// stopSignal tells the round that runs that its deliverer is to stop.
type stopSignal struct {
	ch   chan struct{} // closed by set
	once sync.Once
}

func (s *stopSignal) set() { s.once.Do(func() { close(s.ch) }) }

// isSet reports whether no further attempt is to begin: the deliverer is to stop, or the node.
func (s *stopSignal) isSet(sys *tenant.System) bool {
	select {
	case <-s.ch:
		return true
	default:
		return sys.Lifetime.Err() != nil
	}
}

// watch calls cancel when the deliverer is to stop, and stopGrace after the node begins to, until unwatch is called.
func (s *stopSignal) watch(sys *tenant.System, cancel func()) (unwatch func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-over:
			return
		case <-s.ch:
			cancel()
			return
		case <-sys.Lifetime.Done():
		}
		grace := sys.Clock.NewTimer(stopGrace)
		defer grace.Stop()
		select {
		case <-over:
		case <-s.ch:
			cancel()
		case <-grace.C():
			cancel()
		}
	})
	return func() { close(over); wg.Wait() }
}

// receiver is what a deliverer keeps of its endpoint's receiver from one round to the next: the connections, and how
// many attempts it takes at a time.
type receiver struct {
	session    *egress.Session
	address    string // the session's
	concurrent int
}

// connect returns what sends to an address: through the connections of the round before, if the address is the same.
func (r *receiver) connect(way *egress.Client, address string) sender {
	if r.session != nil && r.address != address {
		r.close()
	}
	if r.session == nil {
		s, err := way.Session(address)
		if err != nil { // the rules have changed: that fails each attempt
			return func(context.Context, egress.Request) (egress.Response, error) { return egress.Response{}, err }
		}
		r.session, r.address = s, address
	}
	return r.session.Do
}

func (r *receiver) close() {
	if r.session != nil {
		r.session.Close()
		r.session = nil
	}
}

// adapt sets how many attempts the next round makes at a time.
func (r *receiver) adapt(failed bool) {
	r.concurrent = min(2*r.concurrent, maxConcurrent)
	if failed {
		r.concurrent = 1
	}
}
