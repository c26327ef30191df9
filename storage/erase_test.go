package storage_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// token is text that compression cannot hide: it has no repetition within
// itself, so its first occurrence in a block is stored as it is.
func token(n int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "token %d", n))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

var secret = token(-1)

// plant writes a partition with the secret in a value, in a key and in a large
// value, among other records, over several tables and levels.
func plant(t testing.TB, h *storage.Store, p pb.PartitionID) {
	t.Helper()
	s := storage.PartitionSpace(h.ID(), p)
	for round := range 4 {
		b := storage.NewBatch(h.ID())
		for i := range 50 {
			name := fmt.Sprintf("%d-%d", round, i)
			b.Put(s.Key(storage.TableNode, storage.Str(name)), &pb.Node{Id: name, Title: "ordinary " + name})
		}
		b.Put(s.Key(storage.TableContent, storage.Str(fmt.Sprint(round))), &pb.Content{Text: "before " + secret + " behind"})
		b.Put(s.Key(storage.TableExternalID, storage.Str(fmt.Sprintf("%d/%s/key", round, secret))),
			&pb.ExternalRef{Node: "n"})
		// The last key of its table, so that the manifest names it.
		b.PutRaw(s.Key(storage.TableCounter, storage.Str(secret)), nil)
		if err := storage.PutPieces(b, s.Key(storage.TableUploadPiece, storage.ID16(pb.JobID{byte(round)})),
			[]byte(strings.Repeat(secret+" ", 50_000))); err != nil {
			t.Fatal(err)
		}
		applyBatch(t, h, b)
		if err := h.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

func eraseRange(t testing.TB, h *storage.Store, r storage.Range) {
	t.Helper()
	b := storage.NewBatch(h.ID())
	b.EraseRange(r)
	applyBatch(t, h, b)
}

func TestErasureRemovesTheBytes(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	erased, kept := pb.PartitionID{1}, pb.PartitionID{2}
	plant(t, h, erased)
	plant(t, h, pb.PartitionID{3}) // goes too: what lies between must stay
	keptKey := storage.PartitionSpace(id, kept).Key(storage.TableNode, storage.Str("n"))
	b := storage.NewBatch(id)
	b.Put(keptKey, &pb.Node{Id: "n"})
	applyBatch(t, h, b)

	if found := fmt.Sprint(disk.Find(t, secret)); !strings.Contains(found, ".sst") ||
		!strings.Contains(found, "MANIFEST") {
		t.Fatalf("planted text is only in %s: the test proves nothing", found)
	}
	eraseRange(t, h, storage.PartitionSpace(id, pb.PartitionID{3}).All())
	eraseRange(t, h, storage.PartitionSpace(id, erased).All())
	if st := n.Stats(); st.PendingErasures != 1 {
		t.Errorf("stats %+v", st)
	}
	before := h.State()
	if err := n.Erase(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	if found := disk.Find(t, secret); len(found) > 0 {
		t.Errorf("erased text is still in %q", found)
	}
	if h.State() != before {
		t.Errorf("state was %+v, is %+v", before, h.State())
	}
	if ok, err := h.Get(keptKey, &pb.Node{}); !ok || err != nil {
		t.Errorf("the neighbour: %v, %v", ok, err)
	}
	if st := n.Stats(); st.PendingErasures != 0 || st.Erasures != 1 {
		t.Errorf("stats %+v", st)
	}
	// The range is free for new records.
	put := storage.NewBatch(id)
	k := storage.PartitionSpace(id, erased).Key(storage.TableNode, storage.Str("new"))
	put.Put(k, &pb.Node{Id: "new"})
	applyBatch(t, h, put)
	if err := n.Erase(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	if ok, err := h.Get(k, &pb.Node{}); !ok || err != nil {
		t.Errorf("a record written after the erasure: %v, %v", ok, err)
	}
}

// One record's erasure is noted under its key, and keys hold customer text: the
// note must go as the record does.
func TestErasureRemovesTheKeysItNames(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	k := storage.PartitionSpace(id, pb.PartitionID{1}).Key(storage.TableExternalID, storage.Str(secret))
	b := storage.NewBatch(id)
	b.Put(k, &pb.ExternalRef{Node: "n"})
	applyBatch(t, h, b)
	eraseRange(t, h, k.Range())
	if err := h.Flush(); err != nil {
		t.Fatal(err)
	}
	if len(disk.Find(t, secret)) == 0 {
		t.Fatal("planted text is nowhere: the test proves nothing")
	}
	if err := n.Erase(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	if found := disk.Find(t, secret); len(found) > 0 {
		t.Errorf("the erased key is still in %q", found)
	}
}

// More than what is worked through at a time must be gone when Erase returns.
func TestErasureOfVeryManyRecords(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	s := storage.PartitionSpace(id, pb.PartitionID{1})
	const records = 10_100
	put, erase := storage.NewBatch(id), storage.NewBatch(id)
	for i := range records {
		k := s.Key(storage.TableContent, storage.Str(fmt.Sprintf("%05d", i)))
		put.Put(k, &pb.Content{Text: token(i)})
		erase.Erase(k)
	}
	applyBatch(t, h, put)
	applyBatch(t, h, erase)
	if err := n.Erase(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	if st := n.Stats(); st.PendingErasures != 0 {
		t.Errorf("stats %+v", st)
	}
	for _, i := range []int{0, records / 2, records - 1} {
		if found := disk.Find(t, token(i)); len(found) > 0 {
			t.Errorf("text %d is still in %q", i, found)
		}
	}
}

// An erasure of a span that holds nothing any more, beside others that do, must
// not leave its own bounds behind.
func TestErasureOfWhatWasErasedBefore(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	for p := range byte(3) {
		space := storage.PartitionSpace(id, pb.PartitionID{p + 1})
		b := storage.NewBatch(id)
		for i := range 20 {
			b.Put(space.Key(storage.TableExternalID, storage.Str(fmt.Sprintf("%s %d", token(int(p)), i))),
				&pb.ExternalRef{Node: "n"})
		}
		applyBatch(t, h, b)
		for i := range 20 {
			eraseRange(t, h, space.Key(storage.TableExternalID, storage.Str(fmt.Sprintf("%s %d", token(int(p)), i))).Range())
		}
	}
	if err := n.Erase(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	for p := range 3 {
		if found := disk.Find(t, token(p)); len(found) > 0 {
			t.Errorf("erased keys of partition %d are still in %q", p, found)
		}
	}
}

// A tombstone that sank to the lowest level while a snapshot still saw its
// victims must not keep them there for ever.
func TestErasureWaitsForOlderSnapshots(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	plant(t, h, pb.PartitionID{1})
	snap, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	eraseRange(t, h, storage.PartitionSpace(id, pb.PartitionID{1}).All())
	// An erasure that is not allowed to wait says so, and leaves the duty.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := n.Erase(ctx, id); !errors.Is(err, context.Canceled) {
		t.Fatalf("erase under a snapshot: %v, want Canceled", err)
	}
	if found := disk.Find(t, secret); len(found) == 0 {
		t.Fatal("the snapshot's data is gone")
	}
	if n.Stats().PendingErasures != 1 {
		t.Error("the duty was forgotten")
	}
	done := make(chan error)
	go func() { done <- n.Erase(context.Background(), id) }()
	if ok, err := snap.Get(storage.PartitionSpace(id, pb.PartitionID{1}).Key(storage.TableContent, storage.Str("0")),
		&pb.Content{}); !ok || err != nil {
		t.Errorf("the snapshot lost a record: %v, %v", ok, err)
	}
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if found := disk.Find(t, secret); len(found) > 0 {
		t.Errorf("erased text is still in %q", found)
	}
}

// A tombstone that compactions took down to the lowest level while a snapshot
// still saw its victims lies in one table with them, and nothing above it is
// left to compact: the erasure must rewrite that table all the same.
func TestErasureReachesTheLowestLevel(t *testing.T) {
	const attempts = 8 // Pebble may compact what is to lie still; seldom, and never so often
	for range attempts {
		disk, n, id := sunkTombstone(t)
		if len(disk.Find(t, secret)) == 0 {
			continue
		}
		if err := n.Erase(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		if found := disk.Find(t, secret); len(found) > 0 {
			t.Errorf("erased text is still in %q", found)
		}
		return
	}
	t.Fatalf("Pebble was quicker %d times", attempts)
}

// sunkTombstone erases a planted partition while a snapshot sees it, and lets
// all sink to the lowest level.
func sunkTombstone(t *testing.T) (*storagetest.Disk, *storage.Node, storage.StoreID) {
	t.Helper()
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	plant(t, h, pb.PartitionID{2})
	snap, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	eraseRange(t, h, storage.PartitionSpace(id, pb.PartitionID{2}).All())
	for i := range 40 { // tables over the whole store, so that all sinks
		b := storage.NewBatch(id)
		for _, p := range []byte{1, 3} {
			b.PutRaw(storage.PartitionSpace(id, pb.PartitionID{p}).Key(storage.TableView, storage.Str(fmt.Sprint(i))),
				randomBytes(uint64(i), 3000))
		}
		applyBatch(t, h, b)
		if err := h.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := snap.Close(); err != nil {
		t.Fatal(err)
	}
	return disk, n, id
}

// An erasure that was applied is carried out in the background, also by the next
// process, also when the store is never opened by anybody else.
func TestErasureSurvivesRestart(t *testing.T) {
	for _, crash := range []bool{false, true} {
		disk := storagetest.NewDisk()
		o, _ := disk.Options()
		n, err := storage.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		id := store(1)
		h := acquire(t, n, id)
		plant(t, h, pb.PartitionID{1})
		eraseRange(t, h, storage.PartitionSpace(id, pb.PartitionID{1}).All())
		if err := h.Flush(); err != nil {
			t.Fatal(err)
		}
		h.Release()
		if crash {
			disk = disk.Crash(100, 1)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if found := disk.Find(t, secret); len(found) == 0 {
			t.Fatal("the test proves nothing")
		}
		o, _ = disk.Options()
		fake := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		erased := make(chan struct{}, 1)
		o.Clock = fake
		if n, err = storage.Open(o); err != nil {
			t.Fatal(err)
		}
		// The eraser waits on the clock; once it has carried out the erasure,
		// nothing is pending.
		go func() {
			for n.Stats().Erasures == 0 {
				fake.Advance(time.Second)
			}
			erased <- struct{}{}
		}()
		<-erased
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if found := disk.Find(t, secret); len(found) > 0 {
			t.Errorf("crash %v: erased text is still in %q", crash, found)
		}
	}
}

// Small erasures of single records, as forgetting makes them.
func TestErasureOfSingleRecords(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	s := storage.PartitionSpace(id, pb.PartitionID{1})
	for i := range 30 {
		b := storage.NewBatch(id)
		b.Put(s.Key(storage.TableContent, storage.Str(fmt.Sprint(i))), &pb.Content{Text: token(i % 10)})
		applyBatch(t, h, b)
		if err := h.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for i := 3; i < 30; i += 10 {
		b := storage.NewBatch(id)
		b.Erase(s.Key(storage.TableContent, storage.Str(fmt.Sprint(i))))
		applyBatch(t, h, b)
	}
	if err := n.Erase(context.Background(), id); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if found := disk.Find(t, token(i)); (len(found) > 0) != (i != 3) {
			t.Errorf("text %d is in %q", i, found)
		}
	}
}

func TestLogErasureRemovesTheBytes(t *testing.T) {
	disk := storagetest.NewDisk()
	n := disk.Node(t)
	l := n.Log()
	for g := range uint32(3) {
		for i := uint64(1); i <= 200; i++ {
			text := "ordinary"
			if i%3 == 0 && i < 150 {
				text = secret
			}
			if err := l.Append(g, []storage.LogEntry{entry(i, text+strings.Repeat(" pad", 200))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := l.SetStable(1, []byte("vote"), []byte("kept")); err != nil {
		t.Fatal(err)
	}
	for g := range uint32(3) {
		if err := l.DeleteRange(g, 1, 150); err != nil {
			t.Fatal(err)
		}
	}
	if found := disk.Find(t, secret); len(found) == 0 {
		t.Fatal("the test proves nothing")
	}
	if err := l.Erase(context.Background()); err != nil {
		t.Fatal(err)
	}
	if found := disk.Find(t, secret); len(found) > 0 {
		t.Errorf("truncated entries are still in %q", found)
	}
	for g := range uint32(3) {
		if b := bounds(t, l, g); b != [2]uint64{151, 200} {
			t.Errorf("group %d: %v", g, b)
		}
		if _, err := l.Get(g, 151); err != nil {
			t.Error(err)
		}
	}
	if v, ok, err := l.GetStable(1, []byte("vote")); !ok || err != nil || string(v) != "kept" {
		t.Errorf("stable value: %q, %v, %v", v, ok, err)
	}
	// Again, after recycled logs were written over.
	for i := uint64(201); i <= 400; i++ {
		if err := l.Append(1, []storage.LogEntry{entry(i, secret)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.DeleteRange(1, 151, 400); err != nil {
		t.Fatal(err)
	}
	if err := l.Erase(context.Background()); err != nil {
		t.Fatal(err)
	}
	if found := disk.Find(t, secret); len(found) > 0 {
		t.Errorf("second time: truncated entries are still in %q", found)
	}
}
