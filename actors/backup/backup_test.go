package backup

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"log/slog"
	"testing"
	"time"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// A backup made after something was forgotten has nothing of it, and does not wait until
// its bytes have left the files: it neither needs a moment without readers nor is shut out
// by one who reads for long.
func TestBackupsHaveNothingOfWhatWasForgotten(t *testing.T) {
	node := storagetest.NewDisk().Node(t)
	id := storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmMain}
	store, err := node.Acquire(id)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Release()
	space := storage.PartitionSpace(id, pb.PartitionID{1})
	first, second := storage.NewBatch(id), storage.NewBatch(id)
	first.PutRaw(space.Key(storage.TableView, storage.Str("kept")), []byte("what is kept"))
	first.PutRaw(space.Key(storage.TableView, storage.Str("zanzibar")), []byte("quokka"))
	second.EraseRange(space.Prefix(storage.TableView, storage.Str("zanzibar")))
	apply := func(index uint64, b *storage.Batch) {
		t.Helper()
		if _, err := store.Apply(storage.Entry{Index: index, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
			t.Fatal(err)
		}
	}
	apply(1, first)
	if err := store.Flush(); err != nil { // so that a table has it
		t.Fatal(err)
	}
	reader, err := store.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	apply(2, second)

	b := NewLocalCopier(node, clock.NewFake(time.Unix(1, 0)), rand.Reader, slog.New(slog.DiscardHandler))
	defer b.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := b.Open(ctx, StoreName(id.String()))
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range c.Files {
		piece, err := b.Read(t.Context(), StoreName(id.String()), c.ID, f.Name, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, piece...)
	}
	if !bytes.Contains(all, []byte("what is kept")) {
		t.Errorf("the parts hold %q", all)
	}
	for _, gone := range []string{"zanzibar", "quokka"} {
		if bytes.Contains(all, []byte(gone)) {
			t.Errorf("the parts hold %q", gone)
		}
	}
}

func TestBackupsHoldCopiesStill(t *testing.T) {
	disk := storagetest.NewDisk()
	node := disk.Node(t)
	id := storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmMain}
	store, err := node.Acquire(id)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Release()
	put := func(index uint64, value []byte) {
		t.Helper()
		batch := storage.NewBatch(id)
		batch.PutRaw(storage.PartitionSpace(id, pb.PartitionID{1}).Key(storage.TableView, storage.Str("k")), value)
		if _, err := store.Apply(storage.Entry{
			Index: index, Kind: storage.EntryPlain,
			Changes: batch.Changes(),
		}); err != nil {
			t.Fatal(err)
		}
	}
	put(1, bytes.Repeat([]byte("long "), CopyPiece/4)) // more than a piece
	fake := clock.NewFake(time.Unix(1, 0))
	b := NewLocalCopier(node, fake, rand.Reader, slog.New(slog.DiscardHandler))
	name := StoreName(id.String())

	c, err := b.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	put(2, []byte("changed"))
	if err := store.Flush(); err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Files {
		sum, at := sha256.New(), int64(0)
		for {
			piece, err := b.Read(t.Context(), name, c.ID, f.Name, at)
			if err != nil {
				t.Fatal(err)
			}
			if len(piece) == 0 {
				break
			}
			if len(piece) > CopyPiece {
				t.Fatalf("a piece of %d bytes", len(piece))
			}
			sum.Write(piece)
			at += int64(len(piece))
		}
		if at != f.Size || [sha256.Size]byte(sum.Sum(nil)) != f.Sum {
			t.Errorf("%s: %d bytes of %d, or others", f.Name, at, f.Size)
		}
	}
	if _, err := b.Read(t.Context(), name, c.ID, "../LOCK", 0); !errors.Is(err, tenant.ErrInvalid) {
		t.Errorf("a file that the copy does not have: %v", err)
	}
	if _, err := b.Read(t.Context(), "meta", c.ID, c.Files[0].Name, 0); !errors.Is(err, tenant.ErrOrgNotFound) {
		t.Errorf("a copy under another store's name: %v", err)
	}

	// The bound, and what frees a place.
	for range maxCopies - 1 {
		if _, err := b.Open(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Open(t.Context(), name); !errors.Is(err, tenant.ErrConflict) {
		t.Errorf("one copy too many: %v", err)
	}
	if err := b.Release(t.Context(), name, c.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.Release(t.Context(), name, c.ID); !errors.Is(err, tenant.ErrOrgNotFound) {
		t.Errorf("released twice: %v", err)
	}
	last, err := b.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	fake.Advance(copyLife - time.Second)
	if _, err := b.Read(t.Context(), name, last.ID, last.Files[0].Name, 0); err != nil {
		t.Fatal(err)
	}
	fake.Advance(2 * time.Second) // the others end, unread
	for {
		if b.OpenCopies() == 1 {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("copies outlive their time")
		}
	}
	if _, err := b.Read(t.Context(), name, last.ID, last.Files[0].Name, 0); err != nil {
		t.Errorf("a copy that is read ended: %v", err)
	}
	if _, err := b.Open(t.Context(), StoreName(storage.StoreID{
		Org:   pb.OrgID{2},
		Realm: storage.RealmMain,
	}.String())); !errors.Is(err, tenant.ErrOrgNotFound) {
		t.Errorf("a store that is not there: %v", err)
	}
	if there, err := node.Exists(storage.StoreID{Org: pb.OrgID{2}, Realm: storage.RealmMain}); err != nil || there {
		t.Errorf("asking made a store: %v, %v", there, err)
	}
	if b.Close(); b.OpenCopies() != 0 {
		t.Errorf("%d copies after close", b.OpenCopies())
	}
}
