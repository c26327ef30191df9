package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Removal of an organization takes two logs, which no order connects: the meta
// group's, which says that it is removed, and the shard's, which says when its
// stores end. So it is done in this order, and finished by the next start when a
// crash comes between:
//
//  1. The meta entry: from here on no key resolves.
//  2. REMOVE in the shard's log, for each realm. Where it is applied, a tombstone is
//     written and fsynced beside the log before the directory is deleted. Whoever
//     applies or replays an entry of a store that has a tombstone skips it without
//     touching the disk, so neither a late proposal nor an old entry in the log
//     brings the directory back, half filled.
//  3. DROP of its keys in the meta group's log, which only makes room.
//
// Ids of organizations are never used twice, so a tombstone is for ever. It is a
// key of some 60 bytes.

// removeStores proposes REMOVE for every store that an organization may have, at
// the leader of the shard.
func (h *Host) removeStores(ctx context.Context, org pb.OrgID) error {
	for _, realm := range storage.OrgRealms {
		id := storage.StoreID{Org: org, Realm: realm}
		cmd := &pb.Command{Kind: &pb.Command_RemoveStore{RemoveStore: &pb.RemoveStore{Store: id.Ref()}}}
		if err := h.proposeAnywhere(ctx, h.Shard(org), cmd); err != nil {
			return fmt.Errorf("remove store %v: %w", id, err)
		}
	}
	return nil
}

// sweepRetry is the pause after a sweep that could not finish, and between looks
// for what others have left.
const sweepRetry = time.Minute

// startSweep finishes the removals that a crash has cut short, of the shards that
// this node leads. What it cannot finish is tried again, here or by who leads
// the shard next.
func (h *Host) startSweep(start context.Context) {
	var ctx context.Context
	ctx, h.sweepStop = context.WithCancel(context.WithoutCancel(start))
	go func() {
		defer close(h.sweepEnded)
		first := sync.OnceFunc(func() { close(h.swept) })
		defer first()
		if err := h.waitReady(ctx, h.sweepable); err != nil {
			return // closing
		}
		h.deleteBuried(ctx)
		for ctx.Err() == nil {
			changed := h.LeadersChanged()
			// Where there are others, one of them may have died between the two logs.
			done := h.sweep(ctx)
			first()
			if done && h.peers == nil {
				select {
				case <-changed:
				case <-ctx.Done():
				}
				continue
			}
			timer := h.cfg.Clock.NewTimer(sweepRetry)
			select {
			case <-changed:
			case <-timer.C():
			case <-ctx.Done():
			}
			timer.Stop()
		}
	}()
}

// sweep finishes the removals in the shards that this node leads. It reports
// whether there is nothing left to do.
func (h *Host) sweep(ctx context.Context) bool {
	done := true
	for _, org := range h.directory.RemovedOrgs() {
		if g := h.group(h.Shard(org)); g == nil || g.leading.Load() == 0 {
			continue
		}
		if err := h.finishRemoval(ctx, org); err != nil {
			done = false
			if !errors.Is(err, context.Canceled) {
				h.cfg.Logger.Warn("removal of an organization not finished; it is tried again", "org", org, "error", err)
			}
		}
	}
	return done
}

// deleteBuried deletes the directories of stores that have a tombstone: they
// were still held open, or a crash came, when the tombstone was written.
func (h *Host) deleteBuried(ctx context.Context) {
	ids, err := h.cfg.Storage.Stores()
	for _, id := range ids {
		if ctx.Err() != nil {
			return
		}
		if id == storage.MetaStore {
			continue
		}
		var gone bool
		if gone, err = h.machines[wire.ShardOf(id.Org, h.identity.Shards)-1].IsRemoved(id); err == nil && gone {
			err = h.cfg.Storage.Remove(id)
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		h.cfg.Logger.Warn("directories of removed stores not deleted; the next start tries again", "error", err)
	}
}

// finishRemoval removes the stores of a removed organization, unless all of them
// have their tombstones, and its keys.
func (h *Host) finishRemoval(ctx context.Context, org pb.OrgID) error {
	done, err := h.StoresRemoved(org)
	if err == nil && !done {
		err = h.removeStores(ctx, org)
	}
	if err != nil {
		return err
	}
	return h.directory.DropKeysOfRemoved(ctx, org)
}

// StoresRemoved reports whether all stores that an organization may have were
// removed here. Where Directory.RemoveOrg has failed, they may not have been.
func (h *Host) StoresRemoved(org pb.OrgID) (bool, error) {
	for _, realm := range storage.OrgRealms {
		id := storage.StoreID{Org: org, Realm: realm}
		if gone, err := h.machines[wire.ShardOf(org, h.identity.Shards)-1].IsRemoved(id); err != nil || !gone {
			return false, err
		}
	}
	return true, nil
}
