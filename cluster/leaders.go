package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// leaderTimeout bounds how long a proposal looks for a leader, in a context
	// without an end: two elections.
	leaderTimeout = 5 * time.Second
	// leaderPause comes before it looks again.
	leaderPause = 50 * time.Millisecond
	// leaderCheck is how often the asking node looks whether the node that it asked still
	// leads. When overtakenGrace looks in a row have found another leader, it waits no
	// longer: a leader that has stepped down says so, but a paused process and a machine
	// without power say nothing.
	leaderCheck    = 100 * time.Millisecond
	overtakenGrace = 6
	// At every probeAfter-th look it asks the leader whether it is there at all, which has
	// probeTime to say so: a node without a replica of the group hears of no other leader.
	probeAfter = 10
	probeTime  = 2 * time.Second
)

// leaders finds the leaders of the groups and asks them, on whatever node they are.
type leaders struct {
	*node
	groups
	hints []atomic.Pointer[wire.ServerID] // who leads the groups that are not on this node
}

func newLeaders(n *node, all groups) *leaders {
	return &leaders{node: n, groups: all, hints: make([]atomic.Pointer[wire.ServerID], len(all))}
}

// Leader returns who leads an organization's shard as far as this node knows;
// false while nobody does. It is a hint: ask Lead there.
func (l *leaders) Leader(org pb.OrgID) (wire.ServerID, bool) { return l.LeaderOf(l.Shard(org)) }

// LeaderOf is Leader of a group. Of a group that does not count this node among its
// members it knows what the last call said.
func (l *leaders) LeaderOf(group uint32) (wire.ServerID, bool) {
	if g := l.group(group); g != nil {
		if _, leader := g.raft.LeaderWithID(); leader != "" || l.counted(g) {
			return wire.ServerID(leader), leader != ""
		}
	}
	leader := l.hints[group].Load()
	if leader == nil {
		return "", false
	}
	return *leader, true
}

// NoteLeader notes who leads a group, as the caller has learnt, for groups that are
// not on this node; see LeaderOf.
func (l *leaders) NoteLeader(group uint32, leader wire.ServerID) {
	if int(group) < len(l.hints) {
		l.hints[group].Store(&leader)
	}
}

// Candidates returns who may lead an organization's shard, or know who does, the
// likeliest first. It may be nobody, for the moments of an election.
func (l *leaders) Candidates(org pb.OrgID) []wire.ServerID { return l.candidates(l.Shard(org)) }

// candidates returns who may lead a group, the likeliest first.
func (l *leaders) candidates(group uint32) []wire.ServerID {
	var ids []wire.ServerID
	if g := l.group(group); g != nil {
		if g.raft.State() == raft.Leader || l.peers == nil {
			return []wire.ServerID{l.identity.Server}
		}
		if _, leader := g.raft.LeaderWithID(); leader != "" {
			return []wire.ServerID{wire.ServerID(leader)}
		}
		if l.counted(g) {
			return nil // there is no leader; a new one tells its members within moments
		}
	}
	if leader, ok := l.LeaderOf(group); ok {
		ids = append(ids, leader)
	}
	if sm := l.Meta().ShardMap(); sm.GetVersion() > 0 {
		for _, id := range slices.Concat(sm.GetGroups()[group].GetPresent(), sm.GetGroups()[group].GetDesired()) {
			if wire.ServerID(id) != l.identity.Server {
				ids = append(ids, wire.ServerID(id))
			}
		}
	}
	return ids
}

// counted reports whether a group's leader knows of this node's replica, so that
// it would hear of one. It does not yet where the shard map is ahead of the
// membership, and not any more where the replica was taken out.
func (l *leaders) counted(g *group) bool {
	if g.fresh() {
		return false
	}
	sm := l.Meta().ShardMap()
	return sm.GetVersion() == 0 || slices.Contains(sm.GetGroups()[g.id].GetPresent(), string(l.identity.Server))
}

// ask asks one server, which may be this one.
func (l *leaders) ask(ctx context.Context, to wire.ServerID, call *pb.GroupCall) (*pb.GroupAnswer, error) {
	if to == l.identity.Server {
		return l.answer(ctx, call)
	}
	if l.peers == nil {
		return nil, wire.ErrUnreachable
	}
	a, err := l.peers.Call(ctx, to, &pb.NodeCall{Kind: &pb.NodeCall_Group{Group: call}})
	if errors.Is(err, wire.ErrNoAnswer) {
		err = wire.Unknown(err)
	}
	return a.GetGroup(), err
}

// askLeader asks a group's leader, which may be this node. It asks the nodes that may
// know in turn until one leads; nobody but the leader does anything.
func (l *leaders) askLeader(ctx context.Context, call *pb.GroupCall) (*pb.GroupAnswer, error) {
	group := call.GetGroup()
	if int(group) >= len(l.groups) {
		return nil, wire.NotApplied(fmt.Errorf("group %d of %d: %w", group, len(l.groups), wire.ErrNotLeader))
	}
	asked := map[wire.ServerID]bool{}
	last, silent := wire.NotApplied(wire.ErrNotLeader), error(nil)
	for _, to := range l.candidates(group) {
		if asked[to] {
			continue
		}
		asked[to] = true
		a, err := l.askWhileThere(ctx, to, call)
		switch {
		case err == nil:
			l.NoteLeader(group, to)
			return a, nil
		case errors.Is(err, wire.ErrUnreachable):
			last = wire.NotApplied(fmt.Errorf("%w: %w", wire.ErrNotLeader, err))
		case errors.Is(err, wire.ErrNotApplied) && errors.Is(err, wire.ErrNotLeader):
			last = err
		case errors.Is(err, errSilent) && mayRepeat(call):
			silent = err
		default:
			return nil, err
		}
	}
	return nil, cmp.Or(silent, last)
}

// mayRepeat allows what harms nobody if two servers do it.
func mayRepeat(call *pb.GroupCall) bool {
	switch call.GetKind().(type) {
	case *pb.GroupCall_Change, *pb.GroupCall_Transfer:
		return false
	}
	return true // proposals are of commands that may be forwarded
}

// errSilent means that a leader was asked and has said nothing since another one leads,
// or since it was asked whether it is there.
var errSilent = errors.New("node says nothing")

// askWhileThere asks a server that may lead a group, and gives up when it is silent.
func (l *leaders) askWhileThere(ctx context.Context, to wire.ServerID, call *pb.GroupCall) (*pb.GroupAnswer, error) {
	if to == l.identity.Server || l.peers == nil {
		return l.ask(ctx, to, call)
	}
	asking, giveUp := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer giveUp(nil)
	watching.Go(func() { l.watchLeader(asking, to, call.GetGroup(), func() { giveUp(errSilent) }) })
	a, err := l.ask(asking, to, call)
	if err != nil && context.Cause(asking) == errSilent { //nolint:errorlint // the very one
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	return a, err
}

// watchLeader calls silent when a server that was asked as a group's leader is not there,
// until the context ends.
func (l *leaders) watchLeader(ctx context.Context, to wire.ServerID, group uint32, silent func()) {
	var probing sync.WaitGroup
	defer probing.Wait()
	answers := make(chan bool, 1) // of one probe at a time
	overtaken, probed := 0, 0
	for clock.Wait(ctx, l.cfg.Clock, leaderCheck) == nil {
		if leader, ok := l.LeaderOf(group); ok && leader != to {
			overtaken++
		} else {
			overtaken = 0
		}
		if probed++; probed == probeAfter {
			probing.Go(func() { answers <- l.there(ctx, to) })
		}
		there := true
		select {
		case there = <-answers:
			probed = 0
		default:
		}
		if !there || overtaken == overtakenGrace {
			silent()
			return
		}
	}
}

// there asks a server whether it is there; only silence says that it is not.
func (l *leaders) there(ctx context.Context, server wire.ServerID) bool {
	probing, cancel := context.WithCancel(ctx)
	defer cancel()
	late := l.cfg.Clock.AfterFunc(probeTime, cancel)
	defer late.Stop()
	_, err := l.peers.Call(probing, server, &pb.NodeCall{Kind: &pb.NodeCall_Probe{Probe: &pb.NodeProbe{}}})
	return err == nil || probing.Err() == nil || ctx.Err() != nil
}

// proposeAnywhere proposes a command that may be forwarded, at the leader of the
// group, and waits until it is applied here, too, where the group is. Where
// several nodes could lead it looks for the leader until the context ends, or
// leaderTimeout. What may be forwarded may be done twice, so where a leader has fallen
// silent the next one is asked; only if nobody answers is the outcome unknown.
func (l *leaders) proposeAnywhere(ctx context.Context, group uint32, cmd *pb.Command) error {
	g := l.group(group)
	if g != nil && (l.peers == nil || g.alone.Load()) {
		_, err := g.proposeAndWait(ctx, cmd)
		return err
	}
	// This node's copy may be behind the leader's, never ahead of it: the leader looks
	// again.
	if err := l.allow(cmd); err != nil {
		return wire.NotApplied(err)
	}
	b, err := proto.Marshal(cmd)
	if err != nil {
		return wire.NotApplied(fmt.Errorf("encode command: %w", err))
	}
	call := &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Propose{Propose: b}}
	until := l.elapsed() + leaderTimeout
	maybe := false
	for {
		a, err := l.askLeader(ctx, call)
		if errors.Is(err, errSilent) {
			maybe = true
			err = wire.NotApplied(fmt.Errorf("%w: %w", wire.ErrNotLeader, errSilent)) // by those that have answered
		}
		if err == nil && g != nil {
			if err = g.fsm.reached(ctx, a.GetIndex()); err != nil {
				return wire.Unknown(err) // it is true, but not yet to be seen here
			}
		}
		again := errors.Is(err, wire.ErrNotLeader) && errors.Is(err, wire.ErrNotApplied) && l.elapsed() < until
		if again && clock.Wait(ctx, l.cfg.Clock, leaderPause) == nil && !l.isClosing() {
			continue
		}
		if maybe && errors.Is(err, wire.ErrNotLeader) {
			err = wire.Unknown(errSilent)
		}
		return err
	}
}

// answer answers a question about a group on this node.
func (l *leaders) answer(ctx context.Context, call *pb.GroupCall) (*pb.GroupAnswer, error) {
	g := l.group(call.GetGroup())
	if g == nil || l.isClosing() {
		return nil, wire.NotApplied(wire.ErrNotLeader)
	}
	switch k := call.GetKind().(type) {
	case *pb.GroupCall_Propose:
		cmd := new(pb.Command)
		if err := proto.Unmarshal(k.Propose, cmd); err != nil {
			return nil, wire.NotApplied(err)
		}
		if !mayForward(cmd) {
			return nil, wire.NotApplied(
				fmt.Errorf("%w: %T is proposed by the shard's leader only", state.ErrBadCommand, cmd.GetKind()),
			)
		}
		r, err := g.proposeAndWait(ctx, cmd)
		return &pb.GroupAnswer{Index: r.Index}, err
	case *pb.GroupCall_ReadIndex:
		// A write is acknowledged by this node only, after it has applied it.
		if err := g.lead(); err != nil {
			return nil, wire.NotApplied(err)
		}
		return &pb.GroupAnswer{Index: g.fsm.applied.Load()}, nil
	case *pb.GroupCall_Progress:
		return &pb.GroupAnswer{Index: g.fsm.applied.Load()}, nil
	case *pb.GroupCall_Members:
		return g.members()
	case *pb.GroupCall_Change:
		return &pb.GroupAnswer{}, g.change(k.Change)
	case *pb.GroupCall_Transfer:
		return &pb.GroupAnswer{}, g.handOver(wire.ServerID(k.Transfer))
	}
	return nil, wire.NotApplied(fmt.Errorf("%w: %T", wire.ErrUnknownCall, call.GetKind()))
}

// mayForward allows what is idempotent and needs no lease: the meta group's
// commands, and removals.
func mayForward(cmd *pb.Command) bool {
	switch cmd.GetKind().(type) {
	case *pb.Command_Open, *pb.Command_Write, nil:
		return false
	}
	return true
}
