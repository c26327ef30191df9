package extract

import (
	"slices"
	"testing"
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
