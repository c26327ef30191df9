package cluster

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

const (
	defaultCompactBytes      = 8 << 20
	defaultCompactTotalBytes = 64 << 20
	defaultCompactAge        = time.Minute
)

// compactor decides when a group's stores are flushed and its log is cut. One
// goroutine does one group after the other, so that the flushes of 33 groups
// never come together.
type compactor struct {
	host *Host

	wake    chan struct{} // capacity 1: there may be something to do
	quit    chan struct{}
	stopped chan struct{}
	once    sync.Once
	running bool
}

func newCompactor(h *Host) *compactor {
	return &compactor{host: h, wake: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{})}
}

func (c *compactor) start() {
	c.running = true
	go c.run()
}

// stop ends the goroutine and compacts what is left, so that the next start
// replays nothing.
func (c *compactor) stop() error {
	if !c.running {
		return nil
	}
	c.once.Do(func() { close(c.quit) })
	select {
	case <-c.stopped:
	case <-c.host.halted: // it may be waiting for the state machine that halted
		return errHalted
	}
	var errs []error
	for _, g := range c.host.groups {
		if g.fsm.logBytes.Load() > 0 {
			errs = append(errs, c.compact(g))
		}
	}
	return errors.Join(errs...)
}

// grown is called by a group's state machine after each batch.
func (c *compactor) grown(group, total int64) {
	if group < c.host.cfg.CompactBytes && total < c.host.cfg.CompactTotalBytes {
		return
	}
	select {
	case c.wake <- struct{}{}:
	default: // it will look at all groups anyway
	}
}

func (c *compactor) run() {
	defer close(c.stopped)
	age := c.host.cfg.CompactAge
	timer := c.host.cfg.Clock.NewTimer(age)
	defer func() { timer.Stop() }()
	// After a failure (a full disk, mostly) only the timer tries again: the state
	// machines wake us after every batch.
	failed := false
	for {
		select {
		case <-c.quit:
			return
		case <-c.host.halted:
			return
		case <-c.wake:
			if !failed {
				failed = !c.relieve()
			}
		case <-timer.C():
			failed = false
			for _, g := range c.host.groups {
				if g.fsm.logBytes.Load() > 0 {
					failed = !c.try(g) || failed
				}
			}
			for _, m := range c.host.machines {
				if err := m.removeDoomed(); err != nil {
					c.host.cfg.Logger.Warn("directory of a removed store not deleted", "group", m.group, "error", err)
				}
			}
			timer = c.host.cfg.Clock.NewTimer(age)
		}
	}
}

// relieve compacts the largest group until none is above a limit. It reports
// whether all went well.
func (c *compactor) relieve() bool {
	for {
		var largest *group
		var most int64
		for _, g := range c.host.groups {
			if n := g.fsm.logBytes.Load(); n > most {
				largest, most = g, n
			}
		}
		if largest == nil || (most < c.host.cfg.CompactBytes && c.host.logBytes.Load() < c.host.cfg.CompactTotalBytes) {
			return true
		}
		select {
		case <-c.quit:
			return true
		default:
		}
		if !c.try(largest) {
			return false
		}
	}
}

// try compacts and reports what went wrong. The log stays whole then, so there
// is nothing to undo.
func (c *compactor) try(g *group) bool {
	if err := c.compact(g); err != nil {
		c.host.stats.compactionFailures.Add(1)
		c.host.cfg.Logger.Warn("log not compacted", "group", g.id, "error", err)
		return false
	}
	return true
}

// compact flushes the stores of a group, then lets raft write the marker and cut
// the log. The first flush runs beside the group's work; what became dirty
// meanwhile is little, and that much Snapshot flushes while the group stands
// still.
func (c *compactor) compact(g *group) error {
	select {
	case <-c.host.halted:
		return errHalted
	default:
	}
	if err := g.fsm.machine.flush(); err != nil {
		return fmt.Errorf("cluster: flush group %d: %w", g.id, err)
	}
	if err := g.raft.Snapshot().Error(); err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		return fmt.Errorf("cluster: compact group %d: %w", g.id, err)
	}
	c.host.stats.compactions.Add(1)
	return nil
}
