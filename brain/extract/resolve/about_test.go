package resolve_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	pb "orgmem/proto"
)

// An entity keeps its title as long as a text writes it so; then it is called as most
// texts call it, and its other forms are aliases, with a reason unless they are the same.
func TestDescribe(t *testing.T) {
	rec := &pb.Entity{Type: string(extract.Person), Forms: []*pb.EntityForm{
		{Name: "Jane Lee", Count: 1, Reason: string(resolve.New)},
		{Name: "J. Lee", Count: 3, Reason: "initials", Confidence: 0.8},
		{Name: "jane lee", Count: 3, Reason: string(resolve.Same)},
	}}
	title, about := resolve.Describe("Jane Lee", rec)
	if title != "Jane Lee" || !slices.Equal(about.Aliases, []string{"J. Lee", "jane lee"}) {
		t.Errorf("%s, %+v", title, about)
	}
	if len(about.Reasons) != 1 || about.Reasons[0].Alias != "J. Lee" || about.EntityType != string(extract.Person) {
		t.Errorf("%+v", about)
	}
	if title, _ := resolve.Describe("Ms Lee", rec); title != "J. Lee" {
		t.Errorf("without its title it is called %s", title)
	}
}

func TestKnownOf(t *testing.T) {
	forms := []*pb.EntityForm{{Name: "Jane Lee"}, {Name: "JL"}, {Name: "Lee"}}
	rec := &pb.Entity{Type: string(extract.Person), Forms: forms}
	k := resolve.KnownOf("e", "Jane Lee", []byte(`{"notAliases":["JL"]}`), rec)
	want := resolve.Known{
		ID: "e", Type: extract.Person, Title: "Jane Lee", Aliases: []string{"Lee"}, Not: []string{"JL"},
	}
	if diff := cmp.Diff(want, k); diff != "" {
		t.Errorf("known (-want +got):\n%s", diff)
	}
}

func TestIsPerson(t *testing.T) {
	for metadata, want := range map[string]bool{
		`{"entityType":"` + string(extract.Person) + `","aliases":["Jane Lee"]}`: true,
		`{"entityType":"` + string(extract.Person) + `","aliases":[]}`:           false,
		`{"entityType":"organization","aliases":["Jane Lee"]}`:                   false,
		``: false,
	} {
		if got := resolve.IsPerson("Finch", []byte(metadata)); got != want {
			t.Errorf("%s: %v", metadata, got)
		}
	}
}
