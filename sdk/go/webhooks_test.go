package orgmem

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// The vector of docs/webhooks.md.
const (
	vectorSecret = "whsec_dGVzdA=="
	vectorTime   = 1700000000
	vectorBody   = `{"id":"1"}`
	vectorV1     = "c7ac13b57a8d16147c9757c695353f4addfb92d54e2585d0ada5784333af2450"
)

func TestWebhookVerify(t *testing.T) {
	header := fmt.Sprintf("t=%d,v1=%s", vectorTime, vectorV1)
	at := func(d time.Duration) WebhookVerifier {
		return WebhookVerifier{Secret: vectorSecret, Now: func() time.Time { return time.Unix(vectorTime, 0).Add(d) }}
	}
	for _, d := range []time.Duration{0, 5 * time.Minute, -5 * time.Minute} {
		if delivery, err := at(d).Verify([]byte(vectorBody), header); err != nil || delivery.ID != "1" {
			t.Errorf("%v: %+v %v", d, delivery, err)
		}
	}
	other := strings.Repeat("0", 64)
	for _, pair := range [][2]string{{other, vectorV1}, {vectorV1, other}} {
		if _, err := at(0).Verify([]byte(vectorBody), fmt.Sprintf("t=%d, v1=%s, v1=%s", vectorTime, pair[0], pair[1])); err != nil {
			t.Errorf("two signatures: %v", err)
		}
	}
	for name, tc := range map[string]struct {
		verifier     WebhookVerifier
		body, header string
		says         string
		skew         time.Duration
	}{
		"a clock behind":   {at(-301 * time.Second), vectorBody, header, "5m1s ahead of this machine's", -301 * time.Second},
		"a clock ahead":    {at(time.Hour), vectorBody, header, "1h0m0s behind this machine's", time.Hour},
		"less tolerance":   {WebhookVerifier{vectorSecret, time.Second, at(2 * time.Second).Now}, vectorBody, header, "time server", 2 * time.Second},
		"another body":     {at(0), vectorBody + " ", header, "raw body", 0},
		"another secret":   {WebhookVerifier{Secret: "dGVzdA==", Now: at(0).Now}, vectorBody, header, "whsec_", 0},
		"another time":     {at(0), vectorBody, strings.Replace(header, "1700000000", "1700000001", 1), "does not fit", 0},
		"no signature":     {at(0), vectorBody, "t=1700000000", SignatureHeader, 0},
		"no time":          {at(0), vectorBody, "v1=" + vectorV1, SignatureHeader, 0},
		"nothing":          {at(0), vectorBody, "", SignatureHeader, 0},
		"no hexadecimal":   {at(0), vectorBody, "t=1700000000,v1=zz", "does not fit", 0},
		"half a signature": {at(0), vectorBody, header[:len(header)-2], "does not fit", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tc.verifier.Verify([]byte(tc.body), tc.header)
			var wrong *SignatureError
			if !errors.As(err, &wrong) {
				t.Fatalf("%T %v", err, err)
			}
			if wrong.Skew != tc.skew {
				t.Errorf("skew %v", wrong.Skew)
			}
			says(t, err, tc.says)
		})
	}
	if _, err := WebhookVerify([]byte(vectorBody), header, vectorSecret); err == nil {
		t.Error("a delivery of 2023 is taken for one of now")
	}
	_, err := WebhookVerify([]byte(vectorBody), header, "")
	says(t, err, "no webhook secret")
}
