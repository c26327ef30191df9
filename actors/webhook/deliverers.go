package webhook

import (
	"sync/atomic"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// deliverers are the children that an organization's actor has for its endpoints. It knows which endpoints are enabled,
// makes a child for one when there may be something to deliver, and stops it when there is nothing. An organization
// with such a child stays in memory; one with an enabled endpoint is marked busy before anything happens in it, so that
// another activation delivers what a crash left undelivered.
//
// Its fields belong to the mailbox, except those that say otherwise.
type deliverers struct {
	module   *Module
	enabled  map[pb.WebhookID]struct{} // the endpoints that are not disabled
	children map[pb.WebhookID]*child

	// Both may be used from any goroutine.
	listening atomic.Bool // an endpoint is enabled
	notified  atomic.Bool // events were published, and wakeAll has not looked yet: so a burst sends one message
}

// child is a deliverer as its organization knows it.
type child struct {
	pid   *actor.PID
	wakes uint64
}

func newDeliverers(m *Module) *deliverers {
	return &deliverers{module: m, enabled: map[pb.WebhookID]struct{}{}, children: map[pb.WebhookID]*child{}}
}

// resume enables the endpoints of an organization that was opened, and wakes those with something to deliver.
func (d *deliverers) resume(all []*pb.Webhook) {
	last := d.module.Committer.LastEvent()
	for _, hook := range all {
		if hook.GetDisabled() {
			continue
		}
		id := pb.WebhookID(hook.GetId())
		d.enabled[id] = struct{}{}
		if hook.GetCursor() < last || len(hook.GetPending()) > 0 {
			d.wake(id)
		}
	}
	d.listening.Store(len(d.enabled) > 0)
}

// notify has the children look for new events, soon. It may be called from any goroutine.
func (d *deliverers) notify() {
	if d.listening.Load() && d.notified.CompareAndSwap(false, true) {
		d.module.InMailbox(d.wakeAll)
	}
}

// reviewSoon is review, from any goroutine.
func (d *deliverers) reviewSoon(id pb.WebhookID) { d.module.InMailbox(func() { d.review(id) }) }

// review looks at an endpoint that was changed.
func (d *deliverers) review(id pb.WebhookID) {
	o := d.module
	if o.System.Config.Egress == nil || o.Retired {
		return
	}
	hook, err := o.endpoints.load(id)
	if err != nil {
		o.System.Log.Error("an endpoint that was changed cannot be read", "org", o.ID.String(), "webhook", id.String(),
			"err", err)
		o.Retire()
		return
	}
	if hook != nil && !hook.GetDisabled() {
		d.enabled[id] = struct{}{}
		d.listening.Store(true)
		d.wake(id)
		return
	}
	delete(d.enabled, id) // its child finds that out by itself
	d.listening.Store(len(d.enabled) > 0)
}

// wakeAll wakes the children of all enabled endpoints.
func (d *deliverers) wakeAll() {
	d.notified.Store(false) // before looking, so that events from now on notify again
	for id := range d.enabled {
		d.wake(id)
	}
}

// wake has an endpoint's child look for something to deliver. It makes a missing child.
func (d *deliverers) wake(id pb.WebhookID) {
	o := d.module
	if o.Retired || o.Failed != nil {
		return
	}
	c := d.children[id]
	if c == nil {
		c = &child{pid: o.Context.Spawn(actor.PropsFromProducer(func() actor.Actor { return newDeliverer(o, id) },
			actor.WithSupervisor(tenant.StopFailed)))}
		d.children[id] = c
	}
	c.wakes++
	o.Context.Send(c.pid, subject.Wake{N: c.wakes})
}

// releaseSoon stops a child that has delivered everything up to a wake, unless it was woken since. It may be called
// from any goroutine.
func (d *deliverers) releaseSoon(id pb.WebhookID, pid *actor.PID, seen uint64) {
	d.module.InMailbox(func() {
		if c := d.children[id]; c != nil && c.pid.Equal(pid) && c.wakes == seen {
			delete(d.children, id)
			d.module.System.ActorRoot.Poison(pid)
		}
	})
}
