package packfile

import (
	"bytes"
	"fmt"
	"math/bits"
)

// A patch is a tower that is cheap to ship: its layers are those of its base but for some blocks, which it holds with a
// bit for every block of the base, set where one of its own stands instead.

// Over lays a patch over the pack that it was made for, whose layers it takes. Errors wrap ErrPack.
func (f *File) Over(base *File) error {
	switch {
	case !f.Patch:
		return fmt.Errorf("%w: %s is no patch", ErrPack, f.Name)
	case base.Layers != f.Layers || base.Dim != f.Dim || base.FFN != f.FFN || !base.InBlocks() || base.Patch:
		return fmt.Errorf("%w: %s has other layers than %s", ErrPack, base.Name, f.Name)
	}
	f.base = base
	return nil
}

// patched returns the blocks of a matrix, in memory of its own.
func (f *File) patched(name string, in, out int) ([]byte, error) {
	if f.base == nil {
		return nil, fmt.Errorf("%w: the patch %s lies over nothing", ErrPack, f.Name)
	}
	under, err := f.base.Linear(name, in, out)
	if err != nil {
		return nil, err
	}
	taken, err := f.section(name+suffixTaken, takenLen(in*out))
	if err != nil {
		return nil, err
	}
	blocks, err := f.section(name, countBits(taken)*BlockBytes)
	if err != nil {
		return nil, err
	}
	all := bytes.Clone(under.Weights)
	for at, b := range taken {
		for ; b != 0; b &= b - 1 {
			n := copy(all[(8*at+bits.TrailingZeros8(b))*BlockBytes:], blocks[:BlockBytes])
			blocks = blocks[n:]
		}
	}
	return all, nil
}

// patch appends the sections of n weights of which some blocks are exchanged.
func (b *builder) patch(name string, l Linear, n int) {
	if len(l.Taken) != takenLen(n) || len(l.Blocks) != countBits(l.Taken)*BlockBytes {
		b.fail("%s has %d bytes of blocks, and takes %d of %d", name, len(l.Blocks), countBits(l.Taken), n/BlockLen)
	}
	b.section(name+suffixTaken, l.Taken)
	b.blocks(name, l.Blocks, len(l.Blocks)/BlockBytes*BlockLen)
}

// takenLen is how many bytes have a bit for each block of n weights. Matrices of whole panels have a multiple of eight.
func takenLen(n int) int { return n / BlockLen / 8 }

func countBits(all []byte) (n int) {
	for _, b := range all {
		n += bits.OnesCount8(b)
	}
	return n
}
