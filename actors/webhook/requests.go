package webhook

import (
	"context"
	"encoding/base64"
	"errors"
	"io"

	"orgmem/actors/commit"
	"orgmem/actors/egress"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MaxWebhooks is the interface's bound of an organization's endpoints; those of its sandbox count with them.
	MaxWebhooks = 20
	// SecretBytes of randomness make a signing secret.
	SecretBytes = 32
	// SecretPrefix begins every signing secret, so that people and scanners recognize one.
	SecretPrefix = "whsec_"
	// retryAfterTestSeconds is when to ask for a test again that found no place: most attempts take less.
	retryAfterTestSeconds = 1
)

// NotFound is the answer to a request that names no endpoint of the organization.
func NotFound() *pb.Problem {
	return tenant.NewProblem(pb.CodeWebhookNotFound, "There is no such webhook endpoint.")
}

func (o *Module) listWebhooks(r storage.Reader, op *pb.ListWebhooks) (*pb.Reply, error) {
	all, err := o.endpoints.all(r)
	if err != nil {
		return nil, err
	}
	page, next, p := tenant.PageOfDated(&o.View, all, "webhooks", op.GetPage())
	if p != nil {
		return tenant.Refuse(p), nil
	}
	for i, hook := range page {
		page[i] = shownWebhook(hook)
	}
	return tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Webhooks{
		Webhooks: &pb.WebhookList{Webhooks: page, NextCursor: next},
	}}), nil
}

// getWebhook answers an endpoint with its last attempts, newest first.
func (o *Module) getWebhook(r storage.Reader, op *pb.GetWebhook) (*pb.Reply, error) {
	return o.ofWebhook(r, op.GetId(), func(hook *pb.Webhook, attempts []*pb.Delivery) (*pb.Reply, error) {
		detail := &pb.WebhookDetail{Webhook: shownWebhook(hook), Attempts: attempts}
		return tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_WebhookDetail{WebhookDetail: detail}}), nil
	})
}

// ofWebhook answers what f makes of an endpoint and its last attempts, newest first.
func (o *Module) ofWebhook(
	r storage.Reader, id string, f func(hook *pb.Webhook, attempts []*pb.Delivery) (*pb.Reply, error),
) (*pb.Reply, error) {
	hook, err := o.endpoints.find(r, id)
	if err != nil {
		return nil, err
	}
	if hook == nil {
		return tenant.Refuse(NotFound()), nil
	}
	attempts, err := o.log.last(r, pb.WebhookID(hook.GetId()))
	if err != nil {
		return nil, err
	}
	return f(hook, attempts)
}

// checkAddress holds an address against the rules of egress, beside the mailbox since the name service may take
// seconds, and continues in the mailbox with then.
func (o *Module) checkAddress(c *tenant.Call, field, address string, then func()) {
	if o.System.Config.Egress == nil {
		c.Fail(tenant.ErrNoEgress)
		return
	}
	o.System.RunInBackground(func(ctx context.Context) {
		switch err := o.System.Config.Egress.Check(ctx, address); {
		case errors.Is(err, egress.ErrAddress):
			c.Refuse(tenant.Invalid(field, egress.Reason(err)))
		case err != nil:
			c.Fail(err)
		default:
			tenant.Continue(o.Org, c, then)
		}
	})
}

// createWebhook makes an endpoint that receives what happens from now on.
func (o *Module) createWebhook(c *tenant.Call, op *pb.CreateWebhook) {
	o.checkAddress(c, "url", op.GetUrl(), func() {
		o.WithBusyMarkFor(c, func() { o.putWebhook(c, op) }) // before there can be something to deliver
	})
}

func (o *Module) putWebhook(c *tenant.Call, op *pb.CreateWebhook) {
	o.withWebhookCount(c, func(count int, release func()) {
		if count >= MaxWebhooks {
			release()
			c.RefuseSettled(tenant.NewProblem(pb.CodeWebhookLimit,
				"An organization has at most %d webhook endpoints, those of its sandbox included.", MaxWebhooks))
			return
		}
		hook, stored, err := o.newWebhook(c, op)
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		id := pb.WebhookID(hook.GetId())
		ch := commit.New(o.Store)
		ch.Put(o.endpoints.key(id), stored)
		ch.Audit(c.AuditOf("webhook.create", id.String()))
		r := tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Webhook{Webhook: hook}})
		r.Status = 201
		c.Settle(ch, r, func() {
			o.deliverers.reviewSoon(id)
			release()
		})
	})
}

// withWebhookCount runs f in this mailbox with the number of endpoints that the organization has, those of its sandbox
// included. The lock is held until f calls release, so that the next count sees what f adds. The sandbox takes the
// organization's lock too: with a lock of its own, each side could add the last one. The number comes from the stores:
// a crash leaves no counter behind that is wrong, and a reset of the sandbox frees what it erases.
func (o *Module) withWebhookCount(c *tenant.Call, f func(count int, release func())) {
	counted := func(count int, release func(), err error) {
		o.InMailbox(func() {
			if err == nil && o.Retired {
				err = commit.ErrLost
			}
			if err != nil {
				release()
				c.Fail(err)
				return
			}
			f(count, release)
		})
	}
	if o.Main == nil {
		o.lockCount(counted)
		return
	}
	main := tenant.ModuleOf[*Module](o.Main)
	main.InMailbox(func() { main.lockCount(counted) })
}

// lockCount takes the lock on the number of the organization's endpoints, and counts them. then is called in any case,
// from any goroutine, and calls release.
func (o *Module) lockCount(then func(count int, release func(), err error)) {
	o.Exclusive(tenant.WebhooksLock, func(release func()) {
		o.countWebhooks(func(count int, err error) { then(count, release, err) })
	})
}

// countWebhooks counts the endpoints of an organization and of its sandbox. The sandbox counts its own: once it is
// open, nothing that an earlier activation still had on its way can be added to its store.
func (o *Module) countWebhooks(then func(count int, err error)) {
	count, err := o.ownWebhooks()
	if err == nil && o.Retired { // its locks hold no more
		err = commit.ErrLost
	}
	if err == nil {
		err = o.ResumeSandbox()
	}
	if err != nil || o.Sandbox == nil {
		then(count, err)
		return
	}
	sys, box := o.System, o.Sandbox
	box.Calls.Add(1) // so that it stays until it has answered, also where it is reset meanwhile
	sys.ActorRoot.Send(box.PID, &tenant.Visit{
		Run: func(box *tenant.Org, done func(error)) {
			n, err := tenant.ModuleOf[*Module](&box.View).ownWebhooks()
			count += n
			done(err)
		},
		Done: func(err error) {
			box.Leave(sys)
			if errors.Is(err, tenant.ErrTryAgain) {
				err = commit.ErrLost
			}
			then(count, err)
		},
	})
}

// ownWebhooks counts the endpoints in the actor's own store.
func (o *Module) ownWebhooks() (count int, err error) {
	all, err := o.endpoints.loadAll()
	return len(all), err
}

// newWebhook makes an endpoint that receives what happens from now on, and the same as it is stored.
func (o *Module) newWebhook(c *tenant.Call, op *pb.CreateWebhook) (hook, stored *pb.Webhook, err error) {
	id, err := o.System.NewUUID()
	if err != nil {
		return nil, nil, err
	}
	secret := make([]byte, SecretBytes)
	if _, err := io.ReadFull(o.System.Config.Random, secret); err != nil {
		return nil, nil, err
	}
	hook = &pb.Webhook{
		Id: id[:], User: c.Principal.User.Bytes(), Url: op.GetUrl(), EventTypes: op.GetEventTypes(),
		CreatedMs: clock.Millis(o.System.Clock.Now()),
		Secret:    SecretPrefix + base64.StdEncoding.EncodeToString(secret),
		Cursor:    o.Committer.LastEvent(),
	}
	stored, err = o.endpoints.seal(hook)
	return hook, stored, err
}

// changeWebhook runs f on an endpoint while no other change of it is under way. f answers the call, and releases the
// endpoint; a call that names none is refused here.
func (o *Module) changeWebhook(c *tenant.Call, id string, f func(hook *pb.Webhook, release func())) {
	hookID, err := pb.ParseWebhookID(id)
	if err != nil {
		c.Refuse(NotFound()) // what is no id names no endpoint
		return
	}
	o.Exclusive(tenant.WebhookLock(hookID), func(release func()) {
		free := release
		release = func() {
			o.deliverers.reviewSoon(hookID)
			free()
		}
		hook, err := o.endpoints.load(hookID)
		switch {
		case err != nil:
			release()
			c.Fail(err)
		case hook == nil:
			release()
			c.Refuse(NotFound())
		default:
			f(hook, release)
		}
	})
}

// switchWebhook disables an endpoint or enables it. It never receives what happens while it is disabled. One that is
// enabled after its creator has left receives what concerns no person.
func (o *Module) switchWebhook(hook *pb.Webhook, off bool) error {
	was := hook.GetDisabled()
	hook.Disabled, hook.DisabledReason = off, ""
	if off {
		hook.DisabledReason, hook.Pending = "disabled by request", nil
		return nil
	}
	hook.Failures = 0
	if !was {
		return nil
	}
	hook.Cursor = o.Committer.LastEvent()
	return o.WithStore(func(st *storage.Store) error {
		orphan, err := o.endpoints.isOrphan(st, hook)
		hook.OutlivedCreator = hook.GetOutlivedCreator() || orphan
		return err
	})
}

// patchWebhook changes an endpoint. Its reach stays its creator's, also where another member changes it.
func (o *Module) patchWebhook(c *tenant.Call, op *pb.PatchWebhook) {
	change := func() {
		o.changeWebhook(c, op.GetId(), func(hook *pb.Webhook, release func()) {
			if op.Url != nil {
				hook.Url = op.GetUrl()
			}
			if len(op.GetEventTypes()) > 0 {
				hook.EventTypes = op.GetEventTypes()
			}
			if op.Disabled != nil {
				if err := o.switchWebhook(hook, op.GetDisabled()); err != nil {
					release()
					c.Fail(err)
					return
				}
			}
			hook.UpdatedMs = clock.Millis(o.System.Clock.Now())
			ch := commit.New(o.Store)
			ch.Put(o.endpoints.key(pb.WebhookID(hook.GetId())), hook)
			ch.Audit(c.AuditOf("webhook.update", pb.WebhookID(hook.GetId()).String()))
			c.Settle(ch, tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Webhook{Webhook: shownWebhook(hook)}}), release)
		})
	}
	if op.Url == nil {
		o.WithBusyMarkFor(c, change)
		return
	}
	o.checkAddress(c, "url", op.GetUrl(), func() { o.WithBusyMarkFor(c, change) })
}

// deleteWebhook removes an endpoint and its delivery log.
func (o *Module) deleteWebhook(c *tenant.Call, op *pb.DeleteWebhook) {
	o.changeWebhook(c, op.GetId(), func(hook *pb.Webhook, release func()) {
		id := pb.WebhookID(hook.GetId())
		ch := commit.New(o.Store)
		ch.Erase(o.endpoints.key(id)) // its secret and its address leave the files too
		ch.EraseRange(o.log.entries(id))
		ch.Audit(c.AuditOf("webhook.delete", id.String()))
		c.Settle(ch, &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}, release)
	})
}

// testWebhook posts a test event at once and answers with the outcome. The attempt is written to the delivery log, and
// does not count among the endpoint's failures.
func (o *Module) testWebhook(c *tenant.Call, op *pb.TestWebhook) {
	var hook *pb.Webhook
	err := o.WithStore(func(st *storage.Store) (err error) {
		if hook, err = o.endpoints.find(st, op.GetId()); err == nil && hook != nil {
			err = o.endpoints.unseal(hook)
		}
		return err
	})
	switch {
	case err != nil:
		c.Fail(err)
		return
	case hook == nil:
		c.Refuse(NotFound())
		return
	case o.System.Config.Egress == nil:
		c.Fail(tenant.ErrNoEgress)
		return
	}
	ch := commit.New(o.Store)
	ch.User = c.Principal.User.Bytes()
	if err := ch.Event(c.Org, pb.EventWebhookTest, nil, testData); err != nil {
		c.Fail(err)
		return
	}
	e := ch.Events[0]
	e.Trace = c.RecordedTrace()
	view := c.Org
	done, ok := o.ReserveExtra() // or keys without end would fill the node's places with one receiver that hangs
	if !ok {
		p := tenant.NewProblem(pb.CodeRateLimit, "The organization has as many deliveries under way as it may.")
		p.RetryAfterS = retryAfterTestSeconds
		c.Refuse(p)
		return
	}
	o.System.BackgroundTasks.Go(func() { // ends with the attempt, which has a time-out
		d, _, err := o.client.attempt(view.System.BaseContext, view.System.Config.Egress.Once, hook, e, 1)
		done() // before the answer: a client that tests one after the other is never refused for want of a place
		if err != nil {
			c.Fail(err)
			return
		}
		o.Publish([]*pb.OutboxEvent{e})
		tenant.Continue(o.Org, c, func() { o.logTest(c, op.GetId(), d) })
	})
}

// logTest writes a test delivery to its endpoint's log, and answers with it.
func (o *Module) logTest(c *tenant.Call, id string, d *pb.Delivery) {
	o.changeWebhook(c, id, func(hook *pb.Webhook, release func()) {
		ch := commit.New(o.Store)
		if err := o.log.add(ch, hook, []*pb.Delivery{d}); err != nil {
			release()
			c.Fail(err)
			return
		}
		ch.Put(o.endpoints.key(pb.WebhookID(hook.GetId())), hook)
		c.Settle(ch, tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Test{Test: d}}), release)
	})
}
