package conflict

import (
	_ "embed"
	"strings"
	"testing"
)

//go:embed testdata/languages.txt
var languagePairs string

// Of the pairs of six languages nothing is reported that is no contradiction, and nearly all that are.
func TestContradictionsOfLanguages(t *testing.T) {
	t.Parallel()
	var j Judge
	language, subjects := "", []string(nil)
	right, missed, wrong := map[string]int{}, map[string]int{}, map[string]int{}
	for line := range strings.Lines(languagePairs) {
		line = strings.TrimSpace(line)
		first, second, _ := strings.Cut(line, " | ")
		switch {
		case line[0] == '#':
			continue
		case line[0] != '+' && line[0] != '-':
			language, subjects = first, strings.Split(second, "; ")
			continue
		}
		for _, s := range subjects {
			a, b := strings.ReplaceAll(first[2:], "S ", s+" "), strings.ReplaceAll(second, "S ", s+" ")
			f, ok := j.Compare(passage(a), passage(b), near)
			switch {
			case line[0] == '+' && ok:
				right[language]++
			case line[0] == '+':
				missed[language]++
				t.Logf("missed: %s | %s", a, b)
			case ok:
				wrong[language]++
				t.Errorf("no contradiction: %s | %s (%s)", a, b, f.Explanation)
			}
		}
	}
	for _, language := range []string{"de", "fr", "es", "it", "pt", "nl"} {
		if found := right[language]; found*10 < 9*(found+missed[language]) {
			t.Errorf("%s: %d found, %d missed, %d wrong", language, found, missed[language], wrong[language])
		}
	}
}
