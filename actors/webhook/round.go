package webhook

import (
	"context"
	"sync"
	"time"

	"orgmem/actors/commit"
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
	// maxRound bounds the deliveries of one round, which one commit records: enough that an fsync is shared by many,
	// few enough that a crash repeats only these.
	maxRound = 64
	// roundTime ends a round: no attempt begins in it after that, so that the record of those made is not long in
	// coming where each of them takes its time.
	roundTime = time.Second
	// maxPending bounds the events of an endpoint that wait for a retry. With so many no new event is tried until one
	// of them is settled: what cannot be remembered stays in the outbox.
	maxPending = 256
	// maxScan bounds the events that one round looks at to find those that are for its endpoint, and cursorStep is how
	// many it may pass by before it writes the cursor: reading them again costs less than a commit for each.
	maxScan    = 1024
	cursorStep = 256
)

// roundDone is the end of a round, from its goroutine.
type roundDone struct {
	more bool
	due  int64 // when the next retry is, Unix milliseconds; 0: there is none
	err  error
}

// round is what a deliverer does between two commits.
type round struct {
	hook     *pb.Webhook
	attempts []*attempt
	lapsed   []uint64 // retries whose event is gone, or not for the endpoint any more
	looked   uint64   // the last event looked at
	due      int64    // of the first retry that has to wait; 0: there is none
	more     bool
	orphan   bool // its creator is no member any more
}

// attempt is one delivery of a round.
type attempt struct {
	seq     uint64
	event   *pb.OutboxEvent
	failed  uint32       // attempts before
	fresh   bool         // the event's first attempt
	outcome *pb.Delivery // nil: it was not tried
}

// round delivers the next events to the receiver.
func (w *deliverer) round() roundDone {
	r, err := w.plan()
	switch {
	case err != nil:
		return roundDone{err: err}
	case r == nil:
		return roundDone{}
	}
	w.post(r)
	if len(r.attempts) == 0 && len(r.lapsed) == 0 && !r.orphan && r.looked < r.hook.GetCursor()+cursorStep {
		w.passed = r.looked
		return roundDone{more: r.more, due: r.due}
	}
	done := w.record(r)
	if done.err == nil {
		w.passed = r.hook.GetCursor()
	}
	return done
}

// plan reads what is to be delivered now; nil when the endpoint is gone or disabled.
func (w *deliverer) plan() (r *round, err error) {
	hooks, now := w.module.endpoints, clock.Millis(w.org.System.Clock.Now())
	err = w.org.WithStore(func(st *storage.Store) error {
		hook, err := hooks.get(st, w.id)
		if err != nil || hook == nil || hook.GetDisabled() {
			return err
		}
		if err := hooks.unseal(hook); err != nil {
			return err
		}
		r = &round{hook: hook, looked: max(w.passed, hook.GetCursor())}
		if r.orphan, err = hooks.isOrphan(st, hook); err != nil || r.orphan {
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
		if !subject.IsDue(p.GetDueMs(), now, w.module.feature.retryDelay(p.GetAttempts())) {
			if r.due == 0 || p.GetDueMs() < r.due {
				r.due = p.GetDueMs()
			}
			continue
		}
		if len(r.attempts) == maxRound {
			r.more = true
			return nil
		}
		e, err := w.module.outbox.get(st, p.GetSeq())
		if err != nil {
			return err
		}
		if e == nil || !w.module.endpoints.receives(r.hook, e) {
			r.lapsed = append(r.lapsed, p.GetSeq())
			continue
		}
		r.attempts = append(r.attempts, &attempt{seq: p.GetSeq(), event: e, failed: p.GetAttempts()})
	}
	return nil
}

// planFresh looks for new events after those that were looked at.
func (w *deliverer) planFresh(st *storage.Store, r *round) error {
	space := w.org.Space
	looked := 0
	for rec, err := range storage.ScanRecords(st, space.Prefix(storage.TableOutbox), storage.ScanOptions{
		After: space.Key(storage.TableOutbox, storage.U64(r.looked)), Limit: maxScan,
	}, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
		if err != nil {
			return err
		}
		if len(r.attempts) == maxRound {
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
		if w.module.endpoints.receives(r.hook, rec.Value) {
			r.attempts = append(r.attempts, &attempt{seq: seq, event: rec.Value, fresh: true})
		}
	}
	r.more = r.more || looked == maxScan
	return nil
}

// post makes the attempts of a round, several at a time. It ends early after a failure, when the round has taken its
// time, and when the deliverer is to stop; it waits for the attempts that have begun.
func (w *deliverer) post(r *round) {
	if len(r.attempts) == 0 {
		return
	}
	sys := w.org.System
	ctx, cancel := context.WithCancel(sys.BaseContext)
	defer cancel()
	unwatch := w.stop.watch(sys, cancel)
	defer unwatch()
	send := w.receiver.connect(sys.Config.Egress, r.hook.GetUrl())
	late := sys.Clock.Now().Add(roundTime)
	b := batch{attempts: r.attempts, over: func(begun int) bool {
		return w.stop.isSet(sys) || begun > 0 && sys.Clock.Now().After(late)
	}}
	work := func() {
		for a := b.next(); a != nil; a = b.next() {
			d, tried, err := w.module.client.attempt(ctx, send, r.hook, a.event, a.failed+1)
			if err == nil && tried {
				d.Seq = a.seq
				a.outcome = d
			}
			if !a.outcome.GetOk() {
				b.fail()
			}
		}
	}
	var wg sync.WaitGroup
	for range min(w.receiver.concurrent, len(r.attempts)) - 1 {
		if done, ok := w.module.ReserveExtra(); ok {
			wg.Go(func() {
				defer done()
				work()
			})
		}
	}
	work()
	wg.Wait()
	w.receiver.adapt(b.failed)
}

// batch hands out the attempts of a round to the goroutines that make them, until one fails or the round is over.
type batch struct {
	attempts []*attempt
	over     func(begun int) bool

	mu     sync.Mutex
	begun  int
	failed bool
}

// next returns the next attempt to make, nil when there is none.
func (b *batch) next() *attempt {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed || b.over(b.begun) || b.begun == len(b.attempts) {
		return nil
	}
	b.begun++
	return b.attempts[b.begun-1]
}

// fail notes that an attempt has failed, or was not tried.
func (b *batch) fail() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed = true
}

// record makes the outcomes of a round true. That is one change of the endpoint, made in the organization's mailbox
// while no other change of it is under way.
func (w *deliverer) record(r *round) roundDone {
	result := make(chan roundDone, 1)
	w.module.InMailbox(func() { w.module.recordRound(w.id, r, func(d roundDone) { result <- d }) })
	select {
	case done := <-result:
		return done
	case <-w.stop.ch: // the actor that was to record it may be gone
		return roundDone{err: node.ErrClosing}
	}
}

// recordRound commits the outcomes of a round.
func (o *Module) recordRound(id pb.WebhookID, r *round, then func(roundDone)) {
	if o.Retired {
		then(roundDone{err: commit.ErrLost})
		return
	}
	o.Exclusive(tenant.WebhookLock(id), func(release func()) {
		ch, done, err := o.settleRound(id, r)
		if err != nil || ch == nil {
			release()
			then(roundDone{err: err})
			return
		}
		o.Committer.SubmitChange(ch, func(err error) {
			release()
			if err == nil && r.hook.GetDisabled() {
				o.deliverers.reviewSoon(id)
			}
			done.err = err
			then(done)
		})
	})
}

// settleRound returns the change that a round makes; nil when its endpoint is gone. It leaves the endpoint as written
// in r.
func (o *Module) settleRound(id pb.WebhookID, r *round) (ch *commit.Change, done roundDone, err error) {
	hook, err := o.endpoints.load(id)
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
	for _, a := range r.attempts {
		d := a.outcome
		if d == nil {
			continue
		}
		outcomes = append(outcomes, d)
		if d.GetOk() {
			hook.Failures = 0
			o.feature.delivered.Add(1)
			continue
		}
		o.feature.failed.Add(1)
		if err := pending.retry(o.feature, a); err != nil {
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
	if err := o.log.add(ch, hook, outcomes); err != nil {
		return nil, roundDone{}, err
	}
	ch.Put(o.endpoints.key(id), hook)
	r.hook = hook
	return ch, done, nil
}

// disableWebhook ends an endpoint's deliveries until somebody enables it.
func (o *Module) disableWebhook(ch *commit.Change, hook *pb.Webhook, now int64, reason string) {
	hook.Disabled, hook.DisabledReason, hook.UpdatedMs = true, reason, now
	ch.Audit(&pb.Audit{AtMs: now, Action: pb.ActionWebhookDisable, Target: pb.WebhookID(hook.GetId()).String()})
	o.feature.disabled.Add(1)
	o.System.Log.Warn("a webhook endpoint is disabled", "org", o.ID.String(),
		"webhook", pb.WebhookID(hook.GetId()).String(), "reason", reason)
}

// pendingList are the retries of an endpoint as a round leaves them.
type pendingList struct {
	list    []*pb.PendingDelivery
	cursor  uint64
	untried bool // something of the round was not tried
}

// newPendingList takes out what the round has settled. Attempts at its end that were not made stay after the cursor;
// one in between, left out because another failed beside it, is remembered in the list.
func newPendingList(hook *pb.Webhook, r *round) *pendingList {
	p := &pendingList{cursor: r.looked}
	settled := map[uint64]bool{}
	for _, seq := range r.lapsed {
		settled[seq] = true
	}
	last := -1 // the last that was made
	for i, a := range r.attempts {
		if a.outcome != nil {
			settled[a.seq], last = true, i
		}
	}
	for _, d := range hook.GetPending() {
		if !settled[d.GetSeq()] {
			p.list = append(p.list, d)
		}
	}
	for i, a := range r.attempts {
		switch {
		case a.outcome != nil:
		case !a.fresh: // its retry is still in the list
			p.untried = true
		case i > last:
			p.untried = true
			p.cursor = min(p.cursor, a.seq-1)
		default:
			p.untried = true
			p.list = append(p.list, &pb.PendingDelivery{Seq: a.seq})
		}
	}
	return p
}

// retry notes when a failed delivery is attempted again, unless that was its last attempt.
func (p *pendingList) retry(f *Feature, a *attempt) error {
	n := a.failed + 1
	if n >= MaxDeliveryAttempts {
		return nil
	}
	wait, err := f.jittered(f.retryDelay(n))
	if err != nil {
		return err
	}
	due := a.outcome.GetAtMs() + int64(a.outcome.GetDurationMs()) + wait.Milliseconds()
	p.list = append(p.list, &pb.PendingDelivery{Seq: a.seq, Attempts: n, DueMs: due})
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
