// Package clock is the one door through which time enters orgmem. Everything
// that asks for the time or waits for it holds a Clock that its constructor was
// given: Real in production, a Fake in tests, which then never sleep.
package clock

import "time"

// Clock tells the time and calls back later. All methods may be called from any
// goroutine.
type Clock interface {
	// Now returns the current time.
	Now() time.Time
	// AfterFunc runs f in its own goroutine after d. f must be quick or hand
	// over; a stopped timer's f does not start.
	AfterFunc(d time.Duration, f func()) Timer
	// NewTimer returns a timer whose channel receives once, after d.
	NewTimer(d time.Duration) ChanTimer
}

// Timer is a pending call.
type Timer interface {
	// Stop prevents the call and reports whether it did.
	Stop() bool
}

// ChanTimer is a pending receive.
type ChanTimer interface {
	Timer
	// C receives the time once the timer fires.
	C() <-chan time.Time
}

// Millis returns t as Unix milliseconds, the unit of stored times; the zero
// time is 0.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Real returns the machine's clock.
func Real() Clock { return real{} }

type real struct{}

func (real) Now() time.Time                            { return now() }
func (real) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
func (real) NewTimer(d time.Duration) ChanTimer        { return realTimer{time.NewTimer(d)} }

type realTimer struct{ *time.Timer }

func (t realTimer) C() <-chan time.Time { return t.Timer.C }
