package cluster

import (
	"errors"
	"testing"

	"github.com/hashicorp/raft"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/raftlog"
	"orgmem/storage/storagetest"
)

// What stands for an entry never leaves the node, and a log that knows no marker,
// or whose group is being opened, has no more than it has.
func TestWhatStandsForAnEntryIsNotSent(t *testing.T) {
	stands := &raft.AppendEntriesRequest{
		Entries: []*raft.Log{{Index: 6, Type: raft.LogCommand}, {Index: 7, Type: raftlog.SeamEntry}},
	}
	if err := (&heartbeats{}).AppendEntries("two", "two", stands, nil); !errors.Is(err, raftlog.ErrSeam) {
		t.Errorf("sent: %v", err)
	}
	if _, err := (&raftlog.Pipeline{}).AppendEntries(stands, nil); !errors.Is(err, raftlog.ErrSeam) {
		t.Errorf("sent in a pipeline: %v", err)
	}
	s := &raftlog.LogStore{Log: storagetest.NewDisk().Node(t).Log(), Group: 1}
	s.Seam.At.Store(&raftlog.EntryID{Index: 7, Term: 3})
	var l raft.Log
	if err := s.GetLog(7, &l); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("before the group is open: %v", err)
	}
}

// A follower knows the term at its marker, which it is asked for when a leader
// sends again what is behind it; a leader does not, as it could send it. That a
// follower goes on whose answers were lost is TestFaultsAtRandom's.
func TestFollowerKnowsTheTermAtItsMarker(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t)
	c := &writer{w: w, id: mainStore(0)}
	for range 5 {
		c.put()
	}
	leader := w.owner(c.id)
	var follower *server
	for _, s := range w.all() {
		if s != leader {
			follower = s
		}
	}
	c.check()
	g := follower.host.shard(c.id)
	clustertest.WaitFor(t, func() bool { return follower.host.compactor.compactTo(g, ^uint64(0)) == nil })
	at := g.log.Logs.Seam.At.Load()
	if at == nil || at.Index != g.log.Marks.Index.Load() {
		t.Fatalf("the log does not know its marker: %+v, %d", at, g.log.Marks.Index.Load())
	}
	if first, _, err := g.node.cfg.Storage.Log().Bounds(g.id); err != nil || (first != 0 && first <= at.Index) {
		t.Fatalf("the log still begins at %d, the marker is at %d: %v", first, at.Index, err)
	}
	c.put() // behind the marker
	c.check()
	var l raft.Log
	if err := g.log.Logs.GetLog(at.Index, &l); g.raft.State() != raft.Leader &&
		(err != nil || l.Term != at.Term || l.Type != raftlog.SeamEntry) {
		t.Errorf("a follower is asked for the entry before: %+v, %v", l, err)
	}
	if err := g.log.Logs.GetLog(at.Index-1, &l); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("an entry before the marker: %v", err)
	}
	lg := leader.host.shard(c.id)
	clustertest.WaitFor(t, func() bool { return leader.host.compactor.compactTo(lg, ^uint64(0)) == nil })
	if mark := lg.log.Logs.Seam.At.Load(); lg.raft.State() == raft.Leader && mark != nil {
		if err := lg.log.Logs.GetLog(mark.Index, &l); !errors.Is(err, raft.ErrLogNotFound) && l.Type == raftlog.SeamEntry {
			t.Errorf("a leader was given what stands for an entry: %+v, %v", l, err)
		}
	}
}
