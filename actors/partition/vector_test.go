package partition

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestReadingManyVectors: whichever way it takes, reading many gives what reading each
// does, and nothing of another model or of another partition.
func TestReadingManyVectors(t *testing.T) {
	id := storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmMain}
	st, err := storagetest.NewDisk().Node(t).AcquireForApply(id)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Release()
	part := &Ref{Space: storage.PartitionSpace(id, pb.PartitionID{2})}
	beside := &Ref{Space: storage.PartitionSpace(id, pb.PartitionID{3})}
	random := rand.New(rand.NewPCG(3, 4))
	b := storage.NewBatch(id)
	const chunks = 400
	for seq := range uint64(chunks) {
		if random.IntN(5) > 0 {
			PutVector(b, part, "m", seq, []float32{float32(seq), 1, -1})
		}
		PutVector(b, part, "m2", seq, []float32{-1})
		PutVector(b, beside, "m", seq, []float32{-2})
	}
	if _, err := st.Apply(storage.Entry{Index: 1, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
		t.Fatal(err)
	}
	for _, share := range []int{1, 2, 3, 4, 50, chunks} { // one in so many is asked for
		var seqs []uint64
		for seq := range uint64(chunks + 10) { // some are beyond all that there are
			if random.IntN(share) == 0 {
				seqs = append(seqs, seq)
			}
		}
		var all VectorReader
		got, err := all.ReadAll(st, part, "m", seqs)
		if err != nil || len(got) != len(seqs) {
			t.Fatalf("one in %d: %d vectors for %d chunks, %v", share, len(got), len(seqs), err)
		}
		for i, seq := range seqs {
			want, err := ReadVector(st, part, "m", seq)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[i], want) || (got[i] == nil) != (want == nil) {
				t.Errorf("one in %d: chunk %d is %v, want %v", share, seq, got[i], want)
			}
		}
	}
	b = storage.NewBatch(id)
	b.PutRaw(VectorKey(part, "m", 7), []byte{1, 2, 3})
	if _, err := st.Apply(storage.Entry{Index: 2, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
		t.Fatal(err)
	}
	if _, err := new(VectorReader).ReadAll(st, part, "m", []uint64{6, 7, 8}); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("a vector of three bytes: %v", err)
	}
}
