package cluster

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/raft"

	"orgmem/cluster/plan"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// Membership is who is in a group, as the group's log says. Index names the entry
// that says so: a change that is given it is carried out only while it is still
// the newest (ErrMapChanged otherwise), 0 carries it out in any case.
type Membership struct {
	Group    uint32
	Index    uint64
	Replicas []plan.Replica
}

// Progress is how far a member of a group is, as it says itself.
type Progress struct {
	Server  wire.ServerID
	Applied uint64 // index of the last entry that its stores have
	Err     error  // it did not say
}

// replicas are the operations on the replicas of groups. They may be called on any node:
// the group's leader carries them out, and is asked where it is another node. While the
// group has no leader, or a new one that was not asked, they return ErrNotApplied and
// ErrNotLeader; try again. A change waits until the group has agreed on it.
type replicas struct{ *leaders }

// changeTimeout bounds the wait for a change of membership to begin: another one
// may be under way.
const changeTimeout = 10 * time.Second

// members says who is in the group, at its leader.
func (g *group) members() (*pb.GroupAnswer, error) {
	if g.leading.Load() == 0 {
		return nil, wire.NotApplied(wire.ErrNotLeader)
	}
	a := &pb.GroupAnswer{Index: g.log.ConfIndex.Load()}
	for _, s := range g.raft.GetConfiguration().Configuration().Servers {
		a.Members = append(a.GetMembers(), &pb.GroupMember{Server: string(s.ID), Voter: s.Suffrage == raft.Voter})
	}
	return a, nil
}

// change changes who is in the group, at its leader.
func (g *group) change(c *pb.MemberChange) error {
	if err := wire.CheckServerID(c.GetServer()); err != nil {
		return wire.NotApplied(err)
	}
	if g.leading.Load() == 0 {
		return wire.NotApplied(wire.ErrNotLeader)
	}
	id, at := raft.ServerID(c.GetServer()), raft.ServerAddress(c.GetServer())
	var f raft.IndexFuture
	switch c.GetKind() {
	case pb.MemberChange_ADD_LEARNER:
		f = g.raft.AddNonvoter(id, at, c.GetPrev(), changeTimeout)
	case pb.MemberChange_PROMOTE:
		g.addVoter(wire.ServerID(c.GetServer()))
		f = g.raft.AddVoter(id, at, c.GetPrev(), changeTimeout)
	case pb.MemberChange_DEMOTE:
		f = g.raft.DemoteVoter(id, c.GetPrev(), changeTimeout)
	case pb.MemberChange_REMOVE:
		f = g.raft.RemoveServer(id, c.GetPrev(), changeTimeout)
	default:
		return wire.NotApplied(fmt.Errorf("%w: %v", wire.ErrUnknownCall, c.GetKind()))
	}
	err := f.Error()
	g.readVoters()
	if err == nil {
		return nil
	}
	if newest := g.log.ConfIndex.Load(); c.GetPrev() != 0 && newest != c.GetPrev() {
		return wire.NotApplied(fmt.Errorf("%w: %w", wire.ErrMapChanged, err))
	}
	return classify(err)
}

// Membership returns who is in a group.
func (r *replicas) Membership(ctx context.Context, group uint32) (Membership, error) {
	a, err := r.askLeader(ctx, &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Members{Members: &pb.Empty{}}})
	if err != nil {
		return Membership{}, fmt.Errorf("membership of group %d: %w", group, err)
	}
	m := Membership{Group: group, Index: a.GetIndex()}
	for _, s := range a.GetMembers() {
		m.Replicas = append(m.Replicas, plan.Replica{Server: wire.ServerID(s.GetServer()), Voter: s.GetVoter()})
	}
	return m, nil
}

// AddLearner adds a server to a group as a learner. The shard map must name the
// server before, or it does not listen.
func (r *replicas) AddLearner(ctx context.Context, group uint32, server wire.ServerID, prev uint64) error {
	return r.changeMembership(ctx, group, pb.MemberChange_ADD_LEARNER, server, prev)
}

// Promote makes a learner a voter. Its caller has seen by Progress that it caught
// up: a voter that has not is a hole in the majority.
func (r *replicas) Promote(ctx context.Context, group uint32, server wire.ServerID, prev uint64) error {
	return r.changeMembership(ctx, group, pb.MemberChange_PROMOTE, server, prev)
}

// Demote makes a voter a learner.
func (r *replicas) Demote(ctx context.Context, group uint32, server wire.ServerID, prev uint64) error {
	return r.changeMembership(ctx, group, pb.MemberChange_DEMOTE, server, prev)
}

// RemoveReplica takes a server out of a group. The leader takes itself out last:
// transfer the leadership first.
func (r *replicas) RemoveReplica(ctx context.Context, group uint32, server wire.ServerID, prev uint64) error {
	return r.changeMembership(ctx, group, pb.MemberChange_REMOVE, server, prev)
}

// TransferLeadership makes another voter the leader of a group; empty takes the
// one that is furthest. It returns when the present one has stopped leading; the
// other may still be being elected. After an error the present one leads on.
func (r *replicas) TransferLeadership(ctx context.Context, group uint32, to wire.ServerID) error {
	_, err := r.askLeader(ctx, &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Transfer{Transfer: string(to)}})
	if err != nil {
		return fmt.Errorf("transfer leadership of group %d to %q: %w", group, to, err)
	}
	return nil
}

// Progress asks every member of a group how far it is.
func (r *replicas) Progress(ctx context.Context, group uint32) ([]Progress, error) {
	m, err := r.Membership(ctx, group)
	if err != nil {
		return nil, err
	}
	call := &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Progress{Progress: &pb.Empty{}}}
	all := make([]Progress, len(m.Replicas))
	_ = inParallel(len(all), func(i int) error {
		server := m.Replicas[i].Server
		a, err := r.ask(ctx, server, call)
		all[i] = Progress{Server: server, Applied: a.GetIndex(), Err: err}
		return nil
	})
	return all, nil
}

func (r *replicas) changeMembership(
	ctx context.Context, group uint32, kind pb.MemberChange_Kind, server wire.ServerID, prev uint64,
) error {
	_, err := r.askLeader(ctx, &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Change{
		Change: &pb.MemberChange{Kind: kind, Server: string(server), Prev: prev},
	}})
	if err != nil {
		return fmt.Errorf("%s %s of group %d: %w", kind, server, group, err)
	}
	return nil
}
