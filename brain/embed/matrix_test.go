package embed

import (
	"math"
	"math/rand/v2"
	"testing"

	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
)

// packedWeights packs whole numbers of twelve bits as package packfile does.
func packedWeights(w []int16) []byte {
	var out []byte
	for ; len(w) > 0; w = w[32:] {
		for _, v := range w[:32] {
			out = append(out, byte(v>>4))
		}
		for i := range 16 {
			out = append(out, byte(w[i]&15|w[i+16]&15<<4))
		}
	}
	return out
}

// What the sums of package kernel rest on holds for every matrix, and each
// weight is what the pack says, within half a step.
func TestWeightsOfAMatrixAreSpread(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	const in, out = 96, 32
	for round := range 40 {
		w := make([]int16, in*out)
		scale, bias := make([]float32, out), make([]float32, out)
		for j := range out {
			scale[j], bias[j] = float32(1+r.IntN(9))*1e-3, r.Float32()
			least, largest := -r.IntN(2048), r.IntN(2048)
			switch (round + j) % 5 {
			case 0:
				least, largest = 0, 0
			case 1:
				least = 0
			case 2:
				largest = 0
			}
			for k := range in {
				w[place(k, j, in)] = int16(least + r.IntN(largest-least+1))
			}
		}
		p := packfile.Packed{Matrix: packfile.Matrix{In: in, Out: out}, Weights: packedWeights(w), Scale: scale, Bias: bias}
		m := newMatrix(kernel.Portable{}, &p, make([]int16, p.In*p.Out))
		for j := range out {
			c, o := &m.columns[j/kernel.Panel], j%kernel.Panel
			block, sum, l1 := 0, 0, 0
			for k := range in {
				v := int(m.panels[place(k, j, in)])
				if v < 0 || v > kernel.WeightMax {
					t.Fatalf("weight %d", v)
				}
				if k%(2*kernel.BlockPairs) == 0 {
					block = 0
				}
				if block += v; block*m.most > kernel.BlockMax {
					t.Fatalf("a block sums to %d, inputs go up to %d", block, m.most)
				}
				v -= int(c.Zero[o])
				sum, l1 = sum+v, l1+max(v, -v)
				got, want := float64(v)*float64(c.Scale[o]), float64(w[place(k, j, in)])*float64(scale[j])
				// The end farther from zero may lie half a step beyond the last.
				if math.Abs(got-want) > 1.01*math.Abs(float64(c.Scale[o])) {
					t.Fatalf("weight %g became %g in steps of %g", want, got, c.Scale[o])
				}
			}
			if int(c.Sum[o]) != sum || c.Bias[o] != bias[j] || l1*m.most > math.MaxInt32 {
				t.Fatalf("output %d: sum %d of %d, bias %g of %g, l1 %d with inputs up to %d", j, c.Sum[o], sum, c.Bias[o],
					bias[j], l1, m.most)
			}
		}
		if m.most < 900 {
			t.Fatalf("inputs of only %d steps", m.most)
		}
	}
}

// place is where a panel layout holds the weight of input k and output j.
func place(k, j, in int) int {
	return j/kernel.Panel*kernel.Panel*in + k/2*2*kernel.Panel + j%kernel.Panel*2 + k%2
}
