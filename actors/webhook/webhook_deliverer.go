package webhook

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/egress"
	"orgmem/actors/node"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MaxDeliveryAttempts is how often the delivery of an event is attempted (the interface's).
	MaxDeliveryAttempts = 3
	// MaxWebhookFailures is how many attempts fail in a row before an endpoint is disabled (the interface's).
	MaxWebhookFailures = 8
	// RetryJitter is how far a retry may come before or after its time, as a share of
	// the wait (the interface's).
	RetryJitter = 0.2
	// maxRound bounds the deliveries of one round, which one commit records: enough
	// that an fsync is shared by many, few enough that a crash repeats only these.
	maxRound = 64
	// roundTime ends a round: no attempt begins in it after that, so that the record
	// of those made is not long in coming where each of them takes its time.
	roundTime = time.Second
	// maxWidth is how many attempts of one endpoint are under way at a time. It begins
	// with one, doubles with each round that succeeds and falls back to one with a
	// failure, so that a receiver which hangs holds one place.
	maxWidth = 8
	// MaxExtraWidth bounds, for all endpoints of an organization together, the
	// attempts under way beyond the first of each, and its test deliveries. The first
	// needs nobody's leave: whatever others do, an endpoint can go on.
	MaxExtraWidth = 16
	// maxPending bounds the events of an endpoint that wait for a retry. With so many
	// no new event is tried until one of them is settled: what cannot be remembered
	// stays in the outbox.
	maxPending = 256
	// maxLook bounds the events that one round looks at to find those that are for
	// its endpoint, and cursorStep is how many it may pass by before it writes that
	// down: reading them again costs less than a commit for each.
	maxLook    = 1024
	cursorStep = 256
	// SlowReceiver is what an attempt may take before its endpoint goes on in the places
	// for slow ones (egress): more than an honest answer from the other side of the
	// world, and a tenth of what one that hangs takes.
	SlowReceiver = time.Second
	// maxSlowKnown bounds the slow endpoints that an organization remembers: all that
	// there can be, and as many that were deleted since.
	maxSlowKnown = 2 * MaxWebhooks
	// stopGrace is how long the attempts under way have to end when the node stops.
	// One that is cut off is made again by whoever comes next.
	stopGrace = 3 * time.Second
)

// deliveries is what an organization's webhook children share.
type deliveries struct {
	hooked atomic.Bool // there is an endpoint that is not disabled
	// Told says that the organization has been told of events and not looked yet, so
	// that a busy one is told once.
	Told  atomic.Bool
	Extra chan struct{} // MaxExtraWidth

	mu   sync.Mutex
	slow map[pb.WebhookID]struct{} // endpoints whose last attempt took SlowReceiver
}

func newDeliveries() *deliveries {
	return &deliveries{Extra: make(chan struct{}, MaxExtraWidth), slow: map[pb.WebhookID]struct{}{}}
}

// isSlow reports whether an endpoint's last attempt was slow. It is forgotten with the
// organization: that costs one attempt.
func (c *deliveries) isSlow(id pb.WebhookID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, slow := c.slow[id]
	return slow
}

// took notes how long an attempt at an endpoint took.
func (c *deliveries) took(id pb.WebhookID, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.slow, id)
	if d < SlowReceiver {
		return
	}
	if len(c.slow) == maxSlowKnown {
		clear(c.slow)
	}
	c.slow[id] = struct{}{}
}

// delivererRef is a webhook child as its organization knows it.
type delivererRef struct {
	pid   *actor.PID
	wakes uint64
}

// roundDone is the end of a round, from its goroutine.
type roundDone struct {
	more bool
	due  int64 // when the next retry is, Unix milliseconds; 0: there is none
	err  error
}

// deliverer is an endpoint's child. It brings what the outbox holds behind the
// endpoint's cursor to the receiver, in rounds: some deliveries, then one commit
// of their outcomes and the cursor. It lives while there is something to bring.
type deliverer struct {
	module *Module
	org    *tenant.View
	id     pb.WebhookID
	ctx    actor.Context

	running  bool
	again    bool // woken while running
	dead     bool
	woken    uint64      // the newest wake
	seen     uint64      // the newest wake before the round that runs
	timer    clock.Timer // of the next retry, or of the back-off
	failures int         // rounds that could not be recorded, in a row
	stop     chan struct{}
	stopOnce sync.Once
	ended    chan struct{} // closed when the round that runs has ended

	// Of the round that runs.
	width   int    // attempts at a time
	passed  uint64 // events up to here are not for it; at least the cursor
	session *egress.Session
	address string // the session's
}

func newDeliverer(m *Module, id pb.WebhookID) *deliverer {
	return &deliverer{module: m, org: &m.View, id: id, stop: make(chan struct{}), width: 1}
}

// Receive implements actor.Actor.
func (w *deliverer) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			w.dead = true
			w.halt()
			w.org.Panicked("webhook", r)
		}
	}()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		w.ctx = ctx
	case *actor.Stopping:
		w.halt()
		if w.ended != nil {
			<-w.ended
		}
		if w.timer != nil {
			w.timer.Stop()
		}
		if w.session != nil {
			w.session.Close()
		}
	case subject.Wake:
		w.woken = max(w.woken, m.N)
		w.start()
	case subject.BackOffEnded:
		w.timer = nil
		w.start()
	case roundDone:
		w.running = false
		w.next(m)
	}
}

func (w *deliverer) halt() { w.stopOnce.Do(func() { close(w.stop) }) }

// start begins a round, unless one is under way or failed a moment ago.
func (w *deliverer) start() {
	if w.running || w.dead || w.timer != nil && w.failures > 0 {
		w.again = true
		return
	}
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
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
	self, root := w.ctx.Self(), w.org.System.ActorRoot
	switch {
	case w.dead, tenant.Superseded(d.err): // another activation goes on
	case d.err != nil:
		w.failures++
		w.org.System.Log.Error("a round of webhook deliveries failed; it is tried again", "org", w.org.ID.String(),
			"webhook", w.id.String(), "failures", w.failures, "err", d.err)
		wait := min(w.org.System.Config.MaxBackOff, tenant.MinBackOff<<min(w.failures-1, 10))
		w.timer = w.org.System.Clock.AfterFunc(wait, func() { root.Send(self, subject.BackOffEnded{}) })
	case d.more || w.again:
		w.failures = 0
		w.start()
	case d.due > 0:
		w.failures = 0
		wait := time.Duration(d.due-clock.Millis(w.org.System.Clock.Now())) * time.Millisecond
		wait = min(wait, 2*slices.Max(w.module.node.delays)) // it may have been put back this moment
		w.timer = w.org.System.Clock.AfterFunc(max(wait, time.Millisecond),
			func() { root.Send(self, subject.BackOffEnded{}) })
	default:
		w.failures = 0
		id, seen := w.id, w.seen
		w.module.InMailbox(func() { w.module.releaseDeliverer(id, self, seen) })
	}
}

// handing is one delivery of a round.
type handing struct {
	seq     uint64
	event   *pb.OutboxEvent
	failed  uint32       // attempts before
	fresh   bool         // it is none that waited for a retry
	outcome *pb.Delivery // nil: it was not tried
}

// round is what a courier does next.
type round struct {
	hook   *pb.Webhook
	hands  []*handing
	lapsed []uint64 // retries whose event is gone, or not for the endpoint any more
	looked uint64   // the last event looked at
	due    int64    // of the first retry that has to wait; 0: there is none
	more   bool
	orphan bool // its creator is no member any more
}

// round brings the next events to the receiver.
func (w *deliverer) round() roundDone {
	r, err := w.plan()
	switch {
	case err != nil:
		return roundDone{err: err}
	case r == nil:
		return roundDone{}
	}
	w.post(r)
	if len(r.hands) == 0 && len(r.lapsed) == 0 && !r.orphan && r.looked < r.hook.GetCursor()+cursorStep {
		w.passed = r.looked
		return roundDone{more: r.more, due: r.due}
	}
	done := w.record(r)
	if done.err == nil {
		w.passed = r.hook.GetCursor()
	}
	return done
}

// plan reads what is to be delivered now; nil when there is nobody to deliver to.
func (w *deliverer) plan() (r *round, err error) {
	o, now := w.module, clock.Millis(w.org.System.Clock.Now())
	err = o.WithStore(func(st *storage.Store) error {
		hook := &pb.Webhook{}
		found, err := st.Get(o.KeyOf(w.id), hook)
		if err != nil || !found || hook.GetDisabled() {
			return err
		}
		if err := o.openWebhook(hook); err != nil {
			return err
		}
		r = &round{hook: hook, looked: max(w.passed, hook.GetCursor())}
		if r.orphan, err = o.orphaned(st, hook); err != nil || r.orphan {
			return err
		}
		if err := w.planRetries(st, r, now); err != nil {
			return err
		}
		if len(hook.GetPending()) >= maxPending {
			return nil
		}
		return w.planFresh(st, r)
	})
	return r, err
}

// planRetries takes up the retries that are due.
func (w *deliverer) planRetries(st *storage.Store, r *round, now int64) error {
	for _, p := range r.hook.GetPending() {
		if !subject.IsDue(p.GetDueMs(), now, w.module.node.retryDelay(p.GetAttempts())) {
			if r.due == 0 || p.GetDueMs() < r.due {
				r.due = p.GetDueMs()
			}
			continue
		}
		if len(r.hands) == maxRound {
			r.more = true
			return nil
		}
		e := &pb.OutboxEvent{}
		found, err := st.Get(w.org.Space.Key(storage.TableOutbox, storage.U64(p.GetSeq())), e)
		if err != nil {
			return err
		}
		if !found || !w.module.delivers(r.hook, e) {
			r.lapsed = append(r.lapsed, p.GetSeq())
			continue
		}
		r.hands = append(r.hands, &handing{seq: p.GetSeq(), event: e, failed: p.GetAttempts()})
	}
	return nil
}

// planFresh looks for new events behind those that were looked at.
func (w *deliverer) planFresh(st *storage.Store, r *round) error {
	space := w.org.Space
	looked := 0
	for rec, err := range storage.ScanRecords(st, space.Prefix(storage.TableOutbox), storage.ScanOptions{
		After: space.Key(storage.TableOutbox, storage.U64(r.looked)), Limit: maxLook,
	}, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
		if err != nil {
			return err
		}
		if len(r.hands) == maxRound {
			r.more = true
			return nil
		}
		parts := rec.Key.Parts()
		seq := parts.U64()
		if err := parts.Done(); err != nil {
			return err
		}
		looked++
		r.looked = seq
		if w.module.delivers(r.hook, rec.Value) {
			r.hands = append(r.hands, &handing{seq: seq, event: rec.Value, fresh: true})
		}
	}
	r.more = r.more || looked == maxLook
	return nil
}

// orphaned reports whether an endpoint's creator has left, and nobody has enabled it
// since. A sandbox knows no members.
func (o *Module) orphaned(r storage.Reader, hook *pb.Webhook) (bool, error) {
	if o.Main != nil || hook.GetOutlivedCreator() {
		return false, nil
	}
	user, err := pb.UserIDFrom(hook.GetUser())
	if err != nil {
		return false, err
	}
	member := &pb.Partition{}
	found, err := r.Get(o.Space.Key(storage.TablePartition, storage.ID16(user)), member)
	return !found || member.GetErasing(), err
}

// delivers is the interface's rule of reach for an endpoint ("Webhook delivery"):
// what it subscribes to, unless it concerns a person whose data its creator may
// not read, which is everybody but themselves. What concerns a provisioned subject
// or the whole organization is for all. A sandbox has no persons.
func (o *Module) delivers(hook *pb.Webhook, e *pb.OutboxEvent) bool {
	kind := e.GetType()
	if _, known := published[kind]; !known || kind == pb.EventWebhookTest {
		return false // it flows on the stream alone
	}
	if !slices.Contains(hook.GetEventTypes(), allEvents) && !slices.Contains(hook.GetEventTypes(), kind) {
		return false
	}
	if o.Main != nil || kind == pb.EventInsightProposed || kind == pb.EventBrainTrained {
		return true
	}
	return len(e.GetPartition()) == 0 || e.GetSubject() != "" || string(e.GetPartition()) == string(hook.GetUser())
}

// post makes the attempts of a round, several at a time. It ends early after a
// failure, when the round has taken its time, and when the courier is to stop;
// those that were begun it waits for.
func (w *deliverer) post(r *round) {
	if len(r.hands) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(w.org.System.BaseContext)
	defer cancel()
	unwatch := w.watch(cancel)
	defer unwatch()
	send := w.way(r.hook)
	var (
		mu     sync.Mutex
		next   int
		failed bool
	)
	late := w.org.System.Clock.Now().Add(roundTime)
	take := func() *handing {
		mu.Lock()
		defer mu.Unlock()
		over := failed || w.stopping() || next > 0 && w.org.System.Clock.Now().After(late)
		if over || next == len(r.hands) {
			return nil
		}
		next++
		return r.hands[next-1]
	}
	work := func() {
		for h := take(); h != nil; h = take() {
			d, tried, err := w.module.attempt(ctx, send, r.hook, h.event, h.failed+1)
			if err == nil && tried {
				h.outcome = d
			}
			if h.outcome == nil || !h.outcome.GetOk() {
				mu.Lock()
				failed = true
				mu.Unlock()
			}
		}
	}
	var wg sync.WaitGroup
	for range min(w.width, len(r.hands)) - 1 {
		select {
		case w.module.Deliveries.Extra <- struct{}{}:
			wg.Go(func() {
				defer func() { <-w.module.Deliveries.Extra }()
				work()
			})
		default: // others have them
		}
	}
	work()
	wg.Wait()
	w.width = min(2*w.width, maxWidth)
	if failed {
		w.width = 1
	}
}

// watch cancels the attempts under way when the courier is to stop, and some time
// after the node began to.
func (w *deliverer) watch(cancel func()) (unwatch func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		select {
		case <-over:
			return
		case <-w.stop:
			cancel()
			return
		case <-w.org.System.Lifetime.Done():
		}
		grace := w.org.System.Clock.NewTimer(stopGrace)
		defer grace.Stop()
		select {
		case <-over:
		case <-w.stop:
			cancel()
		case <-grace.C():
			cancel()
		}
	})
	return func() { close(over); wg.Wait() }
}

func (w *deliverer) stopping() bool {
	select {
	case <-w.stop:
		return true
	default:
		return w.org.System.Lifetime.Err() != nil
	}
}

// way is how a round reaches its receiver: by the connections of the round before,
// where the address is still the same.
func (w *deliverer) way(hook *pb.Webhook) sender {
	if w.session != nil && w.address != hook.GetUrl() {
		w.session.Close()
		w.session = nil
	}
	if w.session == nil {
		s, err := w.org.System.Config.Egress.Session(hook.GetUrl())
		if err != nil { // the rules have changed: that fails each attempt
			return func(context.Context, egress.Request) (egress.Response, error) { return egress.Response{}, err }
		}
		w.session, w.address = s, hook.GetUrl()
	}
	return w.session.Do
}

// record makes the outcomes of a round true. It runs in the organization's actor,
// where no other change of the endpoint is under way.
func (w *deliverer) record(r *round) roundDone {
	result := make(chan roundDone, 1)
	o := w.module
	o.InMailbox(func() {
		if o.Retired {
			result <- roundDone{err: commit.ErrLost}
			return
		}
		o.Exclusive(tenant.WebhookLock(w.id), func(release func()) {
			ch, done, err := o.settleRound(w.id, r)
			if err != nil || ch == nil {
				release()
				result <- roundDone{err: err}
				return
			}
			o.Committer.SubmitChange(ch, func(err error) {
				release()
				if err == nil && r.hook.GetDisabled() {
					o.InMailbox(func() { o.reviewWebhook(w.id) })
				}
				done.err = err
				result <- done
			})
		})
	})
	select {
	case done := <-result:
		return done
	case <-w.stop: // the actor that was told may be gone
		return roundDone{err: node.ErrClosing}
	}
}

// settleRound writes what a round has come to; nil when its endpoint is gone. It
// leaves the endpoint as written in r.
func (o *Module) settleRound(id pb.WebhookID, r *round) (ch *commit.Change, done roundDone, err error) {
	hook := &pb.Webhook{}
	err = o.WithStore(func(st *storage.Store) error {
		found, err := st.Get(o.KeyOf(id), hook)
		if err == nil && !found {
			hook = nil
		}
		return err
	})
	if err != nil || hook == nil {
		return nil, roundDone{}, err
	}
	ch = commit.New(o.Store)
	now := clock.Millis(o.System.Clock.Now())
	if r.orphan && !hook.GetDisabled() && string(hook.GetUser()) == string(r.hook.GetUser()) {
		o.disableWebhook(ch, hook, now, "Its creator has left the organization.")
	}
	pending := newPendingList(hook, r)
	var outcomes []*pb.Delivery
	for _, h := range r.hands {
		d := h.outcome
		if d == nil {
			continue
		}
		outcomes = append(outcomes, d)
		if d.GetOk() {
			hook.Failures = 0
			o.node.delivered.Add(1)
			continue
		}
		o.node.failed.Add(1)
		if err := pending.retry(o.node, h); err != nil {
			return nil, roundDone{}, err
		}
		if hook.GetDisabled() {
			continue
		}
		if hook.Failures++; hook.GetFailures() >= MaxWebhookFailures {
			o.disableWebhook(ch, hook, now, "8 deliveries in a row have failed.")
		}
	}
	hook.Cursor = max(hook.GetCursor(), pending.cursor)
	hook.Pending = pending.list
	done = roundDone{more: r.more || pending.untried, due: pending.first()}
	if hook.GetDisabled() {
		hook.Pending, done = nil, roundDone{}
	}
	if err := o.logDeliveries(ch, hook, outcomes); err != nil {
		return nil, roundDone{}, err
	}
	ch.Put(o.KeyOf(id), hook)
	r.hook = hook
	return ch, done, nil
}

// disableWebhook ends an endpoint's deliveries until somebody enables it.
func (o *Module) disableWebhook(ch *commit.Change, hook *pb.Webhook, now int64, reason string) {
	hook.Disabled, hook.DisabledReason, hook.UpdatedMs = true, reason, now
	ch.Audit(&pb.Audit{AtMs: now, Action: pb.ActionWebhookDisable, Target: pb.WebhookID(hook.GetId()).String()})
	o.node.disabled.Add(1)
	o.System.Log.Warn("a webhook endpoint is disabled", "org", o.ID.String(),
		"webhook", pb.WebhookID(hook.GetId()).String(), "reason", reason)
}

// pendingList are the retries of an endpoint as a round leaves them.
type pendingList struct {
	list    []*pb.PendingDelivery
	cursor  uint64
	untried bool // something of the round was not tried
}

// newPendingList takes out what the round has dealt with. What it did not come to
// at its end stays behind the cursor; what it left out in between, because another
// attempt failed beside it, has to be remembered by itself.
func newPendingList(hook *pb.Webhook, r *round) *pendingList {
	p := &pendingList{cursor: r.looked}
	dealt := map[uint64]bool{}
	for _, seq := range r.lapsed {
		dealt[seq] = true
	}
	last := -1 // of those that were tried
	for i, h := range r.hands {
		if h.outcome != nil {
			dealt[h.seq], last = true, i
		}
	}
	for _, d := range hook.GetPending() {
		if !dealt[d.GetSeq()] {
			p.list = append(p.list, d)
		}
	}
	for i, h := range r.hands {
		switch {
		case h.outcome != nil:
		case !h.fresh: // it is still in the list
			p.untried = true
		case i > last:
			p.untried = true
			p.cursor = min(p.cursor, h.seq-1)
		default:
			p.untried = true
			p.list = append(p.list, &pb.PendingDelivery{Seq: h.seq})
		}
	}
	return p
}

// retry notes when a delivery that failed is made again, if it is.
func (p *pendingList) retry(feature *Feature, h *handing) error {
	n := h.failed + 1
	if n >= MaxDeliveryAttempts {
		return nil
	}
	wait, err := feature.jittered(feature.retryDelay(n))
	if err != nil {
		return err
	}
	due := h.outcome.GetAtMs() + int64(h.outcome.GetDurationMs()) + wait.Milliseconds()
	p.list = append(p.list, &pb.PendingDelivery{Seq: h.seq, Attempts: n, DueMs: due})
	return nil
}

// first is when the first of them is due; 0: there is none.
func (p *pendingList) first() (due int64) {
	for _, d := range p.list {
		if due == 0 || d.GetDueMs() < due {
			due = max(1, d.GetDueMs())
		}
	}
	return due
}
