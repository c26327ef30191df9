package api

import (
	"net/http"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
	"orgmem/proto/canon"
)

// TestFiguresOfTheDocuments repeats, by hand and once, the figures of the interface
// that this package owns, as it applies them and as the served document tells them. The page
// that a client gets who names no size is actors': its test of the same name holds it to the
// same 50.
//
// interface: Limits/Concurrent event streams
// interface: Limits/Stream heartbeat
// interface: Limits/Event types
// interface: Limits/Webhook URL length
// interface: Limits/Session batch
// interface: Limits/Page size
func TestFiguresOfTheDocuments(t *testing.T) {
	h := newHarness(t)
	of := func(method, path, field string) openapi3.Schema {
		t.Helper()
		body := h.document().Paths.Value(path).GetOperation(method).RequestBody.Value.Content["application/json"].Schema.Value
		return *body.Properties[field].Value
	}
	most := func(n *uint64) uint64 {
		if n == nil {
			return 0
		}
		return *n
	}
	hook, patch := "/v1/webhooks", "/v1/webhooks/{webhook_id}"
	streams := problems.Catalogue[pb.CodeTooManyStreams]
	for _, f := range []struct {
		words     string // the document's
		got, want any
	}{
		// Limits that the interface names.
		{"sixth: 429, Retry-After 15 s", [2]int{streams.Status, int(streams.RetryAfter)}, [2]int{429, 15}},
		{"Stream heartbeat | 15 s idle", streamHeartbeat, 15 * time.Second},
		{"Event types per webhook endpoint | 20, or *", most(of(http.MethodPost, hook, "eventTypes").MaxItems), uint64(20)},
		{"the same, of a change", most(of(http.MethodPatch, patch, "eventTypes").MaxItems), uint64(20)},
		{"Webhook URL length | at most 2048 characters", most(of(http.MethodPost, hook, "url").MaxLength), uint64(2048)},
		{"the same, of a change", most(of(http.MethodPatch, patch, "url").MaxLength), uint64(2048)},
		{"Session batch | up to 500 events", maxSessionBatch, 500},
		{"the same, as documented", most(of(http.MethodPost, "/v1/ingest/session-batch", "events").MaxItems), uint64(500)},
		{"Page size | values above 100 clamp to 100", web.MaxPageSize, 100},
		// Limits that we chose.
		{"Default page size 50", web.DefaultPageSize, 50},
		{"1-128 visible ASCII characters (X-Request-Id)", web.MaxRequestID, 128},
		{"JSON bodies 1 MiB", h.s.cfg.MaxBody, int64(1 << 20)},
		{"ingest, batches and session batches 10 MiB", h.s.cfg.MaxIngestBody, int64(10 << 20)},
		{"uploads 64 MiB", h.s.cfg.MaxUpload, int64(64 << 20)},
		{"one content at most 5,000,000 characters", h.s.cfg.MaxContent, 5_000_000},
		{"a batch at most 1,000 items", h.s.cfg.MaxBatch, 1_000},
		{"Nesting deeper than 64 levels is 422", canon.MaxDepth, 64},
		{"Subject ids: 1-256 bytes", web.MaxSubjectBytes, 256},
		{"Key 1-255 visible ASCII characters (Idempotency-Key)", web.MaxIdempotencyKey, 255},
		{
			"idempotency_in_progress (409, Retry-After: 1)", int(problems.Catalogue[pb.CodeIdempotencyInProgress].RetryAfter), 1,
		},
	} {
		if f.got != f.want {
			t.Errorf("%q: %v, want %v", f.words, f.got, f.want)
		}
	}
	pages := 0
	for path, item := range h.document().Paths.Map() {
		for method, op := range item.Operations() {
			if size := op.Parameters.GetByInAndName(openapi3.ParameterInQuery, "pageSize"); size != nil {
				if pages++; size.Schema.Value.Default != 50.0 {
					t.Errorf("%s %s documents a page of %v", method, path, size.Schema.Value.Default)
				}
			}
		}
	}
	if pages < 16 {
		t.Errorf("only %d lists have pages", pages)
	}
}
