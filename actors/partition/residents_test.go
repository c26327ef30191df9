package partition

import (
	"slices"
	"testing"

	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// household is a store with residents, whose owners are the test's.
type household struct {
	*Residents
	t     *testing.T
	st    *storage.Store
	asked []pb.PartitionID
}

func newHousehold(t *testing.T, budget int64) *household {
	t.Helper()
	id := storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmMain}
	st, err := storagetest.NewDisk().Node(t).AcquireForApply(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Release)
	h := &household{t: t, st: st}
	m := NewMemory(budget, func(index.View) bool { return true })
	h.Residents = m.NewResidents(id, func(part *Ref) { h.asked = append(h.asked, part.ID) })
	return h
}

func (h *household) ref(n byte) *Ref {
	id := pb.PartitionID{n}
	return &Ref{ID: id, Store: h.store, Space: storage.PartitionSpace(h.store, id)}
}

func (h *household) read(n byte) *Index {
	h.t.Helper()
	now, err := h.Get(h.st, h.ref(n), func(string) int { return 1 })
	if err != nil {
		h.t.Fatal(err)
	}
	return now
}

// holds fails unless so many partitions are in memory, which take what the account says.
func (h *household) holds(partitions int) {
	h.t.Helper()
	bytes, count := h.memory.Use()
	want := int64(0)
	for _, e := range h.all {
		want += e.bytes
	}
	if count != partitions || len(h.all) != partitions || bytes != want || partitions == 0 && bytes != 0 {
		h.t.Errorf("%d partitions (%d) of %d bytes, want %d of %d", count, len(h.all), bytes, partitions, want)
	}
}

// fill gives a partition a chunk, and returns what it takes in memory.
func (h *household) fill(n byte) int64 {
	h.t.Helper()
	b := storage.NewBatch(h.store)
	part := h.ref(n)
	b.Put(part.Space.Key(storage.TableNode, storage.Str("n")), &pb.Node{Id: "n"})
	b.Put(part.Space.Key(storage.TableChunk, storage.U64(1)), &pb.Chunk{Seq: 1, Node: "n", Text: "A text about tea."})
	b.PutRaw(part.Space.Key(storage.TableUnsealed, storage.U64(1)), nil)
	_, err := h.st.Apply(storage.Entry{Index: uint64(n), Kind: storage.EntryPlain, Changes: b.Changes()})
	if err != nil {
		h.t.Fatal(err)
	}
	bytes := h.read(n).Snapshot.Bytes()
	if bytes == 0 {
		h.t.Fatal("an index of one chunk takes nothing")
	}
	return int64(residentOverhead + bytes)
}

// landlord is an owner that counts its evictions.
type landlord struct{ evicted int }

func (l *landlord) Evicted() { l.evicted++ }

// TestAResidentLeavesWithItsOwner: what readers have loaded belongs to the actor that adopts it, and goes with it; an
// actor that has been replaced takes nothing along.
func TestAResidentLeavesWithItsOwner(t *testing.T) {
	h := newHousehold(t, 1<<20)
	now := h.read(1)
	if !slices.Equal(h.asked, []pb.PartitionID{{1}}) || !h.Unowned(pb.PartitionID{1}) {
		t.Errorf("an owner was asked for %v", h.asked)
	}
	first, second := &landlord{}, &landlord{}
	e, found := h.Adopt(pb.PartitionID{1}, first)
	if !found || h.read(1) != now || len(h.asked) != 1 || e.Empty() || h.Unowned(pb.PartitionID{1}) {
		t.Error("what was loaded is not its owner's")
	}
	if !e.WasRead() || e.WasRead() {
		t.Error("a read counts once")
	}
	h.Adopt(pb.PartitionID{1}, second)
	e.Release(first)
	h.holds(1)
	e.Release(second)
	h.holds(0)
	if h.read(1) == now || len(h.asked) != 2 {
		t.Error("it outlived its owner")
	}
}

// TestTheLeastRecentlyReadIsEvicted: its index is out of memory at once, and its owner is told; one that nobody owns
// yet is forgotten.
func TestTheLeastRecentlyReadIsEvicted(t *testing.T) {
	h := newHousehold(t, 1<<20)
	size := h.fill(1)
	h.fill(2)
	h.fill(3)
	h.Close()
	h.Residents = h.memory.NewResidents(h.store, h.Residents.asked)
	h.memory.budget = 3*size - 1 // two, and the third's actor
	owners := map[byte]*landlord{}
	for n := byte(1); n <= 2; n++ {
		owners[n] = &landlord{}
		h.Adopt(pb.PartitionID{n}, owners[n])
		h.read(n)
	}
	one := h.read(1)
	h.read(3)
	if owners[1].evicted != 0 || owners[2].evicted != 1 || h.read(1) != one {
		t.Errorf("evicted were %d and %d", owners[1].evicted, owners[2].evicted)
	}
	h.holds(3) // the second is its owner's still, and empty
	if e, _ := h.peek(pb.PartitionID{2}); !e.Empty() || e.bytes != residentOverhead {
		t.Errorf("%d bytes of it are left", e.bytes)
	}
	h.read(2) // now the third is the last, and nobody's
	h.holds(2)
	if h.Unowned(pb.PartitionID{3}) || owners[1].evicted != 0 {
		t.Error("the third is there still")
	}
}

// TestNothingOfThePastIsKept: what is loaded while its partition is dropped, or behind the end of the activation,
// serves its reader and nobody else.
func TestNothingOfThePastIsKept(t *testing.T) {
	h := newHousehold(t, 1<<20)
	owner := &landlord{}
	e, found := h.Adopt(pb.PartitionID{1}, owner)
	past := h.read(1)
	turn := e.currentTurn()
	h.Drop(pb.PartitionID{1})
	h.memory.show(e, past, turn) // a load that began before
	if found || !e.Empty() {
		t.Error("an index of the past is shown")
	}
	if h.read(1) == past || len(h.asked) != 0 {
		t.Error("the owner has lost its partition")
	}
	h.Publish(h.ref(1), &Index{Snapshot: past.Snapshot, State: &pb.PartitionState{IndexVersion: 7}})
	if !e.Empty() {
		t.Error("what the index was before is shown")
	}
	h.read(1)
	h.read(2)
	h.Close()
	h.holds(0)
	if s, err := h.Settings(h.st, h.ref(1)); err != nil || s.Quality != QualityBalanced {
		t.Errorf("%v, %v", s, err)
	}
	first, second := h.read(1), h.read(1)
	if e, _ := h.Adopt(pb.PartitionID{1}, owner); e != nil || first == second {
		t.Error("it keeps what it reads behind its end")
	}
	e.Release(owner)
	h.holds(0)
}
