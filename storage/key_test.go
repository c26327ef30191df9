package storage

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
)

func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s did not panic", what)
		}
	}()
	f()
}

var (
	orgA   = StoreID{Org: pb.OrgID{0xA}, Realm: RealmMain}
	orgB   = StoreID{Org: pb.OrgID{0xB}, Realm: RealmMain}
	partP  = pb.PartitionID{1}
	partPQ = pb.PartitionID{1, 0, 1} // shares a prefix with partP
)

func TestKeysOfOneStoreNeverEnterAnother(t *testing.T) {
	foreign := OrgSpace(orgB).Key(TableOrg)
	b := NewBatch(orgA)
	mustPanic(t, "Put", func() { b.Put(foreign, &pb.Organization{}) })
	mustPanic(t, "PutRaw", func() { b.PutRaw(foreign, nil) })
	mustPanic(t, "Delete", func() { b.Delete(foreign) })
	mustPanic(t, "DeleteRange", func() { b.DeleteRange(OrgSpace(orgB).All()) })
	mustPanic(t, "EraseRange", func() { b.EraseRange(OrgSpace(orgB).All()) })
	mustPanic(t, "Append", func() { b.Append(NewBatch(orgB)) })
	mustPanic(t, "zero key", func() { NewBatch(StoreID{}).Delete(Key{}) })
	if b.Len() != 0 {
		t.Errorf("the batch took %d changes", b.Len())
	}
	sandbox := StoreID{Org: orgA.Org, Realm: RealmSandbox}
	mustPanic(t, "sandbox key", func() { b.Delete(OrgSpace(sandbox).Key(TableOrg)) })
}

func TestTablesStayOnTheirLevel(t *testing.T) {
	mustPanic(t, "partition table of an organization", func() { OrgSpace(orgA).Key(TableChunk) })
	mustPanic(t, "organization table of a partition", func() { PartitionSpace(orgA, partP).Key(TableKey) })
	mustPanic(t, "zero table", func() { OrgSpace(orgA).Key(0) })
	mustPanic(t, "zero space", func() { Space{}.Key(TableOrg) })
	mustPanic(t, "range over two partitions", func() {
		Between(PartitionSpace(orgA, partP).Key(TableChunk), PartitionSpace(orgA, partPQ).Key(TableChunk))
	})
	mustPanic(t, "range from organization to partition", func() {
		Between(OrgSpace(orgA).Key(TableKey), PartitionSpace(orgA, partP).Key(TableChunk))
	})
}

// A partition is one contiguous range that holds all of its keys and none of
// any other partition or of the organization.
func TestPartitionIsOneRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := func(name string) (p pb.PartitionID) {
			copy(p[:], rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xFE, 0xFF}), 16, 16).Draw(t, name))
			return p
		}
		p, q := id("p"), id("q")
		table := Table(rapid.ByteRange(0x80, 0xFF).Draw(t, "table"))
		text := rapid.String().Draw(t, "text")
		k := PartitionSpace(orgA, p).Key(table, Str(text))
		if !PartitionSpace(orgA, p).All().Contains(k) {
			t.Fatal("a key is outside its partition")
		}
		if p != q && PartitionSpace(orgA, q).All().Contains(k) {
			t.Fatal("a key is inside another partition")
		}
		if OrgSpace(orgA).All().Contains(k) {
			t.Fatal("a partition's key is inside the organization's range")
		}
		if got, ok := k.Partition(); !ok || got != p || k.Table() != table {
			t.Fatalf("key tells %v, %v", got, k.Table())
		}
	})
}

// A range around a key holds every other key of it, and that one not.
func TestRangeAroundAKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := func(name string) Part {
			return Str(rapid.SampledFrom([]string{"", "\x00", "a", "a\x00", "b", "\xff"}).Draw(t, name))
		}
		table := func(name string) Table { return Table(rapid.ByteRange(0x80, 0x82).Draw(t, name)) }
		s := PartitionSpace(orgA, partP)
		k, other := s.Key(table("table"), part("k")), s.Key(table("another"), part("other"))
		before, behind := s.All().Around(k)
		if before.Contains(k) || behind.Contains(k) {
			t.Fatal("the key lies in the range around it")
		}
		if !k.Equal(other) && before.Contains(other) == behind.Contains(other) {
			t.Fatalf("another key lies in both or in neither: %v", before.Contains(other))
		}
		for _, r := range []Range{before, behind} {
			if r.Contains(PartitionSpace(orgA, partPQ).Key(table("foreign"), part("foreign"))) {
				t.Fatal("the range reaches into another partition")
			}
		}
	})
}

func TestParseKeyIsBoundToItsRange(t *testing.T) {
	s := PartitionSpace(orgA, partP)
	k := s.Key(TableNodeByTime, U64Desc(7), Str("n"))
	list := s.Prefix(TableNodeByTime)
	if got, err := list.ParseKey(k.Bytes()); err != nil || !got.Equal(k) {
		t.Fatalf("own key: %v, %v", got, err)
	}
	for name, b := range map[string][]byte{
		"another table":     s.Key(TableNode, Str("n")).Bytes(),
		"another partition": PartitionSpace(orgA, partPQ).Key(TableNodeByTime, U64Desc(7), Str("n")).Bytes(),
		"organization":      OrgSpace(orgA).Key(TableKey).Bytes(),
		"storage's own":     stateKey,
		"empty":             nil,
		"too long":          append(k.Bytes(), make([]byte, MaxKeyBytes)...),
	} {
		if _, err := list.ParseKey(b); !errors.Is(err, ErrBadKey) {
			t.Errorf("%s: %v, want ErrBadKey", name, err)
		}
	}
}

func TestStoreIDsReadBack(t *testing.T) {
	for _, id := range []StoreID{orgA, {Org: orgA.Org, Realm: RealmSandbox}, MetaStore} {
		if got, err := ParseStoreID(id.String()); err != nil || got != id {
			t.Errorf("%v reads back as %v, %v", id, got, err)
		}
		if got, err := StoreIDFrom(id.Ref()); err != nil || got != id {
			t.Errorf("reference of %v reads back as %v, %v", id, got, err)
		}
	}
	for _, s := range []string{
		"", "meta-main", "x-main", orgA.Org.String(), orgA.String() + "x", orgA.Org.String() + "-meta",
	} {
		if id, err := ParseStoreID(s); !errors.Is(err, ErrBadStoreID) {
			t.Errorf("%q reads as %v, %v", s, id, err)
		}
	}
	for _, ref := range []*pb.StoreRef{
		nil,
		{Realm: 9, Org: orgA.Org.Bytes()},
		{Realm: 257, Org: orgA.Org.Bytes()},
		{Realm: 1},
		{Realm: 1, Org: []byte{1}},
		{Realm: 3, Org: orgA.Org.Bytes()},
	} {
		if id, err := StoreIDFrom(ref); err == nil {
			t.Errorf("%v reads as %v", ref, id)
		}
	}
}

// A change that no Batch could have made is recognized, whatever the log says:
// above all one that reaches from one partition into another, or into storage's
// own records.
func TestChangesAreCheckedWhereTheyAreApplied(t *testing.T) {
	p := PartitionSpace(orgA, partP)
	k, all := p.Key(TableNode, Str("n")), p.All()
	good := []*pb.Change{
		{Op: pb.Change_PUT, Key: k.b},
		{Op: pb.Change_DELETE, Key: k.b},
		{Op: pb.Change_DELETE_RANGE, Key: all.lo, End: all.hi},
		{Op: pb.Change_ERASE_RANGE, Key: k.b, End: all.hi},
		{Op: pb.Change_ERASE_RANGE, Key: OrgSpace(orgA).All().lo, End: OrgSpace(orgA).All().hi},
	}
	for i, c := range good {
		if err := checkChange(c); err != nil {
			t.Errorf("good change %d: %v", i, err)
		}
	}
	bad := []*pb.Change{
		nil,
		{},
		{Op: pb.Change_PUT, Key: stateKey},
		{Op: pb.Change_PUT, Key: all.lo},
		{Op: pb.Change_PUT, Key: append(k.Bytes(), make([]byte, MaxKeyBytes)...)},
		{Op: pb.Change_PUT, Key: []byte{orgSpace, byte(TableChunk)}},
		{Op: 9, Key: k.b},
		{Op: pb.Change_DELETE_RANGE, Key: k.b},
		{Op: pb.Change_DELETE_RANGE, Key: k.b, End: k.b},
		{Op: pb.Change_DELETE_RANGE, Key: all.lo, End: append(all.hi, 0)},
		{Op: pb.Change_DELETE_RANGE, Key: OrgSpace(orgA).All().lo, End: all.hi},
		{Op: pb.Change_DELETE_RANGE, Key: []byte{ownSpace}, End: all.hi},
		{Op: pb.Change_ERASE_RANGE, Key: []byte{partitionSpace}, End: []byte{partitionSpace + 1}},
	}
	for i, c := range bad {
		if err := checkChange(c); !errors.Is(err, ErrBadChange) {
			t.Errorf("bad change %d: %v, want ErrBadChange", i, err)
		}
	}
}
