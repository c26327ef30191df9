package storage_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// filesOf lists the directory of a store.
func filesOf(t *testing.T, disk *storagetest.Disk, id storage.StoreID) []string {
	t.Helper()
	names, err := disk.List(directoryOf(id))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// noUnused looks for files of Pebble's that nobody reads.
func noUnused(t *testing.T, disk *storagetest.Disk, id storage.StoreID) {
	t.Helper()
	for _, name := range filesOf(t, disk, id) {
		if strings.HasSuffix(name, ".log") || strings.HasPrefix(name, "OPTIONS") || strings.HasSuffix(name, ".dbtmp") {
			t.Errorf("%s lies on the disk", name)
		}
	}
}

func directoryOf(id storage.StoreID) string {
	return fmt.Sprintf("%s/stores/%s/%v", storagetest.Dir, id.String()[:2], id)
}

// TestOpeningAStoreWritesNothing: what is opened to be read leaves its directory as it
// was, and but for the first time in a process waits for no disk.
func TestOpeningAStoreWritesNothing(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	id := store(1)
	n := reopen(t, disk)
	h := acquire(t, n, id)
	put(t, h, 1, "name", "value")
	h.Release()
	closeNode(t, n)

	o, _ := disk.Options()
	o.MaxOpenStores = 1
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer closeNode(t, n)
	look := func() (syncs int) {
		t.Helper()
		before := disk.Syncs()
		h := acquire(t, n, id)
		defer h.Release()
		if got := get(t, h, setting(id, "name")); got != "value" {
			t.Errorf("read %q", got)
		}
		return disk.Syncs() - before
	}
	look()
	acquire(t, n, store(2)).Release() // takes its place
	files := filesOf(t, disk, id)
	noUnused(t, disk, id)
	look()
	acquire(t, n, store(2)).Release()
	if syncs := look(); syncs != 0 {
		t.Errorf("%d syncs", syncs)
	}
	if after := filesOf(t, disk, id); !slices.Equal(after, files) {
		t.Errorf("files %q, before %q", after, files)
	}
}

// TestStoresThatComeAndGoLoseNothing: a power failure at any time takes nothing of what
// was flushed, however often a store was opened, written to, flushed and closed since.
func TestStoresThatComeAndGoLoseNothing(t *testing.T) {
	t.Parallel()
	for seed := range uint64(storagetest.LessUnderRace(t, 40, 8)) {
		random := rand.New(rand.NewPCG(seed, 0))
		disk := storagetest.NewDisk()
		for range 3 { // processes
			o, _ := disk.Options()
			o.MaxOpenStores, o.Clock = 2, clock.NewFake(time.Unix(1_800_000_000, 0))
			n, err := storage.Open(o)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			flushed := map[storage.StoreID]uint64{}
			for range 60 {
				id := store(random.IntN(4))
				h := acquire(t, n, id)
				for range random.IntN(3) {
					put(t, h, h.Applied()+1, "last", strings.Repeat("x", random.IntN(40_000)))
				}
				if random.IntN(3) == 0 {
					if err := h.Flush(); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					flushed[id] = h.Applied()
				}
				h.Release()
				if random.IntN(20) == 0 {
					break
				}
			}
			crashed := disk.Crash(random.IntN(2)*50, seed)
			closeNode(t, n)
			disk = crashed
			after := reopen(t, disk)
			for id, applied := range flushed {
				h := acquire(t, after, id)
				if h.Applied() < applied {
					t.Errorf("seed %d: %v is at %d, and %d was flushed", seed, id, h.Applied(), applied)
				}
				h.Release()
			}
			closeNode(t, after)
		}
	}
}

// TestStoresOfAVersionBefore: a version that lets Pebble make all its files, and this one,
// open each other's directories.
func TestStoresOfAVersionBefore(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	id := store(1)
	before := func(check func(*pebble.DB)) {
		t.Helper()
		db, err := pebble.Open(directoryOf(id), &pebble.Options{
			FS: disk, DisableWAL: true, FormatMajorVersion: pebble.FormatTableFormatV6, Logger: silent{},
		})
		if err != nil {
			t.Fatal(err)
		}
		check(db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	foreign := []byte{0xff, 'k'} // a space that nobody has
	for round := range uint64(3) {
		n := reopen(t, disk)
		h := acquire(t, n, id)
		if h.Applied() != round {
			t.Fatalf("round %d: applied %d", round, h.Applied())
		}
		put(t, h, round+1, "round", fmt.Sprint(round))
		h.Release()
		closeNode(t, n)
		noUnused(t, disk, id)
		before(func(db *pebble.DB) {
			if round > 0 {
				if _, closer, err := db.Get(foreign); err != nil {
					t.Fatalf("round %d: %v", round, err)
				} else if err := closer.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Set(foreign, []byte("v"), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
			if err := db.Flush(); err != nil {
				t.Fatal(err)
			}
		})
		files := fmt.Sprint(filesOf(t, disk, id))
		if !strings.Contains(files, ".log") || !strings.Contains(files, "OPTIONS") {
			t.Fatalf("the version before left %s: the test proves nothing", files)
		}
	}
}

// silent is Pebble's logger for tests.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...))
}

// TestAStoreThatTakesMuchGrows: it is opened anew with larger memtables while it is written
// to, which nobody sees: not a reader that stands in the way, and not who reads afterwards,
// behind a power failure either.
func TestAStoreThatTakesMuchGrows(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	const records, size = 60, 40_000 // through all steps
	manifests := map[string]bool{}
	var snapshot *storage.Snapshot
	for i := range uint64(records) {
		if i == 5 { // before the first step
			var err error
			if snapshot, err = h.Snapshot(); err != nil {
				t.Fatal(err)
			}
		}
		if i == 20 {
			if got := get(t, snapshot, setting(id, "4")); len(got) != size {
				t.Errorf("the snapshot has %d bytes", len(got))
			}
			if len(manifests) != 1 {
				t.Errorf("opened anew below a snapshot: manifests %v", manifests)
			}
			snapshot.Close()
		}
		put(t, h, i+1, fmt.Sprint(i), strings.Repeat("x", size))
		for _, name := range filesOf(t, disk, id) {
			if strings.HasPrefix(name, "MANIFEST") {
				manifests[name] = true
			}
		}
	}
	if len(manifests) < 2 {
		t.Errorf("manifests %v: it was never opened anew", manifests)
	}
	if err := h.Flush(); err != nil {
		t.Fatal(err)
	}
	h.Release()
	h = acquire(t, disk.Crash(0, 0).Node(t), id)
	defer h.Release()
	for i := range records {
		if got := get(t, h, setting(id, fmt.Sprint(i))); len(got) != size {
			t.Errorf("record %d has %d bytes", i, len(got))
		}
	}
}

// TestAFullDiskLetsNoStoreGrow: where there is no room, a store that has taken so much that it is to have larger
// memtables is not opened anew: the flush would wait for room, and readers for the flush.
func TestAFullDiskLetsNoStoreGrow(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	o, _ := disk.Options()
	o.MinFreeBytes, o.BallastBytes = 8<<20, -1
	o.Clock = clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	disk.Capacity(disk.Used() + 6<<20)
	o.Clock.(*clock.Fake).Advance(time.Hour) // how much is free is looked at now and then
	if err := n.Writable(); !errors.Is(err, storage.ErrNoSpace) {
		t.Fatalf("there is room: %v", err)
	}
	before := manifestsOf(t, disk, id)
	value := strings.Repeat("x", 40_000)
	for i := range uint64(30) { // what was committed is applied all the same
		put(t, h, i+1, "a", value)
	}
	if got := get(t, h, setting(id, "a")); len(got) != len(value) {
		t.Errorf("read %d bytes", len(got))
	}
	if after := manifestsOf(t, disk, id); !slices.Equal(after, before) {
		t.Errorf("it was opened anew: %v, then %v", before, after)
	}
}

// manifestsOf are the manifests in a store's directory.
func manifestsOf(t *testing.T, disk *storagetest.Disk, id storage.StoreID) (all []string) {
	t.Helper()
	for _, name := range filesOf(t, disk, id) {
		if strings.HasPrefix(name, "MANIFEST") {
			all = append(all, name)
		}
	}
	return all
}
