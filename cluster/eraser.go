package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	"orgmem/storage"
)

const (
	// eraseDelay lets erasures come together before the node's log is cut and
	// rewritten for all of them. It is a little longer than storage's own delay,
	// so that the stores' files are done first, and leaves most of the minute that
	// is promised (docs/operations.md) to the work.
	eraseDelay = 15 * time.Second
	// eraseRetry is the pause after a round that failed.
	eraseRetry = 15 * time.Second
	// eraseLimit bounds one round: a log is tens of megabytes.
	eraseLimit = time.Minute
)

// eraser makes what was erased from stores leave the log too, which still holds
// the entries that wrote it. Nobody has to ask: applying an erasure notes it
// durably (storage.Log.Owed), on every replica, and a restart continues with what
// was left. Without it the bytes of a forgotten text would stay in the log until
// the group has written enough to be cut, and in its files until they are
// compacted.
type eraser struct {
	*node
	groups
	compactor *compactor
	cancel    context.CancelFunc // nil before start
	ended     chan struct{}
	rests     atomic.Bool // it waits on the clock; a test moves the clock only then
}

func newEraser(n *node, all groups, c *compactor) *eraser {
	return &eraser{node: n, groups: all, compactor: c, ended: make(chan struct{})}
}

func (e *eraser) start(start context.Context) {
	var ctx context.Context
	ctx, e.cancel = context.WithCancel(context.WithoutCancel(start))
	go func() {
		defer close(e.ended)
		e.run(ctx)
	}()
}

// stop may be called twice, and without start.
func (e *eraser) stop() {
	if e.cancel == nil {
		return
	}
	e.cancel()
	select {
	case <-e.ended:
	case <-e.halted: // it may be waiting for the state machine that halted
	}
}

func (e *eraser) run(ctx context.Context) {
	log := e.cfg.Storage.Log()
	for {
		select {
		case <-ctx.Done():
			return
		case <-log.Owes():
		}
		for pause := eraseDelay; e.sleep(ctx, pause); pause = eraseRetry {
			err := e.round(ctx)
			if err == nil {
				break
			}
			if ctx.Err() == nil {
				e.cfg.Logger.Warn("erased records have not left the log yet; it is tried again", "error", err)
			}
		}
	}
}

func (e *eraser) sleep(ctx context.Context, d time.Duration) bool {
	t := e.cfg.Clock.NewTimer(d)
	e.rests.Store(true)
	defer func() { e.rests.Store(false); t.Stop() }()
	select {
	case <-t.C():
		return true
	case <-ctx.Done():
		return false
	}
}

func (e *eraser) round(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limit := e.cfg.Clock.AfterFunc(eraseLimit, cancel)
	defer limit.Stop()
	return e.eraseLog(ctx, e.cfg.Storage.Log().Owed())
}

// eraseLog makes the log forget what was erased from the stores. Groups that have
// not applied their logs yet are left for later: what is not yet applied cannot be
// cut. Those that have left this node took their logs with them.
func (e *eraser) eraseLog(ctx context.Context, owed map[storage.StoreID]uint64) error {
	var late error
	cut := map[uint32]bool{}
	for id := range owed {
		group := uint32(wire.MetaGroup)
		if id != storage.MetaStore {
			group = e.Shard(id.Org)
		}
		if g := e.group(group); g != nil && !cut[group] {
			if !g.ready() {
				late = fmt.Errorf("erase the log of group %d: %w", group, wire.ErrNotReady)
				delete(owed, id)
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := e.compactor.compactTo(g, g.fsm.applied.Load()); err != nil {
				return err
			}
		}
		cut[group] = true
	}
	if len(cut) == 0 {
		return late
	}
	log := e.cfg.Storage.Log()
	if err := log.Erase(ctx); err != nil {
		return err
	}
	return errors.Join(late, log.Settle(owed))
}

// erase does for one store at once what the rounds do for all; see Host.Erase.
func (e *eraser) erase(ctx context.Context, id storage.StoreID) error {
	if err := state.CheckStore(id); err != nil {
		return err
	}
	owed := e.cfg.Storage.Log().Owed()
	for other := range owed {
		if other != id {
			delete(owed, other)
		}
	}
	owed[id] += 0 // cut although nothing was noted, by a node that had settled it before
	if err := e.cfg.Storage.Erase(ctx, id); err != nil {
		return fmt.Errorf("erase %v: %w", id, err)
	}
	return e.eraseLog(ctx, owed)
}
