package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"runtime"
	"testing"

	"orgmem/cluster/clustertest"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// plantSecret writes a text that compression cannot hide, and erases it.
func plantSecret(t *testing.T, s *server, id storage.StoreID, text string) {
	t.Helper()
	lease, err := s.host.OpenStore(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	key := storage.PartitionSpace(id, pb.PartitionID{1}).Key(storage.TableContent, storage.Str(text))
	b := storage.NewBatch(id)
	b.Put(key, &pb.Content{Text: text})
	if _, err := s.host.Propose(t.Context(), id, lease, b); err != nil {
		t.Fatal(err)
	}
	b = storage.NewBatch(id)
	b.Erase(key)
	if _, err := s.host.Propose(t.Context(), id, lease.Next(), b); err != nil {
		t.Fatal(err)
	}
}

func secretText(seed string) string {
	sum := sha256.Sum256([]byte(seed))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// settled waits until the log owes nothing any more.
func settled(t *testing.T, s *server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clustertest.Patience)
	defer cancel()
	for len(s.node.Log().Owed()) > 0 {
		if ctx.Err() != nil {
			t.Fatalf("still owed: %v", s.node.Log().Owed())
		}
		if s.host.eraser.rests.Load() {
			s.clock.Advance(eraseDelay)
		}
		runtime.Gosched()
	}
}

func TestErasedBytesLeaveTheLogByThemselves(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	text := secretText("by itself")
	plantSecret(t, s, mainStore(0), text)
	if len(disk.Find(t, text)) == 0 {
		t.Fatal("the planted text is nowhere: the test proves nothing")
	}
	if err := s.node.Erase(t.Context(), mainStore(0)); err != nil { // so does this, by storage's own clock
		t.Fatal(err)
	}
	settled(t, s)
	if found := disk.Find(t, text); len(found) > 0 {
		t.Errorf("erased text is still in %q", found)
	}
}

func TestErasedBytesLeaveTheLogAfterACrash(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	text := secretText("crash")
	id := mainStore(0)
	plantSecret(t, s, id, text)
	// The store's files are clean, the log is not.
	if err := s.node.Erase(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	crashed := disk.Crash(0, 1)
	s.stop()
	if len(crashed.Find(t, text)) == 0 {
		t.Fatal("the planted text is nowhere: the test proves nothing")
	}
	s = start(t, crashed)
	settled(t, s)
	if found := crashed.Find(t, text); len(found) > 0 {
		t.Errorf("erased text is still in %q", found)
	}
}

func TestEraseNow(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	text, id := secretText("now"), mainStore(0)
	plantSecret(t, s, id, text)
	if err := s.host.Erase(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if found := disk.Find(t, text); len(found) > 0 {
		t.Errorf("erased text is still in %q", found)
	}
	if owed := s.node.Log().Owed(); len(owed) > 0 {
		t.Errorf("still owed: %v", owed)
	}
}

func TestRemovedOrganizationLeavesTheLog(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	text, id := secretText("removed"), mainStore(0)
	lease, err := s.host.OpenStore(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	b := storage.NewBatch(id)
	b.PutRaw(storage.OrgSpace(id).Key(storage.TableSetting, storage.Str("s")), []byte(text))
	if _, err := s.host.Propose(t.Context(), id, lease, b); err != nil {
		t.Fatal(err)
	}
	if err := s.host.sweeper.removeStores(t.Context(), id.Org); err != nil {
		t.Fatal(err)
	}
	settled(t, s)
	if found := disk.Find(t, text); len(found) > 0 {
		t.Errorf("a removed organization's text is still in %q", found)
	}
}

// What an organization was called leaves the directory's files and the log of its group
// by itself, when it is renamed and when it is removed.
func TestNamesOfRemovedOrganizationsLeaveTheFiles(t *testing.T) {
	disk := storagetest.NewDisk()
	s := start(t, disk)
	names := []string{secretText("first name"), secretText("second name"), secretText("slug")}
	d, org := s.host.Directory(), mainStore(0).Org
	for _, name := range names[:2] {
		if err := d.PutOrg(t.Context(), &pb.OrgEntry{Org: org.Bytes(), Name: name, Slug: names[2]}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		if len(disk.Find(t, name)) == 0 {
			t.Fatal("a planted name is nowhere: the test proves nothing")
		}
	}
	if err := d.RemoveOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	if err := s.node.Erase(t.Context(), storage.MetaStore); err != nil { // so does this, by storage's own clock
		t.Fatal(err)
	}
	settled(t, s)
	for _, name := range names {
		if found := disk.Find(t, name); len(found) > 0 {
			t.Errorf("it is still in %q", found)
		}
	}
	if e, ok := d.Org(org); !ok || !e.GetRemoved() {
		t.Errorf("the directory says %v", e)
	}
}
