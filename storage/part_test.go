package storage

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
)

// tuple is a key's parts as plain values; shapes fixes their types, as a table
// does.
type tuple []any

var shapes = []string{"s", "u", "d", "i", "D", "4", "I", "H", "su", "ss", "us", "sss", "Isu", "iDs", "4s4", "Hs"}

func drawTuple(t *rapid.T, shape string) tuple {
	// Few distinct bytes, and those that the escaping treats specially, so that
	// shared prefixes and equal parts are common.
	text := rapid.StringOfN(rapid.RuneFrom([]rune{0, 1, 2, 'a', 'b', 0x10FFFF}), 0, 4, -1)
	raw := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xFE, 0xFF}), 0, 4)
	out := tuple{}
	for _, c := range shape {
		switch c {
		case 's':
			if rapid.Bool().Draw(t, "raw") {
				out = append(out, string(raw.Draw(t, "s")))
			} else {
				out = append(out, text.Draw(t, "s"))
			}
		case 'u', 'd':
			out = append(out, rapid.OneOf(rapid.Uint64(), rapid.Uint64Range(0, 3), rapid.Just(^uint64(0))).Draw(t, "u"))
		case 'i', 'D':
			out = append(out, rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2, 2)).Draw(t, "i"))
		case '4':
			out = append(out, rapid.Uint32Range(0, 300).Draw(t, "4"))
		case 'I':
			out = append(out, [16]byte(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xFF}), 16, 16).Draw(t, "I")))
		case 'H':
			out = append(out, [32]byte(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0xFF}), 32, 32).Draw(t, "H")))
		}
	}
	return out
}

func (tp tuple) parts(shape string) []Part {
	out := make([]Part, 0, len(tp))
	for i, c := range shape[:len(tp)] {
		switch c {
		case 's':
			out = append(out, Str(tp[i].(string)))
		case 'u':
			out = append(out, U64(tp[i].(uint64)))
		case 'd':
			out = append(out, U64Desc(tp[i].(uint64)))
		case 'i':
			out = append(out, I64(tp[i].(int64)))
		case 'D':
			out = append(out, I64Desc(tp[i].(int64)))
		case '4':
			out = append(out, U32(tp[i].(uint32)))
		case 'I':
			out = append(out, ID16(tp[i].([16]byte)))
		case 'H':
			out = append(out, Hash32(tp[i].([32]byte)))
		}
	}
	return out
}

func compareTuples(shape string, a, b tuple) int {
	for i, c := range shape {
		var d int
		switch c {
		case 's':
			d = strings.Compare(a[i].(string), b[i].(string))
		case 'u':
			d = cmp.Compare(a[i].(uint64), b[i].(uint64))
		case 'd':
			d = cmp.Compare(b[i].(uint64), a[i].(uint64))
		case 'i':
			d = cmp.Compare(a[i].(int64), b[i].(int64))
		case 'D':
			d = cmp.Compare(b[i].(int64), a[i].(int64))
		case '4':
			d = cmp.Compare(a[i].(uint32), b[i].(uint32))
		case 'I':
			x, y := a[i].([16]byte), b[i].([16]byte)
			d = bytes.Compare(x[:], y[:])
		case 'H':
			x, y := a[i].([32]byte), b[i].([32]byte)
			d = bytes.Compare(x[:], y[:])
		}
		if d != 0 {
			return d
		}
	}
	return 0
}

var testSpace = PartitionSpace(StoreID{Org: pb.OrgID{1}, Realm: RealmMain}, pb.PartitionID{2})

func TestKeysSortAsTheirTuples(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom(shapes).Draw(t, "shape")
		a, b := drawTuple(t, shape), drawTuple(t, shape)
		ka := testSpace.Key(TableNode, a.parts(shape)...)
		kb := testSpace.Key(TableNode, b.parts(shape)...)
		if got, want := bytes.Compare(ka.b, kb.b), compareTuples(shape, a, b); got != want {
			t.Fatalf("%q against %q: keys compare %d, tuples %d", a, b, got, want)
		}
	})
}

func TestPrefixHoldsExactlyItsMembers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom(shapes).Draw(t, "shape")
		a, b := drawTuple(t, shape), drawTuple(t, shape)
		n := rapid.IntRange(0, len(shape)).Draw(t, "prefix length")
		r := testSpace.Prefix(TableNode, a[:n].parts(shape)...)
		k := testSpace.Key(TableNode, b.parts(shape)...)
		member := compareTuples(shape[:n], a[:n], b[:n]) == 0
		if r.Contains(k) != member {
			t.Fatalf("prefix %q of %q: contains %q is %v, want %v", a[:n], shape, b, !member, member)
		}
		if !testSpace.All().Contains(k) {
			t.Fatal("a key lies outside its own space")
		}
	})
}

func TestPartsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SampledFrom(shapes).Draw(t, "shape")
		want := drawTuple(t, shape)
		r := testSpace.Key(TableNode, want.parts(shape)...).Parts()
		got := tuple{}
		for _, c := range shape {
			switch c {
			case 's':
				got = append(got, r.Str())
			case 'u':
				got = append(got, r.U64())
			case 'd':
				got = append(got, r.U64Desc())
			case 'i':
				got = append(got, r.I64())
			case 'D':
				got = append(got, r.I64Desc())
			case '4':
				got = append(got, r.U32())
			case 'I':
				got = append(got, r.ID16())
			case 'H':
				got = append(got, r.Hash32())
			}
		}
		if err := r.Done(); err != nil || !slices.Equal(got, want) {
			t.Fatalf("read %q, want %q: %v", got, want, err)
		}
	})
}

func TestPartReaderRefusesOtherShapes(t *testing.T) {
	k := testSpace.Key(TableNode, Str("abc"))
	for name, read := range map[string]func(*PartReader){
		"too few":    func(r *PartReader) {},
		"too many":   func(r *PartReader) { r.Str(); r.Str() },
		"wrong kind": func(r *PartReader) { r.ID16() },
	} {
		r := k.Parts()
		read(r)
		if err := r.Done(); !errors.Is(err, ErrBadKey) {
			t.Errorf("%s: %v, want ErrBadKey", name, err)
		}
	}
}

// FuzzPartReader: whatever bytes come, reading ends, and text that reads back
// encodes to the bytes that were read.
func FuzzPartReader(f *testing.F) {
	f.Add([]byte("a\x00\xFFb\x00\x01rest"))
	f.Add([]byte{0, 1, 0, 1})
	f.Add([]byte{0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := &PartReader{rest: b}
		s := r.Bytes()
		if r.Err() != nil {
			return
		}
		p := Bytes(s)
		if enc := p.append(nil); !bytes.Equal(enc, b[:len(b)-len(r.rest)]) {
			t.Fatalf("%q reads %q, which encodes as %q", b, s, enc)
		}
	})
}
