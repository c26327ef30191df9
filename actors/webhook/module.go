package webhook

import (
	"fmt"
	"time"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Module is an organization's webhook endpoints and event streams, in its mailbox.
type Module struct {
	*tenant.Org
	tenant.NoModule
	feature    *Feature
	endpoints  endpoints
	outbox     outbox
	log        deliveryLog
	client     *client
	deliverers *deliverers
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
	case *pb.LinkOp_GetDelivery:
		user := c.Principal.User
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.getDelivery(st, user, op.GetDelivery) })
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
	return o.outbox.sweep(st, b, now.Add(-OutboxRetention))
}

// ErasePartition erases the events of a memory that were not delivered yet, and the logged attempts to deliver them.
func (o *Module) ErasePartition(ref *partition.Ref) error {
	if err := o.outbox.erase(ref); err != nil {
		return err
	}
	return o.log.erase(ref)
}

// Idle reports whether no endpoint has a child, so that the organization may leave memory.
func (o *Module) Idle() bool { return len(o.deliverers.children) == 0 }

// Settled reports whether no endpoint has a child, and no published event waits to be looked at.
func (o *Module) Settled() bool { return o.Idle() && !o.deliverers.notified.Load() }

// ReserveExtra takes one of the MaxExtraAttempts places, if one is free. release gives it back. It may be called from
// any goroutine.
func (o *Module) ReserveExtra() (release func(), ok bool) { return o.client.reserveExtra() }

// Reseal adds to a batch the endpoints whose secret is stored unsealed, or sealed under a former key.
func (o *Module) Reseal(st *storage.Store, b *storage.Batch) error {
	hooks, err := o.endpoints.all(st)
	if err != nil {
		return err
	}
	for _, hook := range hooks {
		if err := o.endpoints.reseal(b, hook); err != nil {
			return err
		}
	}
	return nil
}

// Publish brings committed events to the open streams, and lets the children of the endpoints look for them.
func (o *Module) Publish(events []*pb.OutboxEvent) {
	o.feature.Streams.publish(o.Store, events)
	o.deliverers.notify()
}

// Listens reports whether there is an endpoint that is not disabled.
func (o *Module) Listens() bool { return o.deliverers.listening.Load() }

// LastEvent is the highest number of an event that an endpoint is past. It may be of an event that was erased, or never
// written; another event must not get it, since it would not be delivered.
func (o *Module) LastEvent(st *storage.Store) (last uint64, err error) {
	hooks, err := o.endpoints.all(st)
	for _, hook := range hooks {
		last = max(last, hook.GetCursor())
	}
	return last, err
}

// Resume takes up what was not delivered when the organization left memory.
func (o *Module) Resume() error {
	if o.System.Config.Egress == nil {
		return nil
	}
	all, err := o.endpoints.loadAll()
	if err != nil {
		return fmt.Errorf("resume webhooks: %w", err)
	}
	o.deliverers.resume(all)
	return nil
}
