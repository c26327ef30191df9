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

// subjectActor is a partition's end of the organization: it takes in work, in
// order, and owns the child that does it.
type subjectActor struct {
	org          *tenant.View
	part         *partition.Ref
	self         *tenant.Child
	next         uint64 // sequence number of the next queue entry
	first        uint64 // lower bound of the oldest that waits
	openErr      error  // why the queue could not be read
	work         *actor.PID
	follower     *actor.PID
	changesSent  uint64 // changes that the follower was told of
	followerBusy bool   // it has not caught up with them
	handled      uint64 // how much of what the organization has sent was dealt with
	inFlight     int    // accepted jobs whose commit is under way
	woken        uint64 // how often the worker was woken
	idle         bool   // the worker found the queue empty after the last time
	timer        clock.Timer
	lastWork     time.Time
	dead         bool // it has panicked: another activation goes on
	// Requests about coding sessions go one at a time.
	sessionBusy bool
	sessionWait []waitingCall
}

// New makes the actor of a subject, which its organization spawns as a child. self is what the organization knows it
// as.
func New(org *tenant.View, part *partition.Ref, self *tenant.Child) *subjectActor {
	return &subjectActor{org: org, part: part, self: self}
}

type (
	// acceptDone is the end of a job's commit.
	acceptDone struct{}
	// workerProgress is the worker's word that the queue is done up to an entry.
	workerProgress struct{ upTo uint64 }
	// workerIdle is its word that it found the queue empty after the n-th wake.
	workerIdle struct{ wake uint64 }
	// subjectTick is the look whether the subject may leave memory.
	subjectTick struct{}
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
		a.lastWork = a.org.System.Clock.Now()
		a.work = ctx.Spawn(actor.PropsFromProducer(func() actor.Actor { return newWorker(a.org, a.part, ctx.Self()) }))
		a.follower = ctx.Spawn(actor.PropsFromProducer(func() actor.Actor {
			return tenant.ModuleOf[follower](a.org).Follow(a.org, a.part, ctx.Self(), a.work)
		}))
		a.followerBusy = true // until it says otherwise
		a.openErr = a.open()
		a.wake(ctx) // there may be work from before
		a.arm(ctx)
	case *actor.Stopping:
		if a.timer != nil {
			a.timer.Stop()
		}
		a.dropSessions()
		if a.follower != nil { // first: it waits for the worker
			_ = ctx.PoisonFuture(a.follower).Wait()
		}
		if a.work != nil {
			// Poisoned, it answers first what it has got; stopped with its parent it
			// would not. Where this takes long the stop goes on, and waits for it too.
			_ = ctx.PoisonFuture(a.work).Wait()
		}
	case subjectTick:
		if a.idle && !a.followerBusy && a.inFlight == 0 &&
			a.org.System.Clock.Now().Sub(a.lastWork) >= a.org.System.Config.IdleSubject {
			id, self, handled := a.part.ID, a.self, a.handled
			a.org.Tell(func(o *tenant.Org) { o.ReleaseSubject(id, self, handled) })
		}
		a.arm(ctx)
	case Changed:
		a.changesSent++
		a.followerBusy = true
		ctx.Send(a.follower, Changed{a.changesSent})
	case FollowerIdle:
		if a.followerBusy = m.N != a.changesSent; m.Wrote { // straight to the worker, and so that there may be upkeep
			a.wake(ctx)
		}
	case FollowNow:
		a.followerBusy = true
		ctx.Send(a.follower, m)
	case JobCancelled:
		ctx.Send(a.follower, m)
	case tenant.WakeMessage:
		a.handled++
		a.wake(ctx)
	case sessionDone:
		a.nextSession()
	case *SyncedItems:
		a.handled++
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
		a.lastWork = a.org.System.Clock.Now()
		if a.openErr != nil { // what was wrong then may have passed
			a.openErr = a.open()
		}
		switch {
		case a.dead:
			m.Fail(commit.ErrLost)
			return
		case a.openErr != nil:
			m.Fail(a.openErr)
			return
		case graph.EditOf(m) != nil:
			ctx.Send(a.work, m)
			a.wake(ctx) // behind it there may be upkeep
			return
		}
		switch op := m.Env.GetOp().(type) {
		case *pb.Envelope_Link:
			if !a.link(ctx.Self(), m, op.Link) {
				m.Fail(fmt.Errorf("operation %T is unknown to a subject", op.Link.GetOp()))
			}
		case *pb.Envelope_Ingest:
			a.accept(ctx.Self(), m, op.Ingest)
		case *pb.Envelope_CancelJob:
			ctx.Send(a.work, cancel{m, op.CancelJob})
		default:
			m.Fail(fmt.Errorf("operation %T is unknown to a subject", op))
		}
	}
}

func (a *subjectActor) wake(ctx actor.Context) {
	a.woken++
	a.idle = false
	ctx.Send(a.work, Wake{a.woken})
}

func (a *subjectActor) arm(ctx actor.Context) {
	self, root := ctx.Self(), a.org.System.ActorRoot
	a.timer = a.org.System.Clock.AfterFunc(a.org.System.Config.IdleSubject, func() { root.Send(self, subjectTick{}) })
}
