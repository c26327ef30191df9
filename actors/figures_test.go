package actors

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/cognition"
	"orgmem/actors/egress"
	"orgmem/actors/export"
	"orgmem/actors/graph"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
)

// TestFiguresOfTheDocuments repeats, by hand and once, the figures of
// docs/interface.md that this package owns: other tests work with the constants, and
// would follow them wherever they go.
//
// interface: Limits/Family figures
// interface: Limits/Concurrent event streams
// interface: Limits/Webhook endpoints
// interface: Limits/Webhook attempts and time-out
// interface: Limits/Webhook URL length
// interface: Limits/Import history
// interface: Limits/Asserted weight and confidence
// interface: Limits/Tombstone retention
// interface: Limits/Key token
func TestFiguresOfTheDocuments(t *testing.T) {
	const day = 24 * time.Hour
	for _, f := range []struct {
		words     string // the document's
		got, want any
	}{
		// docs/interface.md, "Rate limits".
		{"reads | 100 | 300", tenant.LimitOf("reads", pb.PlanStandard), tenant.Limit{Burst: 100, PerMinute: 300}},
		{"writes | 30 | 120", tenant.LimitOf("writes", pb.PlanStandard), tenant.Limit{Burst: 30, PerMinute: 120}},
		{"ingest | 30 | 60", tenant.LimitOf("ingest", pb.PlanStandard), tenant.Limit{Burst: 30, PerMinute: 60}},
		{"sessions | 300 | 600", tenant.LimitOf("sessions", pb.PlanStandard), tenant.Limit{Burst: 300, PerMinute: 600}},
		{"search | 30 | 120", tenant.LimitOf("search", pb.PlanStandard), tenant.Limit{Burst: 30, PerMinute: 120}},
		{"exports | 10 | 30", tenant.LimitOf("exports", pb.PlanStandard), tenant.Limit{Burst: 10, PerMinute: 30}},
		{"default | 60 | 120", tenant.LimitOf("default", pb.PlanStandard), tenant.Limit{Burst: 60, PerMinute: 120}},
		// docs/interface.md, "Other limits".
		{"Concurrent event streams per organization | 5", webhook.MaxStreams, 5},
		{"sixth: 429, Retry-After 15 s", tenant.RetryAfterStreamsSeconds, 15},
		{"Webhook endpoints per organization | 20", webhook.MaxWebhooks, 20},
		{"Webhook attempts per event | 3", webhook.MaxDeliveryAttempts, 3},
		{"timeout | 10 s", egress.AttemptTimeout, 10 * time.Second},
		{"failures before disable | 8", webhook.MaxWebhookFailures, 8},
		{"retry delays of about 30 s then about 120 s", fmt.Sprint(webhook.DefaultRetryDelays()), "[30s 2m0s]"},
		{"each jittered by up to 20%", webhook.RetryJitter, 0.2},
		{"Webhook URL length | at most 2048 characters", egress.MaxURL, 2048},
		{"Import history | 20 most recent", graph.MaxImports, 20},
		{"Asserted edge weight and confidence | at most 0.4", graph.MaxAssertedWeight, 0.4},
		{"Tombstone retention for forgotten nodes | 30 days", tenant.DefaultTombstoneRetention, 30 * day},
		{"Key token length | 43 characters", base64.RawURLEncoding.EncodedLen(account.KeyTokenBytes), 43},
		{"key id 64 hex characters", hex.EncodedLen(len(pb.KeyHash{})), 64},
		// docs/interface.md, elsewhere.
		{"Default page size 50", tenant.PageSize(&pb.Page{}), 50},
		{"lastUsedAt is written at most once a minute per key", tenant.LastUsedInterval, time.Minute},
		{"lifetime 7 days (of a sandbox key)", tenant.DefaultSandboxKeyLife, 7 * day},
		{"ends failed after 5 attempts", tenant.MaxAttempts, 5},
		{"topK?: 1-100 (10)", search.DefaultTopK, 10},
		{"the strongest 200 nodes", search.MaxRecallNodes, 200},
		{"at the latest every 5 minutes while there is new content", cognition.MaxWait, 5 * time.Minute},
		{"buckets are UTC hours up to 7 days", account.HourlyUsage, 7 * day},
		{"A range over 92 days", account.MaxUsageRange, 92 * day},
		{"expired (after 7 days)", export.DefaultExportRetention, 7 * day},
		{"the token lives 10 minutes", account.ConfirmLife, 10 * time.Minute},
		{"Kept 24 hours (an idempotency key's outcome)", tenant.IdempotencyRetention, day},
		{"responseSnippet (at most 512 bytes, printable)", webhook.MaxSnippet, 512},
		{"The last 50 per endpoint are kept", webhook.MaxDeliveries, 50},
		{"A response is read up to 64 KiB", egress.MaxResponse, 64 << 10},
		{
			"whsec_ followed by base64 of 32 random bytes", fmt.Sprint(webhook.SecretPrefix, webhook.SecretBytes),
			"whsec_32",
		},
	} {
		if f.got != f.want {
			t.Errorf("%q: %v, want %v", f.words, f.got, f.want)
		}
	}
}
