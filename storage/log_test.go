package storage_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func entry(index uint64, data string) storage.LogEntry {
	return storage.LogEntry{Index: index, Term: 3, Type: 1, Data: []byte(data)}
}

func bounds(t testing.TB, l *storage.Log, group uint32) [2]uint64 {
	t.Helper()
	first, last, err := l.Bounds(group)
	if err != nil {
		t.Fatal(err)
	}
	return [2]uint64{first, last}
}

func TestLogEntriesReadBack(t *testing.T) {
	l := storagetest.NewDisk().Node(t).Log()
	want := []storage.LogEntry{
		{
			Index: 7, Term: 2, Type: 4, Data: []byte("data"), Extensions: []byte("ext"),
			AppendedAt: time.Date(2026, 3, 1, 1, 2, 3, 4, time.UTC),
		},
		{Index: 8, Term: 1 << 40},
		{Index: 9, Extensions: []byte("e")},
	}
	if err := l.Append(1, want); err != nil {
		t.Fatal(err)
	}
	for _, w := range want {
		got, err := l.Get(1, w.Index)
		if diff := cmp.Diff(w, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	for _, at := range [][2]uint64{{1, 6}, {1, 10}, {0, 7}, {2, 7}} {
		if _, err := l.Get(uint32(at[0]), at[1]); !errors.Is(err, storage.ErrLogNotFound) {
			t.Errorf("group %d index %d: %v, want ErrLogNotFound", at[0], at[1], err)
		}
	}
	if b := bounds(t, l, 1); b != [2]uint64{7, 9} || bounds(t, l, 0) != [2]uint64{} {
		t.Errorf("bounds %v", b)
	}
}

func TestLogRefusesGaps(t *testing.T) {
	l := storagetest.NewDisk().Node(t).Log()
	for _, step := range []struct {
		indexes []uint64
		ok      bool
	}{
		{[]uint64{0}, false},
		{[]uint64{5, 7}, false},
		{[]uint64{5, 6}, true},
		{[]uint64{8}, false},
		{[]uint64{6}, false},
		{[]uint64{7}, true},
		{nil, true},
	} {
		var es []storage.LogEntry
		for _, i := range step.indexes {
			es = append(es, entry(i, "x"))
		}
		if err := l.Append(1, es); (err == nil) != step.ok || err != nil && !errors.Is(err, storage.ErrLogGap) {
			t.Errorf("append %v: %v", step.indexes, err)
		}
	}
	if err := l.Append(1, []storage.LogEntry{entry(8, ""), entry(9, "")}); err != nil {
		t.Fatal(err)
	}
	if err := l.DeleteRange(1, 6, 7); !errors.Is(err, storage.ErrLogGap) {
		t.Errorf("delete in the middle: %v, want ErrLogGap", err)
	}
}

func TestStableValues(t *testing.T) {
	disk := storagetest.NewDisk()
	l := disk.Node(t).Log()
	if _, ok, err := l.GetStable(1, []byte("vote")); ok || err != nil {
		t.Fatalf("absent value: %v, %v", ok, err)
	}
	for g := range uint32(2) {
		if err := l.SetStable(g, []byte("vote"), fmt.Appendf(nil, "for %d", g)); err != nil {
			t.Fatal(err)
		}
	}
	l = disk.Crash(0, 0).Node(t).Log()
	for g := range uint32(2) {
		if v, ok, err := l.GetStable(g, []byte("vote")); !ok || err != nil || string(v) != fmt.Sprintf("for %d", g) {
			t.Errorf("group %d after a crash: %q, %v, %v", g, v, ok, err)
		}
	}
	if err := l.SetStable(1, []byte("term"), []byte("7")); err != nil {
		t.Fatal(err)
	}
	if keys, err := l.StableKeys(1, []byte("t")); err != nil || fmt.Sprintf("%s", keys) != "[term]" {
		t.Errorf("keys that begin with t: %s, %v", keys, err)
	}
	if err := l.RemoveGroup(1, []byte("term"), []byte("absent")); err != nil {
		t.Fatal(err)
	}
	if v, ok, err := l.GetStable(1, []byte("term")); !ok || err != nil || string(v) != "7" {
		t.Errorf("what was to be kept: %q, %v, %v", v, ok, err)
	}
	if _, ok, err := l.GetStable(1, []byte("vote")); ok || err != nil {
		t.Errorf("after removal: %v, %v", ok, err)
	}
	if _, ok, err := l.GetStable(0, []byte("vote")); !ok || err != nil {
		t.Errorf("the neighbour after removal: %v, %v", ok, err)
	}
}

// The log against a model: appends, truncations on both ends, and power
// failures that keep nothing that was not synced. Whatever was acknowledged is
// there, in bounds and contents, at once and after the crash.
func TestLogKeepsWhatItAcknowledged(t *testing.T) {
	storagetest.FewerChecks(t, 30)
	rapid.Check(t, func(t *rapid.T) {
		disk := storagetest.NewDisk()
		opts, _ := disk.Options()
		node, err := storage.Open(opts)
		check(t, err)
		defer func() { check(t, node.Close()) }()
		type group struct {
			first uint64
			data  []string
		}
		groups := map[uint32]*group{1: {}, 2: {}, 0x01000000: {}}
		drawGroup := func(t *rapid.T) (uint32, *group) {
			id := rapid.SampledFrom([]uint32{1, 2, 0x01000000}).Draw(t, "group")
			return id, groups[id]
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				id, g := drawGroup(t)
				if len(g.data) == 0 {
					g.first = rapid.Uint64Range(1, 50).Draw(t, "first")
				}
				var es []storage.LogEntry
				for range rapid.IntRange(1, 6).Draw(t, "n") {
					s := rapid.StringN(0, 20, -1).Draw(t, "data")
					es = append(es, entry(g.first+uint64(len(g.data)), s))
					g.data = append(g.data, s)
				}
				check(t, node.Log().Append(id, es))
			},
			"truncate prefix": func(t *rapid.T) {
				id, g := drawGroup(t)
				n := rapid.IntRange(0, len(g.data)).Draw(t, "n")
				if n == 0 {
					return
				}
				check(t, node.Log().DeleteRange(id, min(g.first, rapid.Uint64Range(0, 60).Draw(t, "from")), g.first+uint64(n)-1))
				g.first, g.data = g.first+uint64(n), g.data[n:]
			},
			"truncate suffix": func(t *rapid.T) {
				id, g := drawGroup(t)
				n := rapid.IntRange(0, len(g.data)).Draw(t, "n")
				if n == len(g.data) {
					return
				}
				last := g.first + uint64(len(g.data)) - 1
				check(t, node.Log().DeleteRange(id, g.first+uint64(n), last+rapid.Uint64Range(0, 2).Draw(t, "beyond")))
				g.data = g.data[:n]
			},
			"crash": func(t *rapid.T) {
				disk = disk.Crash(rapid.SampledFrom([]int{0, 50}).Draw(t, "unsynced percent"), rapid.Uint64().Draw(t, "seed"))
				check(t, node.Close())
				opts.FS = disk
				node, err = storage.Open(opts)
				check(t, err)
			},
			"": func(t *rapid.T) {
				id, g := drawGroup(t)
				first, last, err := node.Log().Bounds(id)
				check(t, err)
				want := [2]uint64{}
				if len(g.data) > 0 {
					want = [2]uint64{g.first, g.first + uint64(len(g.data)) - 1}
				}
				if [2]uint64{first, last} != want {
					t.Fatalf("group %d: bounds %d–%d, want %v", id, first, last, want)
				}
				for i, s := range g.data {
					e, err := node.Log().Get(id, g.first+uint64(i))
					check(t, err)
					if string(e.Data) != s {
						t.Fatalf("group %d index %d: %q, want %q", id, e.Index, e.Data, s)
					}
				}
				if _, err := node.Log().Get(id, last+1); !errors.Is(err, storage.ErrLogNotFound) {
					t.Fatalf("beyond the end: %v", err)
				}
			},
		})
	})
}

// Appends of many groups at once are all durable, with fewer syncs than appends.
func TestAppendsShareSyncs(t *testing.T) {
	disk := storagetest.NewDisk()
	l := disk.Node(t).Log()
	before := disk.Syncs()
	const groups, each = 32, 30
	var wg sync.WaitGroup
	for g := range uint32(groups) {
		wg.Go(func() {
			for i := uint64(1); i <= each; i++ {
				if err := l.Append(g, []storage.LogEntry{entry(i, "x")}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if syncs := disk.Syncs() - before; syncs == 0 || syncs > groups*each {
		t.Errorf("%d syncs for %d appends", syncs, groups*each)
	}
	l = disk.Crash(0, 0).Node(t).Log()
	for g := range uint32(groups) {
		if b := bounds(t, l, g); b != [2]uint64{1, each} {
			t.Errorf("group %d after a crash: %v", g, b)
		}
	}
}

func TestAppendedBytesBeginAnewAtTruncation(t *testing.T) {
	l := storagetest.NewDisk().Node(t).Log()
	for i := uint64(1); i <= 10; i++ {
		if err := l.Append(1, []storage.LogEntry{entry(i, string(make([]byte, 1000)))}); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.AppendedBytes(1); n < 10_000 || n > 11_000 {
		t.Errorf("appended %d bytes", n)
	}
	if err := l.DeleteRange(1, 1, 5); err != nil {
		t.Fatal(err)
	}
	if n := l.AppendedBytes(1); n != 0 {
		t.Errorf("after truncation %d", n)
	}
	if n := l.AppendedBytes(2); n != 0 {
		t.Errorf("another group has %d", n)
	}
}

// A cut beside appends takes no entry with it that was acknowledged meanwhile,
// even one that names an end beyond the last entry of a moment ago.
func TestCutBesideAppends(t *testing.T) {
	l := storagetest.NewDisk().Node(t).Log()
	const entries = 400
	var acked atomic.Uint64
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := uint64(1); i <= entries; i++ {
			if err := l.Append(1, []storage.LogEntry{entry(i, "x")}); err != nil {
				t.Error(err)
				return
			}
			acked.Store(i)
		}
	})
	cut := uint64(0)
	for cut < entries/2 {
		cut = acked.Load()
		if cut == 0 {
			continue
		}
		if err := l.DeleteRange(1, 1, cut); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	first, last, err := l.Bounds(1)
	if cut == entries { // the cuts had the last word
		if err != nil || first != 0 || last != 0 {
			t.Fatalf("bounds %d–%d of an empty log: %v", first, last, err)
		}
		return
	}
	if err != nil || last != entries || first != cut+1 {
		t.Fatalf("bounds %d–%d, want %d–%d: %v", first, last, cut+1, entries, err)
	}
	for i := first; i <= last; i++ {
		if _, err := l.Get(1, i); err != nil {
			t.Fatalf("acknowledged entry: %v", err)
		}
	}
}
