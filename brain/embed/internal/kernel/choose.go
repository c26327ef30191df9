package kernel

import "math"

// Available returns the kernels this machine can run and that agree with the
// portable ones, fastest first. The portable kernels are always last. It is
// cheap (well under a millisecond), so it is called at load and not cached in
// a package variable.
func Available() []Kernels {
	var all []Kernels
	for _, k := range detected() {
		if verify(k) {
			all = append(all, k)
		}
	}
	return append(all, Portable{})
}

// verifyRows pass through the loops of twelve, six and two rows of the VNNI
// kernel, and of three and one of the others.
const verifyRows = 20

// verify runs the matrix products on small fixed inputs and compares every bit
// with the portable result. Not every machine that tests run on has AVX-512, so a
// change of the VNNI kernel may run first on a user's: a mistake in it, or a
// processor or emulator that gets it wrong, must cost speed and not answers.
func verify(k Kernels) bool {
	const pairs, rows = 2 * PairStep, verifyRows
	const depth = 2 * pairs
	var (
		a              [rows * depth]int16
		b              [depth * Panel]int16
		rowScale       [rows]float32
		colScale, bias [Panel]float32
		got, want      [rows * Panel]float32
		state          uint32 = 2463534242
	)
	next := func() uint32 { // xorshift32, Marsaglia 2003
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		return state
	}
	for i := range a {
		a[i] = int16(next())
		if a[i] == math.MinInt16 {
			a[i] = -MaxInt16
		}
	}
	for i := range b {
		b[i] = int16(int8(next()))
	}
	for i := range rowScale {
		rowScale[i] = float32(1+next()%1000) / 4096
	}
	for i := range colScale {
		colScale[i] = float32(1+next()%1000) / 512
		bias[i] = float32(next()%1000) / 7
	}
	Portable{}.Gemm(want[:], Panel, a[:], depth, b[:], pairs, rows, rowScale[:], colScale[:], bias[:])
	k.Gemm(got[:], Panel, a[:], depth, b[:], pairs, rows, rowScale[:], colScale[:], bias[:])
	if !equalBits(got[:], want[:]) {
		return false
	}

	// Linear, in more inputs than pass at a time and with sums of blocks up to
	// their limit: a processor that flushed subnormal numbers would show here.
	const inputs = 2 * (linearPairs + 2*BlockPairs)
	const most = BlockMax / (2 * BlockPairs * WeightMax)
	var (
		wide     [rows * inputs]int16
		weights  [inputs * Panel]int16
		rowTerms [rows]Row
		columns  Columns
		sums     [rows * Panel]int32
	)
	for i := range wide {
		wide[i] = int16(next() % (most + 1))
		if i < 4*inputs {
			wide[i] = most
		}
	}
	for i := range weights {
		weights[i] = int16(next() % (WeightMax + 1))
		if i%7 > 4 || i < 4*BlockPairs*Panel {
			weights[i] = WeightMax
		}
	}
	for r := range rowTerms {
		t := &rowTerms[r]
		*t = Row{Scale: rowScale[r], Zero: -int32(next() % most)}
		for _, u := range wide[r*inputs:][:inputs] {
			t.Sum += int32(u)
		}
	}
	for j := range Panel {
		columns.Zero[j], columns.Scale[j], columns.Bias[j] = int32(next()%WeightMax), colScale[j], bias[j]
		for k := range inputs {
			columns.Sum[j] += int32(weights[k/2*2*Panel+2*j+k%2]) - columns.Zero[j]
		}
	}
	Portable{}.Linear(want[:], Panel, wide[:], inputs, weights[:], inputs/2, rowTerms[:], &columns, sums[:])
	k.Linear(got[:], Panel, wide[:], inputs, weights[:], inputs/2, rowTerms[:], &columns, sums[:])
	return equalBits(got[:], want[:]) && verify8(k, next)
}

// verify8 does the same with Linear8, whose sums of blocks meet their limits: the first rows have the largest inputs
// and multipliers, some outputs the least weights or the largest scale. Sums over all blocks wrap around, in all
// kernels.
func verify8(k Kernels, next func() uint32) bool {
	const blocks = passBlocks + 1
	const inputs = blocks * InputBytes
	var (
		a         = make([]uint8, verifyRows*inputs)
		b         = make([]int16, blocks*BlockWords)
		steps     [verifyRows]float32
		columns   Columns8
		scratch   = make([]int32, Scratch8(verifyRows))
		got, want [verifyRows * Panel8]float32
	)
	for i := range a {
		if a[i] = max(1, uint8(next())); i < 4*inputs {
			a[i] = inputZero + InputMax
		}
	}
	for at := BlockLen; at < len(a); at += InputBytes {
		m := 1 + next()%MultiplierMax
		if at < 4*inputs {
			m = MultiplierMax
		}
		putMultiplier(a[at:], int32(m))
	}
	for i := range b {
		if b[i] = int16(next()); i%9 == 0 {
			b[i] = 0 // the least weights
		}
	}
	for i := range blocks {
		for j, scales := 0, b[i*BlockWords+numberWords:]; j < Panel8; j++ {
			if scales[j] = int16(next()%(2*ScaleMax8+1)) - ScaleMax8; j%5 == 0 {
				scales[j] = ScaleMax8
			}
		}
	}
	for i := range steps {
		steps[i] = float32(1+next()%1000) / 4096
	}
	for j := range Panel8 {
		columns.Scale[j], columns.Bias[j] = float32(1+next()%1000)/512, float32(next()%1000)/7
	}
	Portable{}.Linear8(want[:], Panel8, a, inputs, b, blocks, steps[:], &columns, scratch)
	k.Linear8(got[:], Panel8, a, inputs, b, blocks, steps[:], &columns, scratch)
	return equalBits(got[:], want[:]) && verifyQuant8(k, next)
}

// verifyQuant8 does the same with Quant8, on blocks of very different size and one of nothing.
func verifyQuant8(k Kernels, next func() uint32) bool {
	const blocks = 24
	var x [blocks * BlockLen]float32
	var got, want [blocks * InputBytes]uint8
	for i := range x {
		x[i] = float32(int32(next())) / float32(int32(1)<<(i/BlockLen))
		if i/BlockLen == 1 {
			x[i] = 0
		}
	}
	return k.Quant8(got[:], x[:]) == Portable{}.Quant8(want[:], x[:]) && got == want
}

func equalBits(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return true
}
