package storage

import (
	"runtime"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// compactor bounds the compactions of all stores together. Pebble's own
// scheduler bounds each instance by itself, so that 256 open stores could
// compact at once, and it wakes every 100 ms in each: with a thousand stores
// that alone was 7 % of a core on an idle node. The log keeps Pebble's own, so
// that it never queues behind an organization's import.
type compactor struct {
	max int

	mu       sync.Mutex
	cond     *sync.Cond // on mu: a member's asking has become false
	running  int        // grants given and not done, reservations included
	waiting  []*compactorMember
	granting bool // one goroutine hands out at a time
}

// compactorMember is one store's place at the compactor. Guarded by
// compactor.mu, but for db, which is set before anything else is called.
type compactorMember struct {
	c       *compactor
	db      pebble.DBForCompaction
	running int
	waiting bool // in compactor.waiting
	asking  bool // a call into db is under way
	gone    bool
}

func newCompactor() *compactor {
	// Half the cores, but two: one long compaction must not hold up the small
	// ones of every other store.
	c := &compactor{max: max(2, runtime.GOMAXPROCS(0)/2)}
	c.cond = sync.NewCond(&c.mu)
	return c
}

func (c *compactor) member() pebble.CompactionScheduler { return &compactorMember{c: c} }

// Register implements pebble.CompactionScheduler.
func (m *compactorMember) Register(_ int, db pebble.DBForCompaction) { m.db = db }

// Unregister implements pebble.CompactionScheduler: after it, db is not called.
func (m *compactorMember) Unregister() {
	c := m.c
	c.mu.Lock()
	defer c.mu.Unlock()
	m.gone = true
	c.waiting = slices.DeleteFunc(c.waiting, func(w *compactorMember) bool { return w == m })
	for m.asking {
		c.cond.Wait()
	}
}

// TrySchedule implements pebble.CompactionScheduler. A member that is refused is
// asked when a place is free. Called with the instance's mutex held, so it must
// not call back, but for GetAllowedWithoutPermission.
func (m *compactorMember) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	c := m.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.gone {
		return false, nil
	}
	if c.running < c.max && m.running < m.db.GetAllowedWithoutPermission() {
		c.running++
		m.running++
		return true, m
	}
	if !m.waiting {
		m.waiting = true
		c.waiting = append(c.waiting, m)
	}
	return false, nil
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler. The
// number allowed per store is constant, so there is nothing to learn.
func (m *compactorMember) UpdateGetAllowedWithoutPermission() {}

// Started implements pebble.CompactionGrantHandle.
func (m *compactorMember) Started() {}

// MeasureCPU implements pebble.CompactionGrantHandle.
func (m *compactorMember) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats implements pebble.CompactionGrantHandle.
func (m *compactorMember) CumulativeStats(pebble.CompactionGrantHandleStats) {}

// Done implements pebble.CompactionGrantHandle: the place is free again.
func (m *compactorMember) Done() {
	c := m.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	m.running--
	c.grant()
}

// grant hands free places to those who wait, the longest waiting first. c.mu is
// held on entry and on return, and released around every call into a store,
// whose own mutex is ordered before it.
func (c *compactor) grant() {
	if c.granting {
		return // the other goroutine's loop sees what has changed
	}
	c.granting = true
	for c.running < c.max {
		m := c.next()
		if m == nil {
			break
		}
		c.running++
		m.running++
		m.asking = true
		c.mu.Unlock()
		accepted := false
		if waiting, _ := m.db.GetWaitingCompaction(); waiting {
			accepted = m.db.Schedule(m)
		}
		c.mu.Lock()
		m.asking = false
		c.cond.Broadcast()
		switch {
		case !accepted:
			// It has told Pebble itself, too, that it no longer waits, and will
			// come to TrySchedule when it has work again.
			c.running--
			m.running--
		case !m.waiting && !m.gone:
			// A store that was granted one goes on waiting in its own books and
			// does not come to TrySchedule: it must be asked again.
			m.waiting = true
			c.waiting = append(c.waiting, m)
		}
	}
	c.granting = false
}

// next takes the first member that waits and may run one more. A member with
// its full share stays in the line, and is looked at again when it is done.
func (c *compactor) next() *compactorMember {
	for i, m := range c.waiting {
		if m.running < m.db.GetAllowedWithoutPermission() {
			c.waiting = slices.Delete(c.waiting, i, i+1)
			m.waiting = false
			return m
		}
	}
	return nil
}
