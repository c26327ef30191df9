package packfile

import (
	"encoding/binary"
	"fmt"
	"math"

	"orgmem/brain/embed/internal/half"
)

// Blocks are weights of four bits as they are published (Q4_0 of ggml): a row is
// cut into runs of 32, and a run takes 18 bytes, first its scale, a half float,
// then 16 bytes with the numbers of weights i and i+16 in byte i, the first in the
// low half. A number q stands for (q-8)*scale.
const (
	BlockLen   = 32
	BlockBytes = 18
)

// BlocksLen returns the bytes n weights in blocks take; n is a multiple of 32.
func BlocksLen(n int) int { return n / BlockLen * BlockBytes }

// BlockScale returns the scale of the block that b begins with.
func BlockScale(b []byte) float32 { return half.To32(binary.LittleEndian.Uint16(b)) }

// FillFromBlocks sets x, whose length is a multiple of 32, to the weights that
// the blocks stand for.
func FillFromBlocks(x []float32, blocks []byte) {
	for ; len(x) > 0; x, blocks = x[BlockLen:], blocks[BlockBytes:] {
		scale := BlockScale(blocks)
		numbers, run := blocks[2:BlockBytes], x[:BlockLen]
		for i, n := range numbers {
			run[i] = float32(int(n&15)-8) * scale
			run[i+BlockLen/2] = float32(int(n>>4)-8) * scale
		}
	}
}

// blocks appends a section of n weights that were published in blocks.
func (b *builder) blocks(name string, data []byte, n int) {
	if len(data) != BlocksLen(n) && b.err == nil {
		b.err = fmt.Errorf("%w: %s has %d bytes of blocks, want %d", ErrPack, name, len(data), BlocksLen(n))
	}
	for at := 0; at+BlockBytes <= len(data); at += BlockBytes {
		s := float64(BlockScale(data[at:]))
		if (math.IsNaN(s) || math.IsInf(s, 0)) && b.err == nil {
			b.err = fmt.Errorf("%w: %s has a scale of %g", ErrPack, name, s)
		}
	}
	b.section(name, data)
}
