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
