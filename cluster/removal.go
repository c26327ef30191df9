package cluster

import (
	"context"
	"errors"
	"fmt"

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
//
// Ids of organizations are never used twice, so a tombstone is for ever. It is a
// key of some 60 bytes.

// realms are the stores an organization may have.
var realms = [...]storage.Realm{storage.RealmMain, storage.RealmSandbox}

// removeStores proposes REMOVE for every store that an organization may have.
func (h *Host) removeStores(ctx context.Context, org pb.OrgID) error {
	for _, realm := range realms {
		id := storage.StoreID{Org: org, Realm: realm}
		cmd := &pb.Command{Kind: &pb.Command_RemoveStore{RemoveStore: &pb.RemoveStore{Store: id.Ref()}}}
		if _, err := h.proposeAndWait(ctx, h.shard(id), cmd); err != nil {
			return fmt.Errorf("remove store %v: %w", id, err)
		}
	}
	return nil
}

// startSweep finishes the removals that a crash has cut short, once the groups
// are ready. What it cannot finish the next start will.
func (h *Host) startSweep(start context.Context) {
	var ctx context.Context
	ctx, h.sweepStop = context.WithCancel(context.WithoutCancel(start))
	go func() {
		defer close(h.swept)
		if err := h.WaitReady(ctx); err != nil {
			return // closing
		}
		h.deleteBuried(ctx)
		for _, org := range h.directory.removed() {
			if err := h.finishRemoval(ctx, org); err != nil && !errors.Is(err, context.Canceled) {
				h.cfg.Logger.Warn("removal of an organization not finished; the next start tries again", "org", org, "error", err)
			}
		}
	}()
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
		if gone, err = h.machines[shardOf(id.Org, h.identity.Shards)-1].isGone(id); err == nil && gone {
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
// have their tombstones.
func (h *Host) finishRemoval(ctx context.Context, org pb.OrgID) error {
	if done, err := h.StoresRemoved(org); err != nil || done {
		return err
	}
	return h.removeStores(ctx, org)
}

// StoresRemoved reports whether all stores that an organization may have were
// removed here. Where Directory.RemoveOrg has failed, they may not have been.
func (h *Host) StoresRemoved(org pb.OrgID) (bool, error) {
	for _, realm := range realms {
		id := storage.StoreID{Org: org, Realm: realm}
		if gone, err := h.machines[shardOf(org, h.identity.Shards)-1].isGone(id); err != nil || !gone {
			return false, err
		}
	}
	return true, nil
}

// removed returns the organizations that are marked as removed.
func (d *Directory) removed() []pb.OrgID {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var ids []pb.OrgID
	for id, o := range d.orgs {
		if o.entry.GetRemoved() {
			ids = append(ids, id)
		}
	}
	return ids
}
