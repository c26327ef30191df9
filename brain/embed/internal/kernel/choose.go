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

// verify runs a matrix product on a small fixed input and compares every bit
// with the portable result. The development machines have no AVX-512, so the
// VNNI kernel's first run is on a user's machine: a mistake in it, or a
// processor or emulator that gets it wrong, must cost speed and not answers.
// Twenty rows pass through its loops of twelve, six and two.
func verify(k Kernels) bool {
	const pairs, rows = 2 * PairStep, 20
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
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			return false
		}
	}
	return true
}
