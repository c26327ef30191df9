package tenant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"orgmem/actors/budget"
	"orgmem/actors/commit"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Call is a request on its way through the actors. Exactly one of its answering
// methods is called, once, from any goroutine. Large because one record follows a request through all who fill it in.
type Call struct {
	Env  *pb.Envelope
	Done chan *pb.Reply // buffered for one: answering never blocks

	answered       atomic.Bool
	tryAgain       atomic.Bool // the answer is: ask another activation
	outcome        Outcome     // what has become of it; set before the answer
	inFlight       inFlight
	sent, admitted time.Time                   // to the organization's mailbox, and when its turn came
	late           atomic.Pointer[clock.Timer] // runs once nobody waits for the answer any more
	// Of an import: gone is done when nobody waits for it any more, memory is what it holds.
	abandonedCtx context.Context //nolint:containedctx // it lasts as long as the call, which is passed on from actor to actor
	Memory       atomic.Pointer[budget.Work]

	// Set by the organization when it admits the call.
	rate        *pb.RateLimit
	Principal   Principal
	Part        *partition.Ref // nil where the route has no partition
	Idempotency *idempotent    // nil when the request may not be replayed
	Org         *View
	// child is the subject's actor that the call was forwarded to; JobOpen says
	// that the call counts in the organization's open jobs.
	child   *Child
	sandbox *Child // the sandbox's actor, which the call was handed to
	JobOpen bool
	Payload any              // what the room that carries the call out keeps with it
	step    *pb.TraceContext // of the read that is under way; nil: none is traced
	// ReadUnits and EmbedTokens are what the call used, where its route is
	// metered; a route that says nothing uses one read unit.
	ReadUnits, EmbedTokens uint64
	Charged                bool // what it used is committed with its effect
}

// Principal is who a credential stands for.
type Principal struct {
	Key    pb.KeyHash
	User   pb.UserID
	Scopes []string
	// Sandbox: it acts in the sandbox, where it knows nobody.
	Sandbox bool
}

// NewCall makes a call of a request. Org.Handle fills in the rest when it admits the call.
func NewCall(env *pb.Envelope) *Call {
	return &Call{Env: env, Done: make(chan *pb.Reply, 1)}
}

// Reply answers with a result whose effect, if it has one, is durable.
func (c *Call) Reply(r *pb.Reply) { c.answer(r, Decided) }

func (c *Call) answer(r *pb.Reply, what Outcome) {
	if !c.answered.CompareAndSwap(false, true) {
		return // a recovered panic after the answer: the first answer stands
	}
	if what == Decided && !r.GetReplayed() && !c.tryAgain.Load() && !c.stillValid(r) {
		// It only read. The node where the organization lives now can read the same, and
		// count it.
		r, what = Refuse(c.Org.ProblemOf(commit.ErrLost, c.Env.GetRequestId())), c.Org.System.OutcomeOf(commit.ErrLost)
	}
	r.Rate, r.WaitedMs = c.rate, uint32(max(c.admitted.Sub(c.sent), 0).Milliseconds())
	if c.child != nil {
		c.child.Calls.Add(-1)
	}
	if c.sandbox != nil {
		c.sandbox.Leave(c.Org.System)
	}
	if c.JobOpen {
		c.Org.CountJobs(-1)
	}
	if c.Idempotency != nil {
		c.Idempotency.finish()
	}
	c.outcome = what
	c.settled()
	c.Done <- r
	c.inFlight.end()
}

// settled gives back what only an unanswered call needs.
func (c *Call) settled() {
	if work := c.Memory.Load(); work != nil {
		work.End()
	}
	if t := c.late.Load(); t != nil {
		(*t).Stop() // it holds the call, and that the file
	}
}

// abandon lets go of a call that nobody waits for any more: when it is answered, or else
// written off.
func (c *Call) abandon(timer clock.Timer) {
	c.late.Store(&timer)
	if c.answered.Load() {
		timer.Stop()
	}
}

// stillValid counts what an answer has cost, and reports whether it is this activation's to
// give: one whose organization has moved while the call waited for its turn may refuse by
// what is not so any more.
func (c *Call) stillValid(r *pb.Reply) bool {
	if r.GetProblem() == nil {
		return c.meter()
	}
	return c.Org == nil || c.Org.Committer == nil || !c.Org.Committer.Trail.Sealed()
}

// expire ends the counting of a call that nobody waits for and nobody answers.
func (c *Call) expire() {
	if c.answered.CompareAndSwap(false, true) {
		c.settled()
		c.inFlight.sys.Log.Error("a call was never answered", "request_id", c.Env.GetRequestId(),
			"op", fmt.Sprintf("%T", c.Env.GetOp()))
		c.inFlight.end()
	}
}

// Refuse answers with a problem, which stands as the outcome of the request. A retry under the same idempotency key is
// decided anew; where it must see the same refusal, use RefuseSettled.
func (c *Call) Refuse(p *pb.Problem) { c.Reply(Refuse(p)) }

// Fail answers with what an internal error means to the caller (ProblemOf), and
// with what has become of the request (OutcomeOf).
func (c *Call) Fail(err error) {
	c.answer(Refuse(c.Org.ProblemOf(err, c.Env.GetRequestId())), c.Org.System.OutcomeOf(err))
}

// ErrNoEgress means that the node was started without a way out.
var ErrNoEgress = errors.New("no egress")

// ProblemOf is what an internal error means to the caller. It logs damaged data, and every error that it does not know:
// the caller gets no detail of those, only the request id. It may be called from any goroutine.
func (o *View) ProblemOf(err error, requestID string) *pb.Problem {
	p := &pb.Problem{Code: pb.CodeServiceDegraded, RetryAfterS: RetryAfterBusySeconds}
	switch {
	case errors.Is(err, storage.ErrOutOfService): // said by storage, once
		p.Detail = "The organization is out of service: what is stored of it on this node is damaged. " +
			"Its operator knows more: orgmem doctor."
		p.RetryAfterS = RetryAfterNoSpaceSeconds
	case errors.Is(err, storage.ErrCorrupt):
		o.System.Log.Error("request met damaged data", "request_id", requestID, "org", o.ID.String(), "err", err)
		p.Detail = "What is stored of the organization on this node is damaged. Its operator knows more: orgmem doctor."
		p.RetryAfterS = RetryAfterNoSpaceSeconds
	case errors.Is(err, storage.ErrNoSpace):
		p.Detail = "The disk is nearly full: nothing can be stored until space returns. Reading works."
		p.RetryAfterS = RetryAfterNoSpaceSeconds
	case errors.Is(err, budget.ErrFull):
		p.Detail = "The node reads as many files as it has memory for; try again shortly."
	case errors.Is(err, node.ErrPoolFull), errors.Is(err, wire.ErrBusy), errors.Is(err, commit.ErrQueueFull),
		errors.Is(err, storage.ErrTooManyStores):
		p.Detail = "The service has more work than it can queue; try again shortly."
	case errors.Is(err, wire.ErrDirectoryFull):
		p.Detail = "The cluster holds its maximum of keys: no more can be made until some are deleted."
		p.RetryAfterS = RetryAfterNoSpaceSeconds
	case errors.Is(err, storage.ErrBatchTooLarge):
		return NewProblem(pb.CodePayloadTooLarge, "The request is too large to be stored in one piece.")
	case errors.Is(err, wire.ErrRemoved), errors.Is(err, wire.ErrOrgRemoved), errors.Is(err, wire.ErrOrgUnknown),
		errors.Is(err, storage.ErrNoStore):
		return Unauthenticated()
	case errors.Is(err, wire.ErrNotApplied):
		p.Detail = "The organization's shard has no leader right now; nothing was stored."
	case errors.Is(err, wire.ErrOutcomeUnknown), errors.Is(err, wire.ErrFenced), errors.Is(err, commit.ErrLost):
		p.Detail = "The outcome of the write is not known; repeat the request with its Idempotency-Key."
	case errors.Is(err, node.ErrAbandoned):
		p.Detail = "The caller left before it was its turn."
	case errors.Is(err, ErrEditContention):
		p.Detail = "The node keeps changing; nothing was done."
	case errors.Is(err, ErrNoEgress):
		p.Detail = "This deployment reaches no other hosts."
	case errors.Is(err, errTooManyPartitions):
		return Invalid("scope", err.Error())
	case errors.Is(err, node.ErrClosing):
		return &pb.Problem{
			Code: pb.CodeServiceDraining, Detail: "The node is shutting down.",
			RetryAfterS: RetryAfterBusySeconds,
		}
	default:
		o.System.Log.Error("request failed", "request_id", requestID, "org", o.ID.String(), "err", err)
		return NewProblem(pb.CodeInternal, "An internal error occurred; the request id leads to the cause.")
	}
	return p
}

// Awaited returns an error when the caller has given up.
func (c *Call) Awaited() error {
	if c.inFlight.through.Load() > 0 {
		return node.ErrAbandoned
	}
	return nil
}

// Trace is where what happens now belongs: within the read that is under way, or the request. nil: nobody traces it.
func (c *Call) Trace() *pb.TraceContext { return cmp.Or(c.step, c.Env.GetTrace()) }

// RecordedTrace is the request's trace, for what outlives the request; nil: this node records none of it.
func (c *Call) RecordedTrace() *pb.TraceContext {
	return c.Org.System.Config.Tracer.Recorded(c.Env.GetTrace())
}

// The methods of HTTP that decide how a request is dealt with.
const (
	// MethodGet is the method of requests that change nothing.
	MethodGet = "GET"
	// MethodPut is the method of requests that can be repeated without harm.
	MethodPut = "PUT"
)
