package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
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
			if err := s.node.OutOfService(bad); !errors.Is(err, storage.ErrOutOfService) ||
				!strings.Contains(err.Error(), ".sst") {
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
	set, err := s.host.machines[g.id-1].AsideCount()
	if err != nil || set == 0 {
		t.Fatalf("%d entries were set aside, %v", set, err)
	}
	if err := s.host.sweeper.removeStores(t.Context(), bad.Org); err != nil {
		t.Fatal(err)
	}
	if set, err = s.host.machines[g.id-1].AsideCount(); err != nil || set != 0 {
		t.Errorf("%d entries are still set aside, %v", set, err)
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
		clustertest.WaitFor(t, func() bool { return s.node.Stats().OutOfService == 0 && s.host.Stats().StoresMended > 0 })
		clustertest.WaitFor(t, func() bool { g := s.host.shard(id); return g != nil && g.ready() && len(s.rows(id)) >= rows })
		clustertest.WaitFor(t, func() bool { return s.node.OutOfService(id) == nil })
	}
	for range 5 {
		commit()
	}
	for _, s := range w.all() {
		clustertest.WaitFor(t, func() bool { return len(s.rows(id)) == rows })
		s.flush(id)
		s.compact(id)
	}

	t.Log("at the start of a follower")
	follower := wire.ServerID("two")
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
	clustertest.WaitFor(t, func() bool { return leader.host.Stats().StoresMended > 0 })
	commit()
	whole(leader)
	for _, s := range w.all() {
		clustertest.WaitFor(t, func() bool { return len(s.rows(id)) == rows })
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
	// what was acknowledged last
	disk.Flip(t, log, func(raw []byte) int { return len(bytes.TrimRight(raw, "\x00")) - 1 }, 1)
	if _, err := tryBegin(t, disk); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), log) {
		t.Fatalf("the damaged node starts, %v", err)
	}
	for range 5 {
		c.put()
	}
	w.leave("three")
	w.place([]wire.ServerID{"one", "two"}, "one", "two", "four")
	w.start("four", true)
	w.joinAll("four")
	for range 5 {
		c.put()
	}
	w.ready()
	c.check()
	clustertest.WaitFor(t, func() bool { return int64(len(w.servers["four"].rows(id))) == c.acked.Load() })
}

// beside returns an organization whose log is that of another one.
func beside(h *Host, id storage.StoreID) storage.StoreID {
	for n := 0; ; n++ {
		if other := mainStore(n); other != id && h.Shard(other.Org) == h.Shard(id.Org) {
			return other
		}
	}
}

// pauseOf returns the pause before the others are asked again for a damaged store, 0 where
// it was not looked for in vain.
func (s *server) pauseOf(id storage.StoreID) time.Duration {
	m := s.host.hosting.mender
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lacking[id].pause
}

// askAgain ends that pause.
func (s *server) askAgain(id storage.StoreID) {
	m := s.host.hosting.mender
	m.mu.Lock()
	if l, ok := m.lacking[id]; ok {
		l.until = 0
		m.lacking[id] = l
	}
	m.mu.Unlock()
	select {
	case s.host.hosting.wake <- struct{}{}:
	default:
	}
}

// TestStoreDamagedEverywhereStopsNobodyElse: an organization whose store is damaged on all
// nodes is out of service, and the others of its shard are served: its group stays open
// while the nodes ask each other for a copy, less and less often. When one copy is put
// right, all have it, with what was acknowledged last.
func TestStoreDamagedEverywhereStopsNobodyElse(t *testing.T) {
	t.Parallel()
	w := three(t)
	all := []wire.ServerID{"one", "two", "three"}
	bad := &writer{w: w, id: mainStore(0)}
	good := &writer{w: w, id: beside(w.any().host, bad.id)}
	for range 5 {
		bad.put()
		good.put()
	}
	bad.check()
	for _, s := range w.all() {
		s.flush(bad.id)
		s.compact(bad.id)
	}
	for range 3 {
		bad.put() // the log alone has these
	}
	w.kill(all...)
	for _, id := range all {
		w.disks[id].FlipTables(t, bad.id)
	}
	for _, id := range all {
		w.start(id, false)
	}
	for range 5 {
		good.put()
	}
	groups := map[*server]*group{}
	for _, s := range w.all() {
		clustertest.WaitFor(t, func() bool { return s.pauseOf(bad.id) > 0 })
		clustertest.WaitFor(t, func() bool { g := s.host.shard(bad.id); return g != nil && g.ready() })
		if _, err := s.node.AcquireToRead(bad.id); !errors.Is(err, storage.ErrOutOfService) {
			t.Errorf("%s: read of damaged tables: %v", s.host.Server(), err)
		}
		groups[s] = s.host.shard(bad.id)
	}
	for range 3 {
		for _, s := range w.all() {
			pause := s.pauseOf(bad.id)
			s.askAgain(bad.id)
			clustertest.WaitFor(t, func() bool { return s.pauseOf(bad.id) >= 2*pause })
		}
		good.put()
	}
	good.check() // Compact cuts the log for a replica that is behind, too; it would need the damaged store
	for s, g := range groups {
		if s.host.shard(bad.id) != g {
			t.Errorf("%s has opened the group anew, and nobody had a copy", s.host.Server())
		}
		s.compact(good.id)
	}
	good.check()

	w.kill("two")
	w.disks["two"].FlipTables(t, bad.id)
	w.start("two", false)
	clustertest.WaitFor(t, func() bool { return len(w.servers["two"].rows(bad.id)) == int(bad.acked.Load()) })
	for _, id := range []wire.ServerID{"one", "three"} {
		s := w.servers[id]
		clustertest.WaitFor(t, func() bool { s.askAgain(bad.id); return s.host.Stats().StoresMended > 0 })
		clustertest.WaitFor(t, func() bool { return s.node.OutOfService(bad.id) == nil })
	}
	bad.put()
	bad.check()
	good.check()
}

// TestManifestAsksForWhatWasSetAside: a replica that is brought up by a node with a damaged
// store has to have what is set aside for that store there: the log has it no more.
func TestManifestAsksForWhatWasSetAside(t *testing.T) {
	t.Parallel()
	s := start(t, storagetest.NewDisk(), func(_ *Config, o *storage.Options) { o.MaxOpenStores = 2 })
	id := mainStore(0)
	lease := s.write(id, s.open(id), "0", "v")
	s.flush(id)
	s.compact(id)
	s.fs.FlipTables(t, id)
	other, err := s.node.AcquireForApply(mainStore(1)) // the damaged one is closed
	if err != nil {
		t.Fatal(err)
	}
	other.Release()
	if _, err := s.node.AcquireToRead(id); !errors.Is(err, storage.ErrOutOfService) {
		t.Fatalf("read of damaged tables: %v", err)
	}
	if _, err := s.host.Propose(t.Context(), id, lease, put(id, "1", "v")); !errors.Is(err, wire.ErrOutcomeUnknown) {
		t.Fatalf("write to a damaged store: %v", err)
	}
	m := s.host.machines[s.host.Shard(id.Org)-1]
	set, err := m.Asides(state.AsidePrefix)
	if err != nil || len(set) != 1 {
		t.Fatalf("%d entries were set aside, %v", len(set), err)
	}
	if there, _, err := m.Stores(); err != nil || there[id] != set[0].Index {
		t.Errorf("the manifest asks for entry %d, %d is set aside, %v", there[id], set[0].Index, err)
	}
}
