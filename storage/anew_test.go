package storage_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// A store that begins anew takes the first entries of another log, keeps its
// records, and is as durable as any other.
func TestAStoreBeginsAnewInAnotherLog(t *testing.T) {
	from, id := storagetest.NewDisk().Node(t), store(1)
	h := acquire(t, from, id)
	key := storage.PartitionSpace(id, pb.PartitionID{1}).Key(storage.TableView, storage.Str("k"))
	write := func(h *storage.Store, index uint64, value string) storage.Outcome {
		t.Helper()
		b := storage.NewBatch(id)
		b.PutRaw(key, []byte(value))
		r, err := h.Apply(storage.Entry{Index: index, Kind: storage.EntryPlain, Changes: b.Changes()})
		if err != nil {
			t.Fatal(err)
		}
		return r.Outcome
	}
	write(h, 500, "old")
	h.Release()
	c := copyOf(t, from, id)
	defer c.Close()

	disk := storagetest.NewDisk()
	to := reopen(t, disk)
	s := stage(t, to, id)
	if !collect(t, c, s, 1<<30) {
		t.Fatal("not all was collected")
	}
	for range 2 {
		if err := s.BeginAnew(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Adopt(0); err != nil {
		t.Fatal(err)
	}
	crashed := disk.Crash(0, 1)
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	to = crashed.Node(t)
	g := acquire(t, to, id)
	defer g.Release()
	if v, ok, err := g.GetRaw(key); err != nil || !ok || string(v) != "old" {
		t.Fatalf("restored record %q, %v, %v", v, ok, err)
	}
	if got := write(g, 1, "new"); got != storage.OutcomeApplied {
		t.Fatalf("the first entry of the new log is %v", got)
	}
	if v, _, _ := g.GetRaw(key); string(v) != "new" {
		t.Errorf("record %q after the new log's first entry", v)
	}
}

// What is no store is not made an empty one.
func TestOnlyAStoreBeginsAnew(t *testing.T) {
	n, id := storagetest.NewDisk().Node(t), store(1)
	s := stage(t, n, id)
	refused := func(what string) {
		t.Helper()
		if err := s.BeginAnew(); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s begins anew: %v", what, err)
		}
	}
	refused("an empty folder")

	content := []byte("records")
	files := []storage.CopyFile{{Name: "rows-000000", Size: int64(len(content)), Sum: sha256.Sum256(content)}}
	missing, err := s.Want(files)
	if err != nil || len(missing) != 1 {
		t.Fatalf("missing %v: %v", missing, err)
	}
	if err := s.Receive(missing[0], bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	refused("a folder with something else")
	if missing, err := s.Want(files); err != nil || len(missing) != 0 {
		t.Errorf("missing %v afterwards: %v", missing, err)
	}

	empty := storagetest.NewDisk().Node(t)
	acquire(t, empty, id).Release()
	c := copyOf(t, empty, id)
	defer c.Close()
	if !collect(t, c, s, 1<<30) {
		t.Fatal("not all was collected")
	}
	refused("a store that has taken no entry")
	if there, err := n.Exists(id); err != nil || there {
		t.Errorf("a store was made of it: %v, %v", there, err)
	}
}
