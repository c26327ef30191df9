package text

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/sentences.txt
var everydaySentences string

// Everyday sentences of eleven languages end where their writers ended them.
func TestSentencesOfEverydayNotes(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(everydaySentences) {
		if line[0] == '#' {
			continue
		}
		language, texts, _ := strings.Cut(strings.TrimSpace(line), "|")
		want, space := strings.Split(texts, "|"), " "
		if language == "ja" || language == "zh" {
			space = ""
		}
		if got := sentences(strings.Join(want, space)); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", language, got, want)
		}
	}
}
