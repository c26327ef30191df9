package cluster

import (
	"context"
	"fmt"

	"github.com/hashicorp/raft"
)

// Replica is one member of a group.
type Replica struct {
	Server ServerID
	Voter  bool // else a learner, which gets everything and decides nothing
}

// Membership is who is in a group, as the group's log says. Index names the entry
// that says so: a change that is given it is carried out only while it is still
// the newest (ErrMapChanged otherwise), 0 carries it out in any case.
type Membership struct {
	Group    uint32
	Index    uint64
	Replicas []Replica
}

// Progress is how far a member of a group is, as it says itself.
type Progress struct {
	Server  ServerID
	Applied uint64 // index of the last entry that its stores have
	Err     error  // it did not say
}

// The operations on replicas may be called on any node: they are carried out by
// the group's leader, which is asked where this node is not it. While the group
// has no leader, or another than the one that was asked, they return
// ErrNotLeader; try again. A change waits until the group has agreed on it.

// Membership returns who is in a group.
func (h *Host) Membership(_ context.Context, group uint32) (Membership, error) {
	f := h.groups[group].raft.GetConfiguration()
	if err := f.Error(); err != nil {
		return Membership{}, fmt.Errorf("membership of group %d: %w", group, err)
	}
	m := Membership{Group: group, Index: f.Index()}
	for _, s := range f.Configuration().Servers {
		m.Replicas = append(m.Replicas, Replica{Server: ServerID(s.ID), Voter: s.Suffrage == raft.Voter})
	}
	return m, nil
}

// AddLearner adds a server to a group as a learner.
func (h *Host) AddLearner(ctx context.Context, id uint32, server ServerID, prev uint64) error {
	return h.changeMembership(ctx, "add learner", id, func(g *group) raft.IndexFuture {
		return g.raft.AddNonvoter(raft.ServerID(server), raft.ServerAddress(server), prev, 0)
	})
}

// Promote makes a learner a voter. Its caller has seen by Progress that it caught
// up: a voter that has not is a hole in the majority.
func (h *Host) Promote(ctx context.Context, id uint32, server ServerID, prev uint64) error {
	return h.changeMembership(ctx, "promote", id, func(g *group) raft.IndexFuture {
		return g.raft.AddVoter(raft.ServerID(server), raft.ServerAddress(server), prev, 0)
	})
}

// Demote makes a voter a learner.
func (h *Host) Demote(ctx context.Context, id uint32, server ServerID, prev uint64) error {
	return h.changeMembership(ctx, "demote", id, func(g *group) raft.IndexFuture {
		return g.raft.DemoteVoter(raft.ServerID(server), prev, 0)
	})
}

// RemoveReplica takes a server out of a group. The leader takes itself out last:
// transfer the leadership first.
func (h *Host) RemoveReplica(ctx context.Context, id uint32, server ServerID, prev uint64) error {
	return h.changeMembership(ctx, "remove replica", id, func(g *group) raft.IndexFuture {
		return g.raft.RemoveServer(raft.ServerID(server), prev, 0)
	})
}

// TransferLeadership makes another voter the leader of a group. It returns when
// this node has stopped leading; the other one may still be being elected.
func (h *Host) TransferLeadership(_ context.Context, group uint32, to ServerID) error {
	g := h.groups[group]
	if err := g.raft.LeadershipTransferToServer(raft.ServerID(to), raft.ServerAddress(to)).Error(); err != nil {
		return fmt.Errorf("transfer leadership of group %d to %s: %w", group, to, err)
	}
	return nil
}

// Progress asks every member of a group how far it is.
func (h *Host) Progress(ctx context.Context, group uint32) ([]Progress, error) {
	m, err := h.Membership(ctx, group)
	if err != nil {
		return nil, err
	}
	all := make([]Progress, len(m.Replicas))
	for i, r := range m.Replicas {
		all[i] = Progress{Server: r.Server, Applied: h.groups[group].fsm.applied.Load()}
	}
	return all, nil
}

func (h *Host) changeMembership(_ context.Context, what string, id uint32, change func(*group) raft.IndexFuture) error {
	if err := change(h.groups[id]).Error(); err != nil {
		return fmt.Errorf("%s of group %d: %w", what, id, classify(err))
	}
	return nil
}
