package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// The watermark as a story: free space falls and returns, and the node refuses,
// gives the ballast back, and recovers, each at its mark.
func TestFreeSpaceWatermark(t *testing.T) {
	const mib = 1 << 20
	disk := storagetest.NewDisk()
	o, _ := disk.Options()
	o.MinFreeBytes, o.BallastBytes = 100*mib, 20*mib
	fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	o.Clock = fake
	var others atomic.Uint64 // what other programs leave free, ballast not counted
	others.Store(500 * mib)
	var n *storage.Node
	o.FreeSpace = func(string) (uint64, error) {
		free := others.Load()
		if _, err := disk.Stat(disk.PathJoin(storagetest.Dir, "BALLAST")); err == nil {
			free -= 20 * mib
		}
		return free, nil
	}
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for _, step := range []struct {
		what              string
		others            uint64
		writable, ballast bool
	}{
		{"plenty", 500 * mib, true, true},
		{"just enough", 120 * mib, true, true},
		{"below the mark", 119 * mib, false, true},
		{"back above it, within the margin", 140 * mib, false, true},
		{"above the margin", 146 * mib, true, true},
		{"below the mark", 80 * mib, false, true},
		{"below half of it", 69 * mib, false, false},
		{"enough, but not with the ballast", 144 * mib, false, false},
		{"enough with the ballast", 145 * mib, true, true},
		{"at once to nothing", 20 * mib, false, false},
		{"at once back", 500 * mib, true, true},
	} {
		others.Store(step.others)
		_ = n.Writable() // within a second the older figure may answer
		fake.Advance(time.Second)
		err := n.Writable()
		if (err == nil) != step.writable || err != nil && !errors.Is(err, storage.ErrNoSpace) {
			t.Errorf("%s: %v, want writable %v", step.what, err, step.writable)
		}
		if free, err := o.FreeSpace(""); (n.Finishable() == nil) != (free >= 25*mib) || err != nil {
			t.Errorf("%s: with %d bytes free, to finish: %v", step.what, free, n.Finishable())
		}
		if st := n.Stats(); st.Ballast != step.ballast || st.LowSpace == step.writable {
			t.Errorf("%s: ballast %v, low %v", step.what, st.Ballast, st.LowSpace)
		}
	}
	if n.Stats().Refused == 0 {
		t.Error("no refusal was counted")
	}

	// A clock that is put back makes no figure newer than it is.
	fake.Jump(-3 * time.Hour)
	others.Store(80 * mib)
	if err := n.Writable(); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("the disk has filled up since the clock was put back: %v", err)
	}
}

// A disk that fills up under writes: refused before Pebble dies of it, reads go
// on, flushes finish, and writing resumes when somebody makes room. The node is
// never restarted.
func TestFullDisk(t *testing.T) {
	disk := storagetest.NewDisk()
	o, fatal := disk.Options()
	// As MinFreeBytes asks: room for the memtables and for a compaction. With less a flush waits for ever.
	o.MinFreeBytes, o.BallastBytes = 40<<20, 8<<20
	fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	o.Clock = fake
	disk.Capacity(120 << 20)
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if !n.Stats().Ballast {
		t.Fatal("no ballast")
	}
	h := acquire(t, n, store(1))
	defer h.Release()
	index := uint64(0)
	value := func(i uint64) []byte { return append(randomBytes(i, 50_000), fmt.Sprint(i)...) }
	writeOne := func() error {
		fake.Advance(200 * time.Millisecond)
		if err := n.Writable(); err != nil {
			return err
		}
		index++
		if err := n.Log().Append(1, []storage.LogEntry{{Index: index, Data: value(index)}}); err != nil {
			t.Fatal(err)
		}
		b := storage.NewBatch(store(1))
		b.PutRaw(setting(store(1), fmt.Sprint(index)), value(index))
		if _, err := h.Apply(storage.Entry{Index: index, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
			t.Fatal(err)
		}
		return nil
	}
	for round := range 2 {
		var err error
		for err == nil {
			err = writeOne()
		}
		if !errors.Is(err, storage.ErrNoSpace) || index < 50 {
			t.Fatalf("round %d: after %d writes: %v", round, index, err)
		}
		for i := index; i > 0 && i > index-200; i-- {
			if got := get(t, h, setting(store(1), fmt.Sprint(i))); got != "-" && got != string(value(i)) {
				t.Fatalf("round %d: record %d reads %d bytes", round, i, len(got))
			}
		}
		if err := n.FlushStores(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
		// Room: a snapshot truncates the log, and a tenant leaves.
		if err := n.Log().DeleteRange(1, 1, index); err != nil {
			t.Fatal(err)
		}
		if err := n.Log().Erase(context.Background()); err != nil {
			t.Fatal(err)
		}
		b := storage.NewBatch(store(1))
		b.EraseRange(storage.OrgSpace(store(1)).All())
		index++
		if _, err := h.Apply(storage.Entry{Index: index, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
			t.Fatal(err)
		}
		if err := n.Log().Append(1, []storage.LogEntry{{Index: index}}); err != nil {
			t.Fatal(err)
		}
		// Here the operator has made room elsewhere first: erasing needs some.
		disk.Capacity(240 << 20)
		fake.Advance(time.Second)
		if err := n.Erase(context.Background(), store(1)); err != nil {
			t.Fatal(err)
		}
		disk.Capacity(120 << 20)
		fake.Advance(time.Second)
		if err := n.Writable(); err != nil {
			t.Fatalf("round %d: space has returned (%d used): %v", round, disk.Used(), err)
		}
	}
	select {
	case msg := <-fatal:
		t.Errorf("the node stopped: %s", msg)
	default:
	}
}

// Space vanishes faster than anybody looks: a write meets ENOSPC, the ballast
// gives it room, it is acknowledged and durable, and the next is refused.
func TestBallastSavesTheWriteInFlight(t *testing.T) {
	disk := storagetest.NewDisk()
	o, fatal := disk.Options()
	o.MinFreeBytes, o.BallastBytes = 2<<20, 4<<20
	disk.Capacity(64 << 20)
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Writable(); err != nil {
		t.Fatal(err)
	}
	disk.Capacity(disk.Used() + 1000) // another program took the rest
	if err := n.Log().Append(1, []storage.LogEntry{{Index: 1, Data: randomBytes(1, 200_000)}}); err != nil {
		t.Fatal(err)
	}
	if st := n.Stats(); st.DiskFull == 0 || st.Ballast || !st.LowSpace {
		t.Errorf("stats %+v", st)
	}
	if err := n.Writable(); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("the next write: %v, want ErrNoSpace", err)
	}
	after := disk.Crash(0, 0).Node(t)
	if e, err := after.Log().Get(1, 1); err != nil || !bytes.Equal(e.Data, randomBytes(1, 200_000)) {
		t.Errorf("after a crash: %v", err)
	}
	select {
	case msg := <-fatal:
		t.Errorf("the node stopped: %s", msg)
	default:
	}
	disk.Capacity(64 << 20)
}

// A node on a full disk opens, reads, and refuses.
func TestOpenOnAFullDisk(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	h := acquire(t, n, store(1))
	put(t, h, 1, "a", "here")
	h.Release()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	o, _ := disk.Options()
	o.MinFreeBytes, o.BallastBytes = 8<<20, 4<<20
	disk.Capacity(disk.Used() + 2<<20)
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if err := n.Writable(); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("writable: %v, want ErrNoSpace", err)
	}
	h = acquire(t, n, store(1))
	defer h.Release()
	if got := get(t, h, setting(store(1), "a")); got != "here" {
		t.Errorf("reads %q", got)
	}
}

// randomBytes are the same for one seed and do not compress.
func randomBytes(seed uint64, n int) []byte {
	b := make([]byte, n)
	x := seed*2862933555777941757 + 3037000493
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}
