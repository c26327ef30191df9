package embed

import (
	"orgmem/brain/embed/packfile"
)

// wordVectors are the vectors of all pieces. They stay packed.
type wordVectors interface {
	// fill sets x to the vector of a piece, with the scratch space of e.
	fill(e *Encoder, x []float32, id int)
}

// openWords finds the vectors of a vocabulary of n pieces.
func openWords(f *packfile.File, n int) (wordVectors, error) {
	if f.WordBits == 0 {
		packed, scale, err := f.Words(n)
		return &scaledWords{packed: packed, scale: scale}, err
	}
	tiers, err := f.WordTiers(n)
	return tieredWords(tiers), err
}

// scaledWords are of twelve bits, each with a scale.
type scaledWords struct {
	packed []byte
	scale  []float32
}

// fill implements wordVectors.
func (w *scaledWords) fill(e *Encoder, x []float32, id int) {
	row := packfile.PackedLen(len(x))
	e.m.kern.Unpack(e.word, w.packed[id*row:][:row])
	scale := w.scale[id]
	for i, v := range e.word[:len(x)] {
		x[i] = float32(float32(v) * scale)
	}
}

// tieredWords are in blocks, the rare ones perhaps in fewer bits.
type tieredWords []packfile.Words

// fill implements wordVectors.
func (w tieredWords) fill(_ *Encoder, x []float32, id int) {
	for i := range w {
		tier := &w[i]
		if id >= tier.Pieces {
			id -= tier.Pieces
			continue
		}
		row := len(tier.Rows) / tier.Pieces
		if tier.Code == nil {
			packfile.FillFromBlocks(x, tier.Rows[id*row:][:row])
		} else {
			tier.Code.Decode(x, tier.Rows[id*row:][:row])
		}
		return
	}
}
