package actors

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// webhookFeature is what a node has once for events and webhooks. It may be used from any goroutine.
type webhookFeature struct {
	tenant.NoFeature
	hub    *eventHub
	delays []time.Duration // before the second and the third attempt to deliver an event
	random io.Reader
	// Attempts that succeeded and that failed, and endpoints that were disabled for it.
	delivered, failed, disabled atomic.Uint64
}

// defaultRetryDelays are the interface's waits before the second and the third
// attempt.
func defaultRetryDelays() []time.Duration {
	return []time.Duration{30 * time.Second, 120 * time.Second}
}

func newWebhookFeature(cfg *tenant.Config) (*webhookFeature, error) {
	f := &webhookFeature{hub: newEventHub(cfg.Clock), delays: slices.Clone(cfg.WebhookRetryDelays), random: cfg.Random}
	if cfg.WebhookRetryDelays == nil {
		f.delays = defaultRetryDelays()
	}
	if len(f.delays) != maxDeliveryAttempts-1 {
		return nil, fmt.Errorf("actors: there are %d webhook retries, and delays for %d", maxDeliveryAttempts-1, len(f.delays))
	}
	return f, nil
}

func (f *webhookFeature) Module(o *tenant.Org) tenant.Module {
	return &webhookModule{
		Org: o, enabled: map[pb.WebhookID]struct{}{}, posting: map[pb.WebhookID]*delivererRef{}, node: f, deliveries: newDeliveries(),
	}
}

func (f *webhookFeature) Stats(st *tenant.Stats) {
	st.EventStreams = f.hub.count()
	st.Deliveries, st.DeliveriesFailed, st.WebhooksDisabled = f.delivered.Load(), f.failed.Load(), f.disabled.Load()
}

// jittered spreads a wait by the interface's share, so that what failed together
// does not come back together.
func (f *webhookFeature) jittered(wait time.Duration) (time.Duration, error) {
	raw := make([]byte, 8)
	if _, err := io.ReadFull(f.random, raw); err != nil {
		return 0, fmt.Errorf("jitter: %w", err)
	}
	share := float64(binary.BigEndian.Uint64(raw)) / math.MaxUint64 // of the spread
	return time.Duration(float64(wait) * (1 - retryJitter + 2*retryJitter*share)), nil
}

// retryDelay is the wait behind an event's n-th attempt, before jitter.
func (f *webhookFeature) retryDelay(n uint32) time.Duration {
	return f.delays[min(max(n, 1), maxDeliveryAttempts-1)-1]
}

// Left ends the event streams of organizations that have moved; their readers come again.
func (f *webhookFeature) Left(which func(pb.OrgID) bool) { f.hub.cutAll(which) }
