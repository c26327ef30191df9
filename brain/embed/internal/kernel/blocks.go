package kernel

import (
	"encoding/binary"
	"math"
)

// Weights in blocks. A row of BlockLen inputs of an output shares a scale, as in the
// Q4_0 format of ggml, and a panel covers Panel8 outputs. The panel stores, block by
// block, BlockWords int16: first the numbers, then the scales of the outputs. Numbers
// are half bytes n that stand for n-8: of byte 64*i+4*j+k the low half belongs to
// output 16*(i%2)+j and input 8*(i/2)+k, the high half to the input four further on.
// The bytes of an int16 are in little-endian order on every machine.
const (
	BlockLen   = 32
	Panel8     = 32
	BlockWords = numberWords + Panel8

	numberWords = BlockLen * Panel8 / 4
)

// Inputs in blocks: a row has, for each BlockLen inputs, InputBytes bytes. First come the inputs q, from -InputMax to
// InputMax, as q + 128, then the block's multiplier, from 1 to MultiplierMax, twice as an int16 in little-endian order.
// So a block has a step of its own, and sums of blocks are still sums of integers.
const (
	InputBytes    = BlockLen + 4
	InputMax      = 127
	MultiplierMax = 16

	inputZero = 128
)

// ScaleMax8 is the largest magnitude of a block's scale: with the multiplier it is multiplied in int16.
const ScaleMax8 = math.MaxInt16 / MultiplierMax

// passBlocks is how many blocks of inputs the vector kernels take at a time: their
// weights, unpacked to 15 KB, stay in the first-level cache for all rows, while the
// unfinished sums wait in memory.
const passBlocks = 12

// Scratch space of a pass: the numbers as bytes, then two rows of words, which depend
// on the kernel: the scales as it multiplies them, and what sums begin with.
const (
	blockScratch = BlockLen*Panel8/4 + 2*Panel8 // int32
	passScratch  = passBlocks * blockScratch
)

// Scratch8 is the number of int32 that Linear8 needs as scratch space for so many rows.
func Scratch8(rows int) int { return passScratch + rows*Panel8 }

// Columns8 are the outputs of a panel of blocks. Assembly knows the layout.
type Columns8 struct {
	Scale [Panel8]float32
	Bias  [Panel8]float32
}

// Quant8 implements Kernels.
func (Portable) Quant8(dst []uint8, x []float32) (step float32) {
	all := float32(TinyMax)
	for _, v := range x {
		all = max(all, abs32(v))
	}
	const steps = MultiplierMax * InputMax
	share, inv := MultiplierMax/all, steps/all
	for k := 0; k < len(x); k += BlockLen {
		block, largest := x[k:][:BlockLen], float32(0)
		for _, v := range block {
			largest = max(largest, abs32(v))
		}
		// Rounded up, or nearly: what is a little more than InputMax is rounded to it.
		m := min(max(round(float32(largest*share)+0.5), 1), MultiplierMax)
		to, each := dst[k/BlockLen*InputBytes:][:InputBytes], inv/float32(m)
		for i, v := range block {
			to[i] = uint8(round(float32(v*each)) + inputZero)
		}
		putMultiplier(to[BlockLen:], m)
	}
	return all / steps
}

// putMultiplier writes a block's multiplier behind its inputs.
func putMultiplier(to []uint8, m int32) { binary.LittleEndian.PutUint32(to, uint32(m)*0x10001) }

// Linear8 implements Kernels.
func (Portable) Linear8(
	c []float32, ldc int, a []uint8, lda int, b []int16, blocks int, steps []float32, cols *Columns8, scratch []int32,
) {
	sums := scratch[:len(steps)*Panel8]
	clear(sums)
	var weights [BlockLen * Panel8]int32
	for n := range blocks {
		block := b[n*BlockWords:][:BlockWords]
		unpackBlock(&weights, block)
		scales := block[numberWords:]
		for r := range steps {
			x, sum := a[r*lda+n*InputBytes:][:InputBytes], sums[r*Panel8:][:Panel8]
			m := int32(binary.LittleEndian.Uint16(x[BlockLen:]))
			for j := range sum {
				sum[j] += m * int32(scales[j]) * dot((*[BlockLen]uint8)(x), (*[BlockLen]int32)(weights[j*BlockLen:]))
			}
		}
	}
	for r, step := range steps {
		out := c[r*ldc:][:Panel8]
		for j := range out {
			out[j] = float32(float32(float32(sums[r*Panel8+j])*step)*cols.Scale[j]) + cols.Bias[j]
		}
	}
}

// unpackBlock writes a block's weights output by output.
func unpackBlock(weights *[BlockLen * Panel8]int32, block []int16) {
	for i, w := range block[:numberWords] {
		at, j, k := 2*i, i/2%16, 2*i%4
		output, input := at/64%2*16+j, at/128*8+k
		to := weights[output*BlockLen+input:]
		to[0], to[1] = int32(w&15)-8, int32(w>>8&15)-8
		to[4], to[5] = int32(w>>4&15)-8, int32(w>>12&15)-8
	}
}

func dot(x *[BlockLen]uint8, w *[BlockLen]int32) (s int32) {
	for k := 0; k < BlockLen; k += 4 {
		s += (int32(x[k])-inputZero)*w[k] + (int32(x[k+1])-inputZero)*w[k+1] +
			(int32(x[k+2])-inputZero)*w[k+2] + (int32(x[k+3])-inputZero)*w[k+3]
	}
	return s
}

// SetBlock puts the block that begins with input k of output o into a panel: numbers has
// those of inputs i and i+16 in byte i, the first in the low half, as Q4_0 has them.
func SetBlock(panel []int16, o, k int, numbers *[BlockLen / 2]byte) {
	const low, high = 0x0f0f0f0f, 0xf0f0f0f0
	begin := k/BlockLen*BlockWords + 32*(o/16) + 2*(o%16)
	for half := range 2 { // of the bytes, 8 each
		a := binary.LittleEndian.Uint32(numbers[8*half:])
		b := binary.LittleEndian.Uint32(numbers[8*half+4:])
		// Eight inputs further on in a panel are 64 words.
		for n, word := range [2]uint32{a&low | b&low<<4, a>>4&low | b&high} {
			at := panel[begin+64*(half+2*n):]
			at[0], at[1] = int16(uint16(word)), int16(uint16(word>>16))
		}
	}
}

// ScalePlace returns where the scale of output o in the block that holds input k stands.
func ScalePlace(o, k int) int { return k/BlockLen*BlockWords + numberWords + o }
