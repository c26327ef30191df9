package cluster

import (
	"errors"
	"slices"
	"testing"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func (s *server) dropKeys(n int, ks ...int) error {
	var hashes []pb.KeyHash
	for _, k := range ks {
		hashes = append(hashes, key(k))
	}
	return s.host.Directory().DropKeys(s.t.Context(), org(n), hashes)
}

// TestDropKeys: what is dropped resolves to nothing, and neither the log nor the
// store brings it back; nobody drops another's keys.
func TestDropKeys(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	s.putOrg(0, "zero")
	s.putOrg(1, "one")
	for k := range 4 {
		if err := s.putKey(k, k%2); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // again is no error
		// one is of another organization, one is named twice, one is not there
		if err := s.dropKeys(0, 0, 1, 0, 7); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *server) {
		t.Helper()
		d := s.host.Directory()
		s.wantKey(0, pb.OrgID{}, false)
		s.wantKey(1, org(1), true)
		s.wantKey(2, org(0), true)
		if d.KeyStats().Keys != 3 || d.KeyCount(org(0)) != 1 || d.KeyCount(org(1)) != 2 || d.KeyCount(org(9)) != 0 {
			t.Errorf("%d keys, %d and %d of the two", d.KeyStats().Keys, d.KeyCount(org(0)), d.KeyCount(org(1)))
		}
		for n, want := range map[int][]pb.KeyHash{0: {key(2)}, 1: {key(1), key(3)}, 9: nil} {
			got, err := d.KeysOf(t.Context(), org(n), state.MaxKeysPerOrg)
			slices.SortFunc(got, func(a, b pb.KeyHash) int { return slices.Compare(a[:], b[:]) })
			slices.SortFunc(want, func(a, b pb.KeyHash) int { return slices.Compare(a[:], b[:]) })
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("keys of %d are %v, %v; want %v", n, got, err, want)
			}
		}
		if got, err := d.KeysOf(t.Context(), org(1), 1); err != nil || len(got) != 1 {
			t.Errorf("%v, %v where one is asked for", got, err)
		}
	}
	check(s)
	check(start(t, s.crash())) // from the log alone
	if err := s.host.compactor.compact(s.host.group(wire.MetaGroup)); err != nil {
		t.Fatal(err)
	}
	check(start(t, s.crash())) // from the store alone
}

// TestDirectoryHasRoom: neither one organization nor all of them bring more keys than
// there is room for, and what is dropped makes room.
func TestDirectoryHasRoom(t *testing.T) {
	s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) { c.maxKeys, c.maxKeysPerOrg = 3, 2 })
	for n := range 3 {
		s.putOrg(n, string(rune('a'+n)))
	}
	if err := errors.Join(s.putKey(0, 0), s.putKey(1, 0)); err != nil {
		t.Fatal(err)
	}
	if err := s.putKey(2, 0); !errors.Is(err, wire.ErrTooManyKeys) || !errors.Is(err, wire.ErrNotApplied) {
		t.Errorf("a third key of one organization: %v", err)
	}
	if err := s.putKey(2, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.putKey(3, 2); !errors.Is(err, wire.ErrDirectoryFull) || !errors.Is(err, wire.ErrNotApplied) {
		t.Errorf("a fourth key: %v", err)
	}
	if got := s.host.Directory().KeyStats(); got != (state.KeyStats{Keys: 3, Limit: 3}) {
		t.Errorf("%+v", got)
	}
	if err := errors.Join(s.dropKeys(0, 0), s.putKey(3, 2)); err != nil {
		t.Errorf("after one was dropped: %v", err)
	}
	if err := s.host.Directory().RemoveOrg(t.Context(), org(2)); err != nil {
		t.Fatal(err)
	}
	if err := s.putKey(4, 0); err != nil {
		t.Errorf("after an organization was removed: %v", err)
	}
}

// TestKeysAreDroppedAfterTheUpgrade: while a node of the cluster does not understand
// it no key is dropped, on any node; an organization is removed all the same, and its
// keys are dropped when the last node has been upgraded.
func TestKeysAreDroppedAfterTheUpgrade(t *testing.T) {
	t.Parallel() // it waits for elections, mostly
	w := three(t, program(wire.DropKeysVersion-1))
	for _, id := range []wire.ServerID{"one", "two", "three"} {
		if err := w.speaks(id, wire.DropKeysVersion-1); err != nil {
			t.Fatal(err)
		}
	}
	directory := func() *state.Directory { return w.any().host.Directory() }
	raise := func(v uint32) {
		w.try("raise the version", func() error { return directory().Meta().SetVersion(t.Context(), v) })
	}
	raise(wire.DropKeysVersion - 1)
	for n := range 2 {
		w.try(
			"enter an organization", func() error { return directory().PutOrg(t.Context(), orgEntry(n, string(rune('a'+n)))) },
		)
		w.try("enter its key", func() error { return directory().PutKey(t.Context(), key(n), org(n)) })
	}
	for _, id := range []wire.ServerID{"one", "two"} {
		w.stop(id)
		w.start(id, false, program(wire.DropKeysVersion))
		w.ready()
		if err := w.speaks(id, wire.DropKeysVersion); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []wire.ServerID{"one", "two"} {
		if err := w.servers[id].dropKeys(1, 1); !errors.Is(err, wire.ErrNotApplied) || !errors.Is(err, wire.ErrNotSpoken) {
			t.Errorf("%s drops a key that three could not: %v", id, err)
		}
	}
	w.try(
		"remove an organization", func() error { return w.servers["one"].host.Directory().RemoveOrg(t.Context(), org(0)) },
	)
	w.level(wire.MetaGroup)
	for id, s := range w.servers {
		s.wantKey(0, pb.OrgID{}, false)
		if n := s.host.Directory().KeyStats().Keys; n != 2 {
			t.Errorf("%s has %d keys", id, n)
		}
	}

	w.stop("three")
	w.start("three", false, program(wire.DropKeysVersion))
	w.ready()
	if err := w.speaks("three", wire.DropKeysVersion); err != nil {
		t.Fatal(err)
	}
	raise(wire.DropKeysVersion)
	w.level(wire.MetaGroup)
	// Who leads the removed organization's shard drops its keys: at the next look, or now.
	clustertest.WaitFor(t, func() bool {
		for _, s := range w.all() {
			s.host.sweeper.sweep(t.Context())
		}
		return directory().KeyCount(org(0)) == 0
	})
	w.try("drop a key", func() error { return directory().DropKeys(t.Context(), org(1), []pb.KeyHash{key(1)}) })
	w.level(wire.MetaGroup)
	for id, s := range w.servers {
		if n := s.host.Directory().KeyStats().Keys; n != 0 {
			t.Errorf("%s has %d keys", id, n)
		}
	}
}
