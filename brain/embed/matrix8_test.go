package embed

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"orgmem/brain/embed/internal/half"
	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/packfile/packtest"
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

// inBlocks is a whole model with the shape of h whose layers are in blocks.
func inBlocks(t testing.TB, h packfile.Header) *Model {
	t.Helper()
	h.WeightBits = 4
	w := packtest.New(11).Weights(h, tinyWords)
	r := rand.New(rand.NewPCG(11, 13))
	for i := range w.Layers {
		l := &w.Layers[i]
		for _, x := range []*packfile.Linear{&l.Query, &l.Key, &l.Value, &l.Output, &l.Up, &l.Down} {
			x.Blocks, x.W = randomBlocks(r, len(x.W), 0.03), nil
		}
	}
	return modelOf(t, h, w)
}

// modelOf is the model of a pack that has these weights.
func modelOf(t testing.TB, h packfile.Header, w packfile.Weights) *Model {
	t.Helper()
	pack, err := packfile.Build(h, w)
	if err != nil {
		t.Fatal(err)
	}
	m, err := LoadPack(pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A product is that of the published weights, but for the eight bits of the inputs and the rounding of scales.
func TestMatrixOfBlocks(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(31, 32))
	const out = 64
	for round := range 12 {
		in := 32 * (1 + r.IntN(60))
		blocks := randomBlocks(r, in*out, 0.01)
		if round == 0 { // an output of nothing
			clear(blocks[3*packfile.BlocksLen(in):][:packfile.BlocksLen(in)])
		}
		weights := make([]float32, in*out)
		packfile.FillFromBlocks(weights, blocks)
		bias := packtest.New(uint64(round)).Values(out, 1)
		m := newMatrix8(&packfile.Packed{Matrix: packfile.Matrix{In: in, Out: out}, Bits: 4, Weights: blocks, Bias: bias},
			make([]int16, room8(in, out)))
		e := &Encoder{
			m: &Model{kern: kernel.Available()[0]},
			inputs: inputs{
				acts8: make([]uint8, in/kernel.BlockLen*kernel.InputBytes), steps: make([]float32, 1),
				sums: make([]int32, kernel.Scratch8(1)),
			},
		}
		x, c := packtest.New(uint64(round)).Values(in, 1), make([]float32, out)
		m.quantize(e, 0, x, slices.Min(x), slices.Max(x))
		m.multiply(e, c, 1)
		step := math.Abs(float64(slices.MaxFunc(x, byMagnitude))) / kernel.InputMax
		for o := range out {
			want, off := float64(bias[o]), 1e-4
			for k, w := range weights[o*in:][:in] {
				want += float64(w) * float64(x[k])
				off += math.Abs(float64(w))*step/2 + 8*math.Abs(float64(m.columns[o/32].Scale[o%32]*x[k]))/2
			}
			if got := float64(c[o]); math.Abs(got-want) > off {
				t.Fatalf("%d inputs, output %d is %g, want %g at most %g off", in, o, got, want, off)
			}
		}
	}
}

func byMagnitude(a, b float32) int { return cmp.Compare(math.Abs(float64(a)), math.Abs(float64(b))) }

func TestModelInBlocksIsTheSameOnAllKernels(t *testing.T) {
	t.Parallel()
	m := inBlocks(t, tinyHeader())
	r := rand.New(rand.NewPCG(4, 8))
	texts := make([]string, 40)
	for i := range texts {
		texts[i] = sentence(r, r.IntN(60))
	}
	want := make([][]float32, len(texts))
	m.NewEncoder().Passages(want, texts)
	for _, k := range []Kernel{KernelPortable, KernelAVX2, KernelAVX2AMD, KernelVNNI} {
		other, err := m.WithKernel(k)
		if err != nil {
			continue // not this machine's
		}
		e := other.NewEncoder()
		for i, text := range texts {
			got := make([][]float32, 1)
			e.Passages(got, []string{text}) // alone, where want was made in a batch
			if !slices.Equal(got[0], want[i]) {
				t.Fatalf("%s: text %d differs", k, i)
			}
		}
	}
	if plain := tinyModel(t, tinyHeader()); plain.ID() == m.ID() {
		t.Error("another arithmetic, the same id")
	}
}
