package actors

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"orgmem/actors/budget"
	"orgmem/actors/commit"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// call is a request on its way through the actors. Exactly one of its answering
// methods is called, once, from any goroutine.
type call struct {
	env  *pb.Envelope
	done chan *pb.Reply // buffered for one: answering never blocks

	answered atomic.Bool
	tryAgain atomic.Bool // the answer is: ask another activation
	outcome  outcome     // what has become of it; set before the answer
	inFlight inFlight
	late     atomic.Pointer[clock.Timer] // runs once nobody waits for the answer any more
	// Of an import: gone is done when nobody waits for it any more, memory is what it holds.
	gone   context.Context //nolint:containedctx // it lasts as long as the call, which is passed on from actor to actor
	memory atomic.Pointer[budget.Work]

	// Set by the organization when it admits the call.
	rate *pb.RateLimit
	who  principal
	part *partition.Ref // nil where the route has no partition
	idem *idempotent    // nil when the request may not be replayed
	org  *orgView
	// child is the subject's actor that the call was forwarded to; jobOpen says
	// that the call counts in the organization's open jobs.
	child   *child
	sandbox *child // the sandbox's actor, which the call was handed to
	jobOpen bool
	work    any // what the room that carries the call out keeps with it
	// ReadUnits and EmbedTokens are what the call used, where its route is
	// metered; a route that says nothing uses one read unit.
	readUnits, embedTokens uint64
	charged                bool // what it used is committed with its effect
}

// principal is who a credential stands for.
type principal struct {
	key    pb.KeyHash
	user   pb.UserID
	scopes []string
	// sandbox: it acts in the sandbox, where it knows nobody.
	sandbox bool
}

func newCall(env *pb.Envelope) *call {
	return &call{env: env, done: make(chan *pb.Reply, 1)}
}

// reply answers with a result whose effect, if it has one, is durable.
func (c *call) reply(r *pb.Reply) { c.answer(r, decided) }

func (c *call) answer(r *pb.Reply, what outcome) {
	if !c.answered.CompareAndSwap(false, true) {
		return // a recovered panic after the answer: the first answer stands
	}
	if what == decided && !r.GetReplayed() && !c.tryAgain.Load() && !c.stands(r) {
		// It only read, and whoever the organization lives with now can read it, and
		// count it.
		r, what = refuse(c.org.problemOf(commit.ErrLost, c.env.GetRequestId())), c.org.sys.outcomeOf(commit.ErrLost)
	}
	r.Rate = c.rate
	if c.child != nil {
		c.child.calls.Add(-1)
	}
	if c.sandbox != nil {
		c.sandbox.leave(c.org.sys)
	}
	if c.jobOpen {
		c.org.tell(func(o *orgActor) { o.openJobs-- })
	}
	if c.idem != nil {
		c.idem.finish()
	}
	c.outcome = what
	c.settled()
	c.done <- r
	c.inFlight.end()
}

// settled gives back what only an unanswered call needs.
func (c *call) settled() {
	if work := c.memory.Load(); work != nil {
		work.End()
	}
	if t := c.late.Load(); t != nil {
		(*t).Stop() // it holds the call, and that the file
	}
}

// abandon lets go of a call that nobody waits for any more: when it is answered, or else
// written off.
func (c *call) abandon(timer clock.Timer) {
	c.late.Store(&timer)
	if c.answered.Load() {
		timer.Stop()
	}
}

// stands counts what an answer has cost, and reports whether it is this activation's to
// give: one whose organization has moved while the call waited for its turn may refuse by
// what is not so any more.
func (c *call) stands(r *pb.Reply) bool {
	if r.GetProblem() == nil {
		return c.meter()
	}
	return c.org == nil || c.org.committer == nil || !c.org.committer.Trail.Sealed()
}

// writeOff ends the counting of a call that nobody waits for and nobody answers.
func (c *call) writeOff() {
	if c.answered.CompareAndSwap(false, true) {
		c.settled()
		c.inFlight.sys.log.Error("a call was never answered", "request_id", c.env.GetRequestId(), "op", fmt.Sprintf("%T", c.env.GetOp()))
		c.inFlight.end()
	}
}

func (c *call) refuse(p *pb.Problem) { c.reply(refuse(p)) }

// fail answers with what an internal error means to the caller. It is the one
// place that knows.
func (c *call) fail(err error) {
	c.answer(refuse(c.org.problemOf(err, c.env.GetRequestId())), c.org.sys.outcomeOf(err))
}

// errNoEgress means that the node was started without a way out.
var errNoEgress = errors.New("no egress")

func (o *orgView) problemOf(err error, requestID string) *pb.Problem {
	p := &pb.Problem{Code: pb.CodeServiceDegraded, RetryAfterS: retryAfterBusySeconds}
	switch {
	case errors.Is(err, storage.ErrOutOfService): // said by storage, once
		p.Detail = "The organization is out of service: what is stored of it on this node is damaged. Its operator knows more: orgmem doctor."
		p.RetryAfterS = retryAfterNoSpaceSeconds
	case errors.Is(err, storage.ErrCorrupt):
		o.sys.log.Error("request met damaged data", "request_id", requestID, "org", o.id.String(), "err", err)
		p.Detail = "What is stored of the organization on this node is damaged. Its operator knows more: orgmem doctor."
		p.RetryAfterS = retryAfterNoSpaceSeconds
	case errors.Is(err, storage.ErrNoSpace):
		p.Detail = "The disk is nearly full: nothing can be stored until space returns. Reading works."
		p.RetryAfterS = retryAfterNoSpaceSeconds
	case errors.Is(err, budget.ErrFull):
		p.Detail = "The node reads as many files as it has memory for; try again shortly."
	case errors.Is(err, node.ErrPoolFull), errors.Is(err, cluster.ErrBusy), errors.Is(err, commit.ErrQueueFull), errors.Is(err, storage.ErrTooManyStores):
		p.Detail = "The service has more work than it can queue; try again shortly."
	case errors.Is(err, cluster.ErrDirectoryFull):
		p.Detail = "The cluster holds its maximum of keys: no more can be made until some are deleted."
		p.RetryAfterS = retryAfterNoSpaceSeconds
	case errors.Is(err, storage.ErrBatchTooLarge):
		return problem("payload_too_large", "The request is too large to be stored in one piece.")
	case errors.Is(err, cluster.ErrRemoved), errors.Is(err, cluster.ErrOrgRemoved), errors.Is(err, cluster.ErrOrgUnknown), errors.Is(err, storage.ErrNoStore):
		return unauthenticated()
	case errors.Is(err, cluster.ErrNotApplied):
		p.Detail = "The organization's shard has no leader right now; nothing was stored."
	case errors.Is(err, cluster.ErrOutcomeUnknown), errors.Is(err, cluster.ErrFenced), errors.Is(err, commit.ErrLost):
		p.Detail = "The outcome of the write is not known; repeat the request with its Idempotency-Key."
	case errors.Is(err, node.ErrAbandoned):
		p.Detail = "The caller left before it was its turn."
	case errors.Is(err, errReembedding):
		p.Detail = "The memory is being embedded anew with another model; until that is done no text can be edited."
	case errors.Is(err, errUnsettled):
		p.Detail = "The node keeps changing; nothing was done."
	case errors.Is(err, errNoEgress):
		p.Detail = "This deployment reaches no other hosts."
	case errors.Is(err, errTooManyPartitions):
		return invalid("scope", err.Error())
	case errors.Is(err, node.ErrClosing):
		return &pb.Problem{Code: pb.CodeServiceDraining, Detail: "The node is shutting down.", RetryAfterS: retryAfterBusySeconds}
	default:
		o.sys.log.Error("request failed", "request_id", requestID, "org", o.id.String(), "err", err)
		return problem(pb.CodeInternal, "An internal error occurred; the request id leads to the cause.")
	}
	return p
}

// awaited returns an error when the caller has given up.
func (c *call) awaited() error {
	if c.inFlight.through.Load() > 0 {
		return node.ErrAbandoned
	}
	return nil
}

// The methods of HTTP that decide how a request is dealt with.
const (
	methodGet = "GET"
	methodPut = "PUT"
)
