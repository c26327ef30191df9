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
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"orgmem/actors/egress"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// MaxSnippet bounds what the delivery log keeps of a response, in bytes.
	MaxSnippet = 512
	// MaxExtraAttempts bounds, for all endpoints of an organization together, the attempts under way beyond the first
	// of each, and its test deliveries. The first needs no place here, so that an endpoint makes progress however busy
	// the others are.
	MaxExtraAttempts = 16
	// SlowReceiver is what an attempt may take before the next ones to its endpoint take the places for slow receivers
	// (egress): more than an honest answer from the other side of the world, and a tenth of what one that hangs takes.
	SlowReceiver = time.Second
	// maxSlowKnown bounds the slow endpoints that an organization remembers: all that there can be, and as many that
	// were deleted since.
	maxSlowKnown = 2 * MaxWebhooks
)

// eventEnvelope is the body of a delivery.
type eventEnvelope struct {
	ID        string          `json:"id"`
	Type      string          `json:"type"`
	CreatedAt string          `json:"createdAt"`
	OrgID     string          `json:"orgId"`
	Data      json.RawMessage `json:"data"`
}

// Signature is the value of X-Svc-Signature: the HMAC-SHA256 of the time, a dot and the body's bytes, keyed with the
// whole secret.
func Signature(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// sender makes an HTTP request for a caller who has a place with egress: egress.Client.Once, or the Do of a session.
type sender func(context.Context, egress.Request) (egress.Response, error)

// client makes the attempts to deliver to the endpoints of an organization. It may be used from any goroutine.
type client struct {
	org   *tenant.View
	extra chan struct{} // MaxExtraAttempts

	mu   sync.Mutex
	slow map[pb.WebhookID]struct{} // endpoints whose last attempt took SlowReceiver
}

func newClient(org *tenant.View) *client {
	return &client{org: org, extra: make(chan struct{}, MaxExtraAttempts), slow: map[pb.WebhookID]struct{}{}}
}

// reserveExtra takes a place for an attempt beyond the first of its endpoint, if one is free. release gives it back.
func (c *client) reserveExtra() (release func(), ok bool) {
	select {
	case c.extra <- struct{}{}:
		return func() { <-c.extra }, true
	default:
		return nil, false
	}
}

// isSlow reports whether an endpoint's last attempt was slow. It is forgotten with the organization: that costs one
// attempt.
func (c *client) isSlow(id pb.WebhookID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, slow := c.slow[id]
	return slow
}

// noteDuration notes how long an attempt at an endpoint took.
func (c *client) noteDuration(id pb.WebhookID, d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.slow, id)
	if d < SlowReceiver {
		return
	}
	if len(c.slow) == maxSlowKnown {
		clear(c.slow)
	}
	c.slow[id] = struct{}{}
}

// body is the body of a delivery.
func (c *client) body(e *pb.OutboxEvent) ([]byte, error) {
	id, err := uuid.FromBytes(e.GetId())
	if err != nil {
		return nil, err
	}
	return json.Marshal(eventEnvelope{
		ID: id.String(), Type: e.GetType(), CreatedAt: time.UnixMilli(e.GetAtMs()).UTC().Format(tenant.EventTime),
		OrgID: c.org.ID.String(), Data: e.GetData(),
	})
}

// attempt posts one event to an endpoint and returns the outcome. n is the attempt's number for this event, from 1. It
// was not tried when the context ended first, or the node has no place for it: that says nothing of the receiver.
func (c *client) attempt(ctx context.Context, send sender, hook *pb.Webhook, e *pb.OutboxEvent, n uint32) (
	d *pb.Delivery, tried bool, err error,
) {
	id, err := c.org.System.NewUUID()
	if err != nil {
		return nil, false, err
	}
	body, err := c.body(e)
	if err != nil {
		return nil, false, err
	}
	d = &pb.Delivery{
		Id: id[:], Event: e.GetId(), EventType: e.GetType(), EventMs: e.GetAtMs(), Attempt: n, Partition: e.GetPartition(),
	}
	to := pb.WebhookID(hook.GetId())
	leave, err := c.org.System.Config.Egress.Enter(ctx, c.isSlow(to))
	began := c.org.System.Clock.Now() // the receiver is not charged for the wait
	d.AtMs = clock.Millis(began)
	if err != nil {
		d.Error = "The receiver " + egress.Reason(err) + "."
		return d, false, nil
	}
	defer leave()
	header := http.Header{
		"Content-Type":    {"application/json"},
		"User-Agent":      {"orgmem-webhooks/1"},
		"X-Svc-Event":     {e.GetType()},
		"X-Svc-Delivery":  {id.String()},
		"X-Svc-Webhook":   {to.String()},
		"X-Svc-Signature": {Signature(hook.GetSecret(), began, body)},
	}
	span := c.span(e, n, header)
	defer func() { delivered(span, d) }()
	r, err := send(ctx, egress.Request{Method: http.MethodPost, Address: hook.GetUrl(), Body: body, Header: header})
	took := c.org.System.Clock.Now().Sub(began)
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
	c.noteDuration(to, took)
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
