package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/transfer"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Host runs the raft groups of one node. All methods may be called from any
// goroutine. It is put together of parts: those that are embedded answer its callers,
// the others work by themselves from Start to Close.
type Host struct {
	*node
	groups
	*leaders
	*replicas
	*readiness
	*operations

	transfers *transfer.Transfers
	hosting   *hosting
	compactor *compactor
	eraser    *eraser
	sweeper   *sweeper

	closeOnce sync.Once
}

// Start creates the groups on the first start, else reopens them, and lets those
// that have no other voter elect themselves. It returns once they run; WaitReady
// tells when they have applied what their logs held. It refuses to start with a
// number of shards (ErrShardCount) or a server id (ErrServerID) other than the
// directory's, and on a directory of a cluster that speaks a later version
// (ErrOutdated). The context bounds Start only.
func Start(ctx context.Context, cfg Config) (*Host, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	n, err := newNode(ctx, cfg)
	if err != nil {
		return nil, err
	}
	h := assemble(n)
	if n.directory, err = state.OpenDirectory(h.directoryConfig()); err != nil {
		return nil, err
	}
	if v := h.Meta().Version(); v > cfg.speaks {
		h.directory.Close()
		return nil, fmt.Errorf("cluster: %w", wire.Outdated(v, cfg.speaks))
	}
	if err := h.hosting.openGroups(ctx); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	h.compactor.start()
	h.sweeper.start(ctx)
	h.eraser.start(ctx)
	if h.peers != nil {
		h.serve()
		h.hosting.start(ctx)
	}
	if cfg.Network != nil {
		h.controller = startController(ctx, n, h.groups, h.leaders, cfg.Network.Members)
	}
	return h, nil
}

// assemble makes the parts of a host. Nothing runs yet.
func assemble(n *node) *Host {
	all := make(groups, 1+n.identity.Shards)
	h := &Host{
		node: n, groups: all, leaders: newLeaders(n, all), readiness: &readiness{node: n, groups: all},
		operations: &operations{node: n}, transfers: newTransfers(n, all), compactor: newCompactor(n, all),
	}
	h.replicas = &replicas{h.leaders}
	h.hosting = newHosting(n, all, h.replicas, h.transfers, h.compactor)
	h.eraser = newEraser(n, all, h.compactor)
	h.sweeper = newSweeper(n, all, h.leaders, h.readiness)
	return h
}

// directoryConfig is what the directory needs of the host.
func (h *Host) directoryConfig() state.DirectoryConfig {
	return state.DirectoryConfig{
		Storage: h.cfg.Storage, Clock: h.cfg.Clock, Logger: h.cfg.Logger, Halt: h.halt,
		Shards: h.identity.Shards, Speaks: h.cfg.speaks, MaxKeys: h.cfg.maxKeys, MaxKeysPerOrg: h.cfg.maxKeysPerOrg,
		Propose: func(ctx context.Context, cmd *pb.Command) error {
			return h.proposeAnywhere(ctx, wire.MetaGroup, cmd)
		},
		RemoveStores: h.sweeper.removeStores, Fresh: newBarrier(h.leaders).fresh,
	}
}

// serve registers what this node answers to others.
func (h *Host) serve() {
	h.peers.HandleCall((*pb.NodeCall_Group)(nil), func(
		ctx context.Context, _ wire.ServerID, call *pb.NodeCall,
	) (*pb.NodeAnswer, error) {
		a, err := h.answer(ctx, call.GetGroup())
		if err != nil {
			return nil, err
		}
		return &pb.NodeAnswer{Kind: &pb.NodeAnswer_Group{Group: a}}, nil
	})
	h.peers.Handle(mesh.KindStore, h.transfers.Serve)
	h.peers.attach(h.Meta())
}

// Close refuses new proposals, hands leadership over where there is somebody to
// take it, answers the proposals in flight, flushes the stores so that the next
// start has nothing to replay, and stops the groups. It waits and may be called
// twice. An error means that some stores could not be flushed; nothing is lost,
// since the log has it.
func (h *Host) Close() error {
	var err error
	h.closeOnce.Do(func() {
		close(h.closing)
		if h.controller != nil {
			h.controller.stop()
		}
		h.hosting.stop()
		var wg sync.WaitGroup
		for _, g := range h.hosted() {
			g.fsm.end() // a transfer that nobody waits for any more
			if !g.alone.Load() {
				// A failure costs the others the time to notice, as a crash would.
				wg.Go(func() { _ = g.handOver("") })
			}
		}
		wg.Wait()
		h.sweeper.stop()
		h.eraser.stop()
		err = h.compactor.stop()
		for _, g := range h.hosted() {
			wg.Go(g.close)
		}
		wg.Wait()
		if h.directory != nil {
			h.directory.Close()
		}
	})
	return err
}

// Erase makes what was erased from a store (storage.Batch.EraseRange) leave this
// node's disk now: the store's files, and the log. It returns when the bytes are
// gone; without it the same happens within a minute.
func (h *Host) Erase(ctx context.Context, id storage.StoreID) error { return h.eraser.erase(ctx, id) }

// StoresRemoved reports whether all stores that an organization may have were
// removed here. Where Directory.RemoveOrg has failed, they may not have been.
func (h *Host) StoresRemoved(org pb.OrgID) (bool, error) { return h.sweeper.storesRemoved(org) }

// Compact flushes the stores of an organization's shard and cuts the shard's
// log up to now, so that no replay meets what was erased from a store. The cut
// entries' bytes leave the disk with storage.Log.Erase; Erase does all of it. It
// returns when the cut is done; the context only keeps it from beginning. A shard
// that is not on this node is ErrNotLeader.
func (h *Host) Compact(ctx context.Context, id storage.StoreID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g := h.shard(id)
	if g == nil {
		return wire.ErrNotLeader
	}
	return h.compactor.compactTo(g, g.fsm.applied.Load())
}

// inParallel runs f for 0 to n-1 side by side and joins the errors. n is the number of
// groups, which is bounded.
func inParallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
