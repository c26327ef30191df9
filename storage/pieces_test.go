package storage_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func applyBatch(t interface{ Fatal(...any) }, h *storage.Store, b *storage.Batch) {
	if _, err := h.Apply(storage.Entry{
		Index: h.Applied() + 1, Kind: storage.EntryPlain, Changes: b.Changes(),
	}); err != nil {
		t.Fatal(err)
	}
}

func TestPiecesReadBack(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	p := storage.PartitionSpace(id, pb.PartitionID{1})
	storagetest.FewerChecks(t, 40)
	rapid.Check(t, func(t *rapid.T) {
		k := p.Key(storage.TableSegmentPiece, storage.U64(rapid.Uint64Range(1, 3).Draw(t, "segment")))
		size := rapid.SampledFrom([]int{
			0, 1, storage.PieceBytes - 1, storage.PieceBytes, storage.PieceBytes + 1, 3*storage.PieceBytes + 7,
		}).Draw(t, "size")
		value := bytes.Repeat([]byte{rapid.Byte().Draw(t, "fill")}, size)
		if rapid.Bool().Draw(t, "one batch") {
			b := storage.NewBatch(id)
			check(t, storage.PutPieces(b, k, value))
			applyBatch(t, h, b)
		} else {
			b := storage.NewBatch(id)
			w := storage.BeginPieces(b, k)
			applyBatch(t, h, b)
			for rest := value; len(rest) > 0; {
				step := min(len(rest), rapid.SampledFrom([]int{1000, 300_000, storage.PieceBytes, 2_000_000}).Draw(t, "step"))
				b = storage.NewBatch(id)
				check(t, w.Add(b, rest[:step]))
				applyBatch(t, h, b)
				rest = rest[step:]
				if _, ok, err := storage.ReadPieces(h, k); ok || err != nil {
					t.Fatalf("an unfinished value reads %v, %v", ok, err)
				}
			}
			b = storage.NewBatch(id)
			check(t, w.Finish(b))
			applyBatch(t, h, b)
		}
		got, ok, err := storage.ReadPieces(h, k)
		if err != nil || !ok || !bytes.Equal(got, value) {
			t.Fatalf("read %d bytes, %v, %v; want %d", len(got), ok, err, size)
		}
		if n, ok, err := storage.PieceLength(h, k); n != uint64(size) || !ok || err != nil {
			t.Fatalf("length %d, %v, %v", n, ok, err)
		}
		var walked []byte
		ok, err = storage.WalkPieces(h, k, func(b []byte) bool { walked = append(walked, b...); return true })
		if !ok || err != nil || !bytes.Equal(walked, value) {
			t.Fatalf("walked %d bytes, %v, %v", len(walked), ok, err)
		}
	})
	b := storage.NewBatch(id)
	for i := range uint64(3) {
		storage.DeletePieces(b, p.Key(storage.TableSegmentPiece, storage.U64(i+1)))
	}
	applyBatch(t, h, b)
	for _, err := range h.Scan(p.All(), storage.ScanOptions{}) {
		t.Fatalf("something is left: %v", err)
	}
}

func TestDamagedPiecesAreToldAndNotRead(t *testing.T) {
	n := storagetest.NewDisk().Node(t)
	id := store(1)
	h := acquire(t, n, id)
	defer h.Release()
	k := storage.OrgSpace(id).Key(storage.TableExportPiece, storage.ID16(pb.JobID{1}))
	value := bytes.Repeat([]byte("0123456789"), 150_000)
	for name, damage := range map[string]func(*storage.Batch){
		"piece missing":    func(b *storage.Batch) { b.Delete(k.Child(storage.U32(1))) },
		"last missing":     func(b *storage.Batch) { b.Delete(k.Child(storage.U32(2))) },
		"piece changed":    func(b *storage.Batch) { b.PutRaw(k.Child(storage.U32(0)), make([]byte, storage.PieceBytes)) },
		"piece too many":   func(b *storage.Batch) { b.PutRaw(k.Child(storage.U32(3)), []byte("x")) },
		"header short":     func(b *storage.Batch) { b.PutRaw(k, []byte{1, 2, 3}) },
		"header boundless": func(b *storage.Batch) { b.PutRaw(k, append([]byte{1}, bytes.Repeat([]byte{0xFF}, 16)...)) },
	} {
		b := storage.NewBatch(id)
		if err := storage.PutPieces(b, k, value); err != nil {
			t.Fatal(err)
		}
		applyBatch(t, h, b)
		b = storage.NewBatch(id)
		damage(b)
		applyBatch(t, h, b)
		if _, _, err := storage.ReadPieces(h, k); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: read: %v, want ErrCorrupt", name, err)
		}
		if _, err := storage.WalkPieces(h, k, func([]byte) bool { return true }); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("%s: walk: %v, want ErrCorrupt", name, err)
		}
	}
}

func TestPiecesAreBounded(t *testing.T) {
	id := store(1)
	k := storage.OrgSpace(id).Key(storage.TableExportPiece, storage.ID16(pb.JobID{1}))
	w := storage.BeginPieces(storage.NewBatch(id), k)
	chunk := make([]byte, storage.PieceBytes)
	for range storage.MaxPieces {
		if err := w.Add(storage.NewBatch(id), chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Add(storage.NewBatch(id), chunk); !errors.Is(err, storage.ErrTooLarge) {
		t.Errorf("piece beyond the bound: %v, want ErrTooLarge", err)
	}
}
