package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// A store in which damage is found is out of service on its node (storage.ErrOutOfService).
// Where others have a copy, the node gives the leadership of its shard away, so that the
// organization is served elsewhere, closes the group, fetches the store as a transfer
// does, and opens the group again, whose log brings what came meanwhile.

// mendLooks is how often the progress of a source is looked at, a readyPoll apart, until it has
// all that this node had.
const mendLooks = 100

// errNoSource means that no other member of a group answers, or is far enough.
var errNoSource = errors.New("no other replica of the group answers")

// outages returns the damaged stores of a shard.
func (h *Host) outages(group uint32) []storage.StoreID {
	var ids []storage.StoreID
	for id := range h.cfg.Storage.Outages() {
		if id != storage.MetaStore && h.Shard(id.Org) == group {
			ids = append(ids, id)
		}
	}
	return ids
}

// fellows returns the other voters of a group.
func (g *group) fellows() []ServerID {
	var ids []ServerID
	for _, s := range g.raft.GetConfiguration().Configuration().Servers {
		if id := ServerID(s.ID); id != g.host.identity.Server && s.Suffrage == raft.Voter {
			ids = append(ids, id)
		}
	}
	return ids
}

// mendable reports whether a group has damaged stores that another node may have. It
// gives the group's leadership away.
func (h *Host) mendable(ctx context.Context, g *group) bool {
	if g.id == metaGroup || h.peers == nil || len(h.outages(g.id)) == 0 {
		return false
	}
	fellows := g.fellows()
	if _, err := h.sourceOf(ctx, g.id, fellows, 0, 1); err != nil {
		return false
	}
	if g.leading.Load() != 0 {
		if err := g.handOver(""); err != nil {
			h.cfg.Logger.Warn("cluster: a shard with a damaged store stays here", "group", g.id, "error", err)
			return false
		}
	}
	return true
}

// sourceOf returns a member that has applied as much as this node had.
func (h *Host) sourceOf(ctx context.Context, group uint32, members []ServerID, applied uint64, looks int) (ServerID, error) {
	call := &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Progress{Progress: &pb.Empty{}}}
	for look := range looks {
		if look > 0 {
			if err := clock.Wait(ctx, h.cfg.Clock, readyPoll); err != nil {
				return "", err
			}
		}
		for _, id := range members {
			if a, err := h.ask(ctx, id, call); err == nil && a.GetIndex() >= applied {
				return id, nil
			}
		}
	}
	return "", errNoSource
}

// mend fetches the damaged stores of a group that was closed, from members that have
// applied all that this node had applied.
func (h *Host) mend(ctx context.Context, group uint32, members []ServerID, applied uint64) error {
	var errs []error
	for _, id := range h.outages(group) {
		err := h.fetchAnew(ctx, group, id, members, applied)
		if err != nil {
			errs = append(errs, fmt.Errorf("store %v: %w", id, err))
			continue
		}
		h.stats.storesMended.Add(1)
		h.cfg.Logger.Info("cluster: a damaged store was replaced by another node's", "group", group, "store", id.String())
	}
	return errors.Join(errs...)
}

func (h *Host) fetchAnew(ctx context.Context, group uint32, id storage.StoreID, members []ServerID, applied uint64) error {
	var errs []error
	for _, member := range members { // one may have a damaged copy itself
		source, err := h.sourceOf(ctx, group, []ServerID{member}, applied, mendLooks)
		if err == nil {
			f := &fetcher{host: h, group: group, source: source, to: h.machines[group-1]}
			err = f.fetch(ctx, want{id: id})
			f.hangUp()
		}
		if err == nil && h.cfg.Storage.OutOfService(id) != nil {
			err = h.cfg.Storage.Remove(id) // the other one has removed it, as the log will say here
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, errNoSource)...)
}
