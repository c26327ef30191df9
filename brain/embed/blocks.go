package embed

import (
	"math"

	"orgmem/brain/embed/internal/kernel"
	"orgmem/brain/embed/packfile"
)

// panelsOfBlocks turns weights in blocks into the panels of package kernel, as
// whole numbers up to ±32767 of one scale per output, which it returns: far
// finer than the ten bits that spread leaves of them.
func panelsOfBlocks(panels []int16, p *packfile.Packed) []float32 {
	scale := make([]float32, p.Out)
	row := packfile.BlocksLen(p.In)
	for o := range p.Out {
		blocks := p.Weights[o*row:][:row]
		largest := 0.0
		for at := 0; at < row; at += packfile.BlockBytes {
			largest = max(largest, math.Abs(8*float64(packfile.BlockScale(blocks[at:]))))
		}
		scale[o] = float32(largest / math.MaxInt16)
		panel := panels[o/kernel.Panel*kernel.Panel*p.In+o%kernel.Panel*2:]
		if scale[o] > 0 {
			fillFromBlocks(panel, blocks, scale[o])
			continue
		}
		for k := range p.In {
			panel[k/2*2*kernel.Panel+k%2] = 0
		}
	}
	return scale
}

// fillFromBlocks writes an output's weights in steps of scale; panel begins with
// its first weight.
func fillFromBlocks(panel []int16, blocks []byte, scale float32) {
	const half, run = packfile.BlockLen / 2, packfile.BlockLen * kernel.Panel
	for ; len(blocks) > 0; blocks = blocks[packfile.BlockBytes:] {
		d := float64(packfile.BlockScale(blocks)) / float64(scale)
		var value [16]int16 // of each number of four bits
		for q := range value {
			v := math.RoundToEven(float64(q-8) * d)
			value[q] = int16(min(max(v, -math.MaxInt16), math.MaxInt16))
		}
		for i, n := range blocks[2:packfile.BlockBytes] {
			at := i/2*2*kernel.Panel + i%2
			panel[at], panel[at+half*kernel.Panel] = value[n&15], value[n>>4]
		}
		if len(blocks) > packfile.BlockBytes {
			panel = panel[run:]
		}
	}
}
