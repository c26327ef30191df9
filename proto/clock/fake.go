package clock

import (
	"sort"
	"sync"
	"time"
)

// Fake is a Clock that stands still until it is advanced. Calls that fall due
// run in the goroutine that advances it, in the order of their times.
type Fake struct {
	mu      sync.Mutex
	now     time.Time
	pending []*fakeTimer
	seq     int
}

// NewFake returns a clock that shows start.
func NewFake(start time.Time) *Fake { return &Fake{now: start} }

// Now returns the time it was last moved to.
func (c *Fake) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements Clock.
func (c *Fake) AfterFunc(d time.Duration, f func()) Timer { return c.add(d, f, nil) }

// NewTimer implements Clock.
func (c *Fake) NewTimer(d time.Duration) ChanTimer {
	ch := make(chan time.Time, 1)
	return c.add(d, nil, ch)
}

// Waiters returns how many timers are pending: a test can see that the code
// under test has begun to wait.
func (c *Fake) Waiters() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pending)
}

// WaitersIn returns how many timers fall due in exactly d: where several things
// wait, a test can tell which of them has begun to.
func (c *Fake) WaitersIn(d time.Duration) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, t := range c.pending {
		if t.at.Equal(c.now.Add(d)) {
			n++
		}
	}
	return n
}

// Advance moves the clock forward by d, firing what falls due on the way; each
// call sees the clock at its own due time.
func (c *Fake) Advance(d time.Duration) {
	c.mu.Lock()
	target := c.now.Add(d)
	for {
		sort.SliceStable(c.pending, func(i, j int) bool {
			a, b := c.pending[i], c.pending[j]
			return a.at.Before(b.at) || a.at.Equal(b.at) && a.seq < b.seq
		})
		if len(c.pending) == 0 || c.pending[0].at.After(target) {
			break
		}
		t := c.pending[0]
		c.pending = c.pending[1:]
		if t.at.After(c.now) {
			c.now = t.at
		}
		now := c.now
		c.mu.Unlock()
		t.fire(now)
		c.mu.Lock()
	}
	if target.After(c.now) { // another may have moved it further
		c.now = target
	}
	c.mu.Unlock()
}

// Set moves the clock to t, also backwards; timers that are then due fire.
func (c *Fake) Set(t time.Time) {
	c.mu.Lock()
	back := t.Before(c.now)
	if back {
		c.now = t
	}
	d := t.Sub(c.now)
	c.mu.Unlock()
	if !back {
		c.Advance(d)
	}
}

// Jump changes the time of day by d, as somebody does who sets a machine's clock:
// what waits still has as long to wait. Unlike the machine's times those of a Fake
// know of no other clock, so that two of them, one told before and one after, are as
// far apart as they look.
func (c *Fake) Jump(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	for _, t := range c.pending {
		t.at = t.at.Add(d)
	}
}

func (c *Fake) add(d time.Duration, f func(), ch chan time.Time) *fakeTimer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	t := &fakeTimer{clock: c, at: c.now.Add(max(d, 0)), seq: c.seq, f: f, ch: ch}
	c.pending = append(c.pending, t)
	return t
}

type fakeTimer struct {
	clock *Fake
	at    time.Time
	seq   int
	f     func()
	ch    chan time.Time
}

func (t *fakeTimer) C() <-chan time.Time { return t.ch }

func (t *fakeTimer) fire(now time.Time) {
	if t.ch != nil {
		t.ch <- now
		return
	}
	t.f()
}

func (t *fakeTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	for i, p := range t.clock.pending {
		if p == t {
			t.clock.pending = append(t.clock.pending[:i], t.clock.pending[i+1:]...)
			return true
		}
	}
	return false
}
