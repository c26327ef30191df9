package orgmem

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhooksService is the endpoints that events are delivered to.
type WebhooksService struct{ c *Client }

// List lists endpoints, without their secrets.
func (s WebhooksService) List() List[Webhook] {
	return listOf[Webhook](s.c, nil, "/v1/webhooks")
}

// Create registers an address. The secret of the answer is shown once: if this is
// repeated after a failure, the second answer may not have it any more; delete that
// endpoint then.
func (s WebhooksService) Create(ctx context.Context, webhook NewWebhook) (*Webhook, error) {
	return send[Webhook](ctx, s.c, request{method: http.MethodPost, path: "/v1/webhooks", body: webhook, keyed: true}, nil)
}

// Get reads an endpoint and its latest attempts.
func (s WebhooksService) Get(ctx context.Context, id string) (*Webhook, error) {
	r, err := at(http.MethodGet, "/v1/webhooks/", id)
	return send[Webhook](ctx, s.c, r, err)
}

// Update changes an endpoint.
func (s WebhooksService) Update(ctx context.Context, id string, patch PatchWebhook) (*Webhook, error) {
	r, err := at(http.MethodPatch, "/v1/webhooks/", id)
	r.body = patch
	return send[Webhook](ctx, s.c, r, err)
}

// Delete removes an endpoint.
func (s WebhooksService) Delete(ctx context.Context, id string) error {
	r, err := at(http.MethodDelete, "/v1/webhooks/", id)
	return sendBare(ctx, s.c, r, err)
}

// Delivery is what one of an endpoint's last deliveries has sent, and its signature.
func (s WebhooksService) Delivery(ctx context.Context, id, delivery string) (*SentDelivery, error) {
	r, err := at(http.MethodGet, "/v1/webhooks/", id, "/deliveries/", delivery)
	return send[SentDelivery](ctx, s.c, r, err)
}

// Test delivers a webhook.test, once. That the receiver refuses it is no error.
func (s WebhooksService) Test(ctx context.Context, id string) (*WebhookTest, error) {
	r, err := at(http.MethodPost, "/v1/webhooks/", id, "/test")
	return send[WebhookTest](ctx, s.c, r, err)
}

// SignatureHeader is the header of a delivery that Verify takes.
const SignatureHeader = "X-Svc-Signature"

// defaultTolerance is enough for a clock that is off, and little enough that a
// delivery somebody recorded cannot be played again tomorrow.
const defaultTolerance = 5 * time.Minute

// Delivery is what a webhook delivers. It may come twice with the same ID: remember
// the ids of some days.
type Delivery struct {
	ID        string          `json:"id"`
	Type      EventType       `json:"type"`
	CreatedAt time.Time       `json:"createdAt"`
	Data      json.RawMessage `json:"data"`
}

// SignatureError says that a delivery is not genuine, or not of now.
type SignatureError struct {
	// Skew is how far the delivery's time is behind this machine's, below zero where it
	// is ahead; zero where the time is not what is wrong.
	Skew    time.Duration
	message string
}

func (e *SignatureError) Error() string { return "orgmem: webhook: " + e.message }

// WebhookVerifier checks that deliveries come from the service, and were signed now.
type WebhookVerifier struct {
	Secret    string           // all of it, whsec_ included
	Tolerance time.Duration    // 5 minutes by default, in both directions
	Now       func() time.Time // time.Now by default
}

// WebhookVerify is WebhookVerifier.Verify with nothing but a secret.
func WebhookVerify(payload []byte, header, secret string) (*Delivery, error) {
	return WebhookVerifier{Secret: secret}.Verify(payload, header)
}

// Verify checks the header X-Svc-Signature of a delivery. The payload is the body as
// it came, byte for byte: JSON that was parsed and written again has another
// signature. An error is a SignatureError: answer 400.
func (v WebhookVerifier) Verify(payload []byte, header string) (*Delivery, error) {
	if v.Secret == "" {
		return nil, argument("there is no webhook secret: it is in the answer of Webhooks.Create")
	}
	if v.Tolerance <= 0 {
		v.Tolerance = defaultTolerance
	}
	if v.Now == nil {
		v.Now = time.Now
	}
	var stamp string
	var signatures []string
	for _, part := range strings.Split(header, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			stamp = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || len(signatures) == 0 {
		return nil, &SignatureError{message: fmt.Sprintf("the signature %.80q is not one: hand over the header %s as it came", header, SignatureHeader)}
	}
	mac := hmac.New(sha256.New, []byte(v.Secret))
	mac.Write([]byte(stamp + "."))
	mac.Write(payload)
	want, fits := mac.Sum(nil), false
	for _, one := range signatures {
		got, err := hex.DecodeString(one)
		fits = hmac.Equal(got, want) && err == nil || fits
	}
	if !fits {
		return nil, &SignatureError{message: "the signature does not fit: hand over the raw body, and the secret of this endpoint, whsec_ included"}
	}
	// The time is looked at last, so that only what was signed can say that clocks differ.
	skew := v.Now().Sub(time.Unix(seconds, 0))
	if skew > v.Tolerance || skew < -v.Tolerance {
		where := "behind"
		if skew < 0 {
			where = "ahead of"
		}
		return nil, &SignatureError{skew, fmt.Sprintf("the delivery's time is %v %s this machine's, and %v are allowed: "+
			"it was recorded and played again, or a clock is off; compare both with a time server", skew.Abs().Round(time.Second), where, v.Tolerance)}
	}
	var delivery Delivery
	if err := json.Unmarshal(payload, &delivery); err != nil {
		return nil, &SignatureError{message: fmt.Sprintf("the delivery is genuine and cannot be read: %v", err)}
	}
	return &delivery, nil
}
