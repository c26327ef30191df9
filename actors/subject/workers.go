package subject

import (
	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
)

// workers are the children of a subject's actor that do its work: the partition's worker, and the follower of what it
// commits. A subject that is only read has none. Its methods belong to the mailbox of the subject's actor.
type workers struct {
	work, follower *actor.PID // nil until there is something to do
	woken          uint64     // how often the worker was woken
	idle           bool       // the worker found the queue empty after the last time
	changesSent    uint64     // changes that were sent to the follower
	followerBusy   bool       // it has not caught up with them
}

// spawn makes the two. The worker is to be woken after it.
func (w *workers) spawn(ctx actor.Context, org *tenant.View, part *partition.Ref) {
	parent := ctx.Self()
	w.work = ctx.Spawn(actor.PropsFromProducer(func() actor.Actor { return newWorker(org, part, parent) }))
	work := w.work
	w.follower = ctx.Spawn(actor.PropsFromProducer(func() actor.Actor {
		return tenant.ModuleOf[follower](org).Follow(org, part, parent, work)
	}))
	w.followerBusy = true // until it says otherwise
}

// stop ends the two, and waits for that.
func (w *workers) stop(ctx actor.Context) {
	if w.follower != nil { // first: it waits for the worker
		_ = ctx.PoisonFuture(w.follower).Wait()
	}
	if w.work != nil {
		// Poisoned, it answers first what it has got; stopped with its parent it
		// would not. Where this takes long the stop goes on, and waits for it too.
		_ = ctx.PoisonFuture(w.work).Wait()
	}
}

// wake tells the worker that there may be work.
func (w *workers) wake(ctx actor.Context) {
	w.woken++
	w.idle = false
	ctx.Send(w.work, Wake{w.woken})
}

// step hands the worker a step, and wakes it: the two in one message, so that a step takes one turn.
func (w *workers) step(ctx actor.Context, m *MoveStep) {
	w.woken++
	w.idle = false
	ctx.Send(w.work, stepAsked{m, w.woken})
}

// changed tells the follower of one more change.
func (w *workers) changed(ctx actor.Context) {
	w.changesSent++
	w.followerBusy = true
	ctx.Send(w.follower, Changed{w.changesSent})
}

// followed takes in how far the follower has got.
func (w *workers) followed(m FollowerIdle) { w.followerBusy = m.N != w.changesSent }

// atRest reports whether the two have nothing to do, or are not there.
func (w *workers) atRest() bool { return w.work == nil || w.idle && !w.followerBusy }
