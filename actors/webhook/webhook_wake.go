package webhook

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What an organization's actor does for its webhook children: it knows which
// endpoints are enabled, makes a child of one when there may be something to bring,
// and lets it go when there is not. An organization with such a child stays awake;
// one with an enabled endpoint is marked busy before anything happens in it, so that
// after a crash somebody brings what was not brought.

// Module keeps an organization's webhook endpoints, and a child for each that has something to bring.
type Module struct {
	*tenant.Org
	tenant.NoModule
	enabled map[pb.WebhookID]struct{}      // the endpoints that are not disabled
	Posting map[pb.WebhookID]*delivererRef // their children, while they have something to bring

	// Both may be used from any goroutine.
	node       *Feature
	Deliveries *deliveries
}

// Handle begins what a request about webhooks or the event stream asks for. It reports whether the request is one of
// this module's.
func (o *Module) Handle(c *tenant.Call) bool {
	switch op := c.Env.GetLink().GetOp().(type) {
	case *pb.LinkOp_StreamEvents:
		o.streamEvents(c)
	case *pb.LinkOp_CreateWebhook:
		o.createWebhook(c, op.CreateWebhook)
	case *pb.LinkOp_ListWebhooks:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.listWebhooks(st, op.ListWebhooks) })
	case *pb.LinkOp_GetWebhook:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.getWebhook(st, op.GetWebhook) })
	case *pb.LinkOp_PatchWebhook:
		o.patchWebhook(c, op.PatchWebhook)
	case *pb.LinkOp_DeleteWebhook:
		o.deleteWebhook(c, op.DeleteWebhook)
	case *pb.LinkOp_TestWebhook:
		o.testWebhook(c, op.TestWebhook)
	default:
		return false
	}
	return true
}

// Sweep deletes events that no endpoint waits for any more.
func (o *Module) Sweep(st *storage.Store, b *storage.Batch, now time.Time) (int, error) {
	return o.sweepOutbox(st, b, now.Add(-OutboxRetention))
}

// ErasePartition erases the events of a memory that nobody was told of yet, and the attempts at telling of it.
func (o *Module) ErasePartition(ref *partition.Ref) error {
	if err := o.eraseEvents(ref); err != nil {
		return err
	}
	return o.eraseDeliveries(ref)
}

// Idle reports whether no endpoint has a child, so that the organization may leave memory.
func (o *Module) Idle() bool { return len(o.Posting) == 0 }

// Reseal adds to a batch the endpoints whose secret is stored unsealed, or sealed under a former key.
func (o *Module) Reseal(st *storage.Store, b *storage.Batch) error {
	hooks, err := o.webhooks(st)
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		if err := o.resealWebhook(b, hook); err != nil {
			return err
		}
	}
	return nil
}

// Publish tells those who listen of events that are true.
func (o *Module) Publish(events []*pb.OutboxEvent) {
	o.node.Streams.publish(o.Store, events)
	if o.Deliveries.hooked.Load() && o.Deliveries.Told.CompareAndSwap(false, true) {
		o.InMailbox(o.wakeDeliverers)
	}
}

// Listens reports whether there is an endpoint that is not disabled.
func (o *Module) Listens() bool { return o.Deliveries.hooked.Load() }

// LastEvent is the highest number of an event that an endpoint is past. It may be of an event that was erased, or
// never written; another event must not get it, since it would not be delivered.
func (o *Module) LastEvent(st *storage.Store) (last uint64, err error) {
	hooks, err := o.webhooks(st)
	for _, hook := range hooks {
		last = max(last, hook.GetCursor())
	}
	return last, err
}

// Resume takes up what was not delivered when the organization left
// memory.
func (o *Module) Resume() error {
	if o.System.Config.Egress == nil {
		return nil
	}
	var all []*pb.Webhook
	err := o.WithStore(func(st *storage.Store) (err error) {
		all, err = o.webhooks(st)
		return err
	})
	if err != nil {
		return fmt.Errorf("resume webhooks: %w", err)
	}
	last := o.Committer.LastEvent()
	for _, hook := range all {
		if hook.GetDisabled() {
			continue
		}
		id := pb.WebhookID(hook.GetId())
		o.enabled[id] = struct{}{}
		if hook.GetCursor() < last || len(hook.GetPending()) > 0 {
			o.wakeDeliverer(id)
		}
	}
	o.Deliveries.hooked.Store(len(o.enabled) > 0)
	return nil
}

// reviewWebhook looks at an endpoint that was changed.
func (o *Module) reviewWebhook(id pb.WebhookID) {
	if o.System.Config.Egress == nil || o.Retired {
		return
	}
	hook := &pb.Webhook{}
	found := false
	err := o.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(o.KeyOf(id), hook)
		return err
	})
	if err != nil {
		o.System.Log.Error("an endpoint that was changed cannot be read", "org", o.ID.String(), "webhook", id.String(),
			"err", err)
		o.Retire()
		return
	}
	if found && !hook.GetDisabled() {
		o.enabled[id] = struct{}{}
		o.Deliveries.hooked.Store(true)
		o.wakeDeliverer(id)
		return
	}
	delete(o.enabled, id) // its child finds that out by itself
	o.Deliveries.hooked.Store(len(o.enabled) > 0)
}

// wakeDeliverers tells the children that something has happened.
func (o *Module) wakeDeliverers() {
	o.Deliveries.Told.Store(false) // before looking: what comes from now on tells again
	for id := range o.enabled {
		o.wakeDeliverer(id)
	}
}

// wakeDeliverer tells an endpoint's child that there may be something to bring. It
// makes a missing child.
func (o *Module) wakeDeliverer(id pb.WebhookID) {
	if o.Retired || o.Failed != nil {
		return
	}
	ref := o.Posting[id]
	if ref == nil {
		ref = &delivererRef{pid: o.Context.Spawn(actor.PropsFromProducer(func() actor.Actor { return newDeliverer(o, id) },
			actor.WithSupervisor(tenant.StopFailed)))}
		o.Posting[id] = ref
	}
	ref.wakes++
	o.Context.Send(ref.pid, subject.Wake{N: ref.wakes})
}

// releaseDeliverer lets a child go that has brought everything up to a wake.
func (o *Module) releaseDeliverer(id pb.WebhookID, pid *actor.PID, seen uint64) {
	if ref := o.Posting[id]; ref != nil && ref.pid.Equal(pid) && ref.wakes == seen {
		delete(o.Posting, id)
		o.System.ActorRoot.Poison(pid)
	}
}
