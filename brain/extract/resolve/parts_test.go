package resolve_test

import (
	"testing"

	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	pb "orgmem/proto"
)

// A first name alone means whoever is called so beside the whole name, unless it may be somebody whom everybody knows
// by that alone.
func TestPartOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		alone, whole uint32 // texts
		beside       uint32 // texts of both
		reason       resolve.Reason
		kind         extract.Type
		want         bool
	}{
		{"two texts", 2, 2, 2, resolve.Part, extract.Person, true},
		{"one text of many", 2, 5, 1, resolve.Part, extract.Person, true},
		{"one text of few", 2, 3, 1, resolve.Part, extract.Person, false},
		{"mostly alone", 20, 3, 3, resolve.Part, extract.Person, false},
		{"no text", 2, 5, 0, resolve.Part, extract.Person, false},
		{"by another reason", 2, 5, 3, resolve.Initials, extract.Person, false},
		{"a place", 2, 5, 3, resolve.Part, extract.Place, false},
	} {
		full := &pb.Entity{Type: string(extract.Person), Mentions: c.whole, Forms: []*pb.EntityForm{
			{Name: "Jane Lee", Count: c.whole, Reason: string(resolve.New)},
		}}
		if c.beside > 0 {
			full.Forms = append(full.Forms, &pb.EntityForm{Name: "Jane", Count: c.beside, Reason: string(c.reason)})
		}
		short := &pb.Entity{Type: string(c.kind), Mentions: c.alone}
		if got := resolve.PartOf("Jane", short, full); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
