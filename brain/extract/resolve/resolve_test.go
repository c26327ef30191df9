package resolve

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"orgmem/brain/extract"
)

func person(title string, aliases ...string) Known {
	return Known{ID: EntityID(title), Type: extract.Person, Title: title, Aliases: aliases}
}

func thing(t extract.Type, title string, aliases ...string) Known {
	return Known{ID: EntityID(title), Type: t, Title: title, Aliases: aliases}
}

func TestOneName(t *testing.T) {
	jane, acme := person("Jane Lee"), thing(extract.Organization, "Acme Corp")
	split := thing(extract.Organization, "Acme Corp")
	split.Not = []string{"ACME CORP"}
	for name, c := range map[string]struct {
		known  []Known
		name   Name
		entity EntityID
		reason Reason
		alias  bool
	}{
		"the same": {[]Known{jane, acme}, Name{"Jane Lee", extract.Person}, "Jane Lee", Same, false},
		"an alias": {
			[]Known{person("Jane Lee", "Janey")}, Name{"Janey", extract.Person}, "Jane Lee", Same, false,
		},
		"case":       {[]Known{jane}, Name{"JANE LEE", extract.Person}, "Jane Lee", Case, true},
		"diacritics": {[]Known{person("Zoë Öz")}, Name{"Zoe Oz", extract.Person}, "Zoë Öz", Case, true},
		"first names with other diacritics": {
			[]Known{person("Renée")}, Name{"Renee", extract.Person}, "", New, false,
		},
		"a word with other diacritics": {
			[]Known{thing(extract.Place, "Malmö")}, Name{"Malmo", extract.Place}, "Malmö", Case, true,
		},
		"a handle":           {[]Known{jane}, Name{"@jane_lee", extract.Person}, "Jane Lee", Case, true},
		"a title":            {[]Known{jane}, Name{"Dr. Jane Lee", extract.Person}, "Jane Lee", Form, true},
		"the company's form": {[]Known{acme}, Name{"ACME", extract.Organization}, "Acme Corp", Form, true},
		"another type":       {[]Known{acme}, Name{"Acme Corp", extract.Other}, "Acme Corp", Same, false},
		"a guess of the type": {
			[]Known{thing(extract.Other, "Jane Lee")}, Name{"Jane Lee", extract.Person}, "Jane Lee", Same, false,
		},
		"person and place": {
			[]Known{thing(extract.Place, "Washington")}, Name{"Washington", extract.Person}, "Washington", Same, false,
		},
		"person and place, one in capitals": {
			[]Known{thing(extract.Place, "Priya")}, Name{"PRIYA", extract.Person}, "Priya", Case, true,
		},
		"a person who was split off a place": {
			[]Known{{ID: "w", Type: extract.Place, Title: "Washington", Not: []string{"Washington"}}},
			Name{"Washington", extract.Person},
			"", New, false,
		},
		"a place and code":   {[]Known{thing(extract.Code, "heron")}, Name{"Heron", extract.Place}, "", New, false},
		"an initial":         {[]Known{jane}, Name{"J. Lee", extract.Person}, "Jane Lee", Initials, true},
		"who had an initial": {[]Known{person("J. Lee")}, Name{"Jane Lee", extract.Person}, "J. Lee", Initials, true},
		"a last name's initial": {
			[]Known{person("Michaël Zasso")}, Name{"Michael Z.", extract.Person}, "Michaël Zasso", Initials, true,
		},
		"who had one": {
			[]Known{person("Jane L")}, Name{"Jane Lee", extract.Person}, "Jane L", Initials, true,
		},
		"a last name's initial of two": {[]Known{jane, person("Jane Long")}, Name{"Jane L", extract.Person}, "", New, false},
		"the other with it":            {[]Known{person("Jane L"), jane}, Name{"Jane Long", extract.Person}, "", New, false},
		"in one word": {
			[]Known{thing(extract.Product, "Mac OS")}, Name{"macOS", extract.Product}, "Mac OS", Form, true,
		},
		"a person in one word": {[]Known{person("Ann Adair")}, Name{"Annadair", extract.Person}, "", New, false},
		"numbers in one word": {
			[]Known{thing(extract.Product, "Heron 1 2")}, Name{"Heron 12", extract.Product}, "", New, false,
		},
		"a library": {[]Known{thing(extract.Product, "Node.js")}, Name{"Node", extract.Product}, "Node.js", Form, true},
		"a library in one word": {
			[]Known{thing(extract.Product, "Node.js")}, Name{"nodejs", extract.Product}, "Node.js", Form, true,
		},
		"an initial of two":      {[]Known{jane, person("John Lee")}, Name{"J. Lee", extract.Person}, "", New, false},
		"the other with initial": {[]Known{person("J. Lee"), jane}, Name{"John Lee", extract.Person}, "", New, false},
		"a last name alone":      {[]Known{jane}, Name{"Lee", extract.Person}, "", New, false},
		"a typing error": {
			[]Known{thing(extract.Product, "Kubernetes")}, Name{"Kuberentes", extract.Product}, "Kubernetes", Typo, true,
		},
		"a dropped letter": {
			[]Known{thing(extract.Product, "Kubernetes")}, Name{"Kubernets", extract.Product}, "Kubernetes", Typo, true,
		},
		"a plural": {
			[]Known{thing(extract.Place, "Netherland")}, Name{"Netherlands", extract.Place}, "", New, false,
		},
		"two similar first names": {[]Known{person("Christina Lee")}, Name{"Christine Lee", extract.Person}, "", New, false},
		"versions": {
			[]Known{thing(extract.Product, "Postgres 15")}, Name{"Postgres 16", extract.Product}, "", New, false,
		},
		"tickets": {
			[]Known{thing(extract.Identifier, "INC-4521")}, Name{"INC-4522", extract.Identifier}, "", New, false,
		},
		"a ticket": {
			[]Known{thing(extract.Identifier, "INC-4521")}, Name{"inc-4521", extract.Identifier}, "INC-4521", Case, true,
		},
		"code":               {[]Known{thing(extract.Code, "parseArgs")}, Name{"ParseArgs", extract.Code}, "", New, false},
		"what was split off": {[]Known{split}, Name{"acme corp", extract.Organization}, "", New, false},
		"an acronym elsewhere": {
			[]Known{thing(extract.Place, "Empire State Building")}, Name{"ESB", extract.Place}, "", New, false,
		},
		"marks alone": {[]Known{jane}, Name{"--", extract.Other}, "", New, false},
	} {
		d := Resolve(c.known, []Name{c.name})[0]
		want := Decision{Entity: c.entity, Reason: c.reason, Alias: c.alias}
		if diff := cmp.Diff(want, d, cmpopts.IgnoreFields(Decision{}, "Confidence", "Type")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if d.Confidence <= 0 || d.Confidence > 1 {
			t.Errorf("%s: as sure as %v", name, d.Confidence)
		}
		// Whoever looks up by keys finds what Resolve would merge.
		if d.Entity == "" {
			continue
		}
		k := c.known[slices.IndexFunc(c.known, func(k Known) bool { return k.ID == d.Entity })]
		var keys []string
		for _, title := range append(k.Aliases, k.Title) {
			keys = append(keys, Keys(title, k.Type)...)
		}
		if !slices.ContainsFunc(Keys(c.name.Name, c.name.Type), func(key string) bool { return slices.Contains(keys, key) }) {
			t.Errorf("%s: keys %q and %q have none in common", name, keys, Keys(c.name.Name, c.name.Type))
		}
	}
}

func TestADocumentsNames(t *testing.T) {
	names := []Name{
		{"Lee", extract.Person},
		{"Jane Lee", extract.Person},
		{"ESB", extract.Place},
		{"Empire State Building", extract.Place},
		{"J. Lee", extract.Person},
		{"Tom", extract.Person},
		{"ACME", extract.Organization},
		{"Acme", extract.Organization},
	}
	got := Resolve([]Known{person("Anna Lee")}, names)
	want := []Decision{
		{Leader: 1, Reason: Part, Type: extract.Person},
		{Leader: 1, Reason: New, Type: extract.Person},
		{Leader: 3, Reason: Acronym, Alias: true, Type: extract.Place},
		{Leader: 3, Reason: New, Type: extract.Place},
		{Leader: 1, Reason: Initials, Alias: true, Type: extract.Person},
		{Leader: 5, Reason: New, Type: extract.Person},
		{Leader: 6, Reason: New, Type: extract.Organization},
		{Leader: 6, Reason: Case, Alias: true, Type: extract.Organization},
	}
	for i := range want {
		got[i].Confidence = 0
		if got[i] != want[i] {
			t.Errorf("%q: %+v, want %+v", names[i].Name, got[i], want[i])
		}
	}
}

// TestDiacriticsTellFirstNamesApart: a first name is that of who is written so, beside somebody who is not.
func TestDiacriticsTellFirstNamesApart(t *testing.T) {
	for _, c := range []struct {
		names  []string
		leader int // of the last
	}{
		{[]string{"Renée Aubert", "Renee Falk", "Renée"}, 0},
		{[]string{"Renée Aubert", "Renee Falk", "Renee"}, 1},
		{[]string{"Renee Falk", "Renée"}, 1},
		{[]string{"Renée Aubert", "Renee"}, 0},
		{[]string{"Renée Aubert", "Renée Falk", "Renee"}, 2},
		{[]string{"Renée Aubert", "Renee Aubert"}, 0},
	} {
		var names []Name
		for _, n := range c.names {
			names = append(names, Name{n, extract.Person})
		}
		if d := Resolve(nil, names); d[len(d)-1].Leader != c.leader {
			t.Errorf("%q: %+v", c.names, d[len(d)-1])
		}
	}
}

// TestTwoOfOneName: what could mean two people means neither.
func TestTwoOfOneName(t *testing.T) {
	d := Resolve(nil, []Name{{"Jane Lee", extract.Person}, {"Tom Lee", extract.Person}, {"Lee", extract.Person}})
	if d[2].Reason != New || d[2].Leader != 2 {
		t.Errorf("%+v", d[2])
	}
}

// TestDecisionsHold: for any entities and names each decision is about one of
// them, and asking again after the aliases were kept changes nothing.
func TestDecisionsHold(t *testing.T) {
	types := []extract.Type{
		extract.Person, extract.Organization, extract.Place, extract.Product, extract.Other, extract.Code, extract.Identifier,
	}
	word := rapid.SampledFrom(strings.Fields("Jane J. Lee lee LEE Anna Acme ACME Corp The Empire State Building ESB " +
		"Kubernetes Kuberentes Zoë é -- 42"))
	name := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 3).Draw(t, "words"), " ")
	})
	rapid.Check(t, func(t *rapid.T) {
		var known []Known
		for i, title := range rapid.SliceOfNDistinct(name, 0, 6, rapid.ID).Draw(t, "known") {
			known = append(known, Known{
				ID: EntityID(rune('a' + i)), Type: rapid.SampledFrom(types).Draw(t, "type"), Title: title,
			})
		}
		var names []Name
		for _, n := range rapid.SliceOfNDistinct(name, 0, 6, rapid.ID).Draw(t, "names") {
			names = append(names, Name{n, rapid.SampledFrom(types).Draw(t, "type")})
		}
		decisions := Resolve(known, names)
		for i, d := range decisions {
			leader := decisions[d.Leader]
			switch {
			case leader.Leader != d.Leader || leader.Entity != d.Entity:
				t.Fatalf("%q follows %q, which follows another", names[i].Name, names[d.Leader].Name)
			case d.Entity == "" && d.Leader == i && d.Reason != New:
				t.Fatalf("%q begins an entity and is not new: %+v", names[i].Name, d)
			case d.Entity != "" && d.Reason == New:
				t.Fatalf("%q is new and known", names[i].Name)
			}
			if d.Entity == "" || !d.Alias {
				continue
			}
			k := slices.IndexFunc(known, func(k Known) bool { return k.ID == d.Entity })
			if slices.Contains(append(known[k].Aliases, known[k].Title), names[i].Name) {
				t.Fatalf("%q is an alias already", names[i].Name)
			}
			known[k].Aliases = append(known[k].Aliases, names[i].Name)
		}
	})
}

func TestKeysAreBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		kind := rapid.SampledFrom([]extract.Type{extract.Person, extract.Other, extract.URL}).Draw(t, "type")
		keys := Keys(name+strings.Repeat(name, 20), kind)
		if len(keys) == 0 || len(keys) > maxKeys {
			t.Fatalf("%d keys", len(keys))
		}
		for _, k := range keys {
			if len(k) > maxKeyBytes {
				t.Fatalf("a key of %d bytes", len(k))
			}
		}
	})
}

func TestCanonical(t *testing.T) {
	for _, pair := range [][2]Name{
		{{"Jane Lee", extract.Person}, {"Dr. JANE LEE", extract.Person}},
		{{"Acme Corp", extract.Organization}, {"ACME", extract.Product}},
		{{"INC-4521", extract.Identifier}, {"inc-4521", extract.Identifier}},
	} {
		a, b := Canonical(pair[0].Name, pair[0].Type), Canonical(pair[1].Name, pair[1].Type)
		if a == "" || a != b {
			t.Errorf("%v: %q and %q", pair, a, b)
		}
	}
	for _, weak := range []Name{
		{"Jane", extract.Person}, {"J. Lee", extract.Person}, {"--", extract.Other}, {"C", extract.Other},
	} {
		if c := Canonical(weak.Name, weak.Type); c != "" {
			t.Errorf("%v links as %q", weak, c)
		}
	}
	if Canonical("Washington", extract.Place) == Canonical("Washington", extract.Organization) {
		t.Error("a place links with an organization")
	}
}
