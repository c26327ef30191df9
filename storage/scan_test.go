package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// Paging by cursor visits every record once, in either direction, and stays
// within its range, whatever lies around it.
func TestPagesJoinWithoutGapOrRepeat(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	p := storage.PartitionSpace(id, pb.PartitionID{1})
	b := storage.NewBatch(id)
	const records = 25
	var names []string
	for i := range records {
		name := fmt.Sprintf("n%02d", i)
		names = append(names, name)
		b.Put(p.Key(storage.TableNode, storage.Str(name)), &pb.Node{Id: name})
	}
	for _, q := range []pb.PartitionID{{0xFF}, {1, 0xFF}, {}} { // neighbours
		b.Put(storage.PartitionSpace(id, q).Key(storage.TableNode, storage.Str("n05")), &pb.Node{Id: "foreign"})
	}
	b.Put(p.Key(storage.TableState), &pb.PartitionState{})
	b.Put(p.Key(storage.TableChunk, storage.U64(1)), &pb.Chunk{})
	if _, err := h.Apply(storage.Entry{Index: 1, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
		t.Fatal(err)
	}
	all := p.Prefix(storage.TableNode)
	rapid.Check(t, func(t *rapid.T) {
		o := storage.ScanOptions{
			Reverse: rapid.Bool().Draw(t, "reverse"),
			Limit:   rapid.IntRange(1, records+1).Draw(t, "page"),
		}
		var got []string
		for {
			page := 0
			for rec, err := range storage.ScanRecords(h, all, o, func() *pb.Node { return new(pb.Node) }) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, rec.Value.GetId())
				// The cursor travels through a client and back.
				if o.After, err = all.ParseKey(rec.Key.Bytes()); err != nil {
					t.Fatal(err)
				}
				page++
			}
			if page < o.Limit {
				break
			}
		}
		want := slices.Clone(names)
		if o.Reverse {
			slices.Reverse(want)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("pages of %d give %q", o.Limit, got)
		}
	})
	// A cursor outside the range is either before all or behind all.
	count := func(after storage.Key, reverse bool) (n int) {
		for _, err := range h.Scan(all, storage.ScanOptions{After: after, Reverse: reverse}) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		return n
	}
	below, above := p.Key(storage.TableState), p.Key(storage.TableChunk, storage.U64(0))
	if a, b, c, d := count(below, false), count(below, true), count(above, false),
		count(above, true); a != records || b != 0 || c != 0 || d != records {
		t.Errorf("cursors outside: %d %d %d %d", a, b, c, d)
	}
}

func TestScanTellsDamage(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	put(t, h, 1, "raw", "not a record")
	var last error
	for _, err := range storage.ScanRecords(h, storage.OrgSpace(id).All(), storage.ScanOptions{}, func() *pb.Organization {
		return new(pb.Organization)
	}) {
		last = err
	}
	if !errors.Is(last, storage.ErrUnknownVersion) {
		t.Errorf("%v, want ErrUnknownVersion", last)
	}
	if _, err := h.Get(setting(id, "raw"), &pb.Organization{}); !errors.Is(err, storage.ErrUnknownVersion) {
		t.Errorf("get: %v, want ErrUnknownVersion", err)
	}
	if ok, err := h.Get(setting(id, "absent"), &pb.Organization{}); ok || err != nil {
		t.Errorf("absent: %v, %v", ok, err)
	}
}

// The body of a scan may read and write the same store.
func TestScanBodyMayUseTheStore(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	for i := range uint64(5) {
		put(t, h, i+1, fmt.Sprint(i), "x")
	}
	seen := 0
	for item, err := range h.Scan(storage.OrgSpace(id).All(), storage.ScanOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if get(t, h, item.Key) == "-" {
			t.Error("a scanned key is not there")
		}
		put(t, h, 100+uint64(seen), fmt.Sprintf("%d'", seen), "later")
		seen++
	}
	if seen != 5 {
		t.Errorf("the scan saw %d records, want the 5 of its beginning", seen)
	}
}

func TestForeignKeysPanicOnRead(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	h := acquire(t, n, store(1))
	defer h.Release()
	for name, f := range map[string]func(){
		"get": func() { _, _, _ = h.GetRaw(setting(store(2), "a")) },
		"scan": func() {
			h.Scan(storage.OrgSpace(store(2)).All(), storage.ScanOptions{})(func(storage.Item, error) bool { return true })
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of another store's key did not panic", name)
				}
			}()
			f()
		}()
	}
	// The panic has not left an operation open.
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
}

// Reading into memory that the caller has leaves what stands there, and is the same
// read of a store and of its snapshot. A value that is empty is not a missing one.
func TestReadsBehindWhatTheCallerHas(t *testing.T) {
	h := acquire(t, storagetest.NewDisk().Node(t), store(1))
	defer h.Release()
	put(t, h, 1, "a", "value")
	put(t, h, 2, "empty", "")
	snap, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for _, r := range []storage.Reader{h, snap} {
		for name, want := range map[string]string{"a": "kept,value", "empty": "kept,", "missing": "kept,"} {
			got, found, err := r.AppendRaw([]byte("kept,"), setting(store(1), name))
			if err != nil || found != (name != "missing") || string(got) != want {
				t.Errorf("%T %s: %q, %v, %v", r, name, got, found, err)
			}
		}
		if got, found, err := r.GetRaw(setting(store(1), "empty")); err != nil || !found || got == nil || len(got) != 0 {
			t.Errorf("%T: the empty value is %#v, %v, %v", r, got, found, err)
		}
	}
}
