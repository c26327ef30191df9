package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/mesh"
	"orgmem/cluster/plan"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
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

// The operations on replicas may be called on any node: they are carried out by
// the group's leader, which is asked where this node is not it. While the group
// has no leader, or another than the one that was asked, they return
// ErrNotApplied and ErrNotLeader; try again. A change waits until the group has
// agreed on it.

const (
	// leaderTimeout bounds how long a proposal looks for a leader, in a context
	// without an end: two elections.
	leaderTimeout = 5 * time.Second
	// leaderPause comes before it looks again.
	leaderPause = 50 * time.Millisecond
	// leaderCheck is how often a question to a leader looks whether it still is one, and
	// overtakenGrace how many looks in a row must find another before the answer is given
	// up: a leader that has stepped down says so, a process that is paused and a machine
	// without power say nothing.
	leaderCheck    = 100 * time.Millisecond
	overtakenGrace = 6
	// probeAfter is after how many looks, and after how many more each time, a leader is
	// asked whether it is there at all, and probeTime how long it has to say so. A node
	// that has no replica of the group hears of no other leader.
	probeAfter = 10
	probeTime  = 2 * time.Second
	// changeTimeout bounds the wait for a change of membership to begin: another one
	// may be under way.
	changeTimeout = 10 * time.Second
)

// Membership returns who is in a group.
func (h *Host) Membership(ctx context.Context, group uint32) (Membership, error) {
	a, err := h.askLeader(ctx, &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Members{Members: &pb.Empty{}}})
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
func (h *Host) AddLearner(ctx context.Context, group uint32, server wire.ServerID, prev uint64) error {
	return h.changeMembership(ctx, group, pb.MemberChange_ADD_LEARNER, server, prev)
}

// Promote makes a learner a voter. Its caller has seen by Progress that it caught
// up: a voter that has not is a hole in the majority.
func (h *Host) Promote(ctx context.Context, group uint32, server wire.ServerID, prev uint64) error {
	return h.changeMembership(ctx, group, pb.MemberChange_PROMOTE, server, prev)
}

// Demote makes a voter a learner.
func (h *Host) Demote(ctx context.Context, group uint32, server wire.ServerID, prev uint64) error {
	return h.changeMembership(ctx, group, pb.MemberChange_DEMOTE, server, prev)
}

// RemoveReplica takes a server out of a group. The leader takes itself out last:
// transfer the leadership first.
func (h *Host) RemoveReplica(ctx context.Context, group uint32, server wire.ServerID, prev uint64) error {
	return h.changeMembership(ctx, group, pb.MemberChange_REMOVE, server, prev)
}

// TransferLeadership makes another voter the leader of a group; empty takes the
// one that is furthest. It returns when the present one has stopped leading; the
// other may still be being elected. After an error the present one leads on.
func (h *Host) TransferLeadership(ctx context.Context, group uint32, to wire.ServerID) error {
	_, err := h.askLeader(ctx, &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Transfer{Transfer: string(to)}})
	if err != nil {
		return fmt.Errorf("transfer leadership of group %d to %q: %w", group, to, err)
	}
	return nil
}

// Progress asks every member of a group how far it is.
func (h *Host) Progress(ctx context.Context, group uint32) ([]Progress, error) {
	m, err := h.Membership(ctx, group)
	if err != nil {
		return nil, err
	}
	call := &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Progress{Progress: &pb.Empty{}}}
	all := make([]Progress, len(m.Replicas))
	_ = inParallel(len(all), func(i int) error {
		server := m.Replicas[i].Server
		a, err := h.ask(ctx, server, call)
		all[i] = Progress{Server: server, Applied: a.GetIndex(), Err: err}
		return nil
	})
	return all, nil
}

func (h *Host) changeMembership(
	ctx context.Context, group uint32, kind pb.MemberChange_Kind, server wire.ServerID, prev uint64,
) error {
	_, err := h.askLeader(ctx, &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Change{
		Change: &pb.MemberChange{Kind: kind, Server: string(server), Prev: prev},
	}})
	if err != nil {
		return fmt.Errorf("%s %s of group %d: %w", kind, server, group, err)
	}
	return nil
}

// askLeader asks a group's leader, which may be this node. It asks the nodes that may
// know in turn until one leads; nobody but the leader does anything.
func (h *Host) askLeader(ctx context.Context, call *pb.GroupCall) (*pb.GroupAnswer, error) {
	group := call.GetGroup()
	if int(group) >= len(h.groups) {
		return nil, wire.NotApplied(fmt.Errorf("group %d of %d: %w", group, len(h.groups), wire.ErrNotLeader))
	}
	asked := map[wire.ServerID]bool{}
	last, silent := wire.NotApplied(wire.ErrNotLeader), error(nil)
	for _, to := range h.candidates(group) {
		if asked[to] {
			continue
		}
		asked[to] = true
		a, err := h.askWhileThere(ctx, to, call)
		switch {
		case err == nil:
			h.NoteLeader(group, to)
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
func (h *Host) askWhileThere(ctx context.Context, to wire.ServerID, call *pb.GroupCall) (*pb.GroupAnswer, error) {
	if to == h.identity.Server || h.peers == nil {
		return h.ask(ctx, to, call)
	}
	asking, giveUp := context.WithCancelCause(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer giveUp(nil)
	watching.Go(func() { h.watchLeader(asking, to, call.GetGroup(), func() { giveUp(errSilent) }) })
	a, err := h.ask(asking, to, call)
	if err != nil && context.Cause(asking) == errSilent { //nolint:errorlint // the very one
		err = fmt.Errorf("%w: %w", errSilent, err)
	}
	return a, err
}

// watchLeader calls silent when a server that was asked as a group's leader is not there,
// until the context ends.
func (h *Host) watchLeader(ctx context.Context, to wire.ServerID, group uint32, silent func()) {
	var probing sync.WaitGroup
	defer probing.Wait()
	answers := make(chan bool, 1) // of one probe at a time
	overtaken, probed := 0, 0
	for clock.Wait(ctx, h.cfg.Clock, leaderCheck) == nil {
		if leader, ok := h.LeaderOf(group); ok && leader != to {
			overtaken++
		} else {
			overtaken = 0
		}
		if probed++; probed == probeAfter {
			probing.Go(func() { answers <- h.there(ctx, to) })
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
func (h *Host) there(ctx context.Context, server wire.ServerID) bool {
	probing, cancel := context.WithCancel(ctx)
	defer cancel()
	late := h.cfg.Clock.AfterFunc(probeTime, cancel)
	defer late.Stop()
	_, err := h.peers.Call(probing, server, &pb.NodeCall{Kind: &pb.NodeCall_Probe{Probe: &pb.NodeProbe{}}})
	return err == nil || probing.Err() == nil || ctx.Err() != nil
}

// candidates returns who may lead a group, the likeliest first.
func (h *Host) candidates(group uint32) []wire.ServerID {
	var ids []wire.ServerID
	if g := h.group(group); g != nil {
		if g.raft.State() == raft.Leader || h.peers == nil {
			return []wire.ServerID{h.identity.Server}
		}
		if _, leader := g.raft.LeaderWithID(); leader != "" {
			return []wire.ServerID{wire.ServerID(leader)}
		}
		if h.counted(g) {
			return nil // there is no leader; a new one tells its members within moments
		}
	}
	if leader, ok := h.LeaderOf(group); ok {
		ids = append(ids, leader)
	}
	if sm := h.Meta().ShardMap(); sm.GetVersion() > 0 {
		for _, id := range slices.Concat(sm.GetGroups()[group].GetPresent(), sm.GetGroups()[group].GetDesired()) {
			if wire.ServerID(id) != h.identity.Server {
				ids = append(ids, wire.ServerID(id))
			}
		}
	}
	return ids
}

// counted reports whether a group's leader knows of this node's replica, so that
// it would hear of one. It does not yet where the shard map is ahead of the
// membership, and not any more where the replica was taken out.
func (h *Host) counted(g *group) bool {
	if g.fresh() {
		return false
	}
	sm := h.Meta().ShardMap()
	return sm.GetVersion() == 0 || slices.Contains(sm.GetGroups()[g.id].GetPresent(), string(h.identity.Server))
}

// NoteLeader notes who leads a group, as the caller has learnt, for groups that are
// not on this node; see LeaderOf.
func (h *Host) NoteLeader(group uint32, leader wire.ServerID) {
	if int(group) < len(h.hints) {
		h.hints[group].Store(&leader)
	}
}

// ask asks one server, which may be this one.
func (h *Host) ask(ctx context.Context, to wire.ServerID, call *pb.GroupCall) (*pb.GroupAnswer, error) {
	if to == h.identity.Server {
		return h.answer(ctx, call)
	}
	if h.peers == nil {
		return nil, wire.ErrUnreachable
	}
	a, err := h.peers.Call(ctx, to, &pb.NodeCall{Kind: &pb.NodeCall_Group{Group: call}})
	if errors.Is(err, wire.ErrNoAnswer) {
		err = wire.Unknown(err)
	}
	return a.GetGroup(), err
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
	h.peers.Handle(mesh.KindStore, h.serveStores)
	h.peers.attach(h.Meta())
}

// answer answers a question about a group on this node.
func (h *Host) answer(ctx context.Context, call *pb.GroupCall) (*pb.GroupAnswer, error) {
	g := h.group(call.GetGroup())
	if g == nil || h.isClosing() {
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
		r, err := h.proposeAndWait(ctx, g, cmd)
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

// members says who is in the group, at its leader.
func (g *group) members() (*pb.GroupAnswer, error) {
	if g.leading.Load() == 0 {
		return nil, wire.NotApplied(wire.ErrNotLeader)
	}
	a := &pb.GroupAnswer{Index: g.confIndex.Load()}
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
	if newest := g.confIndex.Load(); c.GetPrev() != 0 && newest != c.GetPrev() {
		return wire.NotApplied(fmt.Errorf("%w: %w", wire.ErrMapChanged, err))
	}
	return classify(err)
}

// proposeAnywhere proposes a command that may be forwarded, at the leader of the
// group, and waits until it is applied here, too, where the group is. Where
// several nodes could lead it looks for the leader until the context ends, or
// leaderTimeout. What may be forwarded may be done twice, so where a leader has fallen
// silent the next one is asked; only if nobody answers is the outcome unknown.
func (h *Host) proposeAnywhere(ctx context.Context, group uint32, cmd *pb.Command) error {
	g := h.group(group)
	if g != nil && (h.peers == nil || g.alone.Load()) {
		_, err := h.proposeAndWait(ctx, g, cmd)
		return err
	}
	// This node's copy may be behind the leader's, never ahead of it: the leader looks
	// again.
	if err := h.allow(cmd); err != nil {
		return wire.NotApplied(err)
	}
	b, err := proto.Marshal(cmd)
	if err != nil {
		return wire.NotApplied(fmt.Errorf("encode command: %w", err))
	}
	call := &pb.GroupCall{Group: group, Kind: &pb.GroupCall_Propose{Propose: b}}
	until := h.elapsed() + leaderTimeout
	maybe := false
	for {
		a, err := h.askLeader(ctx, call)
		if errors.Is(err, errSilent) {
			maybe = true
			err = wire.NotApplied(fmt.Errorf("%w: %w", wire.ErrNotLeader, errSilent)) // by those that have answered
		}
		if err == nil && g != nil {
			if err = g.fsm.reached(ctx, a.GetIndex()); err != nil {
				return wire.Unknown(err) // it is true, but not yet to be seen here
			}
		}
		again := errors.Is(err, wire.ErrNotLeader) && errors.Is(err, wire.ErrNotApplied) && h.elapsed() < until
		if again && clock.Wait(ctx, h.cfg.Clock, leaderPause) == nil && !h.isClosing() {
			continue
		}
		if maybe && errors.Is(err, wire.ErrNotLeader) {
			err = wire.Unknown(errSilent)
		}
		return err
	}
}

// barrier asks the meta group's leader for its newest entry, once for all who
// ask while it is being asked, and waits until that is applied here.
type barrier struct {
	mu      sync.Mutex
	running *barrierRound // has asked, perhaps before the newest caller came
	next    *barrierRound // begins when running has ended
}

type barrierRound struct {
	done chan struct{}
	err  error
}

// barrierTimeout bounds one round.
const barrierTimeout = 2 * time.Second

// freshMeta is Directory.Fresh.
func (h *Host) freshMeta(ctx context.Context) error {
	g := h.group(wire.MetaGroup)
	if g == nil {
		return wire.ErrNotReady // it is being opened again (reopenLater)
	}
	if h.peers == nil || g.alone.Load() || (g.leading.Load() != 0 && g.lead() == nil) {
		return nil
	}
	b := &h.barrier
	b.mu.Lock()
	r := b.next
	if r == nil {
		r = &barrierRound{done: make(chan struct{})}
		b.next = r
		if b.running == nil {
			b.begin(h) //nolint:contextcheck // it asks for all who wait
		}
	}
	b.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", wire.ErrNotReady, ctx.Err())
	}
}

// begin starts the next round. Its caller holds mu.
func (b *barrier) begin(h *Host) {
	r := b.next
	b.running, b.next = r, nil
	go func() {
		r.err = h.catchUp()
		close(r.done)
		b.mu.Lock()
		defer b.mu.Unlock()
		b.running = nil
		if b.next != nil {
			b.begin(h)
		}
	}()
}

// catchUp asks the leader and waits.
func (h *Host) catchUp() error {
	g := h.group(wire.MetaGroup)
	if g == nil {
		return wire.ErrNotReady // since Fresh looked it was closed
	}
	ctx, cancel := context.WithCancel(g.fsm.life)
	defer cancel()
	limit := h.cfg.Clock.AfterFunc(barrierTimeout, cancel)
	defer limit.Stop()
	a, err := h.askLeader(ctx, &pb.GroupCall{Group: wire.MetaGroup, Kind: &pb.GroupCall_ReadIndex{ReadIndex: &pb.Empty{}}})
	if err == nil {
		err = g.reachIndex(ctx, a.GetIndex())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", wire.ErrNotReady, err)
	}
	return nil
}

// reachIndex waits until this node's state machine is where another one was at an index.
// raft shows it commands and memberships only, but where another node's counting
// begins is its marker, which may be at the barrier of an election. To wait for that
// one would be to wait for the next command.
func (g *group) reachIndex(ctx context.Context, index uint64) error {
	for !g.onlyInternal(index) {
		look, cancel := context.WithCancel(ctx)
		timer := g.host.cfg.Clock.AfterFunc(readyPoll, cancel) // of what raft commits beside nobody tells
		err := g.fsm.reached(look, index)
		timer.Stop()
		cancel()
		if err == nil || ctx.Err() != nil || errors.Is(err, wire.ErrClosed) {
			return err
		}
	}
	return nil
}

// onlyInternal reports whether all that is agreed on up to an index, and not applied yet,
// are entries that no state machine is shown.
func (g *group) onlyInternal(index uint64) bool {
	if g.raft.CommitIndex() < index {
		return false
	}
	for done := max(g.fsm.applied.Load(), g.marks.Index.Load()); index > done; index-- {
		var l raft.Log
		if err := g.logs.GetLog(index, &l); err != nil || l.Type == raft.LogCommand || l.Type == raft.LogConfiguration {
			return false
		}
	}
	return true
}
