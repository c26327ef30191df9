package cluster

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func orgEntry(n int, slug string) *pb.OrgEntry {
	return &pb.OrgEntry{Org: org(n).Bytes(), Name: "Org " + slug, Slug: slug, CreatedMs: int64(1000 - n)}
}

func key(n int) pb.KeyHash { return pb.HashKey(fmt.Sprint("key-", n)) }

func (s *server) putOrg(n int, slug string) {
	s.t.Helper()
	if err := s.host.Directory().PutOrg(s.t.Context(), orgEntry(n, slug)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *server) putKey(k, n int) error {
	return s.host.Directory().PutKey(s.t.Context(), key(k), org(n))
}

func (s *server) wantKey(k int, want pb.OrgID, ok bool) {
	s.t.Helper()
	if got, found := s.host.Directory().Lookup(key(k)); got != want || found != ok {
		s.t.Errorf("key %d leads to %v, %t; want %v, %t", k, got, found, want, ok)
	}
}

func TestDirectory(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	d := s.host.Directory()
	s.wantKey(0, pb.OrgID{}, false)
	if err := s.putKey(0, 0); !errors.Is(err, wire.ErrOrgUnknown) {
		t.Errorf("key of an organization that is not there: %v", err)
	}
	s.putOrg(0, "zero")
	s.putOrg(1, "one")
	for range 2 { // the second time changes nothing
		if err := s.putKey(0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.putKey(1, 1); err != nil {
		t.Fatal(err)
	}
	if err := s.putKey(0, 1); !errors.Is(err, wire.ErrKeyTaken) {
		t.Errorf("key of another organization: %v", err)
	}
	if err := d.PutOrg(t.Context(), orgEntry(2, "one")); !errors.Is(err, wire.ErrSlugTaken) {
		t.Errorf("slug of another organization: %v", err)
	}
	s.putOrg(1, "uno") // a new slug frees the old one
	s.putOrg(2, "one")

	check := func(s *server) {
		t.Helper()
		d := s.host.Directory()
		s.wantKey(0, org(0), true)
		s.wantKey(1, org(1), true)
		s.wantKey(2, pb.OrgID{}, false)
		var slugs []string
		for _, e := range d.Orgs() {
			slugs = append(slugs, e.GetSlug())
		}
		if got := fmt.Sprint(slugs); got != "[one uno zero]" { // by creation time
			t.Errorf("organizations are %s", got)
		}
		if e, ok := d.OrgBySlug("one"); !ok || string(e.GetOrg()) != string(org(2).Bytes()) {
			t.Errorf("slug one is %v", e)
		}
		if e, ok := d.Org(org(1)); !ok || e.GetName() != "Org uno" {
			t.Errorf("organization 1 is %v", e)
		}
	}
	check(s)
	check(start(t, s.crash())) // from the log alone
	if err := s.host.compactor.compact(s.host.group(wire.MetaGroup)); err != nil {
		t.Fatal(err)
	}
	check(start(t, s.crash())) // from the store alone
	if err := s.putKey(3, 0); err != nil {
		t.Fatal(err)
	}
	again := start(t, s.crash()) // from both
	check(again)
	again.wantKey(3, org(0), true)
}

func TestPutKeyIsDecidedInOrder(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	const orgs = 8
	for i := range orgs {
		s.putOrg(i, fmt.Sprint(i))
	}
	var wg sync.WaitGroup
	errs := make([]error, orgs)
	for i := range orgs {
		wg.Go(func() { errs[i] = s.putKey(7, i) })
	}
	wg.Wait()
	winner, ok := s.host.Directory().Lookup(key(7))
	if !ok {
		t.Fatal("nobody has the key")
	}
	for i, err := range errs {
		if org(i) == winner && err != nil || org(i) != winner && !errors.Is(err, wire.ErrKeyTaken) {
			t.Errorf("organization %d: %v, and %v has the key", i, err, winner)
		}
	}
}

func TestRemoveOrg(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	s.putOrg(0, "zero")
	s.putOrg(1, "one")
	if err := errors.Join(s.putKey(0, 0), s.putKey(1, 1)); err != nil {
		t.Fatal(err)
	}
	id := mainStore(0)
	lease := s.write(id, s.open(id), "a", "1")
	other := mainStore(1)
	s.write(other, s.open(other), "b", "2")

	d := s.host.Directory()
	if err := d.RemoveOrg(t.Context(), org(9)); !errors.Is(err, wire.ErrOrgUnknown) {
		t.Errorf("removal of an unknown organization: %v", err)
	}
	for range 2 { // again is no error
		if err := d.RemoveOrg(t.Context(), org(0)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *server) {
		t.Helper()
		d := s.host.Directory()
		s.wantKey(0, pb.OrgID{}, false)
		s.wantKey(1, org(1), true)
		if _, err := s.host.OpenStore(t.Context(), id); !errors.Is(err, wire.ErrRemoved) {
			t.Errorf("open a removed store: %v", err)
		}
		if _, err := s.host.Propose(t.Context(), id, lease, put(id, "a", "2")); !errors.Is(err, wire.ErrRemoved) {
			t.Errorf("write to a removed store: %v", err)
		}
		sandbox := storage.StoreID{Org: org(0), Realm: storage.RealmSandbox}
		if _, err := s.host.OpenStore(t.Context(), sandbox); !errors.Is(err, wire.ErrRemoved) {
			t.Errorf("open a removed organization's sandbox: %v", err)
		}
		if err := d.PutOrg(t.Context(), orgEntry(0, "zero")); !errors.Is(err, wire.ErrOrgRemoved) {
			t.Errorf("bring an organization back: %v", err)
		}
		if err := s.putKey(5, 0); !errors.Is(err, wire.ErrOrgRemoved) {
			t.Errorf("new key of a removed organization: %v", err)
		}
		if n := d.KeyStats().Keys; n != 1 || d.KeyCount(org(0)) != 0 {
			t.Errorf("%d keys are left, %d of the removed organization", n, d.KeyCount(org(0)))
		}
		if there, err := s.node.Exists(id); err != nil || there {
			t.Errorf("directory of a removed store is there: %t, %v", there, err)
		}
		if e, ok := d.Org(org(0)); !ok || !e.GetRemoved() || e.GetName() != "" || e.GetSlug() != "" {
			t.Errorf("entry of a removed organization is %v", e)
		}
		if n := len(d.Orgs()); n != 1 {
			t.Errorf("%d organizations are listed", n)
		}
		s.wantRows(other, map[string]string{"b": "2"})
	}
	check(s)
	again := start(t, s.crash())
	check(again)
	again.putOrg(3, "zero") // the slug is free
}

// TestRemovalSurvivesCrashes crashes before every sync of a removal. Whatever
// is found, the store is whole or it is gone for good; and if the directory says
// that the organization is removed, the start finishes the removal.
func TestRemovalSurvivesCrashes(t *testing.T) {
	disk := storagetest.NewDisk()
	one := func(c *Config, _ *storage.Options) { c.Shards = 1 }
	s := start(t, disk, one)
	s.putOrg(0, "zero")
	if err := s.putKey(0, 0); err != nil {
		t.Fatal(err)
	}
	id, other := mainStore(0), mainStore(1)
	lease := s.open(id)
	for i := range 5 {
		lease = s.write(id, lease, fmt.Sprint(i), "1")
		if i == 2 {
			s.flush(id) // part of it is in the store's files, part in the log
		}
	}
	s.write(other, s.open(other), "b", "2")
	var mu sync.Mutex
	var crashes []*storagetest.Disk
	stop := atSync(disk, true, func() {
		mu.Lock()
		defer mu.Unlock()
		crashes = append(crashes, s.crash())
	})
	if err := s.host.Directory().RemoveOrg(t.Context(), org(0)); err != nil {
		t.Fatal(err)
	}
	stop()
	crashes = append(crashes, s.crash())
	before, after := 0, 0
	for i, disk := range crashes {
		again := start(t, disk, one)
		if _, alive := again.host.Directory().OrgBySlug("zero"); alive {
			before++
			if n := len(again.rows(id)); n != 5 {
				t.Errorf("crash %d: not removed, but %d of 5 rows", i, n)
			}
			if l := again.open(id); l.Version != 5 {
				t.Errorf("crash %d: not removed, but at version %d of 5", i, l.Version)
			}
		} else {
			after++
			<-again.host.sweeper.swept // the start finishes what it finds
			if there, err := again.node.Exists(id); err != nil || there {
				t.Errorf("crash %d: removed, but the directory is there: %t, %v", i, there, err)
			}
			if _, err := again.host.OpenStore(t.Context(), id); !errors.Is(err, wire.ErrRemoved) {
				t.Errorf("crash %d: open a removed store: %v", i, err)
			}
			if n := again.host.Directory().KeyStats().Keys; n != 0 {
				t.Errorf("crash %d: removed, but %d keys are left", i, n)
			}
		}
		again.wantRows(other, map[string]string{"b": "2"})
		again.stop()
	}
	if before == 0 || after < 2 {
		t.Errorf("%d crashes before and %d after the removal: this test proves too little", before, after)
	}
}

// TestReplayDoesNotResurrect replays entries of a removed store that are older
// than its removal. Without the tombstone the replay would make its directory
// again, with part of its content.
func TestReplayDoesNotResurrect(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	s.putOrg(0, "zero")
	id := mainStore(0)
	s.write(id, s.open(id), "a", "1")
	if err := s.host.Directory().RemoveOrg(t.Context(), org(0)); err != nil {
		t.Fatal(err)
	}
	crashed := s.crash()
	made := false
	crashed.FailSync(func(path string) bool {
		made = made || len(path) > 0 && containsStore(path, id)
		return false
	})
	again := start(t, crashed)
	<-again.host.sweeper.swept
	crashed.FailSync(nil)
	if made {
		t.Error("the replay has touched the removed store's directory")
	}
	if st := again.status(id); st.Applied < 4 {
		t.Errorf("only %d entries were replayed", st.Applied)
	}
}

func containsStore(path string, id storage.StoreID) bool {
	for name := range splitPath(path) {
		if name == id.String() {
			return true
		}
	}
	return false
}

func splitPath(path string) map[string]bool {
	names := map[string]bool{}
	begin := 0
	for i := range len(path) + 1 {
		if i == len(path) || path[i] == '/' || path[i] == os.PathSeparator {
			names[path[begin:i]] = true
			begin = i + 1
		}
	}
	return names
}

// TestRemovalWaitsForReaders: an actor still holds the store. Nothing can be
// written any more; the directory goes when the reader has gone.
func TestRemovalWaitsForReaders(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	s.putOrg(0, "zero")
	id := mainStore(0)
	lease := s.write(id, s.open(id), "a", "1")
	reader, err := s.node.Acquire(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.host.Directory().RemoveOrg(t.Context(), org(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.host.Propose(t.Context(), id, lease, put(id, "a", "2")); !errors.Is(err, wire.ErrRemoved) {
		t.Errorf("write to a removed store: %v", err)
	}
	reader.Release()
	clustertest.WaitFor(t, func() bool {
		s.clock.Advance(defaultCompactAge) // again and again: who is to look may not be waiting yet
		there, err := s.node.Exists(id)
		return err == nil && !there
	})
}
