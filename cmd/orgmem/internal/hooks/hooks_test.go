package hooks

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orgmem/proto/clock"
)

// The vector of docs/webhooks.md, made with openssl.
const (
	secret = "whsec_dGVzdA=="
	signed = "t=1700000000,v1=c7ac13b57a8d16147c9757c695353f4addfb92d54e2585d0ada5784333af2450"
)

var (
	body = []byte(`{"id":"1"}`)
	then = time.Unix(1_700_000_000, 0)
)

func TestVerify(t *testing.T) {
	if err := Verify(secret, signed, body, then); err != nil {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		secret, header string
		body           []byte
		now            time.Time
	}{
		"another body":   {secret, signed, []byte(`{"id":"2"}`), then},
		"another secret": {"whsec_", signed, body, then},
		"too old":        {secret, signed, body, then.Add(Tolerance + time.Second)},
		"too early":      {secret, signed, body, then.Add(-Tolerance - time.Second)},
		"another time":   {secret, "t=1700000001" + signed[len("t=1700000000"):], body, then},
		"none":           {secret, "", body, then},
		"no hex":         {secret, "t=1700000000,v1=xyz", body, then},
		"half":           {secret, signed[:60], body, then},
	} {
		if Verify(c.secret, c.header, c.body, c.now) == nil {
			t.Errorf("%s is believed", name)
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(signed, body)
	f.Add("t=,v1=", []byte{})
	f.Fuzz(func(t *testing.T, header string, b []byte) {
		if Verify(secret, header, b, then) == nil && !bytes.Equal(b, body) {
			t.Errorf("%q is believed of %q", header, b)
		}
	})
}

func TestHandler(t *testing.T) {
	var got []Delivery
	var refused []error
	h := Handler(secret, clock.NewFake(then), func(d Delivery) { got = append(got, d) }, func(err error) {
		refused = append(refused, err)
	})
	for _, header := range []string{signed, "t=1,v1=00"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("X-Svc-Signature", header)
		r.Header.Set("X-Svc-Delivery", "one")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if want := map[bool]int{true: http.StatusNoContent, false: http.StatusBadRequest}[header == signed]; w.Code != want {
			t.Errorf("%s: %d", header, w.Code)
		}
	}
	if len(got) != 1 || got[0].Delivery != "one" || string(got[0].Envelope) != string(body) || len(refused) != 1 {
		t.Errorf("%v, %v", got, refused)
	}
}

func TestCertificate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "listen.pem")
	first, err := Certificate(path, then)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Certificate(path, then)
	if err != nil || !bytes.Equal(first.Certificate[0], again.Certificate[0]) {
		t.Errorf("it is another one the second time: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: its key may be read by others: %v", err, info.Mode())
	}
	if err := first.Leaf.VerifyHostname("localhost"); err != nil {
		t.Error(err)
	}
	if _, err := Certificate(path, then.Add(2*certificateLife)); err == nil {
		t.Error("one that has expired is used")
	}
}
