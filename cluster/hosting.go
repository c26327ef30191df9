package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"orgmem/cluster/raftlog"
	"orgmem/cluster/state"
	"orgmem/cluster/transfer"
	"orgmem/cluster/wire"
	"orgmem/proto/clock"
)

// hostingRetry is the pause before what could not be opened or given up is tried
// again, and between looks for it.
const hostingRetry = 5 * time.Second

// hosting opens the groups that the shard map puts on this node and gives up
// those that it does not. One goroutine does one after the other.
type hosting struct {
	*node
	groups
	*replicas
	transports transports
	transfers  *transfer.Transfers
	compactor  *compactor
	mender     *mender

	cancel context.CancelFunc // nil before start
	ended  chan struct{}
	wake   chan struct{} // capacity 1

	dropping sync.Mutex // one group is given up at a time

	mu     sync.Mutex // guards what follows
	reopen map[*group]struct{}
}

func newHosting(n *node, all groups, r *replicas, t *transfer.Transfers, c *compactor) *hosting {
	w := &hosting{
		node: n, groups: all, replicas: r, transports: soloTransports{}, transfers: t, compactor: c,
		mender: newMender(n, all, r.leaders, t),
		ended:  make(chan struct{}), wake: make(chan struct{}, 1), reopen: map[*group]struct{}{},
	}
	if n.peers != nil {
		w.transports = n.peers
	}
	return w
}

func (w *hosting) start(start context.Context) {
	var ctx context.Context
	ctx, w.cancel = context.WithCancel(context.WithoutCancel(start))
	go w.run(ctx)
}

// stop may be called twice, and without start.
func (w *hosting) stop() {
	if w.cancel != nil {
		w.cancel()
		<-w.ended
	}
}

func (w *hosting) run(ctx context.Context) {
	defer close(w.ended)
	for {
		changed := w.Meta().Changed()
		w.round(ctx)
		timer := w.cfg.Clock.NewTimer(hostingRetry)
		select {
		case <-changed:
		case <-w.wake:
		case <-w.cfg.Storage.Outage():
		case <-timer.C():
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// round makes the groups of this node what they should be.
func (w *hosting) round(ctx context.Context) {
	w.mu.Lock()
	again := w.reopen
	w.reopen = map[*group]struct{}{}
	w.mu.Unlock()
	warn := func(id uint32, err error) {
		if err != nil && ctx.Err() == nil {
			w.cfg.Logger.Warn("group not opened or given up; it is tried again", "group", id, "error", err)
		}
	}
	for i := range w.groups {
		id := uint32(i)
		if ctx.Err() != nil {
			return
		}
		g := w.group(id)
		_, wanted := again[g]
		mendable := g != nil && w.mender.mendable(ctx, g)
		if g != nil && (wanted || mendable && w.mender.yields(g)) {
			peers := g.otherVoters()
			if wanted && g.leading.Load() != 0 { // it stands still: another node is to lead
				_ = g.handOver("")
			}
			w.closeGroup(g)
			warn(id, w.mender.mend(ctx, id, peers, g.fsm.applied.Load()))
			g = nil
			// A group that is opened anew has forgotten that it promised its leader not to vote
			// for another.
			if clock.Wait(ctx, w.cfg.Clock, w.forgotten()) != nil {
				return
			}
		}
		switch {
		case w.wants(id) && g == nil:
			warn(id, w.openGroup(id))
		case !w.wants(id):
			warn(id, w.dropGroup(ctx, id))
		}
	}
}

// votes are the stable values of a group that stay when it leaves the node. The
// same server may be added to the group again; if it had forgotten that it voted,
// it could vote once more in the same term.
var votes = [][]byte{[]byte("CurrentTerm"), []byte("LastVoteTerm"), []byte("LastVoteCand")}

// reopenLater has a group closed and opened again, soon.
func (w *hosting) reopenLater(g *group) {
	if w.peers == nil {
		return
	}
	w.mu.Lock()
	w.reopen[g] = struct{}{}
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// wants reports whether the shard map puts a group on this node. Every node is in
// the meta group; a cluster of one has no shard map.
func (w *hosting) wants(id uint32) bool {
	if only := w.cfg.recovering; only != nil {
		return slices.Contains(only, id)
	}
	if id == wire.MetaGroup {
		return true
	}
	sm := w.Meta().ShardMap()
	if sm.GetVersion() == 0 {
		return !w.identity.Joined
	}
	p := sm.GetGroups()[id]
	self := string(w.identity.Server)
	return slices.Contains(p.GetDesired(), self) || slices.Contains(p.GetPresent(), self)
}

// closeGroup closes a group and takes it out of the table.
func (w *hosting) closeGroup(g *group) {
	g.close()
	w.groups[g.id].CompareAndSwap(g, nil)
	g.fsm.reset()
	w.changes.wake()
}

// dropGroup deletes a group that the shard map does not put here: its log first,
// since a log without its stores would go on with stores that lack what came
// before, and then the stores. It does so only when the group's leader says that
// this node is no member, by a membership that this node has not been told a newer
// one than.
func (w *hosting) dropGroup(ctx context.Context, id uint32) error {
	w.dropping.Lock()
	defer w.dropping.Unlock()
	log := w.cfg.Storage.Log()
	g := w.group(id)
	left, err := w.leftovers(id)
	if err != nil || (g == nil && !left) {
		return err
	}
	if err := w.directory.Fresh(ctx); err != nil {
		return err
	}
	if w.wants(id) {
		return nil
	}
	m, err := w.Membership(ctx, id)
	if err != nil {
		return err
	}
	for _, r := range m.Replicas {
		if r.Server == w.identity.Server {
			return nil // it is about to be taken out; then there will be a reason to look again
		}
	}
	if g != nil {
		if newest := g.log.ConfIndex.Load(); newest > m.Index {
			return fmt.Errorf("membership of entry %d, told of %d: %w", newest, m.Index, wire.ErrNotReady)
		}
		w.closeGroup(g)
	}
	if err := log.RemoveGroup(id, votes...); err != nil {
		return err
	}
	shard := w.machines[id-1]
	shard.Forget()
	ids, err := w.cfg.Storage.Stores()
	if err != nil {
		return err
	}
	staged, err := w.cfg.Storage.Staged()
	if err != nil {
		return err
	}
	for _, id := range append(ids, staged...) {
		if shard.Owns(id) {
			err = errors.Join(err, w.cfg.Storage.Remove(id))
		}
	}
	return err
}

// leftovers reports whether anything of a shard is on this node.
func (w *hosting) leftovers(id uint32) (bool, error) {
	_, last, err := w.cfg.Storage.Log().Bounds(id)
	if err != nil || last > 0 {
		return true, err
	}
	marker, _, err := w.cfg.Storage.Log().GetStable(id, []byte(raftlog.MarkerKey))
	if err != nil || len(marker) > 0 {
		return true, err
	}
	ids, err := w.cfg.Storage.Stores()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(ids, w.machines[id-1].Owns), nil
}

// openGroups starts all groups of this node side by side, so that their first
// writes share fsyncs.
func (w *hosting) openGroups(ctx context.Context) error {
	if w.peers != nil {
		if err := clock.Wait(ctx, w.cfg.Clock, w.forgotten()); err != nil {
			return err
		}
	}
	return inParallel(len(w.groups), func(i int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !w.wants(uint32(i)) {
			return nil
		}
		return w.openGroup(uint32(i))
	})
}

// openGroup opens one group.
func (w *hosting) openGroup(id uint32) error {
	var m state.Machine = w.directory
	if id != wire.MetaGroup {
		m = w.machines[id-1]
	}
	g, err := openGroup(w, id, m)
	if err == nil {
		w.groups[id].Store(g)
		w.changes.wake()
	}
	return err
}
