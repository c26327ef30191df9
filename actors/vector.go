package actors

import (
	"fmt"

	"orgmem/brain/embed"
	"orgmem/storage"
)

// putVector stores a chunk's vector as half floats: half the bytes, and a
// cosine that differs by less than 1e-5 from that of the original.
func putVector(b *storage.Batch, part *partitionRef, model string, seq uint64, v []float32) {
	b.PutRaw(vectorKey(part, model, seq), embed.EncodeF16(make([]byte, 0, 2*len(v)), v))
}

// asStored gives a vector as it will be read again: an index, and a brain, that is
// made of what was just embedded is the one that is made of it after a restart.
func asStored(v []float32) []float32 {
	return embed.DecodeF16(make([]float32, 0, len(v)), embed.EncodeF16(make([]byte, 0, 2*len(v)), v))
}

func decodeVector(raw []byte) ([]float32, error) {
	if len(raw)%2 != 0 {
		return nil, fmt.Errorf("%d bytes: %w", len(raw), storage.ErrCorrupt)
	}
	return embed.DecodeF16(make([]float32, 0, len(raw)/2), raw), nil
}
