package embed

import _ "embed" // the weights

// pack is all-MiniLM-L6-v2, chosen among three candidates (docs hold the
// comparison): the twelve-layer ones embed half as fast and gained less than
// the keyword index and the context of neighbours already give. Its pages are
// mapped from the binary and never written, so processes share them.
//
//go:embed weights/all-minilm-l6-v2.pack
var pack []byte

// Load opens the model inside the binary on the fastest kernel, with its weights
// in room (nil: the heap). It costs about 90 ms, a third of it the hash of the
// weights, the rest their unpacking. An error means that the binary is damaged.
func Load(room Room) (*Model, error) { return LoadPack(pack, room) }

// multilingualPack is multilingual-e5-small with all of its vocabulary.
//
//go:embed weights/multilingual-e5-small.pack
var multilingualPack []byte

// LoadMultilingual opens the model for a hundred languages inside the binary, as
// Load does the English one. Its vectors are another space: ModelID keeps the two
// apart. It costs about 170 ms, most of it the hash of the pack.
func LoadMultilingual(room Room) (*Model, error) { return LoadPack(multilingualPack, room) }

// MultilingualPack is what LoadMultilingual opens, as Pack is what Load opens.
func MultilingualPack() []byte { return multilingualPack }

// Pack is what Load opens, mapped from the binary and not to be written. Behind
// Load a model reads of it the vectors of the words it meets, a third of the whole.
func Pack() []byte { return pack }
