package packfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"orgmem/brain/embed/internal/half"
	"orgmem/brain/embed/trellis"
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

// Coded are word vectors in a code of package trellis.
type Coded struct {
	Code *trellis.Code
	Rows []byte
}

// Words are the vectors of a tier, row by row. Rows refer to the file.
type Words struct {
	Pieces int
	Code   *trellis.Code // nil: they are in blocks
	Rows   []byte
}

// WordTiers returns the word vectors of a vocabulary of n pieces, of a header with words of 4 bits.
func (f *File) WordTiers(n int) (all []Words, err error) {
	if f.WordBits != bits4 {
		return nil, fmt.Errorf("%w: words of %d bits have no tiers", ErrPack, f.WordBits)
	}
	tiers := f.Tiers
	if len(tiers) == 0 {
		tiers = []Tier{{Pieces: n}}
	}
	for i, t := range tiers {
		w := Words{Pieces: t.Pieces}
		length := BlocksLen(t.Pieces * f.Dim)
		if t.PairBits > 0 {
			code, err := f.section(tierName(i)+suffixCode, -1)
			if err != nil {
				return nil, err
			}
			if w.Code, err = trellis.Open(code, f.Dim, t.PairBits); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrPack, err)
			}
			length = t.Pieces * trellis.RowBytes(f.Dim, t.PairBits)
		}
		if w.Rows, err = f.section(tierName(i), length); err != nil {
			return nil, err
		}
		all, n = append(all, w), n-t.Pieces
	}
	if n != 0 {
		return nil, fmt.Errorf("%w: tiers %v are %d pieces short", ErrPack, tiers, n)
	}
	return all, nil
}

// tierName names the section of a tier's vectors.
func tierName(i int) string {
	if i == 0 {
		return secWords
	}
	return secWords + strconv.Itoa(i)
}

// tiers stores word vectors of 4 bits: those in blocks are the next of w.Blocks, the others the next of w.Coded.
func (b *builder) tiers(w Weights) {
	dim := b.h.Dim
	tiers := b.h.Tiers
	if len(tiers) == 0 {
		tiers = []Tier{{Pieces: len(w.Blocks) / BlocksLen(dim)}}
	}
	for i, t := range tiers {
		if t.PairBits == 0 {
			n := min(BlocksLen(t.Pieces*dim), len(w.Blocks))
			b.blocks(tierName(i), w.Blocks[:n], t.Pieces*dim)
			w.Blocks = w.Blocks[n:]
			continue
		}
		if len(w.Coded) == 0 || w.Coded[0].Code.Bits() != t.PairBits || w.Coded[0].Code.Columns() != dim ||
			len(w.Coded[0].Rows) != t.Pieces*trellis.RowBytes(dim, t.PairBits) {
			b.fail("tier %d is not among %d coded ones", i, len(w.Coded))
			return
		}
		b.section(tierName(i)+suffixCode, w.Coded[0].Code.Append(nil))
		b.section(tierName(i), w.Coded[0].Rows)
		w.Coded = w.Coded[1:]
	}
	if len(w.Blocks)+len(w.Coded) > 0 {
		b.fail("%d bytes of blocks and %d coded tiers are left of the words", len(w.Blocks), len(w.Coded))
	}
}

// fail keeps the first mistake.
func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: "+format, append([]any{ErrPack}, args...)...)
	}
}
