package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"orgmem/actors/commit"
	"orgmem/actors/egress"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// MaxSnippet bounds what the delivery log keeps of a response, in bytes.
const MaxSnippet = 512

// eventEnvelope is the body of a delivery.
type eventEnvelope struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	CreatedAt string          `json:"createdAt"`
	OrgID     string          `json:"orgId"`
	Data      json.RawMessage `json:"data"`
}

func (o *Module) envelopeOf(e *pb.OutboxEvent) ([]byte, error) {
	id, err := uuid.FromBytes(e.GetId())
	if err != nil {
		return nil, err
	}
	return json.Marshal(eventEnvelope{
		ID: id.String(), Type: e.GetType(), CreatedAt: time.UnixMilli(e.GetAtMs()).UTC().Format(tenant.EventTime),
		OrgID: o.ID.String(), Data: e.GetData(),
	})
}

// Signature is the value of X-Svc-Signature: the HMAC-SHA256 of the time, a dot
// and the body's bytes, keyed with the whole secret.
func Signature(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// sender makes an HTTP request for a caller who has a place; egress.Client.Once and
// egress.Session.Do are.
type sender func(context.Context, egress.Request) (egress.Response, error)

// attempt posts one event to an endpoint and returns what became of it. n is the
// attempt's number for this event, from 1. It was not tried when the context ended
// first, or the node has no place for it: that says nothing of the receiver.
func (o *Module) attempt(ctx context.Context, send sender, hook *pb.Webhook, e *pb.OutboxEvent,
	n uint32,
) (d *pb.Delivery, tried bool, err error) {
	id, err := o.System.NewUUID()
	if err != nil {
		return nil, false, err
	}
	body, err := o.envelopeOf(e)
	if err != nil {
		return nil, false, err
	}
	d = &pb.Delivery{Id: id[:], Event: e.GetId(), EventType: e.GetType(), Attempt: n, Partition: e.GetPartition()}
	to := pb.WebhookID(hook.GetId())
	leave, err := o.System.Config.Egress.Enter(ctx, o.Deliveries.isSlow(to))
	began := o.System.Clock.Now() // waiting for a place is no time of the receiver's
	d.AtMs = clock.Millis(began)
	if err != nil {
		d.Error = "The receiver " + egress.Reason(err) + "."
		return d, false, nil
	}
	defer leave()
	r, err := send(ctx, egress.Request{
		Method: http.MethodPost, Address: hook.GetUrl(), Body: body,
		Header: http.Header{
			"Content-Type":    {"application/json"},
			"User-Agent":      {"orgmem-webhooks/1"},
			"X-Svc-Event":     {e.GetType()},
			"X-Svc-Delivery":  {id.String()},
			"X-Svc-Webhook":   {to.String()},
			"X-Svc-Signature": {Signature(hook.GetSecret(), began, body)},
		},
	})
	took := o.System.Clock.Now().Sub(began)
	d.DurationMs = uint32(took.Milliseconds())
	d.ResponseStatus, d.ResponseSnippet = uint32(r.Status), snippet(r.Body)
	switch {
	case err != nil:
		d.Error = "The receiver " + egress.Reason(err) + "."
	case r.Status/100 != 2:
		d.Error = "The receiver answered " + strconv.Itoa(r.Status) + "."
	default:
		d.Ok = true
	}
	if ctx.Err() != nil { // it was cut off
		return d, false, nil
	}
	o.Deliveries.took(to, took)
	return d, true, nil
}

// snippet is the beginning of a response, printable.
func snippet(body []byte) string {
	var b strings.Builder
	for len(body) > 0 {
		r, size := utf8.DecodeRune(body)
		body = body[size:]
		if r == utf8.RuneError && size == 1 || !unicode.IsPrint(r) {
			r = ' '
		}
		if b.Len()+utf8.RuneLen(r) > MaxSnippet {
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// logDeliveries adds attempts to an endpoint's log, whose oldest entries leave.
// The caller writes the endpoint. Attempts at telling of a memory that was erased
// meanwhile are counted and not told: a receiver may have answered with its name.
func (o *Module) logDeliveries(ch *commit.Change, hook *pb.Webhook, made []*pb.Delivery) error {
	before := hook.GetAttempts()
	entry := func(n uint64) storage.Key {
		return o.Space.Key(storage.TableDelivery, storage.ID16(pb.WebhookID(hook.GetId())), storage.U64(n))
	}
	for i, d := range made {
		hook.Attempts++
		hook.LastDeliveryMs = d.GetAtMs()
		if d.GetOk() {
			hook.LastSuccessMs = d.GetAtMs()
		}
		if len(made)-i > MaxDeliveries { // it would leave at once
			continue
		}
		if of := d.GetPartition(); len(of) > 0 {
			id, err := pb.PartitionIDFrom(of)
			if err != nil {
				return err
			}
			part, err := o.LoadPartition(id)
			if err != nil {
				return err
			}
			if part == nil {
				continue
			}
		}
		ch.Put(entry(hook.GetAttempts()), d)
	}
	for n := before + 1; n <= hook.GetAttempts(); n++ {
		if n > MaxDeliveries && n-MaxDeliveries <= before {
			ch.Delete(entry(n - MaxDeliveries))
		}
	}
	return nil
}

// retryAfterTestSeconds is when to ask for a test again that found no place: most
// attempts take less.
const retryAfterTestSeconds = 1

// testWebhook posts a test event at once and answers with what became of it. It
// is written to the delivery log, and that is all: it is no delivery that counts.
func (o *Module) testWebhook(c *tenant.Call, op *pb.TestWebhook) {
	var hook *pb.Webhook
	err := o.WithStore(func(st *storage.Store) (err error) {
		if hook, err = o.findWebhook(st, op.GetId()); err == nil && hook != nil {
			err = o.openWebhook(hook)
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
	if err := ch.Event(c.Org, pb.EventWebhookTest, nil, map[string]any{"message": "This is a test event."}); err != nil {
		c.Fail(err)
		return
	}
	e := ch.Events[0]
	view := c.Org
	select {
	case o.Deliveries.Extra <- struct{}{}: // or keys without end would fill the node's places with one receiver that hangs
	default:
		p := tenant.NewProblem(pb.CodeRateLimit, "The organization has as many deliveries under way as it may.")
		p.RetryAfterS = retryAfterTestSeconds
		c.Refuse(p)
		return
	}
	o.System.BackgroundTasks.Go(func() { // ends with the attempt, which has a time-out
		defer func() { <-o.Deliveries.Extra }()
		d, _, err := o.attempt(view.System.BaseContext, view.System.Config.Egress.Once, hook, e, 1)
		if err != nil {
			c.Fail(err)
			return
		}
		o.Publish([]*pb.OutboxEvent{e})
		o.InMailbox(func() {
			if o.Retired {
				c.Fail(commit.ErrLost)
				return
			}
			o.changeWebhook(c, op.GetId(), func(hook *pb.Webhook, release func()) {
				log := commit.New(o.Store)
				if err := o.logDeliveries(log, hook, []*pb.Delivery{d}); err != nil {
					release()
					c.Fail(err)
					return
				}
				log.Put(o.KeyOf(pb.WebhookID(hook.GetId())), hook)
				c.Settle(log, tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Test{Test: d}}), release)
			})
		})
	})
}

// OutboxRetention is how long an event can wait to be handed to webhooks. The
// retries of one end within minutes: what is older waits for a receiver that is
// slower than what happens, or for a service that was down for days.
const OutboxRetention = 72 * time.Hour

// sweepOutbox deletes events that are past their retention, and says how many
// those are. The newest stays, since the numbers of those to come go on from its
// own.
func (o *Module) sweepOutbox(st *storage.Store, b *storage.Batch, before time.Time) (n int, err error) {
	var old storage.Key // goes once a newer one is seen
	for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TableOutbox),
		storage.ScanOptions{Limit: tenant.MaxSweep + 1}, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
		if err != nil {
			return n, err
		}
		if !old.IsZero() {
			b.Delete(old)
			n++
		}
		if rec.Value.GetAtMs() > before.UnixMilli() {
			return n, nil
		}
		old = rec.Key
	}
	return n, nil
}

// eraseEvents erases the events of a memory that nobody was told of yet.
func (o *Module) eraseEvents(ref *partition.Ref) error {
	return tenant.EraseRecords(&o.View, storage.TableOutbox, func() *pb.OutboxEvent { return &pb.OutboxEvent{} },
		func(b *storage.Batch, key storage.Key, rec *pb.OutboxEvent) (bool, error) {
			return tenant.EraseOf(b, key, rec, ref), nil
		}, func() {})
}

// eraseDeliveries erases the attempts at telling of a memory: what a receiver
// answered may name it.
func (o *Module) eraseDeliveries(ref *partition.Ref) error {
	return tenant.EraseRecords(&o.View, storage.TableDelivery, func() *pb.Delivery { return &pb.Delivery{} },
		func(b *storage.Batch, key storage.Key, rec *pb.Delivery) (bool, error) {
			return tenant.EraseOf(b, key, rec, ref), nil
		}, func() {})
}
