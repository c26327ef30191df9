package conflict

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed testdata/everyday.txt
var everydayPairs string

// Of pairs of everyday notes in six languages those are reported that contradict each other, and no others.
func TestContradictionsOfEverydayNotes(t *testing.T) {
	t.Parallel()
	var j Judge
	for line := range strings.Lines(everydayPairs) {
		first, second, pair := strings.Cut(strings.TrimSpace(line), " | ")
		if !pair {
			continue
		}
		f, ok := j.Compare(passage(first[2:]), passage(second), near)
		if want := first[0] == '+'; ok != want {
			t.Errorf("%s | %s: reported %t, want %t (%s)", first, second, ok, want, f.Explanation)
		}
		if back, also := j.Compare(passage(second), passage(first[2:]), near); also != ok || back.Kind != f.Kind {
			t.Errorf("%s | %s: the other way round it is %t", first, second, also)
		}
	}
}

// A reader is not asked about two times that are both right, and what it finds is told in the language of the notes.
func TestAReaderOfOtherLanguages(t *testing.T) {
	t.Parallel()
	asked := func(a, b string) []Candidate {
		return new(Judge).Candidates(nil, passage(a), passage(b), Near{Cosine: 0.85, Rank: 1, Of: 2})
	}
	for a, b := range map[string]string{
		"Der Zug nach Bonn fährt um 10 Uhr.":        "Der Zug nach Bonn fährt um 11 Uhr.",
		"Le séminaire est en mai à Lyon.":           "Le séminaire est en octobre à Lille.",
		"El museo está cerrado los lunes.":          "El museo está abierto.",
		"Anna heeft een afspraak om 10 uur.":        "Anna heeft een afspraak om 14 uur.",
		"A Ana tem uma consulta às 10h.":            "A Ana tem uma consulta às 14h.",
		"Chiara è in ufficio lunedì con i colleghi": "Chiara è in ufficio martedì con i colleghi",
	} {
		if c := asked(a, b); len(c) > 0 {
			t.Errorf("%s | %s: %+v", a, b, c[0])
		}
	}
	c := asked("Jan trinkt keinen Kaffee.", "Jan trinkt jeden Morgen gern Kaffee.")
	if len(c) != 1 {
		t.Fatalf("%d candidates", len(c))
	}
	f, ok := c[0].Decide(0.99)
	if want := "Beides kann kaum gelten: “Jan trinkt keinen Kaffee.” und “Jan trinkt jeden Morgen gern Kaffee.”."; !ok ||
		f.Explanation != want {
		t.Errorf("explained by %q, want %q", f.Explanation, want)
	}
}
