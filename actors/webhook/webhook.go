package webhook

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"slices"

	"orgmem/actors/commit"
	"orgmem/actors/egress"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MaxWebhooks is the interface's bound of an organization's endpoints; those of its
	// sandbox count with them.
	MaxWebhooks = 20
	// MaxDeliveries is how many attempts are kept of each endpoint.
	MaxDeliveries = 50
	// WebhookSecretBytes of randomness make a signing secret.
	WebhookSecretBytes = 32
	// WebhookSecretPrefix begins every signing secret, so that people and scanners recognize one.
	WebhookSecretPrefix = "whsec_"
	// allEvents subscribes to everything.
	allEvents = "*"
)

// published says of each type in the interface's catalogue whether this version
// has something that causes it.
var published = map[string]bool{
	pb.EventGraphUpdated: true, pb.EventJobCompleted: true, pb.EventBeliefSuperseded: true, pb.EventWebhookTest: true,
	pb.EventInsightProposed: true, pb.EventContradictionFound: true, pb.EventBasinShifted: true,
	pb.EventBrainTrained: true,
}

// InactiveEvents lists, of the types that an endpoint subscribes to, those that
// nothing publishes on this deployment, in order.
func InactiveEvents(subscribed []string) []string {
	var out []string
	for kind, alive := range published {
		if !alive && (slices.Contains(subscribed, kind) || slices.Contains(subscribed, allEvents)) {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return out
}

// NotFound is the answer to a request that names no endpoint of the organization.
func NotFound() *pb.Problem {
	return tenant.NewProblem(pb.CodeWebhookNotFound, "There is no such webhook endpoint.")
}

// KeyOf is the key of an endpoint's record.
func (o *Module) KeyOf(id pb.WebhookID) storage.Key {
	return o.Space.Key(storage.TableWebhook, storage.ID16(id))
}

// findWebhook returns the endpoint of this id, or nil.
func (o *Module) findWebhook(r storage.Reader, id string) (*pb.Webhook, error) {
	hookID, err := pb.ParseWebhookID(id)
	if err != nil {
		return nil, nil //nolint:nilerr // what is no id names no endpoint
	}
	hook := &pb.Webhook{}
	found, err := r.Get(o.KeyOf(hookID), hook)
	if err != nil || !found {
		return nil, err
	}
	return hook, nil
}

// webhooks returns all endpoints, newest first.
func (o *Module) webhooks(r storage.Reader) ([]*pb.Webhook, error) {
	var all []*pb.Webhook
	for rec, err := range storage.ScanRecords(r, o.Space.Prefix(storage.TableWebhook), storage.ScanOptions{},
		func() *pb.Webhook { return &pb.Webhook{} }) {
		if err != nil {
			return nil, err
		}
		all = append(all, rec.Value)
	}
	slices.SortFunc(all, func(a, b *pb.Webhook) int { return tenant.NewerFirst(a, b) })
	return all, nil
}

func (o *Module) listWebhooks(r storage.Reader, op *pb.ListWebhooks) (*pb.Reply, error) {
	all, err := o.webhooks(r)
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
	hook, err := o.findWebhook(r, op.GetId())
	if err != nil {
		return nil, err
	}
	if hook == nil {
		return tenant.Refuse(NotFound()), nil
	}
	detail := &pb.WebhookDetail{Webhook: shownWebhook(hook)}
	log := o.Space.Prefix(storage.TableDelivery, storage.ID16(pb.WebhookID(hook.GetId())))
	for rec, err := range storage.ScanRecords(r, log, storage.ScanOptions{Reverse: true, Limit: MaxDeliveries},
		func() *pb.Delivery { return &pb.Delivery{} }) {
		if err != nil {
			return nil, err
		}
		detail.Attempts = append(detail.Attempts, rec.Value)
	}
	return tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_WebhookDetail{WebhookDetail: detail}}), nil
}

// checkAddress holds an address against the rules of egress and goes on in the
// organization's actor; the name service may take seconds.
func (o *Module) checkAddress(c *tenant.Call, field, address string, then func()) {
	if o.System.Config.Egress == nil {
		c.Fail(tenant.ErrNoEgress)
		return
	}
	o.System.RunInBackground(func(ctx context.Context) {
		err := o.System.Config.Egress.Check(ctx, address)
		o.InMailbox(func() {
			switch {
			case errors.Is(err, egress.ErrAddress):
				c.Refuse(tenant.Invalid(field, egress.Reason(err)))
			case err != nil:
				c.Fail(err)
			case o.Retired:
				c.Fail(commit.ErrLost)
			default:
				then()
			}
		})
	})
}

// createWebhook makes an endpoint that receives what happens from now on.
func (o *Module) createWebhook(c *tenant.Call, op *pb.CreateWebhook) {
	o.checkAddress(c, "url", op.GetUrl(), func() {
		o.WithBusyMarkFor(c, func() { o.putWebhook(c, op) }) // before there can be something to bring
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
		hook, err := o.newWebhook(c, op)
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		stored, err := o.sealWebhook(hook)
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		ch := commit.New(o.Store)
		ch.Put(o.KeyOf(pb.WebhookID(hook.GetId())), stored)
		ch.Audit(c.AuditOf("webhook.create", pb.WebhookID(hook.GetId()).String()))
		r := tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Webhook{Webhook: hook}})
		r.Status = 201
		id := pb.WebhookID(hook.GetId())
		c.Settle(ch, r, func() {
			o.InMailbox(func() { o.reviewWebhook(id) })
			release()
		})
	})
}

// withWebhookCount runs f in this actor with the number of endpoints that the
// organization has, those of its sandbox included. Until f calls release nobody else
// counts them, so that the next one sees what f adds. The sandbox takes the
// organization's lock too: with a lock of its own, each side could add the last one.
// The number comes from the stores: a crash leaves no counter behind that is wrong,
// and a reset of the sandbox frees what it erases.
func (o *Module) withWebhookCount(c *tenant.Call, f func(count int, release func())) {
	count := func(org *tenant.Org) {
		org.Exclusive(tenant.WebhooksLock, func(release func()) {
			tenant.ModuleOf[*Module](&org.View).countWebhooks(func(count int, err error) {
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
			})
		})
	}
	if o.Main != nil {
		o.Main.Tell(count)
		return
	}
	count(o.Org)
}

// countWebhooks counts the endpoints of an organization and of its sandbox. The sandbox
// counts its own: once it is open, nothing that an earlier activation still had on its
// way can be added to its store.
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

// ownWebhooks counts the endpoints in the actor's store.
func (o *Module) ownWebhooks() (count int, err error) {
	err = o.WithStore(func(st *storage.Store) error {
		all, err := o.webhooks(st)
		count = len(all)
		return err
	})
	return count, err
}

func (o *Module) newWebhook(c *tenant.Call, op *pb.CreateWebhook) (*pb.Webhook, error) {
	id, err := o.System.NewUUID()
	if err != nil {
		return nil, err
	}
	secret := make([]byte, WebhookSecretBytes)
	if _, err := io.ReadFull(o.System.Config.Random, secret); err != nil {
		return nil, err
	}
	return &pb.Webhook{
		Id: id[:], User: c.Principal.User.Bytes(), Url: op.GetUrl(), EventTypes: op.GetEventTypes(),
		CreatedMs: clock.Millis(o.System.Clock.Now()),
		Secret:    WebhookSecretPrefix + base64.StdEncoding.EncodeToString(secret),
		Cursor:    o.Committer.LastEvent(),
	}, nil
}

// changeWebhook runs f on an endpoint that no other change is under way of, and
// answers what f does not.
func (o *Module) changeWebhook(c *tenant.Call, id string, f func(hook *pb.Webhook, release func())) {
	hookID, err := pb.ParseWebhookID(id)
	if err != nil {
		c.Refuse(NotFound()) // what is no id names no endpoint
		return
	}
	o.Exclusive(tenant.WebhookLock(hookID), func(release func()) {
		free := release
		release = func() { // its child learns of the change
			o.InMailbox(func() { o.reviewWebhook(hookID) })
			free()
		}
		var hook *pb.Webhook
		err := o.WithStore(func(st *storage.Store) (err error) {
			hook, err = o.findWebhook(st, id)
			return err
		})
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

// switchWebhook disables an endpoint or enables it. What happens while it is
// disabled it does not receive. An endpoint whose creator has
// left still receives what concerns no person.
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
		orphan, err := o.orphaned(st, hook)
		hook.OutlivedCreator = hook.GetOutlivedCreator() || orphan
		return err
	})
}

// patchWebhook changes an endpoint. Its reach stays its creator's, also where another
// member changes it.
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
			ch.Put(o.KeyOf(pb.WebhookID(hook.GetId())), hook)
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
		ch.Erase(o.KeyOf(id)) // its secret and its address leave the files too
		ch.EraseRange(o.Space.Prefix(storage.TableDelivery, storage.ID16(id)))
		ch.Audit(c.AuditOf("webhook.delete", id.String()))
		c.Settle(ch, &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}, release)
	})
}
