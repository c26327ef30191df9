package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func textsFile(languages, each int) string {
	var b strings.Builder
	for l := range languages {
		for i := range each {
			fmt.Fprintf(&b, "l%d\ttext %d of language %d\n", l, i, l)
		}
	}
	return b.String()
}

func TestTextsByLanguage(t *testing.T) {
	t.Parallel()
	texts, err := textsByLanguage([]byte(textsFile(5, centreTexts+7)))
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) != 5 || len(texts["l3"]) != centreTexts || texts["l3"][2] != "text 2 of language 3" {
		t.Errorf("%d languages, %d texts of one, the third %q", len(texts), len(texts["l3"]), texts["l3"][2])
	}
	for name, file := range map[string]string{
		"no tab":             textsFile(5, leastCentreTexts) + "a line\n",
		"no text":            textsFile(5, leastCentreTexts) + "l1\t\n",
		"too few languages":  textsFile(4, leastCentreTexts),
		"too few texts":      textsFile(5, leastCentreTexts) + "l9\talone\n",
		"a line without end": textsFile(5, leastCentreTexts) + "l1\t" + strings.Repeat("x", 2*maxCentreLine),
	} {
		if _, err := textsByLanguage([]byte(file)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

func TestCentreBytes(t *testing.T) {
	t.Parallel()
	rows := []float32{0, -1.5, math.MaxFloat32, 3e-40}
	got, err := floats(centreBytes(rows), []int{len(rows)})
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range rows {
		if got[i] != x {
			t.Errorf("value %d is %g, want %g", i, got[i], x)
		}
	}
}
