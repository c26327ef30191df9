package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestDamagedStoreStopsNobodyElse: a node alone of which one organization's tables are
// damaged starts and serves the others. What its log has for the damaged store is kept,
// also when the log is cut, and applied when the file is put right.
func TestDamagedStoreStopsNobodyElse(t *testing.T) {
	t.Parallel()
	for _, cut := range []bool{false, true} {
		t.Run(fmt.Sprintf("cut %t", cut), func(t *testing.T) {
			t.Parallel()
			s := start(t, storagetest.NewDisk())
			bad := mainStore(0)
			good := bad
			for n := 1; good == bad; n++ {
				if s.host.Shard(org(n)) == s.host.Shard(bad.Org) {
					good = mainStore(n) // their log is one
				}
			}
			want := map[storage.StoreID]map[string]string{bad: {}, good: {}}
			for id, rows := range want {
				lease := s.open(id)
				for i := range 6 {
					name := fmt.Sprint(i)
					rows[name] = "v" + name
					lease = s.write(id, lease, name, rows[name])
					if i == 2 {
						s.flush(id)
					}
				}
			}
			disk := s.crash()
			disk.FlipTables(t, bad)

			s = start(t, disk)
			if err := s.node.OutOfService(bad); !errors.Is(err, storage.ErrOutOfService) || !strings.Contains(err.Error(), ".sst") {
				t.Fatalf("the damaged store: %v", err)
			}
			if _, err := s.node.AcquireToRead(bad); !errors.Is(err, storage.ErrOutOfService) {
				t.Errorf("reading it: %v", err)
			}
			s.wantRows(good, want[good])
			want[good]["later"] = "v"
			s.write(good, s.open(good), "later", "v")
			if cut {
				s.compact(good)
			}
			disk = s.crash()

			s = start(t, disk)
			s.wantRows(good, want[good])
			disk = s.crash()

			disk.FlipTables(t, bad)
			s = start(t, disk)
			s.wantRows(bad, want[bad])
			s.wantRows(good, want[good])
			s.write(bad, s.open(bad), "more", "v")
			if n := s.node.Stats().OutOfService; n != 0 {
				t.Errorf("%d stores are out of service", n)
			}
		})
	}
}

// TestDamagedStoreIsRemoved: an organization whose store is damaged can be removed, and
// what was set aside for it goes with it.
func TestDamagedStoreIsRemoved(t *testing.T) {
	t.Parallel()
	s := start(t, storagetest.NewDisk())
	bad := mainStore(0)
	lease := s.open(bad)
	for i := range 4 {
		lease = s.write(bad, lease, fmt.Sprint(i), "v")
		if i == 1 {
			s.flush(bad)
		}
	}
	disk := s.crash()
	disk.FlipTables(t, bad)
	s = start(t, disk)
	g := s.host.shard(bad)
	set, err := s.host.machines[g.id-1].asides(asidePrefix)
	if err != nil || len(set) == 0 {
		t.Fatalf("%d entries were set aside, %v", len(set), err)
	}
	if err := s.host.removeStores(t.Context(), bad.Org); err != nil {
		t.Fatal(err)
	}
	if set, err = s.host.machines[g.id-1].asides(asidePrefix); err != nil || len(set) != 0 {
		t.Errorf("%d entries are still set aside, %v", len(set), err)
	}
	if err := s.node.OutOfService(bad); err != nil {
		t.Errorf("it is removed, and %v", err)
	}
}

// TestDamagedReplicaIsFetchedAnew: a node of three whose copy of a store is damaged, found
// at its start or in the middle of its work, gets it from another one and has all that was
// acknowledged. Meanwhile the organization is served.
func TestDamagedReplicaIsFetchedAnew(t *testing.T) {
	t.Parallel()
	w := three(t, func(_ *Config, o *storage.Options) { o.MaxOpenStores = 2 }) // the directory's, and one
	id := mainStore(0)
	rows := 0
	commit := func() {
		name := fmt.Sprint(rows)
		rows++
		w.commit(id, func() *storage.Batch { return put(id, name, "v") })
	}
	whole := func(s *server) {
		t.Helper()
		waitFor(t, func() bool { return s.node.Stats().OutOfService == 0 && s.host.Stats().StoresMended > 0 })
		waitFor(t, func() bool { g := s.host.shard(id); return g != nil && g.ready() && len(s.rows(id)) >= rows })
		waitFor(t, func() bool { return s.node.OutOfService(id) == nil })
	}
	for range 5 {
		commit()
	}
	for _, s := range w.all() {
		waitFor(t, func() bool { return len(s.rows(id)) == rows })
		s.flush(id)
		s.compact(id)
	}

	t.Log("at the start of a follower")
	follower := ServerID("two")
	if w.owner(id).host.Server() == follower {
		follower = "three"
	}
	w.kill(follower)
	w.disks[follower].FlipTables(t, id)
	commit() // it has to apply that
	w.start(follower, false, func(_ *Config, o *storage.Options) { o.MaxOpenStores = 2 })
	commit()
	whole(w.servers[follower])

	t.Log("in the middle of a leader's work")
	leader := w.owner(id)
	leader.flush(id)
	leader.compact(id)
	leader.fs.FlipTables(t, id)
	other, err := leader.node.AcquireForApply(mainStore(1)) // the other one is closed, and what is cached of it forgotten
	if err != nil {
		t.Fatal(err)
	}
	other.Release()
	if _, err := leader.node.AcquireToRead(id); !errors.Is(err, storage.ErrOutOfService) {
		t.Fatalf("read of damaged tables: %v", err)
	}
	waitFor(t, func() bool { return leader.host.Stats().StoresMended > 0 })
	commit()
	whole(leader)
	for _, s := range w.all() {
		waitFor(t, func() bool { return len(s.rows(id)) == rows })
	}
}

// TestDamagedLogIsRefusedAndTheNodeMadeAnew: a node of three whose log is damaged does not
// start: it has forgotten what it had promised the others. They go on without it, and with
// an empty disk and another id it is one of them again.
func TestDamagedLogIsRefusedAndTheNodeMadeAnew(t *testing.T) {
	t.Parallel()
	w := three(t)
	id := mainStore(0)
	c := &writer{w: w, id: id}
	for range 10 {
		c.put()
	}
	w.kill("three")
	disk := w.disks["three"]
	log := ""
	names, err := disk.List(disk.PathJoin(storagetest.Dir, "log"))
	for _, name := range names {
		if strings.HasSuffix(name, ".log") {
			log = disk.PathJoin(storagetest.Dir, "log", name)
		}
	}
	if err != nil || log == "" {
		t.Fatalf("no log in %v, %v", names, err)
	}
	disk.Flip(t, log, func(raw []byte) int { return len(bytes.TrimRight(raw, "\x00")) - 1 }, 1) // what was acknowledged last
	if _, err := tryBegin(t, disk); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), log) {
		t.Fatalf("the damaged node starts, %v", err)
	}
	for range 5 {
		c.put()
	}
	w.leave("three")
	w.place([]ServerID{"one", "two"}, "one", "two", "four")
	w.start("four", true)
	w.joinAll("four")
	for range 5 {
		c.put()
	}
	w.ready()
	c.check()
	waitFor(t, func() bool { return int64(len(w.servers["four"].rows(id))) == c.acked.Load() })
}
