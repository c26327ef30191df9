package storage_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orgmem/proto/clock"
	"orgmem/storage"
)

func openDisk(dir string) (*storage.Node, error) {
	return storage.Open(storage.Options{
		Dir: dir, Clock: clock.Real(), MinFreeBytes: -1, BallastBytes: -1,
		Fatal: func(msg string) { fmt.Fprintln(os.Stderr, msg); os.Exit(70) },
	})
}

func closeNode(t testing.TB, n *storage.Node) {
	t.Helper()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// glob returns the one file that matches, or the largest.
func glob(t testing.TB, pattern ...string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v: %v, %v", pattern, names, err)
	}
	best, size := "", int64(-1)
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Size() > size {
			best, size = name, info.Size()
		}
	}
	return best
}

// A flipped bit in one store is told as damage, never read as data, and leaves
// the other stores alone.
func TestFlippedBitIsToldAndConfined(t *testing.T) {
	dir := t.TempDir()
	n, err := openDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	const records = 200
	value := func(i int) string { return string(randomBytes(uint64(i), 1000)) }
	for s := range 2 {
		h := acquire(t, n, store(s))
		for i := range records {
			put(t, h, uint64(i+1), fmt.Sprint(i), value(i))
		}
		h.Release()
	}
	closeNode(t, n)
	table := glob(t, dir, "stores", "*", store(0).String(), "*.sst")
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(table, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err = openDisk(dir); err != nil {
		t.Fatal(err)
	}
	defer closeNode(t, n)
	damaged := 0
	for s := range 2 {
		h := acquire(t, n, store(s))
		for i := range records {
			v, ok, err := h.GetRaw(setting(store(s), fmt.Sprint(i)))
			switch {
			case err != nil && s == 0 && errors.Is(err, storage.ErrCorrupt):
				damaged++
			case err != nil || !ok || string(v) != value(i):
				t.Fatalf("store %d, record %d: %d bytes, %v, %v", s, i, len(v), ok, err)
			}
		}
		h.Release()
	}
	if damaged == 0 || n.Stats().Corruptions == 0 {
		t.Errorf("%d reads told damage, the metrics tell %d", damaged, n.Stats().Corruptions)
	}
}

// A log that was cut short anywhere, as by a torn write, opens with a prefix of
// its entries, whole, or refuses; it never opens with something else. Where the ledger
// says that more was synced it is refused.
func TestTornLogIsAPrefixOrRefused(t *testing.T) {
	dir := t.TempDir()
	n, err := openDisk(dir)
	if err != nil {
		t.Fatal(err)
	}
	const entries = 60
	value := func(i uint64) string { return string(randomBytes(i, 300)) }
	for i := uint64(1); i <= entries; i++ {
		if err := n.Log().Append(1, []storage.LogEntry{entry(i, value(i))}); err != nil {
			t.Fatal(err)
		}
	}
	closeNode(t, n)
	wal := glob(t, dir, "log", "*.log")
	whole, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	shorter := 0
	for cut := 0; cut < len(whole); cut += len(whole)/25 + 7 {
		// The log is opened under its own name only, and opening may rewrite the
		// directory: each cut gets a copy.
		copied := filepath.Join(t.TempDir(), "data")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		torn := filepath.Join(copied, "log", filepath.Base(wal))
		if err := os.WriteFile(torn, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := openDisk(copied); !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), torn) {
			t.Fatalf("cut at %d of %d: opened %v with %v", cut, len(whole), n != nil, err)
		}
		// A power failure may leave an old ledger, or none.
		if err := os.Remove(filepath.Join(copied, "log", "LEDGER")); err != nil {
			t.Fatal(err)
		}
		n, err := openDisk(copied)
		if err != nil {
			continue // refused
		}
		_, last, err := n.Log().Bounds(1)
		if err != nil {
			t.Fatal(err)
		}
		if last < entries {
			shorter++
		}
		for i := uint64(1); i <= last; i++ {
			if e, err := n.Log().Get(1, i); err != nil || string(e.Data) != value(i) {
				t.Fatalf("cut at %d: entry %d of %d: %d bytes, %v", cut, i, last, len(e.Data), err)
			}
		}
		closeNode(t, n)
	}
	if shorter == 0 {
		t.Error("no cut was noticed: the test proves nothing")
	}
}
