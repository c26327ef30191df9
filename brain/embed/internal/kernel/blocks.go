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

// MaxUint8 is the largest input of Linear8.
const MaxUint8 = math.MaxUint8

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

// ScaleMax8 is the largest scale of a block, so that the sum over so many inputs stays
// in int32 whatever the weights and the inputs are.
func ScaleMax8(inputs int) int { return min(511, math.MaxInt32/(8*MaxUint8*inputs)) }

// Columns8 are the outputs of a panel of blocks. Assembly knows the layout.
type Columns8 struct {
	Sum   [Panel8]int32 // of weights times the scales of their blocks, over all inputs: nothing else will do
	Scale [Panel8]float32
	Bias  [Panel8]float32
}

// QuantRow8 turns a row into integers from 0 to MaxUint8, its least value (or 0)
// first. lo and hi come from Range, Gelu or AddNorm. The Sum of the result is 0.
func QuantRow8(k Kernels, dst []uint8, x []float32, lo, hi float32) Row {
	const steps = MaxUint8 - 2 // both ends may be rounded outwards
	inv := steps / (hi - lo)
	zero := round(float32(lo * inv))
	k.Quant8(dst, x, inv, zero)
	return Row{Scale: (hi - lo) / steps, Zero: zero}
}

// Quant8 implements Kernels.
func (Portable) Quant8(dst []uint8, x []float32, inv float32, zero int32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = uint8(round(float32(v*inv)) - zero)
	}
}

// Linear8 implements Kernels.
func (Portable) Linear8(
	c []float32, ldc int, a []uint8, lda int, b []int16, blocks int, rows []Row, cols *Columns8, scratch []int32,
) {
	sums := scratch[:len(rows)*Panel8]
	clear(sums)
	var weights [BlockLen * Panel8]int32
	for n := range blocks {
		block := b[n*BlockWords:][:BlockWords]
		unpackBlock(&weights, block)
		scales := block[numberWords:]
		for r := range rows {
			x, sum := a[r*lda+n*BlockLen:][:BlockLen], sums[r*Panel8:][:Panel8]
			for j := range sum {
				sum[j] += int32(scales[j]) * dot((*[BlockLen]uint8)(x), (*[BlockLen]int32)(weights[j*BlockLen:]))
			}
		}
	}
	for r := range rows {
		t, out := &rows[r], c[r*ldc:][:Panel8]
		for j := range out {
			sum := sums[r*Panel8+j] + t.Zero*cols.Sum[j]
			out[j] = float32(float32(float32(sum)*t.Scale)*cols.Scale[j]) + cols.Bias[j]
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
		s += int32(x[k])*w[k] + int32(x[k+1])*w[k+1] + int32(x[k+2])*w[k+2] + int32(x[k+3])*w[k+3]
	}
	return s
}

// SetBlock puts the block that begins with input k of output o into a panel: numbers has
// those of inputs i and i+16 in byte i, the first in the low half, as Q4_0 has them. It
// returns the sum of the weights that they stand for.
func SetBlock(panel []int16, o, k int, numbers *[BlockLen / 2]byte) int32 {
	const low, high, each = 0x0f0f0f0f, 0xf0f0f0f0, 0x01010101
	begin := k/BlockLen*BlockWords + 32*(o/16) + 2*(o%16)
	sum := uint32(0)
	for half := range 2 { // of the bytes, 8 each
		a := binary.LittleEndian.Uint32(numbers[8*half:])
		b := binary.LittleEndian.Uint32(numbers[8*half+4:])
		// Eight inputs further on in a panel are 64 words.
		for n, word := range [2]uint32{a&low | b&low<<4, a>>4&low | b&high} {
			at := panel[begin+64*(half+2*n):]
			at[0], at[1] = int16(uint16(word)), int16(uint16(word>>16))
			sum += (word&low*each + word>>4&low*each) >> 24
		}
	}
	return int32(sum) - 8*BlockLen
}

// ScalePlace returns where the scale of output o in the block that holds input k stands.
func ScalePlace(o, k int) int { return k/BlockLen*BlockWords + numberWords + o }
