package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"orgmem/cluster/raftlog"
	"orgmem/cluster/wire"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// hostingRetry is the pause before what could not be opened or given up is tried
// again, and between looks for it.
const hostingRetry = 5 * time.Second

// hosting opens the groups that the shard map puts on this node and gives up
// those that it does not. One goroutine does one after the other.
type hosting struct {
	host   *Host
	cancel context.CancelFunc // nil before start
	ended  chan struct{}
	wake   chan struct{} // capacity 1

	dropping sync.Mutex // one group is given up at a time

	mu     sync.Mutex // guards reopen and lacking
	reopen map[*group]struct{}
	// lacking are the damaged stores that no other node had when they were last asked for.
	lacking map[storage.StoreID]lack
}

func newHosting(h *Host) *hosting {
	return &hosting{
		host: h, ended: make(chan struct{}), wake: make(chan struct{}, 1),
		reopen: map[*group]struct{}{}, lacking: map[storage.StoreID]lack{},
	}
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
		changed := w.host.Meta().Changed()
		w.round(ctx)
		timer := w.host.cfg.Clock.NewTimer(hostingRetry)
		select {
		case <-changed:
		case <-w.wake:
		case <-w.host.cfg.Storage.Outage():
		case <-timer.C():
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// reopenLater has a group closed and opened again, soon.
func (h *Host) reopenLater(g *group) {
	w := h.hosting
	if w == nil {
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

// round makes the groups of this node what they should be.
func (w *hosting) round(ctx context.Context) {
	h := w.host
	w.mu.Lock()
	again := w.reopen
	w.reopen = map[*group]struct{}{}
	w.mu.Unlock()
	warn := func(id uint32, err error) {
		if err != nil && ctx.Err() == nil {
			h.cfg.Logger.Warn("group not opened or given up; it is tried again", "group", id, "error", err)
		}
	}
	for i := range h.groups {
		id := uint32(i)
		if ctx.Err() != nil {
			return
		}
		g := h.group(id)
		_, wanted := again[g]
		mendable := g != nil && h.mendable(ctx, g)
		if g != nil && (wanted || mendable && h.yields(g)) {
			peers := g.otherVoters()
			if wanted && g.leading.Load() != 0 { // it stands still; who else leads would be elected
				_ = g.handOver("")
			}
			h.closeGroup(g)
			warn(id, h.mend(ctx, id, peers, g.fsm.applied.Load()))
			g = nil
			// Who is opened anew has forgotten whom it promised not to vote.
			if clock.Wait(ctx, h.cfg.Clock, h.forgotten()) != nil {
				return
			}
		}
		switch {
		case h.wants(id) && g == nil:
			warn(id, h.openGroup(id))
		case !h.wants(id):
			warn(id, h.dropGroup(ctx, id))
		}
	}
}

// wants reports whether the shard map puts a group on this node. Every node is in
// the meta group; a cluster of one has no shard map.
func (h *Host) wants(id uint32) bool {
	if only := h.cfg.recovering; only != nil {
		return slices.Contains(only, id)
	}
	if id == wire.MetaGroup {
		return true
	}
	sm := h.Meta().ShardMap()
	if sm.GetVersion() == 0 {
		return !h.identity.Joined
	}
	p := sm.GetGroups()[id]
	self := string(h.identity.Server)
	return slices.Contains(p.GetDesired(), self) || slices.Contains(p.GetPresent(), self)
}

// forgotten is how long a node that may have promised a leader not to vote for
// another, and has forgotten it, waits before it can vote.
func (h *Host) forgotten() time.Duration { return wire.LeaderLease }

// closeGroup closes a group and takes it out of the table.
func (h *Host) closeGroup(g *group) {
	g.close()
	h.groups[g.id].CompareAndSwap(g, nil)
	h.logBytes.Add(-g.fsm.logBytes.Swap(0))
	h.notifyReady()
}

// votes are the stable values of a group that stay when it leaves the node. The
// same server may be added to the group again; if it had forgotten that it voted,
// it could vote once more in the same term.
var votes = [][]byte{[]byte("CurrentTerm"), []byte("LastVoteTerm"), []byte("LastVoteCand")}

// dropGroup deletes a group that the shard map does not put here: its log first,
// since a log without its stores would go on with stores that lack what came
// before, and then the stores. It does so only when the group's leader says that
// this node is no member, by a membership that this node has not been told a newer
// one than.
func (h *Host) dropGroup(ctx context.Context, id uint32) error {
	h.hosting.dropping.Lock()
	defer h.hosting.dropping.Unlock()
	log := h.cfg.Storage.Log()
	g := h.group(id)
	left, err := h.leftovers(id)
	if err != nil || (g == nil && !left) {
		return err
	}
	if err := h.directory.Fresh(ctx); err != nil {
		return err
	}
	if h.wants(id) {
		return nil
	}
	m, err := h.Membership(ctx, id)
	if err != nil {
		return err
	}
	for _, r := range m.Replicas {
		if r.Server == h.identity.Server {
			return nil // it is about to be taken out; then there will be a reason to look again
		}
	}
	if g != nil {
		if newest := g.confIndex.Load(); newest > m.Index {
			return fmt.Errorf("membership of entry %d, told of %d: %w", newest, m.Index, wire.ErrNotReady)
		}
		h.closeGroup(g)
	}
	if err := log.RemoveGroup(id, votes...); err != nil {
		return err
	}
	shard := h.machines[id-1]
	shard.Forget()
	ids, err := h.cfg.Storage.Stores()
	if err != nil {
		return err
	}
	staged, err := h.cfg.Storage.Staged()
	if err != nil {
		return err
	}
	for _, id := range append(ids, staged...) {
		if shard.Owns(id) {
			err = errors.Join(err, h.cfg.Storage.Remove(id))
		}
	}
	return err
}

// leftovers reports whether anything of a shard is on this node.
func (h *Host) leftovers(id uint32) (bool, error) {
	_, last, err := h.cfg.Storage.Log().Bounds(id)
	if err != nil || last > 0 {
		return true, err
	}
	marker, _, err := h.cfg.Storage.Log().GetStable(id, []byte(raftlog.MarkerKey))
	if err != nil || len(marker) > 0 {
		return true, err
	}
	ids, err := h.cfg.Storage.Stores()
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(ids, h.machines[id-1].Owns), nil
}

// discardStages deletes what was collected of stores whose group is not being
// restored any more: no transfer will finish it, and what is erased from the store
// meanwhile would stay in it. The compactor calls it at its ticks; the second one
// that finds a stage idle deletes it, since a Restore that failed is soon tried
// again.
func (h *Host) discardStages() {
	staged, err := h.cfg.Storage.Staged()
	idle := map[storage.StoreID]bool{}
	for _, id := range staged {
		of := wire.MetaGroup
		if id != storage.MetaStore {
			of = h.Shard(id.Org)
		}
		if g := h.group(of); g != nil && g.fsm.restoring.Load() {
			continue
		}
		if !h.compactor.idle[id] {
			idle[id] = true
			continue
		}
		var stage *storage.Stage
		if stage, err = h.cfg.Storage.Stage(id); err == nil {
			err = stage.Discard()
		}
		if err != nil {
			break
		}
	}
	h.compactor.idle = idle
	if err != nil {
		h.cfg.Logger.Warn("parts of stores that nobody fetches any more not deleted", "error", err)
	}
}

// isClosing reports whether Close has begun.
func (h *Host) isClosing() bool {
	select {
	case <-h.closing:
		return true
	default:
		return false
	}
}
