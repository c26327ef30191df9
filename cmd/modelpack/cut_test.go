package main

import (
	"slices"
	"strings"
	"testing"

	"orgmem/brain/embed/unigram"
)

func TestKeptPieces(t *testing.T) {
	t.Parallel()
	pieces := []unigram.Piece{{Text: "<s>", Special: true}, {Text: "<mask>", Special: true}}
	for _, p := range []unigram.Piece{
		{Text: "▁", Score: -4}, {Text: "稣", Score: -20}, {Text: "▁x", Score: -19}, // characters
		{Text: "▁the", Score: -6}, {Text: "▁rare", Score: -13.7},
		{Text: "τον", Score: -14}, {Text: "του", Score: -14.3},
		{Text: "ქართ", Score: -12.5}, {Text: "ქა", Score: -12.9},
		{Text: "2024", Score: -13.6}, {Text: "...", Score: -13.8},
	} {
		pieces = append(pieces, p)
	}
	for size, want := range map[int]string{
		0:   "<s> <mask> ▁ 稣 ▁x",
		5:   "<s> <mask> ▁ 稣 ▁x",
		6:   "<s> <mask> ▁ 稣 ▁x ▁the",
		9:   "<s> <mask> ▁ 稣 ▁x ▁the τον ქართ 2024",
		11:  "<s> <mask> ▁ 稣 ▁x ▁the ▁rare τον του ქართ 2024",
		12:  "<s> <mask> ▁ 稣 ▁x ▁the ▁rare τον του ქართ 2024 ...",
		100: "<s> <mask> ▁ 稣 ▁x ▁the ▁rare τον του ქართ ქა 2024 ...",
	} {
		keep := keptPieces(pieces, size)
		var got []string
		for _, id := range keep {
			got = append(got, pieces[id].Text)
		}
		if s := strings.Join(got, " "); s != want || !slices.IsSorted(keep) {
			t.Errorf("%d pieces: %s, want %s", size, s, want)
		}
	}
}
