package actors

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"orgmem/actors/commit"
	"orgmem/actors/egress"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxWebhooks is the interface's bound of an organization's endpoints; those of its
	// sandbox count with them.
	maxWebhooks = 20
	// maxDeliveries is how many attempts are kept of each endpoint.
	maxDeliveries = 50
	// webhookSecretBytes of randomness make a signing secret.
	webhookSecretBytes  = 32
	webhookSecretPrefix = "whsec_"
	// allEvents subscribes to everything.
	allEvents = "*"
)

// published says of each type in the interface's catalogue whether this version
// has something that causes it.
var published = map[string]bool{
	pb.EventGraphUpdated: true, pb.EventJobCompleted: true, pb.EventBeliefSuperseded: true, pb.EventWebhookTest: true,
	pb.EventInsightProposed: true, pb.EventContradictionFound: true, pb.EventBasinShifted: true, pb.EventBrainTrained: true,
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

func webhookNotFound() *pb.Problem {
	return problem(pb.CodeWebhookNotFound, "There is no such webhook endpoint.")
}

func (o *webhookModule) webhookKey(id pb.WebhookID) storage.Key {
	return o.space.Key(storage.TableWebhook, storage.ID16(id))
}

// findWebhook returns an endpoint, nil when there is none of this id.
func (o *webhookModule) findWebhook(r storage.Reader, id string) (*pb.Webhook, error) {
	hookID, err := pb.ParseWebhookID(id)
	if err != nil {
		return nil, nil //nolint:nilerr // what is no id names no endpoint
	}
	hook := &pb.Webhook{}
	found, err := r.Get(o.webhookKey(hookID), hook)
	if err != nil || !found {
		return nil, err
	}
	return hook, nil
}

// webhooks returns all endpoints, newest first.
func (o *webhookModule) webhooks(r storage.Reader) ([]*pb.Webhook, error) {
	var all []*pb.Webhook
	for rec, err := range storage.ScanRecords(r, o.space.Prefix(storage.TableWebhook), storage.ScanOptions{}, func() *pb.Webhook { return &pb.Webhook{} }) {
		if err != nil {
			return nil, err
		}
		all = append(all, rec.Value)
	}
	slices.SortFunc(all, func(a, b *pb.Webhook) int { return newerFirst(a, b) })
	return all, nil
}

// dated is a record of a list that is short enough to be sorted when it is read.
type dated interface {
	GetId() []byte
	GetCreatedMs() int64
}

// newerFirst orders such records; their ids decide where times are equal.
func newerFirst(a, b dated) int {
	return -slices.Compare(datedPosition(a), datedPosition(b))
}

// datedPosition is a record's place in its list, as cursors hold it.
func datedPosition(d dated) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(d.GetCreatedMs())), d.GetId()...)
}

// pageOfDated cuts one page out of a whole list that newerFirst has sorted.
func pageOfDated[D dated](o *orgView, all []D, list string, page *pb.Page) (entries []D, next string, p *pb.Problem) {
	kind := cursorKind{list: list}
	if page.GetCursor() != "" {
		position, err := openCursor(o.secret, kind, page.GetCursor())
		if err != nil {
			return nil, "", invalidCursor()
		}
		at := slices.IndexFunc(all, func(d D) bool { return slices.Compare(datedPosition(d), position) < 0 })
		if at < 0 {
			at = len(all)
		}
		all = all[at:]
	}
	if size := pageSize(page); len(all) > size {
		all = all[:size]
		next = sealCursor(o.secret, kind, datedPosition(all[size-1]))
	}
	return all, next, nil
}

func (o *webhookModule) listWebhooks(r storage.Reader, op *pb.ListWebhooks) (*pb.Reply, error) {
	all, err := o.webhooks(r)
	if err != nil {
		return nil, err
	}
	page, next, p := pageOfDated(&o.orgView, all, "webhooks", op.GetPage())
	if p != nil {
		return refuse(p), nil
	}
	for i, hook := range page {
		page[i] = shownWebhook(hook)
	}
	return linked(&pb.LinkResult{Result: &pb.LinkResult_Webhooks{Webhooks: &pb.WebhookList{Webhooks: page, NextCursor: next}}}), nil
}

// getWebhook answers an endpoint with its last attempts, newest first.
func (o *webhookModule) getWebhook(r storage.Reader, op *pb.GetWebhook) (*pb.Reply, error) {
	hook, err := o.findWebhook(r, op.GetId())
	if err != nil {
		return nil, err
	}
	if hook == nil {
		return refuse(webhookNotFound()), nil
	}
	detail := &pb.WebhookDetail{Webhook: shownWebhook(hook)}
	log := o.space.Prefix(storage.TableDelivery, storage.ID16(pb.WebhookID(hook.GetId())))
	for rec, err := range storage.ScanRecords(r, log, storage.ScanOptions{Reverse: true, Limit: maxDeliveries}, func() *pb.Delivery { return &pb.Delivery{} }) {
		if err != nil {
			return nil, err
		}
		detail.Attempts = append(detail.Attempts, rec.Value)
	}
	return linked(&pb.LinkResult{Result: &pb.LinkResult_WebhookDetail{WebhookDetail: detail}}), nil
}

// checkAddress holds an address against the rules of egress and goes on in the
// organization's actor; the name service may take seconds.
func (o *webhookModule) checkAddress(c *call, field, address string, then func()) {
	if o.sys.cfg.Egress == nil {
		c.fail(errNoEgress)
		return
	}
	o.sys.background(func(ctx context.Context) {
		err := o.sys.cfg.Egress.Check(ctx, address)
		o.later(func() {
			switch {
			case errors.Is(err, egress.ErrAddress):
				c.refuse(invalid(field, egress.Reason(err)))
			case err != nil:
				c.fail(err)
			case o.lost:
				c.fail(commit.ErrLost)
			default:
				then()
			}
		})
	})
}

// createWebhook makes an endpoint that receives what happens from now on.
func (o *webhookModule) createWebhook(c *call, op *pb.CreateWebhook) {
	o.checkAddress(c, "url", op.GetUrl(), func() {
		o.whenBusyFor(c, func() { o.putWebhook(c, op) }) // before there can be something to bring
	})
}

func (o *webhookModule) putWebhook(c *call, op *pb.CreateWebhook) {
	o.withWebhookCount(c, func(count int, release func()) {
		if count >= maxWebhooks {
			release()
			c.refuseSettled(problem(pb.CodeWebhookLimit, "An organization has at most %d webhook endpoints, those of its sandbox included.", maxWebhooks))
			return
		}
		hook, err := o.newWebhook(c, op)
		if err != nil {
			release()
			c.fail(err)
			return
		}
		stored, err := o.sealWebhook(hook)
		if err != nil {
			release()
			c.fail(err)
			return
		}
		ch := commit.New(o.store)
		ch.Put(o.webhookKey(pb.WebhookID(hook.GetId())), stored)
		ch.Audit(c.auditOf("webhook.create", pb.WebhookID(hook.GetId()).String()))
		r := linked(&pb.LinkResult{Result: &pb.LinkResult_Webhook{Webhook: hook}})
		r.Status = 201
		id := pb.WebhookID(hook.GetId())
		c.settle(ch, r, func() {
			o.later(func() { o.reviewWebhook(id) })
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
func (o *webhookModule) withWebhookCount(c *call, f func(count int, release func())) {
	count := func(org *orgActor) {
		org.exclusive(webhooksLock, func(release func()) {
			moduleOf[*webhookModule](&org.orgView).countWebhooks(func(count int, err error) {
				o.later(func() {
					if err == nil && o.lost {
						err = commit.ErrLost
					}
					if err != nil {
						release()
						c.fail(err)
						return
					}
					f(count, release)
				})
			})
		})
	}
	if o.main != nil {
		o.main.tell(count)
		return
	}
	count(o.orgActor)
}

// countWebhooks counts the endpoints of an organization and of its sandbox. The sandbox
// counts its own: once it is open, nothing that an earlier activation still had on its
// way can be added to its store.
func (o *webhookModule) countWebhooks(then func(count int, err error)) {
	count, err := o.ownWebhooks()
	if err == nil && o.lost { // its locks hold no more
		err = commit.ErrLost
	}
	if err == nil {
		err = o.resumeSandbox()
	}
	if err != nil || o.sandbox == nil {
		then(count, err)
		return
	}
	sys, box := o.sys, o.sandbox
	box.calls.Add(1) // so that it stays until it has answered, also where it is reset meanwhile
	sys.root.Send(box.pid, &visit{
		run: func(box *orgActor, done func(error)) {
			n, err := moduleOf[*webhookModule](&box.orgView).ownWebhooks()
			count += n
			done(err)
		},
		done: func(err error) {
			box.leave(sys)
			if errors.Is(err, errTryAgain) {
				err = commit.ErrLost
			}
			then(count, err)
		},
	})
}

// ownWebhooks counts the endpoints in the actor's store.
func (o *webhookModule) ownWebhooks() (count int, err error) {
	err = o.withStore(func(st *storage.Store) error {
		all, err := o.webhooks(st)
		count = len(all)
		return err
	})
	return count, err
}

func (o *webhookModule) newWebhook(c *call, op *pb.CreateWebhook) (*pb.Webhook, error) {
	id, err := o.sys.newUUID()
	if err != nil {
		return nil, err
	}
	secret := make([]byte, webhookSecretBytes)
	if _, err := io.ReadFull(o.sys.cfg.Random, secret); err != nil {
		return nil, err
	}
	return &pb.Webhook{
		Id: id[:], User: c.who.user.Bytes(), Url: op.GetUrl(), EventTypes: op.GetEventTypes(),
		CreatedMs: clock.Millis(o.sys.clock.Now()), Secret: webhookSecretPrefix + base64.StdEncoding.EncodeToString(secret),
		Cursor: o.committer.LastEvent(),
	}, nil
}

// changeWebhook runs f on an endpoint that no other change is under way of, and
// answers what f does not.
func (o *webhookModule) changeWebhook(c *call, id string, f func(hook *pb.Webhook, release func())) {
	hookID, err := pb.ParseWebhookID(id)
	if err != nil {
		c.refuse(webhookNotFound()) // what is no id names no endpoint
		return
	}
	o.exclusive(webhookLock(hookID), func(release func()) {
		free := release
		release = func() { // its child learns of the change
			o.later(func() { o.reviewWebhook(hookID) })
			free()
		}
		var hook *pb.Webhook
		err := o.withStore(func(st *storage.Store) (err error) {
			hook, err = o.findWebhook(st, id)
			return err
		})
		switch {
		case err != nil:
			release()
			c.fail(err)
		case hook == nil:
			release()
			c.refuse(webhookNotFound())
		default:
			f(hook, release)
		}
	})
}

// switchWebhook disables an endpoint or enables it. What happens while it is
// disabled it does not receive. One whose creator has left goes on without them: it
// receives what concerns no person.
func (o *webhookModule) switchWebhook(hook *pb.Webhook, off bool) error {
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
	hook.Cursor = o.committer.LastEvent()
	return o.withStore(func(st *storage.Store) error {
		orphan, err := o.orphaned(st, hook)
		hook.OutlivedCreator = hook.GetOutlivedCreator() || orphan
		return err
	})
}

// patchWebhook changes an endpoint. Its reach stays its creator's, whoever changes
// what.
func (o *webhookModule) patchWebhook(c *call, op *pb.PatchWebhook) {
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
					c.fail(err)
					return
				}
			}
			hook.UpdatedMs = clock.Millis(o.sys.clock.Now())
			ch := commit.New(o.store)
			ch.Put(o.webhookKey(pb.WebhookID(hook.GetId())), hook)
			ch.Audit(c.auditOf("webhook.update", pb.WebhookID(hook.GetId()).String()))
			c.settle(ch, linked(&pb.LinkResult{Result: &pb.LinkResult_Webhook{Webhook: shownWebhook(hook)}}), release)
		})
	}
	if op.Url == nil {
		o.whenBusyFor(c, change)
		return
	}
	o.checkAddress(c, "url", op.GetUrl(), func() { o.whenBusyFor(c, change) })
}

// deleteWebhook removes an endpoint and its delivery log.
func (o *webhookModule) deleteWebhook(c *call, op *pb.DeleteWebhook) {
	o.changeWebhook(c, op.GetId(), func(hook *pb.Webhook, release func()) {
		id := pb.WebhookID(hook.GetId())
		ch := commit.New(o.store)
		ch.Erase(o.webhookKey(id)) // its secret and its address leave the files too
		ch.EraseRange(o.space.Prefix(storage.TableDelivery, storage.ID16(id)))
		ch.Audit(c.auditOf("webhook.delete", id.String()))
		c.settle(ch, &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}, release)
	})
}
