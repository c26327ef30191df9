package cluster

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/wire"
	"orgmem/storage"
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
	*node
	groups

	wake    chan struct{} // capacity 1: there may be something to do
	quit    chan struct{}
	stopped chan struct{}
	once    sync.Once
	running bool

	idle map[storage.StoreID]bool // of discardStages; only the goroutine's
}

func newCompactor(n *node, all groups) *compactor {
	return &compactor{
		node: n, groups: all,
		wake: make(chan struct{}, 1), quit: make(chan struct{}), stopped: make(chan struct{}),
	}
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
	case <-c.halted: // it may be waiting for the state machine that halted
		return errHalted
	}
	var errs []error
	for _, g := range c.hosted() {
		if g.fsm.logBytes.Load() > 0 && !g.fsm.restoring.Load() {
			if err := c.compact(g); !errors.Is(err, errUnsettled) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// grown is called by a group's state machine after each batch.
func (c *compactor) grown(group, total int64) {
	if group < c.cfg.CompactBytes && total < c.cfg.CompactTotalBytes {
		return
	}
	select {
	case c.wake <- struct{}{}:
	default: // it will look at all groups anyway
	}
}

func (c *compactor) run() {
	defer close(c.stopped)
	age := c.cfg.CompactAge
	timer := c.cfg.Clock.NewTimer(age)
	defer func() { timer.Stop() }()
	// After a failure (a full disk, mostly) only the timer tries again: the state
	// machines wake us after every batch.
	failed := false
	for {
		select {
		case <-c.quit:
			return
		case <-c.halted:
			return
		case <-c.wake:
			if !failed {
				failed = !c.relieve()
			}
		case <-timer.C():
			failed = false
			for _, g := range c.hosted() {
				if g.fsm.logBytes.Load() > 0 && !g.fsm.restoring.Load() {
					failed = !c.try(g) || failed
				}
			}
			c.discardStages()
			for _, m := range c.machines {
				if err := m.DeleteRemoved(); err != nil {
					c.cfg.Logger.Warn("directory of a removed store not deleted", "group", m.Group, "error", err)
				}
			}
			timer = c.cfg.Clock.NewTimer(age)
		}
	}
}

// relieve compacts the largest group until none is above a limit. It reports
// whether all went well.
func (c *compactor) relieve() bool {
	for {
		var largest *group
		var most int64
		for _, g := range c.hosted() {
			// One that is being restored cannot be compacted, and would keep
			// the caller waiting.
			if n := g.fsm.logBytes.Load(); n > most && !g.fsm.restoring.Load() {
				largest, most = g, n
			}
		}
		if largest == nil || (most < c.cfg.CompactBytes && c.logBytes.Load() < c.cfg.CompactTotalBytes) {
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
// is nothing to undo. A membership that is just being changed is nothing wrong.
func (c *compactor) try(g *group) bool {
	err := c.compact(g)
	if errors.Is(err, errUnsettled) {
		return false
	}
	if err != nil {
		c.stats.compactionFailures.Add(1)
		c.cfg.Logger.Warn("log not compacted", "group", g.id, "error", err)
		return false
	}
	return true
}

// errUnsettled means that the entry with the group's newest membership is not
// applied here yet: raft makes no marker before.
var errUnsettled = errors.New("membership of the group is being changed")

// compact is compactTo that cuts what nobody may want.
func (c *compactor) compact(g *group) error { return c.compactTo(g, 0) }

// compactTo flushes the stores of a group, then lets raft write the marker, and
// cuts the log: up to upTo in any case, see cut. The first flush runs beside the group's
// work; what became dirty meanwhile is little, and that much Snapshot flushes while
// the group stands still.
func (c *compactor) compactTo(g *group, upTo uint64) error {
	select {
	case <-c.halted:
		return errHalted
	default:
	}
	if err := g.fsm.machine.Flush(); err != nil {
		return fmt.Errorf("cluster: flush group %d: %w", g.id, err)
	}
	if err := g.raft.Snapshot().Error(); err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		if !g.alone.Load() && g.log.ConfIndex.Load() > g.log.Marks.Index.Load() {
			err = fmt.Errorf("%w: %w", errUnsettled, err)
		}
		return fmt.Errorf("cluster: compact group %d: %w", g.id, err)
	}
	if err := g.cut(upTo); err != nil {
		return err
	}
	c.stats.compactions.Add(1)
	return nil
}

// discardStages deletes what was collected of stores whose group is not being
// restored any more: no transfer will finish it, and what is erased from the store
// meanwhile would stay in it. The compactor calls it at its ticks; the second one
// that finds a stage idle deletes it, since a Restore that failed is soon tried
// again.
func (c *compactor) discardStages() {
	staged, err := c.cfg.Storage.Staged()
	idle := map[storage.StoreID]bool{}
	for _, id := range staged {
		of := wire.MetaGroup
		if id != storage.MetaStore {
			of = c.Shard(id.Org)
		}
		if g := c.group(of); g != nil && g.fsm.restoring.Load() {
			continue
		}
		if !c.idle[id] {
			idle[id] = true
			continue
		}
		var stage *storage.Stage
		if stage, err = c.cfg.Storage.Stage(id); err == nil {
			err = stage.Discard()
		}
		if err != nil {
			break
		}
	}
	c.idle = idle
	if err != nil {
		c.cfg.Logger.Warn("parts of stores that nobody fetches any more not deleted", "error", err)
	}
}
