package embed

import (
	"math"

	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
)

// matrix8 is a linear layer as kernel.Linear8 takes it: weights of four bits in
// blocks, inputs of eight.
type matrix8 struct {
	in, out int
	panels  []int16
	columns []kernel.Columns8
}

// room8 is the room that the panels of a layer in blocks take.
func room8(in, out int) int { return in / kernel.BlockLen * (out / kernel.Panel8) * kernel.BlockWords }

// newMatrix8 turns the pack's blocks into panels, which the kernels read front to
// back. The numbers stay what they are; the scales of an output's blocks, halves of
// floats, become whole numbers up to kernel.ScaleMax8 of the scale of the output, so
// that the sum over all blocks is one of integers. panels, all zero, is where they go.
func newMatrix8(p *packfile.Packed, panels []int16) *matrix8 {
	m := &matrix8{in: p.In, out: p.Out, panels: panels, columns: make([]kernel.Columns8, p.Out/kernel.Panel8)}
	row := packfile.BlocksLen(p.In)
	for o := range p.Out {
		panel := panels[o/kernel.Panel8*room8(p.In, kernel.Panel8):][:room8(p.In, kernel.Panel8)]
		c, j := &m.columns[o/kernel.Panel8], o%kernel.Panel8
		c.Scale[j], c.Sum[j] = fillPanel8(panel, j, p.Weights[o*row:][:row])
		c.Bias[j] = p.Bias[o]
	}
	return m
}

// fillPanel8 writes an output's blocks as output j of a panel, and returns the scale
// of the output and the sum of its weights in steps of it.
func fillPanel8(panel []int16, j int, blocks []byte) (scale float32, sum int32) {
	inputs := len(blocks) / packfile.BlockBytes * packfile.BlockLen
	largest := float32(0)
	for at := 0; at < len(blocks); at += packfile.BlockBytes {
		largest = max(largest, float32(math.Abs(float64(packfile.BlockScale(blocks[at:])))))
	}
	most := float32(kernel.ScaleMax8(inputs))
	steps := float64(0)
	if largest > 0 {
		scale, steps = largest/most, float64(most)/float64(largest)
	}
	for k := 0; k < inputs; k += packfile.BlockLen {
		block := blocks[k/packfile.BlockLen*packfile.BlockBytes:][:packfile.BlockBytes]
		// A quotient of two exact floats, rounded twice in the same way everywhere.
		s := int32(math.RoundToEven(float64(packfile.BlockScale(block)) * steps))
		panel[kernel.ScalePlace(j, k)] = int16(s)
		sum += s * kernel.SetBlock(panel, j, k, (*[packfile.BlockLen / 2]byte)(block[2:]))
	}
	return scale, sum
}

// quantize implements linear.
func (m *matrix8) quantize(e *Encoder, i int, x []float32, lo, hi float32) {
	e.inputs.terms[i] = kernel.QuantRow8(e.m.kern, e.inputs.acts8[i*m.in:], x, lo, hi)
}

// multiply implements linear.
func (m *matrix8) multiply(e *Encoder, c []float32, rows int) {
	size := room8(m.in, kernel.Panel8)
	for i := range m.columns {
		e.m.kern.Linear8(c[i*kernel.Panel8:], m.out, e.inputs.acts8, m.in, m.panels[i*size:][:size], m.in/kernel.BlockLen,
			e.inputs.terms[:rows], &m.columns[i], e.inputs.sums)
	}
}
