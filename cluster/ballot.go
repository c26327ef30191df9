package cluster

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"orgmem/cluster/raftlog"
)

// What stands in front of raft's voting. Two things that raft proper has and
// hashicorp/raft has not, and one of its shortcuts; the simulation of placement
// has found what goes wrong without each.
//
//   - A replica that begins with nothing must not vote. It may have been in the
//     group before and been taken out, and raft grants any vote while its
//     membership is empty, and goes by old ones while it replays them: a server
//     that was cut off with the old membership in mind could collect a majority of
//     it. So such a replica is fresh, durably, until it has accepted what a leader of
//     the present term has committed in that term, and with it every removal.
//   - Whether a candidate is a voter is the candidate's knowledge, not the voter's:
//     raft refuses a candidate that the voter's membership does not call a voter yet.
//     Then two of three voters that are alive may elect nobody for ever, since the
//     one with the newest log is new. Without the candidate's id raft does not look;
//     that the log must be as new, and that followers of a living leader vote for
//     nobody, stays.
//   - An order to begin an election at once, which overrules that last rule, is
//     taken from the present leader only. raft takes it from anybody, at any time: one
//     that waited for a stopped process would cut a later leader's lease short. A node
//     that is stopping takes none: the one that gives it a group may not have heard of that.
type ballot struct {
	group  *group
	stable *raftlog.StableStore
	fresh  atomic.Bool

	inner <-chan raft.RPC
	outer chan raft.RPC
	once  sync.Once
	quit  chan struct{}
	ended chan struct{}
}

// freshKey is a group's stable value while its replica is fresh.
const freshKey = "orgmem/fresh"

var (
	errFresh     = errors.New("cluster: replica does not know its group yet")
	errNotLeader = errors.New("cluster: not the leader's order")
	errParting   = errors.New("cluster: the node is about to stop")
)

// newBallot reads whether the replica is fresh, and makes it so when it has
// nothing.
func newBallot(g *group, stable *raftlog.StableStore) (*ballot, error) {
	b := &ballot{
		group: g, stable: stable, outer: make(chan raft.RPC), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	said, err := stable.Get([]byte(freshKey))
	if err != nil {
		return nil, err
	}
	last, err := g.log.Logs.LastIndex()
	if err != nil {
		return nil, err
	}
	b.fresh.Store(len(said) > 0)
	if len(said) == 0 && last == 0 && g.log.Marks.Index.Load() == 0 {
		if err := stable.Set([]byte(freshKey), []byte{1}); err != nil {
			return nil, err
		}
		b.fresh.Store(true)
	}
	return b, nil
}

// watch stands between the transport and raft until close.
func (b *ballot) watch(inner <-chan raft.RPC) {
	b.inner = inner
	go func() {
		defer close(b.ended)
		for {
			select {
			case rpc := <-b.inner:
				b.pass(rpc)
			case <-b.quit:
				return
			}
		}
	}()
}

func (b *ballot) close() {
	b.once.Do(func() { close(b.quit) })
	<-b.ended
}

// pass hands a request to raft, or answers it.
func (b *ballot) pass(rpc raft.RPC) {
	switch req := rpc.Command.(type) {
	case *raft.RequestVoteRequest:
		if b.fresh.Load() {
			rpc.Respond(&raft.RequestVoteResponse{}, errFresh)
			return
		}
		anonymous := *req
		anonymous.ID = nil
		rpc.Command = &anonymous
	case *raft.RequestPreVoteRequest:
		if b.fresh.Load() {
			rpc.Respond(&raft.RequestPreVoteResponse{}, errFresh)
			return
		}
		// Here raft takes no request without an id. It knows the candidate by its
		// address.
		if voters := *b.group.lease.voters.Load(); len(voters) > 0 {
			pretended := *req
			pretended.ID = []byte(voters[0])
			rpc.Command = &pretended
		}
	case *raft.TimeoutNowRequest:
		if b.group.node.steppingDown.Load() {
			rpc.Respond(&raft.TimeoutNowResponse{}, errParting)
			return
		}
		if b.fresh.Load() || !b.group.leads(raft.ServerID(req.ID)) {
			rpc.Respond(&raft.TimeoutNowResponse{}, errNotLeader)
			return
		}
	case *raft.AppendEntriesRequest:
		if b.fresh.Load() {
			b.learn(rpc, req)
			return
		}
	}
	b.forward(rpc)
}

func (b *ballot) forward(rpc raft.RPC) {
	select {
	case b.outer <- rpc:
	case <-b.quit:
		rpc.Respond(nil, raft.ErrTransportShutdown)
	}
}

// learn passes on what a leader sends to a fresh replica, one after the other, and
// looks at the answer.
func (b *ballot) learn(rpc raft.RPC, req *raft.AppendEntriesRequest) {
	answers := make(chan raft.RPCResponse, 1)
	to := rpc.RespChan
	rpc.RespChan = answers
	b.forward(rpc)
	select {
	case a := <-answers:
		resp, ok := a.Response.(*raft.AppendEntriesResponse)
		if ok && a.Error == nil && resp.Success {
			b.mature(req)
		}
		to <- a
	case <-b.quit:
		to <- raft.RPCResponse{Error: raft.ErrTransportShutdown}
	}
}

// mature ends being fresh when the log, as far as it is the leader's, reaches an
// entry of the leader's term that is committed.
func (b *ballot) mature(req *raft.AppendEntriesRequest) {
	at := req.LeaderCommitIndex
	if at == 0 || req.PrevLogEntry+uint64(len(req.Entries)) < at {
		return
	}
	var entry raft.Log
	if err := b.group.log.Logs.GetLog(at, &entry); err != nil || entry.Term != req.Term {
		return // there will be another, and another leader if need be
	}
	if err := b.stable.Set([]byte(freshKey), nil); err == nil {
		b.fresh.Store(false)
	}
}

// leads reports whether a server is the leader that this node follows.
func (g *group) leads(id raft.ServerID) bool {
	if !g.opened.Load() {
		return false
	}
	_, leader := g.raft.LeaderWithID()
	return leader != "" && leader == id
}
