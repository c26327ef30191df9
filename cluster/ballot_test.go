package cluster

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"orgmem/cluster/raftlog"
	"orgmem/storage/storagetest"
)

// TestBallot: what reaches raft of what is asked of a replica that began with
// nothing, until it knows its group, and afterwards.
func TestBallot(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	log := s.node.Log()
	const id = 77 // a group that is not here
	stable := &raftlog.StableStore{Log: log, Group: id}
	g := &group{id: id, node: s.host.node, leadership: leadership{lease: newLease("one")}}
	g.lease.elect([]raft.ServerID{"three"})
	var err error
	if g.log, err = raftlog.OpenGroupLog(log, id); err != nil {
		t.Fatal(err)
	}
	open := func() (*ballot, chan raft.RPC) {
		t.Helper()
		b, err := newBallot(g, stable)
		if err != nil {
			t.Fatal(err)
		}
		inner := make(chan raft.RPC)
		b.watch(inner)
		return b, inner
	}
	b, inner := open()
	// ask asks; raft, if it is asked, answers as told. It returns what it was asked.
	ask := func(cmd any, answer any) (got any, err error) {
		t.Helper()
		answers := make(chan raft.RPCResponse, 1)
		inner <- raft.RPC{Command: cmd, RespChan: answers}
		select {
		case rpc := <-b.outer:
			rpc.Respond(answer, nil)
			a := <-answers
			return rpc.Command, a.Error
		case a := <-answers:
			return nil, a.Error
		}
	}
	vote := &raft.RequestVoteRequest{RPCHeader: raft.RPCHeader{ID: []byte("two"), Addr: []byte("two")}, Term: 5}
	pre := &raft.RequestPreVoteRequest{RPCHeader: raft.RPCHeader{ID: []byte("two"), Addr: []byte("two")}, Term: 5}
	now := &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{ID: []byte("two")}}
	refused := func() {
		t.Helper()
		for _, cmd := range []any{vote, pre, now} {
			if got, err := ask(cmd, nil); got != nil || err == nil {
				t.Errorf("a fresh replica takes %T: %v", cmd, err)
			}
		}
	}
	send := func(term, prev, commit uint64, success bool, entries ...*raft.Log) {
		t.Helper()
		req := &raft.AppendEntriesRequest{Term: term, PrevLogEntry: prev, LeaderCommitIndex: commit, Entries: entries}
		if success && len(entries) > 0 {
			if err := g.log.Logs.StoreLogs(entries); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := ask(req, &raft.AppendEntriesResponse{Success: success}); got == nil || err != nil {
			t.Fatalf("entries did not reach raft: %v", err)
		}
	}
	if !b.fresh.Load() {
		t.Fatal("a replica with nothing is not fresh")
	}
	refused()
	send(4, 0, 3, true, &raft.Log{Index: 1, Term: 2}, &raft.Log{Index: 2, Term: 2}) // 3 is not here
	send(4, 2, 2, true)                                                             // an old term's
	send(4, 7, 7, false)
	refused()
	b.close()
	b, inner = open()
	if !b.fresh.Load() {
		t.Fatal("a restart made it grow up")
	}
	refused()
	send(4, 2, 2, true, &raft.Log{Index: 3, Term: 4}) // this term's, not committed
	refused()
	send(4, 3, 3, true)
	if b.fresh.Load() {
		t.Fatal("it does not grow up")
	}
	for cmd, as := range map[any]string{vote: "", pre: "three"} {
		got, err := ask(cmd, nil)
		if err != nil {
			t.Fatal(err)
		}
		if h := got.(raft.WithRPCHeader).GetRPCHeader(); string(h.ID) != as || string(h.Addr) != "two" {
			t.Errorf("%T reaches raft with %+v", cmd, h)
		}
	}
	if string(vote.ID) != "two" || string(pre.ID) != "two" {
		t.Error("the transport's request was changed")
	}
	if _, err := ask(now, nil); !errors.Is(err, errNotLeader) {
		t.Errorf("an order of somebody who does not lead: %v", err)
	}
	b.close()
	if b, _ = open(); b.fresh.Load() {
		t.Error("a restart made it young")
	}
	b.close()
}
