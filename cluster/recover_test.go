package cluster

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// recoverOn calls f with the data directory of a node that does not run. The nodes
// in up answer.
func (w *fleet) recoverOn(disk *storagetest.Disk, up []wire.ServerID, f func(RecoverConfig)) {
	w.t.Helper()
	fatal := func(msg string) { w.t.Error("fatal: " + msg) }
	node, err := storage.Open(storage.Options{
		Dir: storagetest.Dir, FS: disk, Clock: clock.Real(), Fatal: fatal, MinFreeBytes: -1, BallastBytes: -1,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	f(RecoverConfig{
		Storage: node, Clock: clock.Real(), Logger: slog.New(slog.DiscardHandler), Fatal: fatal,
		answers: func(_ context.Context, n *pb.NodeEntry) bool {
			for _, id := range up {
				if string(id) == n.GetServer() {
					return true
				}
			}
			return false
		},
	})
	if err := node.Close(); err != nil {
		w.t.Error(err)
	}
}

// TestRecover: two of three disks are gone. The third goes on with all that it has,
// as a cluster of one that grows again, and its epochs are above all that were.
func TestRecover(t *testing.T) {
	w := three(t)
	var clients []*writer
	for i := range 4 {
		clients = append(clients, &writer{w: w, id: mainStore(i)})
	}
	var before Lease
	for range 5 {
		for _, c := range clients {
			c.put()
		}
	}
	before, err := w.owner(clients[0].id).host.OpenStore(t.Context(), clients[0].id)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clients {
		c.check() // so that the third has it, too
	}
	w.kill("one", "two", "three")
	gone := []wire.ServerID{"one", "three"}
	w.recoverOn(w.disks["two"], []wire.ServerID{"three"}, func(cfg RecoverConfig) {
		if l, err := SurveyLoss(cfg); err != nil || len(l.Nodes) != 2 || len(l.Groups) != 4 || l.Newest.IsZero() {
			t.Errorf("survey: %+v, %v", l, err)
		}
		if _, err := Recover(t.Context(), cfg, gone...); !errors.Is(err, ErrNotLost) {
			t.Errorf("recovery although one of them answers: %v", err)
		}
		if _, err := Recover(t.Context(), cfg, "one"); !errors.Is(err, ErrNotLost) {
			t.Errorf("recovery although there is a majority: %v", err)
		}
		if _, err := Recover(t.Context(), cfg, "four"); !errors.Is(err, wire.ErrNodeUnknown) {
			t.Errorf("recovery without somebody who was never there: %v", err)
		}
	})
	w.recoverOn(w.disks["two"], nil, func(cfg RecoverConfig) {
		if _, err := Recover(t.Context(), cfg, gone...); err != nil {
			t.Fatal(err)
		}
		if _, err := SurveyLoss(cfg); !errors.Is(err, ErrNotLost) {
			t.Errorf("a second recovery: %v", err)
		}
	})
	delete(w.disks, "one")
	delete(w.disks, "three")
	w.start("two", false).ready()
	for _, c := range clients {
		c.check()
	}
	two := w.servers["two"].host
	after, err := two.OpenStore(t.Context(), clients[0].id)
	if err != nil || after.Epoch < before.Epoch+recoveredEntries {
		t.Errorf("epoch %d after %d: %v", after.Epoch, before.Epoch, err)
	}
	for _, id := range gone {
		if n, ok := two.Meta().Node(id); ok && !n.GetRemoved() {
			t.Errorf("%s is still a node: %v", id, n)
		}
	}

	// It grows by machines that were never there.
	w.place([]wire.ServerID{"two", "four", "five"}, "two", "four", "five")
	for _, id := range []wire.ServerID{"four", "five"} {
		w.start(id, true)
		w.joinAll(id)
	}
	w.ready()
	for range 3 {
		for _, c := range clients {
			c.put()
		}
	}
	for _, c := range clients {
		c.check()
	}
}

// TestRecoverKilled: a recovery that is killed at any moment keeps the node from
// starting until it is finished, and then nothing is missing.
func TestRecoverKilled(t *testing.T) {
	w := three(t)
	clients := []*writer{{w: w, id: mainStore(0)}, {w: w, id: mainStore(1)}, {w: w, id: mainStore(2)}}
	for range 5 {
		for _, c := range clients {
			c.put()
		}
	}
	for _, c := range clients {
		c.check()
	}
	w.kill("one", "two", "three")
	disk, rng := w.disks["two"], seeded(t)
	gone := []wire.ServerID{"one", "three"}
	begun := 0
	for range 8 {
		// A copy of the disk at a random sync of the whole.
		var crashed *storagetest.Disk
		whole := disk.Crash(0, 1)
		at, n := 1+rng.IntN(60), 0
		w.recoverOn(whole, nil, func(cfg RecoverConfig) {
			stop := atSync(whole, true, func() {
				if n++; n == at {
					crashed = whole.Crash(0, 1)
				}
			})
			defer stop()
			if _, err := Recover(t.Context(), cfg, gone...); err != nil {
				t.Fatal(err)
			}
		})
		if crashed == nil {
			continue
		}
		s, err := tryBegin(t, crashed, func(c *Config, _ *storage.Options) { c.Server = "two" })
		if errors.Is(err, ErrRecovering) {
			begun++
		} else if err == nil {
			s.stop() // before the note, or after all
		} else {
			t.Fatal(err)
		}
		w.recoverOn(crashed, nil, func(cfg RecoverConfig) {
			if _, err := Recover(t.Context(), cfg, gone...); err != nil && !errors.Is(err, ErrNotLost) {
				t.Fatal(err)
			}
		})
		w.disks["two"] = crashed
		w.start("two", false).ready()
		for _, c := range clients {
			c.check()
		}
		w.kill("two")
	}
	if begun == 0 {
		t.Error("no recovery was interrupted: the test proves nothing")
	}
}

// TestRestoredDirectoryForgetsItsCluster: what a backup says of the cluster that was
// backed up must not keep the node that it is restored on from being a cluster.
func TestRestoredDirectoryForgetsItsCluster(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	meta, ctx := s.host.Meta(), t.Context()
	old := &pb.ShardMap{}
	for g := range 4 {
		old.Groups = append(
			old.Groups, &pb.GroupPlacement{Group: uint32(g), Desired: []string{"gone"}, Present: []string{"gone"}},
		)
	}
	if err := errors.Join(
		meta.PutNode(ctx, &pb.NodeEntry{Server: "gone"}), meta.PutAuthority(ctx, &pb.AuthorityEntry{Data: []byte("x")}),
		meta.PutJoinToken(ctx, [32]byte{1}, time.Unix(1_800_000_000, 0)), meta.SetVersion(ctx, wire.ProtocolVersion),
		s.host.Directory().PutOrg(ctx, &pb.OrgEntry{Org: org(7).Bytes()}), meta.PutShardMap(ctx, old),
	); err != nil {
		t.Fatal(err)
	}
	s.stop()
	again := start(t, restored(t, disk), func(c *Config, _ *storage.Options) { c.Server, c.Shards = "two", 5 })
	meta = again.host.Meta()
	if n := meta.Nodes(); len(n) > 0 {
		t.Errorf("nodes %v", n)
	}
	if meta.ShardMap().GetVersion() != 0 || meta.Authority().GetVersion() != 0 || meta.JoinToken([32]byte{1}) != nil {
		t.Errorf("shard map %v, authority %v", meta.ShardMap(), meta.Authority())
	}
	if meta.Version() != wire.ProtocolVersion {
		t.Errorf("version %d", meta.Version())
	}
	if _, ok := again.host.Directory().Org(org(7)); !ok {
		t.Error("the organization is not there")
	}
	id := mainStore(7)
	again.write(id, again.open(id), "a", "1")
}

// restored is a disk with the meta store of another one, as a restore makes it.
func restored(t *testing.T, from *storagetest.Disk) *storagetest.Disk {
	t.Helper()
	to := storagetest.NewDisk()
	open := func(disk *storagetest.Disk) *storage.Node {
		node, err := storage.Open(
			storage.Options{Dir: storagetest.Dir, FS: disk, Clock: clock.Real(), MinFreeBytes: -1, BallastBytes: -1},
		)
		if err != nil {
			t.Fatal(err)
		}
		return node
	}
	source, target := open(from), open(to)
	c, err := source.Copy(t.Context(), storage.MetaStore)
	if err != nil {
		t.Fatal(err)
	}
	stage, err := target.Stage(storage.MetaStore)
	if err != nil {
		t.Fatal(err)
	}
	missing, err := stage.Want(c.Files())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		r, err := c.Open(m.Name, m.Offset)
		if err == nil {
			err = errors.Join(stage.Receive(m, r), r.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(stage.BeginAnew(), stage.Adopt(0), c.Close()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(source.Close(), target.Close()); err != nil {
		t.Fatal(err)
	}
	return to
}
