package main

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/embed/unigram"
)

// vocabularySize is how many pieces of a vocabulary stay. A piece takes 216 bytes of words and about 19 of the
// tokenizer; what each language loses is in brain/embed/unigram/DESIGN.md.
const vocabularySize = 120000

// favours are added to the scores of the pieces by which the rarest are found. A script of one or a few languages has
// fewer pieces to lose than Latin, which forty languages share: without a favour, a tenth of the tokens of Arabic,
// Japanese or Greek would change, and a twentieth of those of English or French. Scripts of no language that is served,
// with a score below zero here, keep their frequent pieces.
var favours = []struct {
	script *unicode.RangeTable
	favour float32
}{
	{unicode.Latin, 0}, {unicode.Cyrillic, 0},
	{unicode.Greek, 0.5}, {unicode.Hebrew, 0.5}, {unicode.Arabic, 0.5},
	{unicode.Devanagari, 0.5}, {unicode.Bengali, 0.5}, {unicode.Tamil, 0.5}, {unicode.Thai, 0.5},
	{unicode.Han, 0.5}, {unicode.Hiragana, 0.5}, {unicode.Katakana, 0.5}, {unicode.Hangul, 0.5},
}

// otherFavour is that of the letters of all other scripts.
const otherFavour = -1

// keptPieces returns the ids of the pieces that stay, in their order: marks, every character that is a piece, alone or
// at the beginning of a word, so that no text has more unknown characters than before, and of the others the most
// probable, by their scores and the favour of the script of their first letter.
func keptPieces(pieces []unigram.Piece, size int) []int {
	var keep, others []int
	ranks := make([]float32, len(pieces))
	for id, p := range pieces {
		body := strings.TrimPrefix(p.Text, unigram.Space)
		if p.Special || utf8.RuneCountInString(body) <= 1 {
			keep = append(keep, id)
		} else {
			others = append(others, id)
			ranks[id] = p.Score + favour(body)
		}
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(ranks[b], ranks[a]) })
	keep = append(keep, others[:min(len(others), max(0, size-len(keep)))]...)
	slices.Sort(keep)
	return keep
}

// favour returns that of a piece: of digits, signs and shared marks, none.
func favour(piece string) float32 {
	for _, r := range piece {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) || unicode.In(r, unicode.Common, unicode.Inherited) {
			continue
		}
		for _, f := range favours {
			if unicode.Is(f.script, r) {
				return f.favour
			}
		}
		return otherFavour
	}
	return 0
}
