package storage_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// The traps of running without write-ahead logs below a raft log, one by one.
// Each test fails when its remedy is taken out.

// Trap: one store's tables become durable before another's. An applied index
// kept per shard, or in any other place than the store's own batch, would then
// be ahead of the other store, and raft would never replay the gap.
func TestAppliedIndexIsEachStoresOwn(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	a, b := acquire(t, n, store(1)), acquire(t, n, store(2))
	for i := uint64(1); i <= 10; i++ { // one shard's log, entries alternate
		put(t, a, 2*i, "n", fmt.Sprint(i))
		put(t, b, 2*i+1, "n", fmt.Sprint(i))
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	n = disk.Crash(0, 0).Node(t)
	a, b = acquire(t, n, store(1)), acquire(t, n, store(2))
	if a.Applied() != 0 || get(t, a, setting(store(1), "n")) != "-" {
		t.Errorf("the store that was not flushed: applied %d, n=%s", a.Applied(), get(t, a, setting(store(1), "n")))
	}
	if b.Applied() != 21 || get(t, b, setting(store(2), "n")) != "10" {
		t.Errorf("the flushed store: applied %d, n=%s", b.Applied(), get(t, b, setting(store(2), "n")))
	}
	for i := uint64(1); i <= 10; i++ { // raft replays the whole log
		put(t, a, 2*i, "n", fmt.Sprint(i))
		put(t, b, 2*i+1, "n", fmt.Sprintf("replayed %d", i))
	}
	if got := get(t, a, setting(store(1), "n")); got != "10" {
		t.Errorf("after replay the first store has n=%s", got)
	}
	if got := get(t, b, setting(store(2), "n")); got != "10" {
		t.Errorf("replay wrote the second store again: n=%s", got)
	}
}

// Trap: a store is closed to make room, and with it goes what only its memtable
// had. Raft does not replay while it runs, so the next reader would miss
// acknowledged writes until the process restarts.
func TestEvictionFlushes(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	h := acquire(t, n, store(0))
	put(t, h, 1, "a", "kept")
	h.Release()
	for i := 1; i <= 20; i++ { // 8 may be open
		acquire(t, n, store(i)).Release()
	}
	if st := n.Stats(); st.Evictions == 0 {
		t.Fatal("nothing was evicted")
	}
	h = acquire(t, n, store(0))
	if got := get(t, h, setting(store(0), "a")); got != "kept" {
		t.Errorf("after eviction a is %s", got)
	}
	// And it is durable by itself: the log may have been truncated by now.
	n = disk.Crash(0, 0).Node(t)
	h = acquire(t, n, store(0))
	if got := get(t, h, setting(store(0), "a")); got != "kept" {
		t.Errorf("after eviction and power failure a is %s", got)
	}
}

// Trap: the log is truncated against stores that are not flushed. FlushStores is
// what stands between; afterwards every store stands a power failure with an
// empty log, the open, the held and the evicted ones.
func TestFlushStoresAllowsTruncation(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	const orgs = 20
	var held *storage.Store
	for i := range orgs {
		h := acquire(t, n, store(i))
		put(t, h, uint64(i+1), "a", fmt.Sprint(i))
		if i == orgs-1 {
			held = h
		} else {
			h.Release()
		}
	}
	if err := n.FlushStores(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	put(t, held, 1000, "later", "only in the log")
	n = disk.Crash(0, 0).Node(t)
	for i := range orgs {
		h := acquire(t, n, store(i))
		if got := get(t, h, setting(store(i), "a")); got != fmt.Sprint(i) || h.Applied() != uint64(i+1) {
			t.Errorf("store %d: a=%s, applied %d", i, got, h.Applied())
		}
		h.Release()
	}
}

func TestFlushStoresFlushesOnlyTheChosen(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	a, b := acquire(t, n, store(1)), acquire(t, n, store(2))
	put(t, a, 1, "a", "1")
	put(t, b, 1, "a", "1")
	if err := n.FlushStores(context.Background(), func(id storage.StoreID) bool { return id == store(1) }); err != nil {
		t.Fatal(err)
	}
	n = disk.Crash(0, 0).Node(t)
	a, b = acquire(t, n, store(1)), acquire(t, n, store(2))
	if a.Applied() != 1 || b.Applied() != 0 {
		t.Errorf("applied %d and %d, want 1 and 0", a.Applied(), b.Applied())
	}
}

// Trap: a checkpoint hard-links tables, and without a write-ahead log the
// memtable is in none of them.
func TestCheckpointHoldsTheNewestWrites(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	h := acquire(t, n, store(1))
	put(t, h, 1, "a", "in the checkpoint")
	to := disk.PathJoin(storagetest.Dir, "checkpoint")
	if err := h.Checkpoint(to); err != nil {
		t.Fatal(err)
	}
	put(t, h, 2, "a", "after the checkpoint")
	if err := n.FlushStores(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if err := h.Checkpoint(to); err == nil {
		t.Error("a second checkpoint into the same directory succeeded")
	}
	h.Release()
	// Put in the store's place, it is the store of that moment.
	if err := n.Remove(store(1)); err != nil {
		t.Fatal(err)
	}
	place := disk.PathJoin(storagetest.Dir, "stores", store(1).String()[:2], store(1).String())
	if err := disk.Rename(to, place); err != nil {
		t.Fatal(err)
	}
	h = acquire(t, n, store(1))
	defer h.Release()
	if got := get(t, h, setting(store(1), "a")); got != "in the checkpoint" || h.Applied() != 1 {
		t.Errorf("checkpoint holds a=%q at %d", got, h.Applied())
	}
}

// A snapshot shows one moment whatever is written meanwhile, with the state that
// belongs to it.
func TestSnapshotStandsStill(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	put(t, h, 1, "a", "old")
	snap, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	put(t, h, 2, "a", "new")
	put(t, h, 3, "b", "new")
	if err := h.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := get(t, snap, setting(id, "a")) + get(t, snap, setting(id, "b")); got != "old-" {
		t.Errorf("snapshot reads %q", got)
	}
	count := 0
	for _, err := range snap.Scan(storage.OrgSpace(id).All(), storage.ScanOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if count != 1 || snap.State().Applied != 1 || h.State().Applied != 3 {
		t.Errorf("%d records at %+v, store at %+v", count, snap.State(), h.State())
	}
	for range 2 {
		if err := snap.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := snap.GetRaw(setting(id, "a")); err == nil {
		t.Error("a closed snapshot reads")
	}
}

// Trap: index and data in one instance but not in one batch. Every power failure
// at every sync of a history whose large batches make Pebble flush in between
// finds an index that belongs to its data.
func TestEveryCrashFindsIndexAndDataTogether(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	var mu sync.Mutex
	var crashes []*storagetest.Disk
	disk.FailSync(func(path string) bool {
		if strings.Contains(path, "stores") {
			mu.Lock()
			crashes = append(crashes, disk.Crash(0, 0))
			mu.Unlock()
		}
		return false
	})
	// Memtables that fill up in the middle of a batch's neighbours, and batches
	// that bypass them.
	sizes := []int{100, 1200 << 10, 1200 << 10, 800 << 10, 1200 << 10, 2800 << 10, 1000 << 10}
	for i := range uint64(42) {
		b := storage.NewBatch(id)
		b.PutRaw(setting(id, "n"), fmt.Appendf(nil, "%d", i+1))
		b.PutRaw(setting(id, "pad"), make([]byte, sizes[i%7]))
		if _, err := h.Apply(storage.Entry{Index: i + 1, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Flush(); err != nil {
		t.Fatal(err)
	}
	disk.FailSync(nil)
	mu.Lock()
	defer mu.Unlock()
	if len(crashes) < 20 {
		t.Fatalf("only %d syncs", len(crashes))
	}
	step := max(1, len(crashes)/100) // neighbours differ little
	for i := 0; i < len(crashes); i += step {
		o, _ := crashes[i].Options()
		after, err := storage.Open(o)
		if err != nil {
			t.Fatalf("crash %d: %v", i, err)
		}
		h := acquire(t, after, id)
		want := fmt.Sprint(h.Applied())
		if h.Applied() == 0 {
			want = "-"
		}
		if got := get(t, h, setting(id, "n")); got != want {
			t.Errorf("crash %d: applied %d with n=%s", i, h.Applied(), got)
		}
		h.Release()
		if err := after.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
