package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"go.uber.org/goleak"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func store(n int) storage.StoreID {
	return storage.StoreID{Org: pb.OrgID{byte(n), byte(n >> 8), 1}, Realm: storage.RealmMain}
}

// setting is a key of the organization for tests that only need some key.
func setting(id storage.StoreID, name string) storage.Key {
	return storage.OrgSpace(id).Key(storage.TableSetting, storage.Str(name))
}

func acquire(t testing.TB, n *storage.Node, id storage.StoreID) *storage.Store {
	t.Helper()
	h, err := n.Acquire(id)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// put applies one plain entry that writes name = value.
func put(t testing.TB, h *storage.Store, index uint64, name, value string) {
	t.Helper()
	b := storage.NewBatch(h.ID())
	b.PutRaw(setting(h.ID(), name), []byte(value))
	if _, err := h.Apply(storage.Entry{Index: index, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, r storage.Reader, k storage.Key) string {
	t.Helper()
	v, ok, err := r.GetRaw(k)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		return "-"
	}
	return string(v)
}

func TestNodeLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	o, _ := storagetest.NewDisk().Options()
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	h := acquire(t, n, store(1))
	put(t, h, 1, "a", "1")
	snap, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	// Closed with the handle still held: the handle answers ErrClosed.
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal("second close:", err)
	}
	if _, _, err := h.GetRaw(setting(store(1), "a")); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("read after close: %v", err)
	}
	h.Release()
	if _, err := n.Acquire(store(1)); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("acquire after close: %v", err)
	}
	if err := n.Log().Append(1, []storage.LogEntry{{Index: 1}}); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("append after close: %v", err)
	}
}

func TestOpenStoresAreBoundedAndNothingIsLostByEviction(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t) // at most 8 open
	const orgs = 60
	for round := range uint64(3) {
		for i := range orgs {
			h := acquire(t, n, store(i))
			if got := h.Applied(); got != round {
				t.Fatalf("store %d, round %d: applied %d", i, round, got)
			}
			put(t, h, round+1, "round", fmt.Sprint(round))
			h.Release()
			if st := n.Stats(); st.OpenStores > 8 {
				t.Fatalf("%d stores open, limit %d", st.OpenStores, st.MaxOpenStores)
			}
		}
	}
	for i := range orgs {
		h := acquire(t, n, store(i))
		if got := get(t, h, setting(store(i), "round")); got != "2" {
			t.Fatalf("store %d: %s", i, got)
		}
		h.Release()
	}
	ids, err := n.Stores()
	if err != nil || len(ids) != orgs {
		t.Fatalf("%d stores on disk, %v", len(ids), err)
	}
	if st := n.Stats(); st.Evictions < 3*orgs-8 || st.Opens < 3*orgs {
		t.Errorf("stats %+v", st)
	}
}

func TestHeldStoresAreNotEvicted(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	var held []*storage.Store
	for i := range 8 {
		held = append(held, acquire(t, n, store(i)))
	}
	if _, err := n.Acquire(store(100)); !errors.Is(err, storage.ErrTooManyStores) {
		t.Fatalf("ninth store: %v, want ErrTooManyStores", err)
	}
	again := acquire(t, n, store(3)) // one that is open costs no place
	again.Release()
	// The replica that applies the log is let through, and gives the place back.
	h, err := n.AcquireForApply(store(100))
	if err != nil {
		t.Fatal(err)
	}
	put(t, h, 1, "a", "1")
	h.Release()
	h.Release() // harmless
	if st := n.Stats(); st.OpenStores != 8 || st.HeldStores != 8 {
		t.Errorf("stats %+v", st)
	}
	for i, h := range held {
		put(t, h, 1, "a", "1") // still usable
		if i > 0 {
			h.Release()
		}
	}
	h = acquire(t, n, store(100))
	if got := get(t, h, setting(store(100), "a")); got != "1" {
		t.Errorf("store 100 holds %q", got)
	}
	h.Release()
	if _, _, err := h.GetRaw(setting(store(100), "a")); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("released handle: %v, want ErrClosed", err)
	}
	if _, err := n.Acquire(storage.StoreID{}); !errors.Is(err, storage.ErrBadStoreID) {
		t.Errorf("zero id: %v", err)
	}
}

// Many goroutines open, write, and let go of more stores than may be open. Run
// with -race.
func TestConcurrentAcquireReleaseEvict(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	const orgs, workers, rounds = 24, 8, 60
	var wg sync.WaitGroup
	var locks [orgs]sync.Mutex // raft applies one store's entries in order
	var next [orgs]uint64
	for w := range workers {
		wg.Go(func() {
			for r := range rounds {
				i := (w*7 + r*5) % orgs
				h, err := n.AcquireForApply(store(i))
				if err != nil {
					t.Error(err)
					return
				}
				locks[i].Lock()
				next[i]++
				put(t, h, next[i], fmt.Sprint(next[i]), "x")
				locks[i].Unlock()
				count := 0
				for _, err := range h.Scan(storage.OrgSpace(store(i)).All(), storage.ScanOptions{}) {
					if err != nil {
						t.Error(err)
					}
					count++
				}
				if count == 0 {
					t.Error("own write not seen")
				}
				h.Release()
				if r%10 == 0 {
					if err := n.FlushStores(context.Background(), nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	for i := range orgs {
		h := acquire(t, n, store(i))
		if h.Applied() != next[i] {
			t.Errorf("store %d: applied %d, want %d", i, h.Applied(), next[i])
		}
		h.Release()
	}
}

func TestRemove(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	h := acquire(t, n, store(1))
	put(t, h, 1, "a", "gone soon")
	if err := n.Remove(store(1)); !errors.Is(err, storage.ErrInUse) {
		t.Fatalf("remove a held store: %v, want ErrInUse", err)
	}
	if err := h.Flush(); err != nil {
		t.Fatal(err)
	}
	snap, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	h.Release()
	if err := n.Remove(store(1)); !errors.Is(err, storage.ErrInUse) {
		t.Fatalf("remove under a snapshot: %v, want ErrInUse", err)
	}
	if got := get(t, snap, setting(store(1), "a")); got != "gone soon" {
		t.Errorf("snapshot after release reads %q", got)
	}
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := n.Remove(store(1)); err != nil {
			t.Fatal(err)
		}
	}
	if there, err := n.Exists(store(1)); there || err != nil {
		t.Errorf("exists: %v, %v", there, err)
	}
	if found := disk.Find(t, "gone soon"); len(found) > 0 {
		t.Errorf("bytes remain in %v", found)
	}
	h = acquire(t, n, store(1))
	if h.State() != (storage.State{}) {
		t.Errorf("a new store begins with %+v", h.State())
	}
	h.Release()
}

// A removal that a crash cut short is finished by the next Open, and the store
// is never found half there.
func TestRemoveSurvivesCrashes(t *testing.T) {
	for keep := 0; keep <= 100; keep += 10 {
		disk := storagetest.NewDisk()
		n := disk.Node(t)
		h := acquire(t, n, store(1))
		put(t, h, 1, "a", "1")
		if err := h.Flush(); err != nil {
			t.Fatal(err)
		}
		h.Release()
		if err := n.Remove(store(1)); err != nil {
			t.Fatal(err)
		}
		n = disk.Crash(keep, uint64(keep)).Node(t)
		if there, err := n.Exists(store(1)); there || err != nil {
			t.Errorf("keep %d%%: the removed store is back (%v)", keep, err)
		}
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	if dir := os.Getenv("ORGMEM_TEST_LOCK_DIR"); dir != "" {
		_, err := storage.Open(storage.Options{Dir: dir, Clock: clock.Real()})
		fmt.Printf("answer: %v, is ErrLocked: %v\n", err, errors.Is(err, storage.ErrLocked))
		return
	}
	dir := filepath.Join(t.TempDir(), "deep", "data")
	o := storage.Options{Dir: dir, Clock: clock.Real(), BallastBytes: 1 << 20, MinFreeBytes: -1}
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestSecondProcessIsRefused$", "-test.v")
	cmd.Env = append(os.Environ(), "ORGMEM_TEST_LOCK_DIR="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"is ErrLocked: true", dir, fmt.Sprintf("process %d", os.Getpid()), "stop it first"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the answer does not say %q:\n%s", want, out)
		}
	}
	// The same process is refused too.
	if _, err := storage.Open(o); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("second open: %v", err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("data directory has mode %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(dir, "BALLAST")); err != nil {
		t.Errorf("no ballast: %v, %v", info, err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	n, err = storage.Open(o)
	if err != nil {
		t.Fatal("after close:", err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// barred is a file system that refuses to open the lock's file, or to make directories.
type barred struct {
	vfs.FS
	lock, dir error
	held      error // what the lock itself is refused with
}

func (b barred) Lock(name string) (io.Closer, error) {
	if b.held != nil {
		return nil, b.held
	}
	if b.lock != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: b.lock}
	}
	return b.FS.Lock(name)
}

func (b barred) MkdirAll(dir string, perm os.FileMode) error {
	if b.dir != nil {
		return &os.PathError{Op: "mkdir", Path: dir, Err: b.dir}
	}
	return b.FS.MkdirAll(dir, perm)
}

// TestADirectoryThatCannotBeWrittenToIsCalledThat, and no other failure is: nobody looks at
// the mount where the process has too many files open.
func TestADirectoryThatCannotBeWrittenToIsCalledThat(t *testing.T) {
	for _, why := range []error{
		syscall.EROFS, syscall.EACCES, syscall.EPERM, syscall.EMFILE, syscall.ENFILE, syscall.EIO,
	} {
		want := errors.Is(why, syscall.EROFS) || errors.Is(why, syscall.EACCES) || errors.Is(why, syscall.EPERM)
		for what, refusal := range map[string]barred{"lock": {lock: why}, "directory": {dir: why}} {
			o, _ := storagetest.NewDisk().Options()
			refusal.FS = o.FS
			o.FS = refusal
			n, err := storage.Open(o)
			if err == nil {
				t.Fatalf("%s, %v: it opens: %v", what, why, n.Close())
			}
			if errors.Is(err, storage.ErrNotWritable) != want || errors.Is(err, storage.ErrLocked) || !errors.Is(err, why) {
				t.Errorf("%s, %v: %v", what, why, err)
			}
		}
	}
	for _, why := range []error{syscall.EAGAIN, syscall.EACCES, syscall.ENOLCK} { // the file is open, its lock refused
		o, _ := storagetest.NewDisk().Options()
		o.FS = barred{FS: o.FS, held: why}
		want := !errors.Is(why, syscall.ENOLCK)
		_, err := storage.Open(o)
		if errors.Is(err, storage.ErrLocked) != want || errors.Is(err, storage.ErrNotWritable) || !errors.Is(err, why) {
			t.Errorf("locking: %v: %v", why, err)
		}
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	dir := t.TempDir()
	o := storage.Options{Dir: dir, Clock: clock.Real(), BallastBytes: -1}
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"orgmem data format 99\n", "something else\n", ""} {
		if err := os.WriteFile(filepath.Join(dir, "VERSION"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := storage.Open(o); !errors.Is(err, storage.ErrIncompatible) {
			t.Errorf("VERSION %q: %v, want ErrIncompatible", text, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "VERSION")); err != nil {
		t.Fatal(err)
	}
	if _, err := storage.Open(o); !errors.Is(err, storage.ErrIncompatible) {
		t.Errorf("data without VERSION: %v, want ErrIncompatible", err)
	}
}

func TestOptionsNameEveryMistake(t *testing.T) {
	_, err := storage.Open(storage.Options{CacheBytes: -1, MaxOpenStores: -1})
	if err == nil {
		t.Fatal("opened")
	}
	for _, want := range []string{"Dir", "Clock", "CacheBytes", "MaxOpenStores"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

// Readers create nothing; who may create is not kept from it by them, nor who makes
// everything durable.
func TestReadersDoNotCreateStores(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	for i := range 50 {
		id := store(i + 1)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				h, err := n.AcquireToRead(id)
				if err == nil {
					h.Release()
				} else if !errors.Is(err, storage.ErrNoStore) {
					t.Errorf("a reader: %v", err)
				}
			})
		}
		if i%2 == 0 {
			wg.Go(func() { acquire(t, n, id).Release() })
		}
		wg.Go(func() {
			if err := n.FlushStores(context.Background(), func(s storage.StoreID) bool { return s == id }); err != nil {
				t.Errorf("flush: %v", err)
			}
		})
		wg.Wait()
		if there, err := n.Exists(id); err != nil || there != (i%2 == 0) {
			t.Errorf("store %d exists: %v, %v", i, there, err)
		}
	}
}
