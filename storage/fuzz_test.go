package storage

import (
	"bytes"
	"errors"
	"testing"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

// FuzzParseKey: a cursor's position that is a key of its list is that key and lies
// in it; everything else is ErrBadKey.
func FuzzParseKey(f *testing.F) {
	space := PartitionSpace(orgA, partP)
	list := space.Prefix(TableNodeByTime)
	f.Add(space.Key(TableNodeByTime, U64Desc(7), Str("n")).Bytes())
	f.Add(space.Key(TableNode, Str("n")).Bytes())
	f.Add(OrgSpace(orgA).Key(TableKey).Bytes())
	f.Add(stateKey)
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := list.ParseKey(raw)
		if err != nil {
			if !errors.Is(err, ErrBadKey) {
				t.Fatalf("%x: %v", raw, err)
			}
			return
		}
		if !bytes.Equal(k.Bytes(), raw) || !list.Contains(k) || len(raw) > MaxKeyBytes {
			t.Fatalf("%x is %v", raw, k)
		}
	})
}

func FuzzStoreID(f *testing.F) {
	for _, s := range []string{
		"meta", orgA.String(), StoreID{Org: orgA.Org, Realm: RealmSandbox}.String(), "-main", "meta-main", "../meta", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseStoreID(s)
		if err != nil {
			if !errors.Is(err, ErrBadStoreID) {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if id.String() != s || id.Check() != nil {
			t.Fatalf("%q is %v", s, id)
		}
		if again, err := StoreIDFrom(id.Ref()); err != nil || again != id {
			t.Fatalf("the reference of %q is %v, %v", s, again, err)
		}
	})
}

// FuzzStored: what is stored is read as what was written, or is corrupt or of
// another version. The three forms share a seed: each begins with its version.
func FuzzStored(f *testing.F) {
	record, err := encodeRecord(&pb.Node{Id: "n", Kind: "document", CreatedMs: 7, Chunks: []uint64{1, 2}})
	if err != nil {
		f.Fatal(err)
	}
	e := LogEntry{Term: 3, Type: 1, Data: []byte("data"), Extensions: []byte("more")}
	entry := make([]byte, entrySize(&e))
	encodeEntry(entry, &e)
	for _, seed := range [][]byte{record, entry, State{1, 2, 3}.encode(), {}, {recordVersion}, {logEntryVersion}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		known := func(what string, err error) {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrUnknownVersion) {
				t.Fatalf("%s %x: %v", what, raw, err)
			}
		}
		if st, err := decodeState(raw); err != nil {
			known("state", err)
		} else if !bytes.Equal(st.encode(), raw) {
			t.Fatalf("state %x is %v", raw, st)
		}
		if e, err := decodeEntry(raw); err != nil {
			known("entry", err)
		} else {
			again := make([]byte, entrySize(&e))
			if encodeEntry(again, &e); !bytes.Equal(again, raw) {
				t.Fatalf("entry %x is %+v, which is %x", raw, e, again)
			}
		}
		node := &pb.Node{}
		if err := DecodeRecord(raw, node); err != nil {
			known("record", err)
			return
		}
		said, err := encodeRecord(node)
		if err != nil {
			t.Fatalf("record %x: %v", raw, err)
		}
		again := &pb.Node{}
		if err := DecodeRecord(said, again); err != nil || !proto.Equal(node, again) {
			t.Fatalf("record %x is %v, then %v, %v", raw, node, again, err)
		}
	})
}
