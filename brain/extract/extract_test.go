package extract

import (
	"slices"
	"testing"
)

// names lists the mentions as "type name".
func namesOf(x Extraction) []string {
	var out []string
	for _, m := range x.Mentions {
		out = append(out, string(m.Type)+" "+m.Name)
	}
	return out
}

func TestNames(t *testing.T) {
	for text, want := range map[string][]string{
		"Jane Lee and Tom Hardy joined Acme Corp in Berlin, Germany.": {"person Jane Lee", "person Tom Hardy", "organization Acme Corp", "place Berlin", "place Germany"},
		"She teaches at the University of Helsinki.":                  {"organization University of Helsinki"},
		"The 1961 Turkish general election was held in October.":      {"event 1961 Turkish general election"},
		"We moved the build from Jenkins to GitHub last week.":        {"product GitHub"},
		"Nothing is named here, and nobody.":                          nil,
		"On Monday I will think about it.":                            nil,
	} {
		got := namesOf(Extract(Document{Text: text}))
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %q, want %q", text, got, w)
			}
		}
		if want == nil && len(got) > 0 {
			t.Errorf("%q: %q", text, got)
		}
	}
}
