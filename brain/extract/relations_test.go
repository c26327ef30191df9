package extract

import (
	"slices"
	"strings"
	"testing"

	"orgmem/brain/extract/typing"
)

func TestRelations(t *testing.T) {
	for text, want := range map[string][]string{
		"Jane Lee and Tom Hardy joined Acme Corp.": {
			"Tom Hardy works_for Acme Corp", "Jane Lee works_for Acme Corp",
		},
		"Acme Corp is based in Berlin, Germany.": {
			"Acme Corp located_in Berlin", "Berlin located_in Germany",
		},
		"The Empire State Building (ESB) is old.":                 {"Empire State Building also_known_as ESB"},
		"Acme Corp was acquired by Google last year.":             {"Google owns Acme Corp"},
		"PEP 3107 was superseded by PEP 484 in the end.":          {"PEP 484 replaces PEP 3107"},
		"INC-4521 is assigned to Jane Lee.":                       {"INC-4521 assigned_to Jane Lee"},
		"INC-4521 depends on INC-4400.":                           {"INC-4521 depends_on INC-4400"},
		"Jane Lee never joined Acme Corp.":                        nil,
		"Jane Lee left the room. Acme Corp is based there.":       nil,
		"Jane Lee went to see the people whom they say hired Tom": nil,
	} {
		x := Extract(Document{Text: text})
		var got []string
		for _, r := range x.Relations {
			got = append(got, x.Mentions[r.From].Name+" "+string(r.Type)+" "+x.Mentions[r.To].Name)
			if r.Confidence < MinConfidence || r.Confidence > 1 {
				t.Errorf("%q: %+v", text, r)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q (of %q)", text, got, want, namesOf(x))
		}
	}
}

// TestRelationsInTheirConstruction: a verb relates two names where the sentence says so, and not where it compares or
// advises, where it means something else, or where a name only describes what is meant.
func TestRelationsInTheirConstruction(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Jane Lee just opened #20121 for that.":                        "#20121 created_by Jane Lee",
		"Jane Lee opened https://bugs.example.com/20121 for that.":     "bugs.example.com/20121 created_by Jane Lee",
		"INC-4521 was reported by Jane Lee.":                           "INC-4521 created_by Jane Lee",
		"INC-4521 was fixed by Jane Lee.":                              "INC-4521 assigned_to Jane Lee",
		"Jane Lee opened Acme Corp in May.":                            "",
		"We use `merlin_db` instead of `kestrel_db` now.":              "merlin_db replaces kestrel_db",
		"They are using `merlin_db` instead of `kestrel_db`.":          "merlin_db replaces kestrel_db",
		"Consider using `merlin_db` instead of `kestrel_db`.":          "",
		"Use `merlin_db` instead of `kestrel_db`.":                     "",
		"I guess using `merlin_db` instead of `kestrel_db` solves it.": "",
		"You could use `merlin_db` instead of `kestrel_db`.":           "",
		"`kestrel_db` was dropped in favor of `merlin_db`.":            "merlin_db replaces kestrel_db",
		"`kestrel_db` speaks in favor of `merlin_db`.":                 "",
		"Acme Corp uses paper instead of `kestrel_db`.":                "",
		"Acme Corp uses `kestrel_db`.":                                 "Acme Corp uses kestrel_db",
		"`kestrel_db` used to make worse code than `merlin_db`.":       "",
		"`kestrel_db` uses more memory than `merlin_db`.":              "",
		"`kestrel_db` settings are used by `merlin_db`.":               "",
		"Jane Lee's sister works for Acme Corp.":                       "",
		"Jane Lee called Tom Hardy.":                                   "",
		"The Empire State Building, called ESB Tower, is old.":         "Empire State Building also_known_as ESB Tower",
	} {
		x := Extract(Document{Text: text})
		var got []string
		for _, r := range x.Relations {
			got = append(got, x.Mentions[r.From].Name+" "+string(r.Type)+" "+x.Mentions[r.To].Name)
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: %q, want %q (of %q)", text, got, want, namesOf(x))
		}
	}
}

// TestEvidence: the sentence, and no other.
func TestEvidence(t *testing.T) {
	const text = "It was late. Jane Lee works for Acme Corp. Nobody knew."
	x := Extract(Document{Text: text})
	if len(x.Relations) != 1 || text[x.Relations[0].Evidence.Start:x.Relations[0].Evidence.End] !=
		"Jane Lee works for Acme Corp." {
		t.Errorf("%+v", x.Relations)
	}
}

// TestWordListsMeanOneThing: a phrase that stood under two relations would mean one
// in this process and the other in the next.
func TestWordListsMeanOneThing(t *testing.T) {
	if len(phrases) != listedPhrases {
		t.Errorf("%d of %d phrases stand under more than one relation", listedPhrases-len(phrases), listedPhrases)
	}
	listedHeads := 0
	for _, words := range typing.Heads {
		listedHeads += len(strings.Fields(words))
	}
	if len(heads) != listedHeads {
		t.Errorf("%d of %d heads stand under more than one type", listedHeads-len(heads), listedHeads)
	}
}

// Whatever a phrase or the ends of a relation name is among the types that there are.
func TestRelationTypesAreAllOfThem(t *testing.T) {
	for words, p := range phrases {
		if !slices.Contains(RelationTypes, p.relation) {
			t.Errorf("%q is %q, which is no type", words, p.relation)
		}
	}
	for r := range ends {
		if !slices.Contains(RelationTypes, r) {
			t.Errorf("%q is no type", r)
		}
	}
}
