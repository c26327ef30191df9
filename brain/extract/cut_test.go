package extract

import (
	"slices"
	"testing"

	reading "orgmem/brain/reader"
)

// TestWhereNamesEnd: no name goes on over an account, a dash with room on both sides, or what people exclaim, and what
// is written as one is not cut.
func TestWhereNamesEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text      string
		some, not []string
	}{
		{"* Karim Adeleke Osei @kosei", []string{"Karim Adeleke Osei"}, []string{"Karim Adeleke Osei @kosei"}},
		{
			"Present: Ivo Babić @ibabic, Lena Voss @lvoss",
			[]string{"Ivo Babić", "Lena Voss"},
			[]string{"Ivo Babić @ibabic", "Lena Voss @lvoss"},
		},
		{"Сергей @SPetrov joined the call with Lena Voss.", []string{"Lena Voss"}, []string{"Сергей @SPetrov"}},
		{
			"* Streams - Marianne Dupont is looking for somebody to help.",
			[]string{"Marianne Dupont"},
			[]string{"Streams - Marianne Dupont", "Streams - Marianne"},
		},
		{"Woah Priya, that was quick!", []string{"Priya"}, []string{"Woah Priya", "Woah"}},
		{
			"Whoa! Congrats Priya, you won the cup in Lisbon.",
			[]string{"Priya", "Lisbon"},
			[]string{"Congrats Priya", "Whoa", "Congrats"},
		},
		{"Bleh, the build is red again.", nil, []string{"Bleh"}},
		{"IIRC the limit was raised by Priya Nair last year.", []string{"Priya Nair"}, []string{"IIRC"}},
		{"* Onboarded @mtanaka to the release team", nil, []string{"Onboarded", "Onboarded @mtanaka"}},
		{"Yikes Tom Hardy, was that on purpose?", []string{"Tom Hardy"}, []string{"Yikes Tom Hardy", "Yikes"}},
		{
			"Jean-Luc Moreau met Anne-Marie Duval in Aix-en-Provence.",
			[]string{"Jean-Luc Moreau", "Anne-Marie Duval", "Aix-en-Provence"},
			nil,
		},
	} {
		var got []string
		for _, m := range Extract(Document{Text: c.text}).Mentions {
			got = append(got, m.Name)
		}
		for _, name := range c.some {
			if !slices.Contains(got, name) {
				t.Errorf("%q: %q, want %q", c.text, got, name)
			}
		}
		for _, name := range c.not {
			if slices.Contains(got, name) {
				t.Errorf("%q: %q", c.text, got)
			}
		}
	}
}

// TestWholeNames: a name is no part of one, and holds nothing that only belongs to it.
func TestWholeNames(t *testing.T) {
	t.Parallel()
	const person, product = reading.Person, reading.Product
	for _, c := range []struct {
		text  string
		spans []said
		want  []string
	}{
		{"In the evening we play KX:GO at home.", []said{{text: "KX", kind: product}}, []string{"product KX:GO"}},
		{"We read Mira's PR about the boats.", []said{{text: "Mira's PR", kind: person}}, []string{"person Mira"}},
		{
			"The note of the TRK on Board Meetings is long.",
			[]said{{text: "TRK on Board", kind: reading.Organization}},
			[]string{"organization TRK"},
		},
		{
			"The Kestrel-generated text is long.",
			[]said{{text: "Kestrel-generated", kind: product}},
			[]string{"product Kestrel"},
		},
		{
			"Who has the key? We ask Mira.",
			[]said{{text: "Who", kind: person}, {text: "Mira", kind: person}},
			[]string{"person Mira"},
		},
		{
			"The PR for Kestrel is late.",
			[]said{{text: "PR", kind: product}, {text: "Kestrel", kind: product}},
			[]string{"product Kestrel"},
		},
	} {
		got := namedIn(Extract(Document{Text: c.text, Tagged: taggedAs(t, c.text, c.spans...)}))
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
