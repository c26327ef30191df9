package resolve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orgmem/brain/extract"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
)

const maxForms = 32

// naming is what texts take one name for.
type naming struct {
	kind      extract.Type
	certainty float64
	texts     int
}

// named is an entity that texts name, and what their traces have of it.
func named(name string, all ...naming) (rec *pb.Entity, traces []*pb.TraceEntity) {
	rec = &pb.Entity{}
	for _, x := range all {
		for range x.texts {
			trace := &pb.TraceEntity{}
			if rec.GetType() == "" {
				rec.Type = string(x.kind)
			}
			Note(rec, trace, Said{Name: Name{name, x.kind}, Certainty: x.certainty}, maxForms)
			traces = append(traces, trace)
		}
	}
	return rec, traces
}

// A name is what most of its texts take it for, by their certainty, whichever comes first; and when the texts go, it
// is what those say that are left.
func TestTextsDecideWhatANameIs(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		all  []naming
		want extract.Type
	}{
		"a place in one text":      {[]naming{{extract.Place, 0.82, 1}, {extract.Person, 0.97, 4}}, extract.Person},
		"a label before the texts": {[]naming{{extract.Person, 0.3, 1}, {extract.Project, 0.5, 1}}, extract.Project},
		"the surer one":            {[]naming{{extract.Person, 0.45, 2}, {extract.Project, 0.95, 1}}, extract.Project},
		"nobody knows":             {[]naming{{extract.Other, 0.1, 9}, {extract.Product, 0.4, 1}}, extract.Product},
		"the first of two equal":   {[]naming{{extract.Place, 0.9, 1}, {extract.Person, 0.9, 1}}, extract.Place},
	} {
		rec, traces := named("Heron", x.all...)
		if rec.GetType() != string(x.want) || int(rec.GetMentions()) != len(traces) {
			t.Errorf("%s: %v", name, rec)
		}
		for i, trace := range traces[:len(traces)-1] {
			if gone := Unnote(rec, trace); len(gone) > 0 {
				t.Errorf("%s: after %d texts were forgotten nobody says %q", name, i+1, gone)
			}
		}
		last := x.all[len(x.all)-1].kind
		if rec.GetType() != string(last) || len(rec.GetVotes()) != 1 {
			t.Errorf("%s: of the last text it is %v", name, rec)
		}
	}
}

// Of several names of one text the surest decides what the text takes the entity for.
func TestATextHasOneVote(t *testing.T) {
	t.Parallel()
	rec, trace := &pb.Entity{Type: string(extract.Person)}, &pb.TraceEntity{}
	for _, x := range []struct {
		name      string
		kind      extract.Type
		certainty float64
	}{{"Lee", extract.Place, 0.5}, {"Jane Lee", extract.Person, 0.95}, {"Jane", extract.Product, 0.4}} {
		Note(rec, trace, Said{Name: Name{x.name, x.kind}, Certainty: x.certainty}, maxForms)
	}
	want := []*pb.EntityVote{{Type: string(extract.Person), Nodes: 1, Sure: 1, Weight: 95}}
	if diff := prototest.Diff(&pb.Entity{Votes: want}, &pb.Entity{Votes: rec.GetVotes()}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if gone := Unnote(rec, trace); rec.GetMentions() != 0 || len(gone) != 3 || len(rec.GetVotes()) != 0 {
		t.Errorf("it leaves %v and %q", rec, gone)
	}
}

// What was stored before texts voted counts for what it was taken for; and a program of that time may name it, and
// take names back, in between.
func TestVotesOfEarlierPrograms(t *testing.T) {
	t.Parallel()
	rec := &pb.Entity{
		Type: string(extract.Person), Mentions: 2,
		Forms: []*pb.EntityForm{{Name: "Priya", Count: 2}},
	}
	old := &pb.TraceEntity{Names: []string{"Priya"}}
	said := Said{Name: Name{"Priya", extract.Place}, Certainty: 0.95}
	mine := &pb.TraceEntity{}
	Note(rec, mine, said, maxForms)
	if rec.GetType() != string(extract.Person) {
		t.Errorf("after one of three: %v", rec)
	}
	Unnote(rec, old)
	Unnote(rec, old)
	if rec.GetType() != string(extract.Place) || rec.GetMentions() != 1 {
		t.Errorf("after the old texts are gone: %v", rec)
	}
	rec.Mentions += 2 // by an earlier program
	Note(rec, &pb.TraceEntity{}, said, maxForms)
	if v := rec.GetVotes(); len(v) != 1 || v[0].GetNodes() != 4 || v[0].GetUntold() != 2 {
		t.Errorf("after an earlier program has named it: %v", rec)
	}
	rec.Mentions -= 3 // by it
	if Unnote(rec, mine); rec.GetType() != string(extract.Place) || rec.GetMentions() != 0 || len(rec.GetVotes()) != 0 {
		t.Errorf("after it has taken names back: %v", rec)
	}
}

func TestOneNameIsOneThingUnlessItIsClearlyTwo(t *testing.T) {
	t.Parallel()
	place, person := extract.Place, extract.Person
	for name, x := range map[string]struct {
		recs []([]naming)
		want []Move
	}{
		"one":                    {[][]naming{{{person, 0.95, 3}}}, nil},
		"mistakes":               {[][]naming{{{person, 0.95, 9}, {place, 0.95, 2}}}, nil},
		"unsure":                 {[][]naming{{{person, 0.95, 9}, {place, 0.7, 9}}}, nil},
		"many mistakes":          {[][]naming{{{person, 0.95, 40}, {place, 0.95, 5}}}, nil},
		"what one thing may be":  {[][]naming{{{extract.Organization, 0.95, 5}, {extract.Product, 0.95, 5}}}, nil},
		"two things in one":      {[][]naming{{{place, 0.95, 5}, {person, 0.95, 3}}}, []Move{{0, person, -1}}},
		"two things apart":       {[][]naming{{{place, 0.95, 5}}, {{person, 0.95, 3}}}, nil},
		"two of which one lacks": {[][]naming{{{place, 0.95, 5}}, {{person, 0.95, 2}}}, []Move{{1, "", 0}}},
		"the larger comes last":  {[][]naming{{{place, 0.95, 1}}, {{person, 0.95, 2}}}, []Move{{0, "", 1}}},
		"a third": {
			[][]naming{{{place, 0.95, 5}}, {{person, 0.95, 3}}, {{extract.Event, 0.95, 1}}},
			[]Move{{2, extract.Event, 0}},
		},
		"some with the other": {
			[][]naming{{{place, 0.95, 5}, {person, 0.6, 1}}, {{person, 0.95, 3}}}, []Move{{0, person, 1}},
		},
	} {
		var recs []*pb.Entity
		for _, all := range x.recs {
			rec, _ := named("Washington", all...)
			recs = append(recs, rec)
		}
		if diff := cmp.Diff(x.want, Sort("Washington", recs)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	rec, _ := named("Jane Lee", naming{place, 0.95, 5}, naming{person, 0.95, 5})
	if moves := Sort("Jane Lee", []*pb.Entity{rec}); moves != nil {
		t.Errorf("a name of two words is seldom shared: %v", moves)
	}
}

// Whatever texts say of a name, in whatever order, and whichever of them go: what is left is what the others say.
func TestForgettingLeavesTheOthersVotes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rec := &pb.Entity{Type: string(extract.Other)}
		kinds := []extract.Type{extract.Person, extract.Place, extract.Project, extract.Other}
		var kept []*pb.TraceEntity
		for range rapid.IntRange(1, 12).Draw(t, "texts") {
			trace := &pb.TraceEntity{}
			said := Said{
				Name:      Name{"Heron", rapid.SampledFrom(kinds).Draw(t, "type")},
				Certainty: rapid.Float64Range(0.01, 1).Draw(t, "certainty"),
			}
			Note(rec, trace, said, maxForms)
			if rapid.Bool().Draw(t, "kept") {
				kept = append(kept, trace)
			} else {
				Unnote(rec, trace)
			}
		}
		want := map[string]uint32{}
		for _, trace := range kept {
			want[trace.GetType()] += trace.GetCertainty()
		}
		got := map[string]uint32{}
		for _, v := range rec.GetVotes() {
			got[v.GetType()] = v.GetWeight()
			if best := want[rec.GetType()]; v.GetWeight() > best && v.GetType() != string(extract.Other) &&
				rec.GetType() != string(extract.Other) {
				t.Errorf("it is %s, and most are for %s", rec.GetType(), v.GetType())
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || int(rec.GetMentions()) != len(kept) {
			t.Errorf("%v (-want +got):\n%s", rec, diff)
		}
	})
}
