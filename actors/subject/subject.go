package subject

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// maxQueued bounds the items that one subject may have waiting: two hundred of
// the largest batches, some hours of embedding on one core.
const maxQueued = 200_000

// subjectActor is a partition's end of the organization: it holds the partition's hot state, takes in work, in
// order, and owns the children that do it.
type subjectActor struct {
	queueEnds
	workers

	org      *tenant.View
	part     *partition.Ref
	self     *tenant.Child
	pid      *actor.PID
	hot      *partition.Resident // the partition's hot state; nil: the organization has left memory
	openErr  error               // why the queue could not be read
	handled  uint64              // how much of what the organization has sent was dealt with
	inFlight int                 // accepted jobs whose commit is under way
	timer    clock.Timer
	lastWork time.Time
	dead     bool // it has panicked: another activation goes on
	sessions sessionTurns
}

// New makes the actor of a subject, which its organization spawns as a child and knows as self.
func New(org *tenant.View, part *partition.Ref, self *tenant.Child) *subjectActor {
	return &subjectActor{org: org, part: part, self: self}
}

type (
	// acceptDone is the end of a job's commit.
	acceptDone struct{}
	// workerProgress says that the worker has done the queue up to an entry.
	workerProgress struct{ upTo uint64 }
	// workerIdle says that the worker found the queue empty after the n-th wake.
	workerIdle struct{ wake uint64 }
	// subjectTick is the time to check whether the subject may leave memory.
	subjectTick struct{}
	// evicted says that the partition's index was dropped to make room for others.
	evicted struct{}
)

// Receive implements actor.Actor.
func (a *subjectActor) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			a.dead = true
			a.org.Panicked("subject actor", r)
			if c, ok := ctx.Message().(*tenant.Call); ok {
				c.Fail(fmt.Errorf("panic: %v", r))
			}
		}
	}()
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.start(ctx)
	case *actor.Stopping:
		a.stop(ctx)
	case subjectTick:
		a.tick()
		a.arm()
	case evicted:
		if a.hot == nil || a.hot.Empty() { // else it was read again meanwhile
			a.leave()
		}
	case Changed:
		a.workers.changed(ctx)
	case FollowerIdle:
		if a.workers.followed(m); m.Wrote { // straight to the worker, and so that there may be upkeep
			a.wake(ctx)
		}
	case FollowNow:
		a.followerBusy = true
		ctx.Send(a.follower, m)
	case JobCancelled:
		ctx.Send(a.follower, m)
	case tenant.WakeMessage:
		a.handled++
		if !a.begin(ctx) {
			a.wake(ctx)
		}
	case sessionDone:
		a.sessions.next()
	case *SyncedItems:
		a.handled++
		a.begin(ctx)
		a.deliver(ctx.Self(), m)
	case acceptDone:
		a.inFlight--
		a.wake(ctx)
	case workerProgress:
		a.first = max(a.first, m.upTo+1)
	case workerIdle:
		a.idle = m.wake == a.woken
		if a.idle && a.inFlight == 0 {
			a.first = a.next // also what was refused or cancelled waits no more
		}
	case *tenant.Call:
		a.handled++
		a.begin(ctx)
		a.handle(ctx, m)
	}
}

// start takes the partition's hot state over from the readers that have loaded it, or makes it.
func (a *subjectActor) start(ctx actor.Context) {
	a.lastWork = a.org.System.Clock.Now()
	a.pid = ctx.Self()
	found := false
	if a.hot, found = a.org.Residents.Adopt(a.part.ID, a); !found {
		a.Evicted() // what a reader had is gone again; where there is work its messages come, too
	}
	a.arm()
}

// stop ends the children, and takes the hot state out of memory.
func (a *subjectActor) stop(ctx actor.Context) {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.sessions.drop()
	a.workers.stop(ctx)
	if a.hot != nil {
		a.hot.Release(a)
	}
}

// begin makes the children the first time that there is something to do, and reports whether it did.
func (a *subjectActor) begin(ctx actor.Context) bool {
	if a.work != nil {
		return false
	}
	a.workers.spawn(ctx, a.org, a.part)
	a.openErr = a.open()
	a.wake(ctx) // there may be work from before
	return true
}

// handle begins what a call asks for.
func (a *subjectActor) handle(ctx actor.Context, c *tenant.Call) {
	a.lastWork = a.org.System.Clock.Now()
	if a.openErr != nil { // what was wrong then may have passed
		a.openErr = a.open()
	}
	switch {
	case a.dead:
		c.Fail(commit.ErrLost)
		return
	case a.openErr != nil:
		c.Fail(a.openErr)
		return
	case graph.EditOf(c) != nil:
		ctx.Send(a.work, c)
		a.wake(ctx) // behind it there may be upkeep
		return
	}
	switch op := c.Env.GetOp().(type) {
	case *pb.Envelope_Link:
		if !a.link(ctx.Self(), c, op.Link) {
			c.Fail(fmt.Errorf("operation %T is unknown to a subject", op.Link.GetOp()))
		}
	case *pb.Envelope_Ingest:
		a.accept(ctx.Self(), c, op.Ingest)
	case *pb.Envelope_CancelJob:
		ctx.Send(a.work, cancel{c, op.CancelJob})
	default:
		c.Fail(fmt.Errorf("operation %T is unknown to a subject", op))
	}
}

// tick checks whether the subject may leave memory. Reads do not look at the clock: one counts as done at the tick
// after it.
func (a *subjectActor) tick() {
	now := a.org.System.Clock.Now()
	if a.hot != nil && a.hot.WasRead() {
		a.lastWork = now
	}
	if now.Sub(a.lastWork) >= a.org.System.Config.IdleSubject {
		a.leave()
	}
}

// arm begins the wait for the next tick.
func (a *subjectActor) arm() {
	self, root := a.pid, a.org.System.ActorRoot
	a.timer = a.org.System.Clock.AfterFunc(a.org.System.Config.IdleSubject, func() { root.Send(self, subjectTick{}) })
}

// leave asks the organization to let the actor leave memory, unless it has work.
func (a *subjectActor) leave() {
	if a.workers.atRest() && a.inFlight == 0 {
		a.org.AskRelease(a.part.ID, a.self, a.handled)
	}
}

// Evicted implements partition.Owner.
func (a *subjectActor) Evicted() { a.org.System.ActorRoot.Send(a.pid, evicted{}) }
