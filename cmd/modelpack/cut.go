package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"orgmem/brain/embed/unigram"
)

// vocabularySize is how many pieces of a vocabulary stay. A piece takes 216 bytes of words and about 20 of the tokenizer:
// with this many the pack of multilingual-e5-small has 43.9 MB.
const vocabularySize = 132000

// keptPieces are the numbers of the pieces that stay, in their order: marks, every character that is a piece, alone or
// at the beginning of a word, so that no text has more unknown characters than before, and of the others the most
// probable. Training drew the languages of the vocabulary nearly evenly, so that each loses its rarest words, which
// become two or three shorter pieces; no script and no language goes.
func keptPieces(pieces []unigram.Piece, size int) []int {
	var keep, others []int
	for id, p := range pieces {
		if p.Special || utf8.RuneCountInString(strings.TrimPrefix(p.Text, unigram.Space)) <= 1 {
			keep = append(keep, id)
		} else {
			others = append(others, id)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int {
		switch x, y := pieces[a].Score, pieces[b].Score; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	keep = append(keep, others[:min(len(others), max(0, size-len(keep)))]...)
	slices.Sort(keep)
	return keep
}
