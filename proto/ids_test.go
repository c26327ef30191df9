package pb_test

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	pb "orgmem/proto"
)

func TestIDsRoundTripAndRefuseOtherForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "raw")
		id, err := pb.OrgIDFrom(raw)
		if err != nil {
			t.Fatal(err)
		}
		back, err := pb.ParseOrgID(id.String())
		if err != nil || back != id {
			t.Fatalf("parse(%s) = %s, %v", id, back, err)
		}
	})
	for _, s := range []string{
		"", "x", "{00000000-0000-0000-0000-000000000000}", "00000000000000000000000000000000",
		"urn:uuid:00000000-0000-0000-0000-000000000000",
	} {
		if _, err := pb.ParseJobID(s); !errors.Is(err, pb.ErrBadID) {
			t.Errorf("ParseJobID(%q) = %v, want ErrBadID", s, err)
		}
	}
	if _, err := pb.OrgIDFrom(make([]byte, 15)); !errors.Is(err, pb.ErrBadID) {
		t.Errorf("15 bytes were taken as an id")
	}
}

func TestKeyHash(t *testing.T) {
	h := pb.HashKey("svc_prod_abc")
	back, err := pb.ParseKeyHash(h.String())
	if err != nil || back != h {
		t.Fatalf("round trip: %v %v", back, err)
	}
	for _, s := range []string{"", "zz", h.String() + "0", "zz" + h.String()[2:]} {
		if _, err := pb.ParseKeyHash(s); !errors.Is(err, pb.ErrBadID) {
			t.Errorf("ParseKeyHash(%q) = %v, want ErrBadID", s, err)
		}
	}
}

// FuzzIDs: text that is an id is its canonical form, but for the case of its
// letters, and text that is none is ErrBadID.
func FuzzIDs(f *testing.F) {
	for _, s := range []string{
		"", "01890a5d-ac96-774b-bcce-b302099a8057", "01890A5D-AC96-774B-BCCE-B302099A8057",
		"{01890a5d-ac96-774b-bcce-b302099a8057}", "urn:uuid:01890a5d-ac96-774b-bcce-b302099a8057",
		"01890a5dac96774bbcceb302099a8057", strings.Repeat("a", 64), strings.Repeat("A", 64), strings.Repeat("g", 64),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if id, err := pb.ParseOrgID(s); err != nil && !errors.Is(err, pb.ErrBadID) ||
			err == nil && id.String() != strings.ToLower(s) {
			t.Fatalf("%q is %v, %v", s, id, err)
		}
		if hash, err := pb.ParseKeyHash(s); err != nil && !errors.Is(err, pb.ErrBadID) ||
			err == nil && hash.String() != strings.ToLower(s) {
			t.Fatalf("%q is %v, %v", s, hash, err)
		}
	})
}
