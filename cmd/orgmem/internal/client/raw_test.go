package client_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/proto/clock"
)

// Raw passes on what was answered, tries again what may be mended by it, and says what to do
// where nobody is there.
func TestRaw(t *testing.T) {
	const cut = -1
	for _, c := range []struct {
		name    string
		answers []int // statuses, the last one for ever; cut breaks the connection
		status  int
		asked   int32
	}{
		{"an answer", []int{200}, 200, 1},
		{"a refusal", []int{404}, 404, 1},
		{"for the rate", []int{429}, 429, 1},
		{"draining", []int{503, 503, 200}, 200, 3},
		{"draining for long", []int{503}, 503, 4},
		{"broken connections", []int{cut, cut, 201}, 201, 3},
		{"nothing but broken connections", []int{cut}, 0, 4},
		{"a redirect", []int{302}, 302, 1},
	} {
		var asked atomic.Int32
		service, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
			status := c.answers[min(int(asked.Add(1)), len(c.answers))-1]
			if r.Header.Get("X-Svc-Api-Key") != "svc_prod_k" || r.Header.Get("X-Svc-Subject") != "a%2Fb%20%C3%BC" ||
				r.Header.Get("Idempotency-Key") != "once" || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v", c.name, r.Header)
			}
			if status == cut {
				panic(http.ErrAbortHandler)
			}
			w.WriteHeader(status)
		})
		status, _, _, err := service.Raw(t.Context(), http.MethodPost, "/v1/ingest", []byte("{}"), "once")
		if status != c.status || (err != nil) != (c.status == 0) || asked.Load() != c.asked {
			t.Errorf("%s: %d %v, asked %d times", c.name, status, err, asked.Load())
		}
	}
	service, err := client.New(client.Options{Base: "http://127.0.0.1:1", Clock: clock.Real(), Advice: "start it"})
	if err != nil {
		t.Fatal(err)
	}
	_, _, _, err = service.Raw(t.Context(), http.MethodGet, "/v1/me", nil, "")
	if err == nil || !strings.Contains(err.Error(), "nobody answers at http://127.0.0.1:1") ||
		!strings.Contains(err.Error(), "start it") {
		t.Errorf("%v", err)
	}
}
