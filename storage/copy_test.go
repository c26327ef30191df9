package storage_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// reopen opens a node on a disk; the caller closes it.
func reopen(t testing.TB, disk *storagetest.Disk) *storage.Node {
	t.Helper()
	o, _ := disk.Options()
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// collect receives what a stage misses of a copy, up to a number of bytes; it
// reports whether all is there.
func collect(t testing.TB, c *storage.Copy, s *storage.Stage, limit int64) bool {
	t.Helper()
	missing, err := s.Want(c.Files())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		if limit <= 0 {
			return false
		}
		r, err := c.Open(m.Name, m.Offset)
		if err != nil {
			t.Fatal(err)
		}
		rest := m.Size - m.Offset
		err = s.Receive(m, io.LimitReader(r, limit))
		if limit -= rest; limit < 0 {
			if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
				t.Fatalf("a file that was cut off: %v", err)
			}
			err = nil
		}
		if errors.Is(err, storage.ErrChecksum) && m.Offset > 0 {
			// The power failure spoiled what was there: from the beginning, then.
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			return collect(t, c, s, limit)
		}
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return limit >= 0
}

// plantErased writes what plant does, and erases it; that is not carried out yet.
func plantErased(t testing.TB, h *storage.Store) {
	t.Helper()
	p := pb.PartitionID{1}
	plant(t, h, p)
	eraseRange(t, h, storage.PartitionSpace(h.ID(), p).All())
}

func stage(t testing.TB, n *storage.Node, id storage.StoreID) *storage.Stage {
	t.Helper()
	s, err := n.Stage(id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func copyOf(t testing.TB, n *storage.Node, id storage.StoreID) *storage.Copy {
	t.Helper()
	c, err := n.Copy(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fill writes a round of rows over several tables.
func fill(t testing.TB, h *storage.Store, round int) {
	t.Helper()
	index := h.Applied()
	for i := range 20 {
		index++
		put(t, h, index, fmt.Sprint(round, "/", i), strings.Repeat(token(round*100+i), 200))
	}
	if err := h.Flush(); err != nil {
		t.Fatal(err)
	}
}

// TestCopyInterruptedAtRandom moves a store while it is written to; each attempt
// breaks off somewhere, and the receiver loses its power now and then. What is
// adopted in the end is the source at the time of the last copy.
func TestCopyInterruptedAtRandom(t *testing.T) {
	storagetest.FewerChecks(t, 30)
	rapid.Check(t, func(rt *rapid.T) {
		from, disk := storagetest.NewDisk().Node(t), storagetest.NewDisk()
		to := reopen(t, disk)
		id := store(1)
		h := acquire(t, from, id)
		defer h.Release()
		rounds := rapid.IntRange(1, 6).Draw(rt, "rounds")
		var sent int64
		for round := 0; ; round++ {
			if round < rounds {
				fill(t, h, round)
			}
			c := copyOf(t, from, id)
			var size int64
			for _, f := range c.Files() {
				size += f.Size
			}
			limit := size + 1
			if round < rounds {
				limit = rapid.Int64Range(0, size).Draw(rt, "limit")
			}
			sent += min(limit, size)
			done := collect(t, c, stage(t, to, id), limit)
			if err := c.Close(); err != nil {
				rt.Fatal(err)
			}
			if done {
				break
			}
			if rapid.Bool().Draw(rt, "crash") {
				past := to
				disk = disk.Crash(rapid.IntRange(0, 100).Draw(rt, "unsynced"), rapid.Uint64().Draw(rt, "seed"))
				to = reopen(t, disk)
				if err := past.Close(); err != nil {
					rt.Fatal(err)
				}
			}
		}
		if err := stage(t, to, id).Adopt(h.Applied()); err != nil {
			rt.Fatal(err)
		}
		again := disk.Crash(0, 1)
		if err := to.Close(); err != nil {
			rt.Fatal(err)
		}
		n := reopen(t, again)
		got := acquire(t, n, id)
		if got.State() != h.State() {
			rt.Errorf("state %+v, want %+v", got.State(), h.State())
		}
		space := storage.OrgSpace(id).All()
		if fmt.Sprint(dump(rt, got, space)) != fmt.Sprint(dump(rt, h, space)) {
			rt.Error("the adopted store has other rows than its source")
		}
		if staged, err := n.Staged(); err != nil || len(staged) != 0 {
			rt.Errorf("left behind: %v, %v", staged, err)
		}
		got.Release()
		if err := n.Close(); err != nil {
			rt.Fatal(err)
		}
	})
}

// TestCopyGoesOnWhereItWas: what has arrived is not sent again.
func TestCopyGoesOnWhereItWas(t *testing.T) {
	from, to := storagetest.NewDisk().Node(t), storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, from, id)
	defer h.Release()
	fill(t, h, 0)
	fill(t, h, 1)
	c := copyOf(t, from, id)
	s := stage(t, to, id)
	missing, err := s.Want(c.Files())
	if err != nil {
		t.Fatal(err)
	}
	var table storage.Missing
	for _, m := range missing {
		if m.Size > table.Size {
			table = m
		}
	}
	r, err := c.Open(table.Name, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Receive(table, io.LimitReader(r, table.Size/2)); !errors.Is(err, io.ErrUnexpectedEOF) &&
		!errors.Is(err, io.EOF) {
		t.Fatalf("half a file: %v", err)
	}
	if err := errors.Join(r.Close(), c.Close()); err != nil {
		t.Fatal(err)
	}

	c = copyOf(t, from, id) // a new connection, a new checkpoint
	missing, err = s.Want(c.Files())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		if m.Name == table.Name && m.Offset != table.Size/2 {
			t.Errorf("%s goes on at %d of %d, want %d", m.Name, m.Offset, m.Size, table.Size/2)
		}
	}
	collect(t, c, s, 1<<40)
	if missing, err = s.Want(c.Files()); err != nil || len(missing) != 0 {
		t.Errorf("missing after all was received: %v, %v", missing, err)
	}
	if err := errors.Join(c.Close(), s.Discard()); err != nil {
		t.Fatal(err)
	}
	if missing, err = stage(t, to, id).Want(nil); err != nil || len(missing) != 0 {
		t.Errorf("after a discard: %v, %v", missing, err)
	}
}

// TestCopyRefusesDamage: a flipped byte, on the way or on the receiver's disk.
func TestCopyRefusesDamage(t *testing.T) {
	from, to := storagetest.NewDisk().Node(t), storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, from, id)
	defer h.Release()
	fill(t, h, 0)
	c := copyOf(t, from, id)
	s := stage(t, to, id)
	missing, err := s.Want(c.Files())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		if m.Size == 0 {
			continue
		}
		r, err := c.Open(m.Name, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		b[len(b)/2] ^= 1
		if err := s.Receive(m, strings.NewReader(string(b))); !errors.Is(err, storage.ErrChecksum) {
			t.Errorf("a damaged %s: %v", m.Name, err)
		}
	}
	if again, err := s.Want(c.Files()); err != nil || len(again) != len(missing) {
		t.Errorf("%d files missing after damage, want %d (%v)", len(again), len(missing), err)
	}
	for _, name := range []string{"../x", "a/b", "", ".hidden", "a..b"} {
		if _, err := s.Want([]storage.CopyFile{{Name: name}}); err == nil {
			t.Errorf("a file named %q was accepted", name)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestAdoptRefuses what is too old, and waits for readers.
func TestAdoptRefuses(t *testing.T) {
	from, to := storagetest.NewDisk().Node(t), storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, from, id)
	defer h.Release()
	fill(t, h, 0)
	c := copyOf(t, from, id)
	s := stage(t, to, id)
	collect(t, c, s, 1<<40)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Adopt(h.Applied() + 1); !errors.Is(err, storage.ErrStaleCopy) {
		t.Errorf("a store that ends too early: %v", err)
	}
	reader := acquire(t, to, id)
	if err := s.Adopt(h.Applied()); !errors.Is(err, storage.ErrInUse) {
		t.Errorf("a store that is read: %v", err)
	}
	reader.Release()
	if err := s.Adopt(h.Applied()); err != nil {
		t.Error(err)
	}
	if _, err := from.Copy(t.Context(), store(2)); !errors.Is(err, storage.ErrNoStore) {
		t.Errorf("copy of a store that does not exist: %v", err)
	}
}

// TestCrashWhileAdopting: at every sync of the exchange a power failure leaves
// the old store or the new one, whole.
func TestCrashWhileAdopting(t *testing.T) {
	from, disk := storagetest.NewDisk().Node(t), storagetest.NewDisk()
	to := disk.Node(t)
	id := store(1)
	h := acquire(t, from, id)
	defer h.Release()
	fill(t, h, 0)
	fill(t, h, 1)
	old := acquire(t, to, id)
	put(t, old, 3, "old", "store")
	if err := old.Flush(); err != nil {
		t.Fatal(err)
	}
	old.Release()
	c := copyOf(t, from, id)
	s := stage(t, to, id)
	collect(t, c, s, 1<<40)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	var crashes []*storagetest.Disk
	disk.FailSync(func(string) bool {
		crashes = append(crashes, disk.Crash(0, 1), disk.Crash(100, 2))
		return false
	})
	if err := s.Adopt(h.Applied()); err != nil {
		t.Fatal(err)
	}
	disk.FailSync(nil)
	crashes = append(crashes, disk.Crash(0, 1))
	seen := map[string]int{}
	for i, after := range crashes {
		n := reopen(t, after)
		got := acquire(t, n, id)
		key := setting(id, "old")
		switch applied := got.Applied(); {
		case applied == 3 && get(t, got, key) == "store":
			seen["old"]++
		case applied == h.Applied() && get(t, got, key) == "-" && get(t, got, setting(id, "1/0")) != "-":
			seen["new"]++
		default:
			t.Errorf("crash %d leaves a store at entry %d", i, applied)
		}
		got.Release()
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if seen["old"] == 0 || seen["new"] == 0 {
		t.Errorf("crashes left %v: the test proves nothing", seen)
	}
}

// TestWhatAnAdoptedStoreHasErasedIsOwedByTheLog: what was erased before the files were copied has left the node that
// they come from. The log of the node that adopts them may hold the entries that wrote it, and never applies them.
func TestWhatAnAdoptedStoreHasErasedIsOwedByTheLog(t *testing.T) {
	from, to := storagetest.NewDisk().Node(t), storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, from, id)
	defer h.Release()
	plantErased(t, h)
	if err := from.Erase(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	c := copyOf(t, from, id)
	s := stage(t, to, id)
	collect(t, c, s, 1<<40)
	if err := errors.Join(c.Close(), s.Adopt(h.Applied())); err != nil {
		t.Fatal(err)
	}
	if _, owed := to.Log().Owed()[id]; !owed {
		t.Error("the log is not known to hold anything")
	}
}

// TestErasuresTravel: a store that moves before its erasures are carried out is
// rid of the bytes on its new node, too, and on no node anything is left of the
// transfer.
func TestErasuresTravel(t *testing.T) {
	from, disk := storagetest.NewDisk().Node(t), storagetest.NewDisk()
	to := disk.Node(t)
	id := store(1)
	h := acquire(t, from, id)
	defer h.Release()
	plantErased(t, h)
	c := copyOf(t, from, id)
	s := stage(t, to, id)
	collect(t, c, s, 1<<40)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Adopt(h.Applied()); err != nil {
		t.Fatal(err)
	}
	if found := disk.Find(t, secret); len(found) == 0 {
		t.Fatal("the erased text did not travel: the test proves nothing")
	}
	if _, owed := to.Log().Owed()[id]; !owed {
		t.Error("nobody knows of the erasures")
	}
	if err := to.Erase(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if found := disk.Find(t, secret); len(found) > 0 {
		t.Errorf("erased text is still in %v", found)
	}
	// What was collected goes with the store.
	c = copyOf(t, from, id)
	collect(t, c, stage(t, to, id), 1<<40)
	if err := errors.Join(c.Close(), to.Remove(id)); err != nil {
		t.Fatal(err)
	}
	if staged, err := to.Staged(); err != nil || len(staged) != 0 {
		t.Errorf("after the store's removal: %v, %v", staged, err)
	}
}
