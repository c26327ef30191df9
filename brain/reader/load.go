package reader

import (
	_ "embed" // the weights
	"fmt"
	"sync"

	"orgmem/brain/embed"
)

// pairs and answers are what train/distill.py and train/train.py made, packed by cmd/modelpack. Their pages are mapped
// from the binary and never written, so processes share them.
//
//go:embed weights/pairs.pack
var pairs []byte

//go:embed weights/answers.pack
var answers []byte

// abroadPatch is what train/reads.py made: a patch of the embedder of all languages.
//
//go:embed weights/abroad.pack
var abroadPatch []byte

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

// LoadAbroad opens the one inside the binary that answers questions in any language, over the embedder of all languages
// inside the binary: join it with what Load opens. Its weights, 12 MB, are unpacked when the first question is asked
// that needs them, within 0.1 s; behind that nothing of the pack and of the embedder's is read any more, and then is
// called.
func LoadAbroad(base *embed.Model, room embed.Room, then func()) (*Reader, error) {
	if err := embed.CheckTower(abroadPatch, base); err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	return &Reader{abroad: sync.OnceValue(func() *askHeads {
		defer then()
		r, err := LoadPack(abroadPatch, base, room)
		if err != nil { // its sum is right and it is for this base, so the binary was built with a wrong one
			panic(err) //nolint:forbidigo // broken invariant: the pack that the binary was built with
		}
		return r.ask
	})}, nil
}

// Packs are what Load opens, mapped from the binary and not to be written. Behind it nothing of them is read any more.
func Packs() [][]byte { return [][]byte{pairs, answers} }

// PackAbroad is what LoadAbroad opens, likewise.
func PackAbroad() []byte { return abroadPatch }
