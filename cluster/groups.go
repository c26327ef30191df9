package cluster

import (
	"sync/atomic"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// groups are the groups of the cluster by number; nil is one that is not on this node.
// Its copies share the groups.
type groups []atomic.Pointer[group]

// group returns a group, nil when it is not on this node.
func (all groups) group(id uint32) *group {
	if int(id) >= len(all) {
		return nil
	}
	return all[id].Load()
}

// hosted returns the groups that are on this node, by number.
func (all groups) hosted() []*group {
	hosted := make([]*group, 0, len(all))
	for i := range all {
		if g := all[i].Load(); g != nil {
			hosted = append(hosted, g)
		}
	}
	return hosted
}

// Shard returns the number of an organization's shard group, 1 to Shards.
func (all groups) Shard(org pb.OrgID) uint32 { return wire.ShardOf(org, len(all)-1) }

// shard returns the group of a store's organization, nil when it is not on this
// node.
func (all groups) shard(id storage.StoreID) *group { return all.group(all.Shard(id.Org)) }

// Leads returns the shards that this node leads now, as far as it knows: unlike
// Lead it does not look at the others.
func (all groups) Leads() []uint32 {
	var shards []uint32
	for _, g := range all.hosted() {
		if g.id != wire.MetaGroup && g.leading.Load() != 0 {
			shards = append(shards, g.id)
		}
	}
	return shards
}

// Status returns the groups of this node in order of their number.
func (all groups) Status() []GroupStatus {
	hosted := all.hosted()
	s := make([]GroupStatus, len(hosted))
	for i, g := range hosted {
		s[i] = g.status()
	}
	return s
}

// survey is what this node says of its groups.
func (all groups) survey() *pb.NodeSurvey {
	s := &pb.NodeSurvey{}
	for _, g := range all.hosted() {
		said := &pb.GroupSurvey{Group: g.id, Applied: g.fsm.applied.Load(), Fresh: g.fresh()}
		term := g.leading.Load()
		if a, err := g.members(); err == nil && term != 0 && g.leading.Load() == term {
			said.Leads, said.Term, said.Index, said.Members = true, term, a.GetIndex(), a.GetMembers()
		}
		s.Groups = append(s.Groups, said)
	}
	return s
}

// Lead returns nil only while this node may answer for an organization: it leads
// the organization's shard, has applied all that its log held when it was
// elected, and, where there are several voters, a majority of them has heard from
// it so lately that nobody else can lead. Ask it for every request at the owner:
// with one voter it is two atomic loads, with several a comparison more while
// heartbeats are answered, and at most LeaderLease when they are not. The error is
// ErrNotLeader or ErrClosed; Leader says who may know better.
func (all groups) Lead(org pb.OrgID) error { return all.group(all.Shard(org)).lead() }
