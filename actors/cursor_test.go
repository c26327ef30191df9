package actors

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
)

func TestCursorsOpenOnlyWhereTheyWereMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret")
		kind := cursorKind{rapid.SampledFrom([]string{"jobs", "subjects"}).Draw(t, "list"), rapid.String().Draw(t, "filters"), pb.PartitionID{rapid.Byte().Draw(t, "partition")}}
		position := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "position")
		c := sealCursor(secret, kind, position)
		got, err := openCursor(secret, kind, c)
		if err != nil || !bytes.Equal(got, position) {
			t.Fatalf("own cursor: %x, %v", got, err)
		}
		others := []cursorKind{
			{kind.list + "x", kind.filters, kind.partition},
			{kind.list, kind.filters + "x", kind.partition},
			{kind.list, kind.filters, pb.PartitionID{kind.partition[0] + 1}},
		}
		for _, o := range others {
			if _, err := openCursor(secret, o, c); err == nil {
				t.Fatalf("a cursor of %v opened as %v", kind, o)
			}
		}
		secret2 := append([]byte{secret[0] + 1}, secret[1:]...)
		if _, err := openCursor(secret2, kind, c); err == nil {
			t.Fatal("a cursor of another organization opened")
		}
		i := rapid.IntRange(0, len(c)-1).Draw(t, "flip")
		b := []byte(c)
		b[i] = map[bool]byte{true: 'B', false: 'A'}[b[i] == 'A']
		if got, err := openCursor(secret, kind, string(b)); err == nil {
			t.Fatalf("a cursor changed at %d opened as %x", i, got)
		}
	})
}

func FuzzOpenCursor(f *testing.F) {
	secret := bytes.Repeat([]byte{7}, 32)
	f.Add("")
	f.Add("!!!")
	f.Add(sealCursor(secret, cursorKind{list: "jobs"}, []byte("x")))
	f.Fuzz(func(t *testing.T, c string) {
		p, err := openCursor(secret, cursorKind{list: "jobs"}, c)
		if err == nil && sealCursor(secret, cursorKind{list: "jobs"}, p) != c {
			t.Fatalf("%q opened but is not what sealing gives", c)
		}
	})
}
