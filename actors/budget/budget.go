package budget

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// ErrFull means that the memory was not free in time, or that too many wait for it.
var ErrFull = errors.New("no memory is free for it")

// ErrEnded means that a work asked for more after it had given everything back.
var ErrEnded = errors.New("the work has ended")

// maxWaiting bounds who waits for a budget for some time: more would not get their turn.
// A caller that waits without a limit is not counted: what created it bounds how many there are.
const maxWaiting = 512

// Budget is the memory of a node for one purpose.
type Budget struct {
	limit int
	clock clock.Clock

	mu      sync.Mutex // guards what follows
	free    int
	works   []*Work // under way
	waiting []*demand
}

// New makes a budget of so many bytes.
func New(limit int, c clock.Clock) *Budget { return &Budget{limit: limit, clock: c, free: limit} }

// Work is something that holds memory.
type Work struct {
	budget *Budget
	org    pb.OrgID
	most   int // what it may need
	held   int
	ended  bool
}

// demand is somebody who waits.
type demand struct {
	work  *Work
	bytes int
	fresh bool          // the work is to begin
	done  chan struct{} // closed once it is granted, or refused with err
	err   error
}

// Begin waits until first bytes are free for a work of an organization that may come to
// need most bytes: for as long as wait at most, or as ctx lasts where wait is 0. The
// errors are ErrFull, and that of ctx.
func (b *Budget) Begin(ctx context.Context, org pb.OrgID, first, most int, wait time.Duration) (*Work, error) {
	most = min(max(first, most), b.limit)
	w := &Work{budget: b, org: org, most: most}
	return w, b.demand(ctx, &demand{work: w, bytes: min(first, most), fresh: true, done: make(chan struct{})}, wait)
}

// More waits, like Begin, until the work may hold so many bytes more. What is beyond the
// most that it named is not counted: it is bounded by who named it. After End, and where
// End comes while it waits, the error is ErrEnded: nobody would give back what it got.
func (w *Work) More(ctx context.Context, bytes int, wait time.Duration) error {
	bytes = min(bytes, w.most-w.held)
	if bytes <= 0 {
		return nil
	}
	return w.budget.demand(ctx, &demand{work: w, bytes: bytes, done: make(chan struct{})}, wait)
}

// Held is what the work may hold: nothing after End.
func (w *Work) Held() int { return w.held }

// End gives everything back, and refuses what the work still waits for. It may be called
// again.
func (w *Work) End() {
	b := w.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.ended {
		return
	}
	w.ended = true
	if i := slices.Index(b.works, w); i >= 0 {
		b.works = slices.Delete(b.works, i, i+1)
	}
	b.waiting = slices.DeleteFunc(b.waiting, func(d *demand) bool {
		if d.work == w {
			d.err = ErrEnded
			close(d.done)
		}
		return d.work == w
	})
	b.free += w.held
	w.held = 0
	b.serve()
}

// Limit is how many bytes there are.
func (b *Budget) Limit() int { return b.limit }

// Used is how many bytes are granted.
func (b *Budget) Used() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.limit - b.free
}

// Waiting is how many wait.
func (b *Budget) Waiting() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}

func (b *Budget) demand(ctx context.Context, d *demand, wait time.Duration) error {
	b.mu.Lock()
	if d.work.ended {
		b.mu.Unlock()
		return ErrEnded
	}
	if wait > 0 && len(b.waiting) >= maxWaiting {
		b.mu.Unlock()
		return ErrFull
	}
	b.waiting = append(b.waiting, d)
	b.serve()
	b.mu.Unlock()
	select {
	case <-d.done: // at once, as a rule: no timer is made
		return d.err
	default:
	}
	var late <-chan time.Time
	if wait > 0 {
		timer := b.clock.NewTimer(wait)
		defer timer.Stop()
		late = timer.C()
	}
	err := ErrFull
	select {
	case <-d.done:
		return d.err
	case <-late:
	case <-ctx.Done():
		err = ctx.Err()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.waiting, d)
	if i < 0 {
		return d.err // it was granted, or its work ended, meanwhile
	}
	b.waiting = slices.Delete(b.waiting, i, i+1)
	return err
}

// serve grants what can be. b.mu is held.
func (b *Budget) serve() {
	for {
		next := -1
		for i, d := range b.waiting {
			if (next < 0 || b.before(d, b.waiting[next])) && b.safe(d) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		d := b.waiting[next]
		b.waiting = slices.Delete(b.waiting, next, next+1)
		if d.fresh {
			b.works = append(b.works, d.work)
		}
		b.free -= d.bytes
		d.work.held += d.bytes
		close(d.done)
	}
}

// before reports whether a demand goes before another that came earlier.
func (b *Budget) before(d, earlier *demand) bool {
	if d.fresh != earlier.fresh {
		return earlier.fresh
	}
	return d.fresh && b.under(d.work.org) < b.under(earlier.work.org)
}

// under is how many works of an organization are under way.
func (b *Budget) under(org pb.OrgID) (n int) {
	for _, w := range b.works {
		if w.org == org {
			n++
		}
	}
	return n
}

// safe reports whether all works can end one after the other once a demand is granted:
// those that need the least more first, each giving back what it holds. b.mu is held.
func (b *Budget) safe(d *demand) bool {
	free := b.free - d.bytes
	if free < 0 {
		return false
	}
	type state struct{ need, held int }
	states := make([]state, 0, len(b.works)+1)
	for _, w := range b.works {
		s := state{w.most - w.held, w.held}
		if w == d.work {
			s = state{s.need - d.bytes, s.held + d.bytes}
		}
		states = append(states, s)
	}
	if d.fresh {
		states = append(states, state{d.work.most - d.bytes, d.bytes})
	}
	slices.SortFunc(states, func(a, b state) int { return a.need - b.need })
	for _, s := range states {
		if s.need > free {
			return false
		}
		free += s.held
	}
	return true
}
