package cluster

import (
	pb "orgmem/proto"
)

// Lead returns nil only while this node may answer for an organization: it leads
// the organization's shard and has applied all that its log held when it was
// elected. Ask it for every request at the owner. The error is ErrNotLeader;
// Leader says who may know better.
func (h *Host) Lead(org pb.OrgID) error {
	if h.groups[shardOf(org, h.identity.Shards)].leading.Load() == 0 {
		return ErrNotLeader
	}
	return nil
}

// Leader returns who leads an organization's shard as far as this node knows;
// false while nobody does. It is a hint: ask Lead there.
func (h *Host) Leader(org pb.OrgID) (ServerID, bool) {
	return h.LeaderOf(h.Shard(org))
}

// LeaderOf is Leader of a group.
func (h *Host) LeaderOf(group uint32) (ServerID, bool) {
	_, leader := h.groups[group].raft.LeaderWithID()
	return ServerID(leader), leader != ""
}

// Shard returns the number of an organization's shard group, 1 to Shards.
func (h *Host) Shard(org pb.OrgID) uint32 { return shardOf(org, h.identity.Shards) }

// Leads returns the shards that this node leads now, as Lead would say.
func (h *Host) Leads() []uint32 {
	var shards []uint32
	for _, g := range h.groups {
		if g.id != metaGroup && g.leading.Load() != 0 {
			shards = append(shards, g.id)
		}
	}
	return shards
}
