package actors

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

func TestCursorsOpenOnlyWhereTheyWereMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret")
		kind := tenant.CursorKind{
			List:    rapid.SampledFrom([]string{"jobs", "subjects"}).Draw(t, "list"),
			Filters: rapid.String().Draw(t, "filters"), Partition: pb.PartitionID{rapid.Byte().Draw(t, "partition")},
		}
		position := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "position")
		c := tenant.SealCursor(secret, kind, position)
		got, err := tenant.OpenCursor(secret, kind, c)
		if err != nil || !bytes.Equal(got, position) {
			t.Fatalf("own cursor: %x, %v", got, err)
		}
		others := []tenant.CursorKind{
			{List: kind.List + "x", Filters: kind.Filters, Partition: kind.Partition},
			{List: kind.List, Filters: kind.Filters + "x", Partition: kind.Partition},
			{List: kind.List, Filters: kind.Filters, Partition: pb.PartitionID{kind.Partition[0] + 1}},
		}
		for _, o := range others {
			if _, err := tenant.OpenCursor(secret, o, c); err == nil {
				t.Fatalf("a cursor of %v opened as %v", kind, o)
			}
		}
		secret2 := append([]byte{secret[0] + 1}, secret[1:]...)
		if _, err := tenant.OpenCursor(secret2, kind, c); err == nil {
			t.Fatal("a cursor of another organization opened")
		}
		i := rapid.IntRange(0, len(c)-1).Draw(t, "flip")
		b := []byte(c)
		b[i] = map[bool]byte{true: 'B', false: 'A'}[b[i] == 'A']
		if got, err := tenant.OpenCursor(secret, kind, string(b)); err == nil {
			t.Fatalf("a cursor changed at %d opened as %x", i, got)
		}
	})
}

func FuzzOpenCursor(f *testing.F) {
	secret := bytes.Repeat([]byte{7}, 32)
	f.Add("")
	f.Add("!!!")
	f.Add(tenant.SealCursor(secret, tenant.CursorKind{List: "jobs"}, []byte("x")))
	f.Fuzz(func(t *testing.T, c string) {
		p, err := tenant.OpenCursor(secret, tenant.CursorKind{List: "jobs"}, c)
		if err == nil && tenant.SealCursor(secret, tenant.CursorKind{List: "jobs"}, p) != c {
			t.Fatalf("%q opened but is not what sealing gives", c)
		}
	})
}
