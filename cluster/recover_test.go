package cluster

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// recoverOn calls f with the data directory of a node that does not run. The nodes
// in up answer.
func (w *fleet) recoverOn(disk *storagetest.Disk, up []ServerID, f func(RecoverConfig)) {
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
	gone := []ServerID{"one", "three"}
	w.recoverOn(w.disks["two"], []ServerID{"three"}, func(cfg RecoverConfig) {
		if l, err := SurveyLoss(cfg); err != nil || len(l.Nodes) != 2 || len(l.Groups) != 4 || l.Newest.IsZero() {
			t.Errorf("survey: %+v, %v", l, err)
		}
		if _, err := Recover(t.Context(), cfg, gone...); !errors.Is(err, ErrNotLost) {
			t.Errorf("recovery although one of them answers: %v", err)
		}
		if _, err := Recover(t.Context(), cfg, "one"); !errors.Is(err, ErrNotLost) {
			t.Errorf("recovery although there is a majority: %v", err)
		}
		if _, err := Recover(t.Context(), cfg, "four"); !errors.Is(err, ErrNodeUnknown) {
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
	w.place([]ServerID{"two", "four", "five"}, "two", "four", "five")
	for _, id := range []ServerID{"four", "five"} {
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
	gone := []ServerID{"one", "three"}
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
