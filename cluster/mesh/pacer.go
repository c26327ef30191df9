package mesh

import (
	"context"
	"sync"
	"time"

	"orgmem/proto/clock"
)

// BurstBytes is how much may go without waiting: some small stores, and less
// than a tenth of a second of the network.
const BurstBytes = 4 << 20

// Pacer spreads bytes over time.
type Pacer struct {
	clock clock.Clock
	rate  int64 // bytes per second; negative: no limit

	mu   sync.Mutex
	paid time.Time // until when the bytes that were let through are paid for
}

// Wait lets bytes through, all callers together no faster than the rate.
func (p *Pacer) Wait(ctx context.Context, bytes int) error {
	if p.rate < 0 {
		return nil
	}
	cost := func(n int64) time.Duration { return time.Duration(n * int64(time.Second) / p.rate) }
	p.mu.Lock()
	now := p.clock.Now()
	if earliest := now.Add(-cost(BurstBytes)); p.paid.Before(earliest) {
		p.paid = earliest
	}
	p.paid = p.paid.Add(cost(int64(bytes)))
	owed := p.paid.Sub(now)
	p.mu.Unlock()
	if owed <= 0 {
		return nil
	}
	return clock.Wait(ctx, p.clock, owed)
}

// NewPacer returns a pacer of so many bytes per second; negative is no limit.
func NewPacer(c clock.Clock, rate int64) *Pacer { return &Pacer{clock: c, rate: rate} }
