package subject

import (
	"time"

	"orgmem/actors/tenant"
	"orgmem/proto/clock"
)

// backOff is a wait after each failure, which doubles with every failure in a row.
type backOff struct {
	failures int // in a row
	timer    clock.Timer
}

// failed counts a failure, and begins the wait.
func (b *backOff) failed(s *tenant.System, then func()) {
	b.failures++
	b.wait(s, min(s.Config.MaxBackOff, tenant.MinBackOff<<min(b.failures-1, 10)), then)
}

// wait begins a wait that is no failure.
func (b *backOff) wait(s *tenant.System, d time.Duration, then func()) {
	b.timer = s.Clock.AfterFunc(d, then)
}

func (b *backOff) waiting() bool { return b.timer != nil }

// over is called when the wait has ended.
func (b *backOff) over() { b.timer = nil }

// stop ends the wait with the actor.
func (b *backOff) stop() {
	if b.timer != nil {
		b.timer.Stop()
	}
}
