package main

import (
	"fmt"

	"orgmem/brain/embed/unigram"
)

// maskPiece is a mark that XLM-RoBERTa's vocabulary has behind its pieces.
const maskPiece = "<mask>"

// vocabulary makes the section that package unigram opens, and says which of the file's pieces it holds, in their
// order: the id of a piece in the pack is its place in the list.
func (f *e5File) vocabulary() (section []byte, keep []int, err error) {
	if f.begin != 0 || f.padding != 1 || f.end != 2 || f.unknown != 3 {
		return nil, nil, fmt.Errorf("%w: marks %d, %d, %d, %d", errE5, f.begin, f.padding, f.end, f.unknown)
	}
	pieces := make([]unigram.Piece, len(f.pieces))
	for id, text := range f.pieces {
		pieces[id] = unigram.Piece{
			Text: text, Score: f.scores[id], Special: id <= int(f.unknown) || text == maskPiece,
		}
	}
	keep = keptPieces(pieces, vocabularySize)
	v := unigram.Vocabulary{Rules: make(map[rune][]rune, len(f.rules)), Unknown: f.unknown}
	for _, id := range keep {
		v.Pieces = append(v.Pieces, pieces[id])
	}
	for _, r := range f.rules {
		v.Rules[r.from] = r.to
	}
	section, err = unigram.Encode(v)
	return section, keep, err
}
