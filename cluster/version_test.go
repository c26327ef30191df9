package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// program makes a node run one that speaks a version. From version 3 on an
// organization may be called "new".
func program(speaks uint32) func(*Config, *storage.Options) {
	return func(c *Config, _ *storage.Options) {
		c.speaks = speaks
		if speaks >= 3 {
			c.needs = func(cmd *pb.Command) uint32 {
				if cmd.GetPutOrg().GetEntry().GetName() == "new" {
					return 3
				}
				return wire.Needs(cmd)
			}
		}
	}
}

func newOrg(b byte) *pb.OrgEntry {
	return &pb.OrgEntry{Org: slices.Repeat([]byte{b}, 16), Name: "new"}
}

func (w *fleet) speaks(id wire.ServerID, version uint32) error {
	w.t.Helper()
	var refusal error
	w.try("enter "+string(id), func() error {
		err := w.any().host.Meta().PutNode(w.t.Context(), &pb.NodeEntry{Server: string(id), Version: version})
		if errors.Is(err, wire.ErrOutdated) {
			refusal, err = err, nil
		}
		return err
	})
	return refusal
}

// leads makes a node the leader of a group.
func (w *fleet) leads(group uint32, id wire.ServerID) {
	w.t.Helper()
	w.try(fmt.Sprintf("make %s lead group %d", id, group), func() error {
		if w.servers[id].host.group(group).leading.Load() != 0 {
			return nil
		}
		if err := w.any().host.TransferLeadership(w.t.Context(), group, id); err != nil {
			return fmt.Errorf("%w: %w", wire.ErrNotLeader, err)
		}
		return wire.ErrNotLeader // it is being elected
	})
}

// level waits until all nodes have applied what one of them has of a group.
func (w *fleet) level(group uint32) {
	w.t.Helper()
	applied := func(s *server) uint64 { return s.host.group(group).fsm.applied.Load() }
	var most uint64
	for _, s := range w.all() {
		most = max(most, applied(s))
	}
	clustertest.WaitFor(w.t, func() bool {
		return !slices.ContainsFunc(w.all(), func(s *server) bool { return applied(s) < most })
	})
}

// TestUpgradeOneByOne: while one node of three runs the old program, what only the
// new one understands is refused on every node, before it is in any log; with the
// last node's upgrade the version rises and it is taken. From then on there is no
// way back: the old program is not entered, not started, and stops where it meets
// the entry that raised the version. One that raised nothing does not stop it.
func TestUpgradeOneByOne(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t, program(2))
	ctx := t.Context()
	meta := func() *state.Meta { return w.any().host.Meta() }
	raise := func(to uint32) error {
		var refusal error
		w.try("raise the version", func() error {
			err := meta().SetVersion(ctx, to)
			if errors.Is(err, wire.ErrNotSpoken) {
				refusal, err = err, nil
			}
			return err
		})
		return refusal
	}
	for _, id := range []wire.ServerID{"one", "two", "three"} {
		if err := w.speaks(id, 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := raise(2); err != nil {
		t.Fatal(err)
	}

	for _, id := range []wire.ServerID{"one", "two"} {
		w.stop(id)
		w.start(id, false, program(3))
		w.ready()
		if err := w.speaks(id, 3); err != nil {
			t.Fatal(err)
		}
	}
	// Of a node that does not speak it itself a raise gets nowhere. The other takes it
	// to the log, and all three refuse it there; for the old one that is no reason to
	// stop.
	for _, id := range []wire.ServerID{"three", "one"} {
		w.leads(wire.MetaGroup, id)
		if err := raise(3); !errors.Is(err, wire.ErrNotSpoken) {
			t.Errorf("raise while three speaks 2, led by %s: %v", id, err)
		}
	}
	w.level(wire.MetaGroup)
	for id, s := range w.servers {
		r := s.host.group(wire.MetaGroup).raft
		before, term := r.LastIndex(), r.CurrentTerm()
		if id != "three" { // which does not know what it is
			if err := s.host.Directory().PutOrg(ctx, newOrg(7)); !errors.Is(err, wire.ErrNotApplied) ||
				!errors.Is(err, wire.ErrNotSpoken) {
				t.Errorf("a new command on %s while three speaks 2: %v", id, err)
			}
		}
		if after := r.LastIndex(); after != before && r.CurrentTerm() == term { // an election writes, too
			t.Errorf("the log of %s went from %d to %d", id, before, after)
		}
	}
	// Nor does a node take one whose proposer believes in a version that this one has
	// not heard of.
	ahead, err := proto.Marshal(&pb.Command{Needs: 3, Kind: &pb.Command_PutOrg{PutOrg: &pb.PutOrg{Entry: newOrg(7)}}})
	if err != nil {
		t.Fatal(err)
	}
	var refusal error
	w.try("propose what is new", func() error {
		_, refusal = w.any().host.askLeader(
			ctx, &pb.GroupCall{Group: wire.MetaGroup, Kind: &pb.GroupCall_Propose{Propose: ahead}},
		)
		if errors.Is(refusal, wire.ErrNotLeader) {
			return refusal
		}
		return nil
	})
	if !errors.Is(refusal, wire.ErrNotSpoken) {
		t.Errorf("a forwarded new command: %v", refusal)
	}

	w.stop("three")
	w.start("three", false, program(3))
	w.ready()
	if err := w.speaks("three", 3); err != nil {
		t.Fatal(err)
	}
	w.stop("three") // and it misses what comes now
	if err := raise(3); err != nil {
		t.Fatal(err)
	}
	w.try("a new command", func() error { return w.any().host.Directory().PutOrg(ctx, newOrg(7)) })
	if err := raise(2); err != nil || meta().Version() != 3 {
		t.Errorf("the version fell to %d, %v", meta().Version(), err)
	}
	for _, id := range []wire.ServerID{"three", "four"} {
		if err := w.speaks(id, 2); !errors.Is(err, wire.ErrOutdated) {
			t.Errorf("%s of version 2 is entered: %v", id, err)
		}
	}

	// The old program on the disk of a node that has not heard of it.
	var mu sync.Mutex
	var said []string
	s := w.start("three", false, program(2), func(c *Config, _ *storage.Options) {
		c.Fatal = func(msg string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, msg)
		}
	})
	select {
	case <-s.host.halted:
	case <-time.After(clustertest.Patience):
		t.Fatal("the old program goes on")
	}
	mu.Lock()
	if len(said) == 0 || !strings.Contains(said[0], "the cluster is at version 3, this program speaks 2") {
		t.Errorf("it said %q", said)
	}
	mu.Unlock()
	if _, ok := s.host.Directory().Org(pb.OrgID(newOrg(7).GetOrg())); ok {
		t.Error("the old program took what it does not understand")
	}
	if err := s.host.Close(); err != nil && !errors.Is(err, errHalted) { // its stores may not be flushed
		t.Errorf("close a halted host: %v", err)
	}
	w.bury("three")
	// On one that has.
	w.start("three", false, program(3))
	w.ready()
	w.stop("three")
	if _, err := tryBegin(t, w.disks["three"], func(c *Config, o *storage.Options) {
		c.Server, c.Clock, c.peers = "three", clock.Real(), w.move("three")
		program(2)(c, o)
	}); !errors.Is(err, wire.ErrOutdated) {
		t.Errorf("the old program starts: %v", err)
	}
}

// TestAsRunning: a node that came back with an older program is what it runs, not
// what the table says.
func TestAsRunning(t *testing.T) {
	table := []*pb.NodeEntry{
		{Server: "a", Version: 3}, {Server: "b", Version: 3}, {Server: "c", Version: 2}, {Server: "d", Version: 3},
	}
	members := []mesh.Member{
		{Server: "a", Version: 2},
		{Server: "b", Version: 2, State: mesh.MemberFailed},
		{Server: "c", Version: 3},
		{Server: "e"},
	}
	var got []uint32
	for _, e := range asRunning(table, members) {
		got = append(got, e.GetVersion())
	}
	if !slices.Equal(got, []uint32{2, 3, 2, 3}) || table[0].GetVersion() != 3 {
		t.Errorf("%v, and the table says %v", got, table)
	}
}
