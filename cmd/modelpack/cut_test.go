package main

import (
	"slices"
	"testing"

	"orgmem/brain/embed/unigram"
)

func TestKeptPieces(t *testing.T) {
	t.Parallel()
	pieces := []unigram.Piece{
		{Text: "<s>", Special: true},
		{Text: "rare", Score: -9},
		{Text: "▁", Score: -3},
		{Text: "▁often", Score: -4},
		{Text: "▁é", Score: -20},
		{Text: "語", Score: -19},
		{Text: "sometimes", Score: -6},
		{Text: "as", Score: -6},
	}
	for size, want := range map[int][]int{
		0: {0, 2, 4, 5}, // marks and characters stay whatever the size is
		5: {0, 2, 3, 4, 5},
		6: {0, 2, 3, 4, 5, 6}, // of equals the first
		9: {0, 1, 2, 3, 4, 5, 6, 7},
	} {
		if got := keptPieces(pieces, size); !slices.Equal(got, want) {
			t.Errorf("of %d pieces %v stay, want %v", size, got, want)
		}
	}
}
