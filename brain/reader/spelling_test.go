package reader

import (
	"strings"
	"testing"
)

// TestSpelling: a word is spelt one way wherever in it a token stands, and a capital that opens a sentence, a line or
// an item of a list says less than one within.
func TestSpelling(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		text, at string
		want     spelling
	}{
		{"we met Anna", "Anna", capital},
		{"we met Anna", "nna", capital},
		{"we met anna", "anna", small},
		{"Anna came", "Anna", opening},
		{"ok. Anna came", "Anna", opening},
		{"ok, Anna came", "Anna", capital},
		{"list:\n- Anna", "Anna", opening},
		{"she said “Anna”", "Anna", capital},
		{"Owner: Anna", "Anna", opening},
		{"the NASA", "NASA", capitals},
		{"by the iPhone", "Phone", camel},
		{"by McArthur", "Arthur", camel},
		{"in 2024", "024", digits},
		{"on the B2B", "2B", mixed},
		{"in Évora", "Évora", capital},
		{"it is — so", "—", unspelt},
		{"in 東京", "東", small},
		{"so I went", "I", capital},
	} {
		if got := spellingAt(x.text, strings.LastIndex(x.text, x.at)); got != x.want {
			t.Errorf("%q in %q: %d, want %d", x.at, x.text, got, x.want)
		}
	}
}
