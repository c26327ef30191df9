package main

import (
	"fmt"

	"orgmem/brain/embed/unigram"
)

// maskPiece is a mark that XLM-RoBERTa's vocabulary has behind its pieces.
const maskPiece = "<mask>"

// vocabulary makes the section that package unigram opens. All pieces stay: what a cut costs is in that package's
// DESIGN.md.
func (f *e5File) vocabulary() (section []byte, err error) {
	if f.begin != 0 || f.padding != 1 || f.end != 2 || f.unknown != 3 {
		return nil, fmt.Errorf("%w: marks %d, %d, %d, %d", errE5, f.begin, f.padding, f.end, f.unknown)
	}
	pieces := make([]unigram.Piece, len(f.pieces))
	for id, text := range f.pieces {
		pieces[id] = unigram.Piece{
			Text: text, Score: f.scores[id], Special: id <= int(f.unknown) || text == maskPiece,
		}
	}
	v := unigram.Vocabulary{Pieces: pieces, Rules: make(map[rune][]rune, len(f.rules)), Unknown: f.unknown}
	for _, r := range f.rules {
		v.Rules[r.from] = r.to
	}
	return unigram.Encode(v)
}
