package embed

import (
	"math"

	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
)

// linear is a layer's matrix, with the arithmetic that its weights are made for.
type linear interface {
	// quantize turns x, whose range is lo to hi, into row i of the encoder's inputs.
	quantize(e *Encoder, i int, x []float32, lo, hi float32)
	// multiply computes that many rows of inputs times the matrix into c.
	multiply(e *Encoder, c []float32, rows int)
}

// matrix is a linear layer as kernel.Linear takes it.
type matrix struct {
	in, out int
	most    int // largest input
	panels  []int16
	columns []kernel.Columns
}

// newMatrix turns the pack's weights into the ten bits that leave room for sums
// of products in a float (see package kernel): each output's weights are spread
// between its own least and largest, which nearly makes up for the two bits that
// most packs have more. It is done at load because a pack of ten-bit weights
// would bind the file to what one processor is good at. panels is where they go.
func newMatrix(k kernel.Kernels, p *packfile.Packed, panels []int16) *matrix {
	m := &matrix{
		in: p.In, out: p.Out,
		panels:  panels,
		columns: make([]kernel.Columns, p.Out/kernel.Panel),
	}
	if p.Bits == 8 {
		for i, w := range p.Weights {
			m.panels[i] = int16(int8(w))
		}
	} else {
		k.Unpack(m.panels, p.Weights)
	}
	block, l1 := int32(1), int32(1)
	for i := range m.columns {
		panel := m.panels[i*p.In*kernel.Panel:][:p.In*kernel.Panel]
		at := i * kernel.Panel
		b, l := spread(&m.columns[i], panel, p.Scale[at:][:kernel.Panel])
		copy(m.columns[i].Bias[:], p.Bias[at:])
		block, l1 = max(block, b), max(l1, l)
	}
	m.most = min(kernel.BlockMax/int(block), math.MaxInt32/int(l1), math.MaxInt16)
	return m
}

// quantize implements linear.
func (m *matrix) quantize(e *Encoder, i int, x []float32, lo, hi float32) {
	e.terms[i] = kernel.QuantRow(e.m.kern, e.acts[i*m.in:], x, lo, hi, m.most)
}

// multiply implements linear.
func (m *matrix) multiply(e *Encoder, c []float32, rows int) {
	for i := range m.columns {
		o := i * kernel.Panel
		e.m.kern.Linear(c[o:], m.out, e.acts, m.in, m.panels[o*m.in:][:m.in*kernel.Panel], m.in/2, e.terms[:rows],
			&m.columns[i], e.sums)
	}
}

// spread rewrites a panel of weights w, which stand for w*scale, as integers
// from 0 to WeightMax. It returns the largest sum of a block and the largest sum
// of distances from zero of any output: the two that limit inputs.
func spread(c *kernel.Columns, panel []int16, scale []float32) (block, l1 int32) {
	const values = 2 * kernel.Panel // of a pair of inputs
	var lo, hi [values]int16
	for k := 0; k < len(panel); k += values {
		for i, w := range panel[k:][:values] {
			lo[i], hi[i] = min(lo[i], w), max(hi[i], w)
		}
	}
	var factor [values]float64
	var zero [values]int32
	for j := range kernel.Panel {
		least, largest := float64(min(lo[2*j], lo[2*j+1])), float64(max(hi[2*j], hi[2*j+1]))
		if least == largest { // all zero
			continue
		}
		f := kernel.WeightMax / (largest - least)
		step := float64(scale[j]) / f
		// With the zero point in the lower half, sums of blocks are smaller and
		// inputs can be larger; a negative scale turns an output round.
		if -least > largest {
			f, step, least = -f, -step, -largest
		}
		z := int32(math.RoundToEven(math.Abs(f) * -least))
		factor[2*j], factor[2*j+1] = f, f
		zero[2*j], zero[2*j+1] = z, z
		c.Zero[j], c.Scale[j] = z, float32(step)
	}
	var sums, far [values]int32
	for k := 0; k < len(panel); k += values {
		if k/values%kernel.BlockPairs == 0 {
			block, sums = max(block, largestPair(&sums)), [values]int32{}
		}
		for i, w := range panel[k:][:values] {
			v := int32(math.RoundToEven(float64(w)*factor[i])) + zero[i]
			v = min(max(v, 0), kernel.WeightMax)
			panel[k+i] = int16(v)
			sums[i] += v
			v -= zero[i]
			c.Sum[i/2] += v
			far[i] += max(v, -v)
		}
	}
	return max(block, largestPair(&sums)), largestPair(&far)
}

// largestPair returns the largest sum of two neighbours: what an output has of
// the first and of the second inputs of pairs.
func largestPair(x *[2 * kernel.Panel]int32) int32 {
	var m int32
	for i := 0; i < len(x); i += 2 {
		m = max(m, x[i]+x[i+1])
	}
	return m
}
