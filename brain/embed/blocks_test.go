package embed

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"orgmem/brain/embed/internal/half"
	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
)

// randomBlocks are n weights in blocks whose scales are around so much, some of them negative or 0.
func randomBlocks(r *rand.Rand, n int, around float64) []byte {
	b := make([]byte, packfile.BlocksLen(n))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for at := 0; at < len(b); at += packfile.BlockBytes {
		scale := float32(around * r.NormFloat64())
		if r.IntN(20) == 0 {
			scale = 0
		}
		binary.LittleEndian.PutUint16(b[at:], half.From32(scale))
	}
	return b
}

// Each weight is what its block says, within half a step of the ten bits between its output's ends.
func TestMatrixOfBlocks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(31, 32))
	const in, out = 96, 32
	for round := range 20 {
		blocks := randomBlocks(r, in*out, 0.01)
		if round == 0 { // an output of nothing
			clear(blocks[3*packfile.BlocksLen(in):][:packfile.BlocksLen(in)])
		}
		want := make([]float32, in*out)
		packfile.FillFromBlocks(want, blocks)
		p := packfile.Packed{
			Matrix: packfile.Matrix{In: in, Out: out}, Bits: 4, Weights: blocks, Bias: make([]float32, out),
		}
		dirty := make([]int16, in*out)
		for i := range dirty {
			dirty[i] = 77
		}
		m := newMatrix(kernel.Portable{}, &p, dirty)
		for o := range out {
			c, j := &m.columns[o/kernel.Panel], o%kernel.Panel
			for k := range in {
				v := float64(int32(m.panels[place(k, o, in)]) - c.Zero[j])
				if got := v * float64(c.Scale[j]); math.Abs(got-float64(want[o*in+k])) > 1.01*math.Abs(float64(c.Scale[j])) {
					t.Fatalf("weight %d of output %d is %g, want %g in steps of %g", k, o, got, want[o*in+k], c.Scale[j])
				}
			}
		}
		if m.most < 900 {
			t.Fatalf("inputs of only %d steps", m.most)
		}
	}
}
