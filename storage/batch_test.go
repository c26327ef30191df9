package storage

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

func TestRecordsCarryTheirVersion(t *testing.T) {
	b := NewBatch(orgA)
	k := OrgSpace(orgA).Key(TableOrg)
	want := &pb.Organization{Name: "Ada & Co", Slug: "ada"}
	b.Put(k, want)
	v := b.Changes()[0].GetValue()
	got := &pb.Organization{}
	if err := DecodeRecord(v, got); err != nil || !proto.Equal(got, want) {
		t.Fatalf("read back %v, %v", got, err)
	}
	v[0]++
	if err := DecodeRecord(v, got); !errors.Is(err, ErrUnknownVersion) {
		t.Errorf("newer version: %v, want ErrUnknownVersion", err)
	}
	if err := DecodeRecord(nil, got); !errors.Is(err, ErrCorrupt) {
		t.Errorf("empty: %v, want ErrCorrupt", err)
	}
	if err := DecodeRecord([]byte{recordVersion, 0xFF}, got); !errors.Is(err, ErrCorrupt) {
		t.Errorf("garbage: %v, want ErrCorrupt", err)
	}
}

func TestDecodingByHand(t *testing.T) {
	record, err := encodeRecord(&pb.Organization{Name: "Ada & Co"})
	if err != nil {
		t.Fatal(err)
	}
	got := &pb.Organization{}
	read := func(b []byte) error { return proto.Unmarshal(b, got) }
	if err := (Item{Value: record}).DecodeBy(read); err != nil || got.GetName() != "Ada & Co" {
		t.Errorf("read back %v, %v", got, err)
	}
	record[0]++
	if err := (Item{Value: record}).DecodeBy(read); !errors.Is(err, ErrUnknownVersion) {
		t.Errorf("newer version: %v, want ErrUnknownVersion", err)
	}
	for name, damaged := range map[string][]byte{"empty": nil, "garbage": {recordVersion, 0xFF}} {
		if err := (Item{Value: damaged}).DecodeBy(read); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
}

func TestBatchKnowsItsSize(t *testing.T) {
	b := NewBatch(orgA)
	k := OrgSpace(orgA).Key(TableOrg)
	b.PutRaw(k, make([]byte, 1000))
	b.Delete(k)
	b.DeleteRange(OrgSpace(orgA).Prefix(TableKey))
	b.DeleteRange(Range{})
	if b.Len() != 3 {
		t.Errorf("%d changes, want 3: an empty range is none", b.Len())
	}
	encoded := proto.Size(&pb.WriteStore{Changes: b.Changes()})
	if b.Bytes() < encoded || b.Bytes() > encoded+100 {
		t.Errorf("estimate %d of %d encoded bytes", b.Bytes(), encoded)
	}
	if err := b.Check(); err != nil {
		t.Errorf("small batch: %v", err)
	}
	b.PutRaw(k, make([]byte, MaxBatchBytes))
	if err := b.Check(); !errors.Is(err, ErrBatchTooLarge) {
		t.Errorf("large batch: %v, want ErrBatchTooLarge", err)
	}
	b = NewBatch(orgA)
	b.Delete(OrgSpace(orgA).Key(TableSubject, Bytes(make([]byte, MaxKeyBytes))))
	if err := b.Check(); !errors.Is(err, ErrBatchTooLarge) {
		t.Errorf("long key: %v, want ErrBatchTooLarge", err)
	}
}
