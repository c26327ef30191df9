package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func write(id storage.StoreID, index, epoch, version uint64, name, value string) storage.Entry {
	b := storage.NewBatch(id)
	b.PutRaw(setting(id, name), []byte(value))
	return storage.Entry{Index: index, Kind: storage.EntryWrite, Epoch: epoch, Version: version, Changes: b.Changes()}
}

// A history of one store: two activations that do not know of each other. The
// second's OPEN fences the first, whatever the first still sends.
func TestEpochAndVersionFence(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	open := func(index uint64) storage.Entry { return storage.Entry{Index: index, Kind: storage.EntryOpen} }
	steps := []struct {
		what  string
		entry storage.Entry
		want  storage.Result
		a     string // what key "a" holds afterwards
	}{
		{"write before any OPEN", write(id, 3, 1, 0, "a", "0"), storage.Result{Outcome: storage.OutcomeFenced}, "-"},
		{"first OPEN", open(10), storage.Result{Outcome: storage.OutcomeApplied, Epoch: 10}, "-"},
		{
			"its write", write(id, 11, 10, 0, "a", "1"),
			storage.Result{Outcome: storage.OutcomeApplied, Epoch: 10, Version: 1},
			"1",
		},
		{
			"the same index again", write(id, 11, 10, 1, "a", "!"),
			storage.Result{Outcome: storage.OutcomeReplayed, Epoch: 10, Version: 1},
			"1",
		},
		{
			"version skipped", write(id, 12, 10, 2, "a", "!"),
			storage.Result{Outcome: storage.OutcomeStale, Epoch: 10, Version: 1},
			"1",
		},
		{
			"version behind", write(id, 13, 10, 0, "a", "!"),
			storage.Result{Outcome: storage.OutcomeStale, Epoch: 10, Version: 1},
			"1",
		},
		{"second OPEN", open(14), storage.Result{Outcome: storage.OutcomeApplied, Epoch: 14, Version: 1}, "1"},
		{
			"late write of the first", write(id, 15, 10, 1, "a", "!"),
			storage.Result{Outcome: storage.OutcomeFenced, Epoch: 14, Version: 1},
			"1",
		},
		{
			"write of the second", write(id, 16, 14, 1, "a", "2"),
			storage.Result{Outcome: storage.OutcomeApplied, Epoch: 14, Version: 2},
			"2",
		},
		{
			"change of storage's own record",
			storage.Entry{Index: 17, Kind: storage.EntryPlain, Changes: []*pb.Change{{Key: []byte{1, 's'}}}},
			storage.Result{Outcome: storage.OutcomeInvalid, Epoch: 14, Version: 2},
			"2",
		},
		{
			"unknown kind",
			storage.Entry{Index: 18},
			storage.Result{Outcome: storage.OutcomeInvalid, Epoch: 14, Version: 2},
			"2",
		},
		{
			"and on", write(id, 19, 14, 2, "a", "3"),
			storage.Result{Outcome: storage.OutcomeApplied, Epoch: 14, Version: 3},
			"3",
		},
	}
	for _, s := range steps {
		got, err := h.Apply(s.entry)
		if err != nil || got != s.want {
			t.Errorf("%s: %+v, %v; want %+v", s.what, got, err, s.want)
		}
		if a := get(t, h, setting(id, "a")); a != s.a {
			t.Errorf("%s: a is %s, want %s", s.what, a, s.a)
		}
		if h.State() != (storage.State{
			Applied: max(s.entry.Index, h.State().Applied), Epoch: s.want.Epoch, Version: s.want.Version,
		}) {
			t.Errorf("%s: state %+v", s.what, h.State())
		}
	}
	if _, err := h.ApplyBatch([]storage.Entry{
		{Index: 30, Kind: storage.EntryOpen}, {Index: 30, Kind: storage.EntryOpen},
	}); err == nil {
		t.Error("a log index twice in one call was taken")
	}
	if h.Applied() != 19 {
		t.Errorf("the refused call moved the applied index to %d", h.Applied())
	}
}

// model is a store as a plain map, and the state beside it.
type model struct {
	state storage.State
	data  map[string]string
}

func (m model) clone() model { return model{state: m.state, data: maps.Clone(m.data)} }

// dump reads a store into a map by encoded key.
func dump(t *rapid.T, r storage.Reader, ranges ...storage.Range) map[string]string {
	out := map[string]string{}
	for _, rg := range ranges {
		for item, err := range r.Scan(rg, storage.ScanOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			out[string(item.Key.Bytes())] = string(item.Value)
		}
	}
	return out
}

// The applied-index trap, in general: whatever is applied, flushed, evicted and
// lost by power failures, a store is always the result of a prefix of its log
// that reaches at least to the last flush, its State says exactly which prefix,
// and replaying the log from anywhere before gives what a replica that never
// crashed holds.
//
// It fails when the applied index is kept outside the batch, when eviction does
// not flush, when a replayed entry is applied twice, or when a fenced entry is
// judged differently the second time.
func TestCrashLeavesAPrefixAndReplayCompletesIt(t *testing.T) {
	storagetest.FewerChecks(t, storagetest.LessUnderRace(t, 20, 8))
	rapid.Check(t, func(t *rapid.T) {
		disk := storagetest.NewDisk()
		opts, _ := disk.Options()
		opts.MaxOpenStores = 2
		node, err := storage.Open(opts)
		check(t, err)
		defer func() { check(t, node.Close()) }()

		const orgs = 4
		var log [orgs][]storage.Entry // per store, by index
		var history [orgs][]model     // history[i][k]: after the first k entries
		flushed := [orgs]int{}        // entries that must survive
		for i := range orgs {
			history[i] = []model{{data: map[string]string{}}}
		}
		index := uint64(0)
		p := pb.PartitionID{7}
		ranges := func(i int) []storage.Range {
			return []storage.Range{storage.OrgSpace(store(i)).All(), storage.PartitionSpace(store(i), p).All()}
		}
		replay := func(i, from int) {
			h, err := node.AcquireForApply(store(i))
			check(t, err)
			defer h.Release()
			for start := from; start < len(log[i]); {
				n := rapid.IntRange(1, len(log[i])-start).Draw(t, "replay batch")
				_, err := h.ApplyBatch(log[i][start : start+n])
				check(t, err)
				start += n
			}
		}
		verify := func(i int) {
			h, err := node.Acquire(store(i))
			check(t, err)
			defer h.Release()
			want := history[i][len(log[i])]
			if h.State() != want.state {
				t.Fatalf("store %d: state %+v, want %+v", i, h.State(), want.state)
			}
			if got := dump(t, h, ranges(i)...); !maps.Equal(got, want.data) {
				t.Fatalf("store %d: %q, want %q", i, got, want.data)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"apply": func(t *rapid.T) {
				i := rapid.IntRange(0, orgs-1).Draw(t, "store")
				h, err := node.AcquireForApply(store(i))
				check(t, err)
				defer h.Release()
				var entries []storage.Entry
				var wants []storage.Result
				for range rapid.IntRange(1, 5).Draw(t, "entries") {
					index++
					m := history[i][len(history[i])-1].clone()
					e, want := drawEntry(t, store(i), p, index, &m)
					entries, wants = append(entries, e), append(wants, want)
					log[i], history[i] = append(log[i], e), append(history[i], m)
				}
				got, err := h.ApplyBatch(entries)
				check(t, err)
				if !slices.Equal(got, wants) {
					t.Fatalf("results %+v, want %+v", got, wants)
				}
			},
			"flush one": func(t *rapid.T) {
				i := rapid.IntRange(0, orgs-1).Draw(t, "store")
				h, err := node.Acquire(store(i))
				check(t, err)
				defer h.Release()
				check(t, h.Flush())
				flushed[i] = len(log[i])
			},
			"flush all": func(t *rapid.T) {
				check(t, node.FlushStores(context.Background(), nil))
				for i := range orgs {
					flushed[i] = len(log[i])
				}
			},
			"crash": func(t *rapid.T) {
				keep := rapid.SampledFrom([]int{0, 10, 50, 100}).Draw(t, "unsynced percent")
				disk = disk.Crash(keep, rapid.Uint64().Draw(t, "seed"))
				check(t, node.Close())
				opts.FS = disk
				node, err = storage.Open(opts)
				check(t, err)
				for i := range orgs {
					h, err := node.Acquire(store(i))
					check(t, err)
					st := h.State()
					k := 0
					for k < len(log[i]) && log[i][k].Index <= st.Applied {
						k++
					}
					got := dump(t, h, ranges(i)...)
					h.Release()
					if k < flushed[i] {
						t.Fatalf("store %d: %d entries survived, %d were flushed", i, k, flushed[i])
					}
					if st != history[i][k].state || !maps.Equal(got, history[i][k].data) {
						t.Fatalf("store %d is no prefix: state %+v with %q, want %+v with %q",
							i, st, got, history[i][k].state, history[i][k].data)
					}
					replay(i, rapid.IntRange(0, k).Draw(t, "replay from"))
					verify(i)
				}
			},
			"": func(t *rapid.T) { verify(rapid.IntRange(0, orgs-1).Draw(t, "store")) },
		})
	})
}

func check(t interface{ Fatal(...any) }, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// drawEntry draws an entry that may be an OPEN, a good write, or one that is
// fenced or stale, moves the model, and returns the result it must have.
func drawEntry(
	t *rapid.T, id storage.StoreID, p pb.PartitionID, index uint64, m *model,
) (storage.Entry, storage.Result) {
	e := storage.Entry{Index: index, Kind: storage.EntryWrite, Epoch: m.state.Epoch, Version: m.state.Version}
	m.state.Applied = index
	outcome := storage.OutcomeApplied
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		m.state.Epoch = index
		return storage.Entry{Index: index, Kind: storage.EntryOpen},
			storage.Result{Outcome: outcome, Epoch: index, Version: m.state.Version}
	case 1:
		e.Epoch++
		outcome = storage.OutcomeFenced
	case 2:
		e.Version++
		outcome = storage.OutcomeStale
	case 3:
		e = storage.Entry{Index: index, Kind: storage.EntryPlain}
	}
	b := storage.NewBatch(id)
	data := maps.Clone(m.data)
	for range rapid.IntRange(0, 4).Draw(t, "changes") {
		s, table := storage.OrgSpace(id), storage.TableSetting
		if rapid.Bool().Draw(t, "in partition") {
			s, table = storage.PartitionSpace(id, p), storage.TableView
		}
		k := s.Key(table, storage.Str(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")))
		drop := func(r storage.Range) {
			maps.DeleteFunc(data, func(key, _ string) bool {
				_, err := r.ParseKey([]byte(key))
				return err == nil
			})
		}
		switch rapid.IntRange(0, 5).Draw(t, "op") {
		case 0:
			b.Delete(k)
			drop(k.Range())
		case 1:
			b.DeleteRange(s.All())
			drop(s.All())
		case 2:
			b.EraseRange(k.Children())
			drop(k.Children())
		default:
			v := fmt.Sprintf("%d", index)
			if rapid.IntRange(0, 59).Draw(t, "large") == 0 {
				v += string(bytes.Repeat([]byte("x"), 2200<<10)) // bypasses the memtable
			}
			b.PutRaw(k, []byte(v))
			data[string(k.Bytes())] = v
		}
	}
	e.Changes = b.Changes()
	if outcome == storage.OutcomeApplied {
		m.state.Version++
		m.data = data
	}
	return e, storage.Result{Outcome: outcome, Epoch: m.state.Epoch, Version: m.state.Version}
}

// TestSettledIsNeverBehindWhatIsSeen: who has seen a value is not told that an index
// before it is all there is, and whoever is told an index sees what it wrote.
func TestSettledIsNeverBehindWhatIsSeen(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	const last = 3000
	value := func() uint64 {
		v, err := strconv.ParseUint(get(t, h, setting(id, "a")), 10, 64)
		if err != nil {
			return 0 // nothing is written yet
		}
		return v
	}
	var written atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !written.Load() {
				told, settled := h.Settled()
				seen := value()
				if settled && seen < told {
					t.Errorf("told %d, saw %d", told, seen)
					return
				}
				if told, settled = h.Settled(); settled && told < seen {
					t.Errorf("saw %d, told that %d is all", seen, told)
					return
				}
			}
		})
	}
	for i := range uint64(last) {
		e := write(id, i+1, 0, 0, "a", strconv.FormatUint(i+1, 10))
		e.Kind = storage.EntryPlain
		if _, err := h.Apply(e); err != nil {
			t.Error(err)
		}
	}
	written.Store(true)
	wg.Wait()
}
