package reader

import (
	_ "embed" // the weights

	"orgmem/brain/embed"
)

// pairs and answers are what train/distill.py and train/train.py made, packed by cmd/modelpack. Their pages are mapped
// from the binary and never written, so processes share them.
//
//go:embed weights/pairs.pack
var pairs []byte

//go:embed weights/answers.pack
var answers []byte

// Load opens the reader inside the binary over the model inside the binary, with its weights in room (nil: the heap).
// An error means that the binary is damaged.
func Load(base *embed.Model, room embed.Room) (*Reader, error) {
	var towers []*Reader
	for _, pack := range Packs() {
		r, err := LoadPack(pack, base, room)
		if err != nil {
			return nil, err
		}
		towers = append(towers, r)
	}
	return Join(towers...), nil
}

// Packs are what Load opens, mapped from the binary and not to be written. Behind Load nothing of them is read any
// more.
func Packs() [][]byte { return [][]byte{pairs, answers} }
