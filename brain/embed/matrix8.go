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
// floats, become whole numbers, so that the sum over all blocks is one of integers.
// panels, all zero, is where they go.
func newMatrix8(p *packfile.Packed, panels []int16) *matrix8 {
	m := &matrix8{in: p.In, out: p.Out, panels: panels, columns: make([]kernel.Columns8, p.Out/kernel.Panel8)}
	row := packfile.BlocksLen(p.In)
	for o := range p.Out {
		panel := panels[o/kernel.Panel8*room8(p.In, kernel.Panel8):][:room8(p.In, kernel.Panel8)]
		c, j := &m.columns[o/kernel.Panel8], o%kernel.Panel8
		c.Scale[j] = fillPanel8(panel, j, p.Weights[o*row:][:row])
		c.Bias[j] = p.Bias[o]
	}
	return m
}

// fillPanel8 writes an output's blocks as output j of a panel, and returns the scale of the output.
func fillPanel8(panel []int16, j int, blocks []byte) (scale float32) {
	most, largest := scales8(blocks)
	steps := float64(0)
	if largest > 0 {
		scale, steps = largest/float32(most), float64(most)/float64(largest)
	}
	for at := 0; at < len(blocks); at += packfile.BlockBytes {
		block, k := blocks[at:][:packfile.BlockBytes], at/packfile.BlockBytes*packfile.BlockLen
		// A quotient of two exact floats, rounded twice in the same way everywhere.
		panel[kernel.ScalePlace(j, k)] = int16(math.RoundToEven(float64(packfile.BlockScale(block)) * steps))
		kernel.SetBlock(panel, j, k, (*[packfile.BlockLen / 2]byte)(block[2:]))
	}
	return scale
}

// scales8 returns the whole number that the largest scale of an output's blocks becomes: the largest with which sums of
// products stay in int32 whatever the inputs are. largest is that scale.
func scales8(blocks []byte) (most int, largest float32) {
	// Of all weights, their magnitudes in steps of their blocks, and these times their scales. A rounded scale is at
	// most half more than it should be.
	var magnitudes, sum float64
	for at := 0; at < len(blocks); at += packfile.BlockBytes {
		scale := math.Abs(float64(packfile.BlockScale(blocks[at:])))
		n := 0
		for _, b := range blocks[at+2 : at+packfile.BlockBytes] {
			low, high := int(b&15)-8, int(b>>4)-8
			n += max(low, -low) + max(high, -high)
		}
		magnitudes += float64(n)
		sum += float64(scale * float64(n))
		largest = max(largest, float32(scale))
	}
	if sum == 0 {
		return kernel.ScaleMax8, largest
	}
	const room = math.MaxInt32 / (kernel.InputMax * kernel.MultiplierMax)
	return min(kernel.ScaleMax8, int((room-magnitudes/2)*float64(largest)/sum)), largest
}

// quantize implements linear. Blocks have ranges of their own, so that of x says nothing.
func (m *matrix8) quantize(e *Encoder, i int, x []float32, _, _ float32) {
	row := m.in / kernel.BlockLen * kernel.InputBytes
	e.inputs.steps[i] = e.m.kern.Quant8(e.inputs.acts8[i*row:], x)
}

// multiply implements linear.
func (m *matrix8) multiply(e *Encoder, c []float32, rows int) {
	size, blocks := room8(m.in, kernel.Panel8), m.in/kernel.BlockLen
	for i := range m.columns {
		e.m.kern.Linear8(c[i*kernel.Panel8:], m.out, e.inputs.acts8, blocks*kernel.InputBytes, m.panels[i*size:][:size],
			blocks, e.inputs.steps[:rows], &m.columns[i], e.inputs.sums)
	}
}
