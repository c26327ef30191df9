package webhook

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

// Feature is what a node has once for events and webhooks. It may be used from any goroutine.
type Feature struct {
	tenant.NoFeature
	Streams *Hub
	delays  []time.Duration // before the second and the third attempt to deliver an event
	random  io.Reader
	// Attempts that succeeded and that failed, and endpoints that were disabled for it.
	delivered, failed, disabled atomic.Uint64
}

// RetryJitter is how far a retry may come before or after its time, as a share of the wait (the interface's).
const RetryJitter = 0.2

// DefaultRetryDelays are the interface's waits before the second and the third attempt.
func DefaultRetryDelays() []time.Duration {
	return []time.Duration{30 * time.Second, 120 * time.Second}
}

// New makes the feature of a node. It fails when the configured delays are not one for each attempt after the first;
// nil means DefaultRetryDelays.
func New(cfg *tenant.Config) (*Feature, error) {
	f := &Feature{Streams: newEventHub(cfg.Clock), delays: slices.Clone(cfg.WebhookRetryDelays), random: cfg.Random}
	if cfg.WebhookRetryDelays == nil {
		f.delays = DefaultRetryDelays()
	}
	if len(f.delays) != MaxDeliveryAttempts-1 {
		return nil, fmt.Errorf("actors: there are %d webhook retries, and delays for %d", MaxDeliveryAttempts-1,
			len(f.delays))
	}
	return f, nil
}

// Module makes the module of an organization.
func (f *Feature) Module(o *tenant.Org) tenant.Module {
	m := &Module{
		Org: o, feature: f, endpoints: endpoints{&o.View}, outbox: outbox{&o.View}, log: deliveryLog{o},
		client: newClient(&o.View),
	}
	m.deliverers = newDeliverers(m)
	return m
}

// Stats adds the open streams, the attempts to deliver, and the endpoints that were disabled for failures.
func (f *Feature) Stats(st *tenant.Stats) {
	st.EventStreams = f.Streams.count()
	st.Deliveries, st.DeliveriesFailed, st.WebhooksDisabled = f.delivered.Load(), f.failed.Load(), f.disabled.Load()
}

// jittered spreads a wait by the interface's share, so that what failed together does not come back together.
func (f *Feature) jittered(wait time.Duration) (time.Duration, error) {
	raw := make([]byte, 8)
	if _, err := io.ReadFull(f.random, raw); err != nil {
		return 0, fmt.Errorf("jitter: %w", err)
	}
	share := float64(binary.BigEndian.Uint64(raw)) / math.MaxUint64 // of the spread
	return time.Duration(float64(wait) * (1 - RetryJitter + 2*RetryJitter*share)), nil
}

// retryDelay is the wait behind an event's n-th attempt, before jitter.
func (f *Feature) retryDelay(n uint32) time.Duration {
	return f.delays[min(max(n, 1), MaxDeliveryAttempts-1)-1]
}

// Left ends the event streams of organizations that have moved; their readers come again.
func (f *Feature) Left(which func(pb.OrgID) bool) { f.Streams.endStreams(which) }
