package kernel

// AVX2 runs the portable kernels' arithmetic eight or sixteen lanes at a time.
// Its methods slice to the lengths the assembly will touch, so that a caller's
// mistake is a bounds panic and not a stray write.
type AVX2 struct{}

var _ Kernels = AVX2{}

//go:noescape
func gemmAVX2(
	c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs int, rows int, rowScale, colScale, bias *float32,
)

//go:noescape
func unpackAVX2(dst *int16, src *byte, runs int)

//go:noescape
func linearAVX2(
	c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs, rows int, row *Row, cols *Columns, sums *int32,
	first, last int,
)

//go:noescape
func linearFloatSums(
	c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs, rows int, row *Row, cols *Columns, sums *int32,
	first, last int,
)

//go:noescape
func rangeAVX2(x *float32, n int) (lo, hi float32)

//go:noescape
func quantAVX2(dst *int16, x *float32, inv float32, zero int32, n int) int32

//go:noescape
func quantHeadsAVX2(dst *int16, scale *float32, stride uintptr, x *float32, heads int, qmax, factor float32)

//go:noescape
func quantKeysAVX2(dst *int16, headStride uintptr, scale *float32, stride uintptr, x *float32, heads int, qmax float32)

//go:noescape
func colAbsMaxAVX2(acc, x *float32, n int)

//go:noescape
func packPairAVX2(dst *int16, stride uintptr, x0, x1, inv *float32, n int)

//go:noescape
func geluAVX2(x *float32, n int) (lo, hi float32)

//go:noescape
func addNormAVX2(x, add, gamma, beta *float32, n int, eps float32) (lo, hi float32)

//go:noescape
func softmaxAVX2(dst *int16, s *float32, n int)

// Name returns "avx2".
func (AVX2) Name() string { return "avx2" }

// whole panics unless n is a positive multiple of step: the assembly loops
// count down to exactly zero.
func whole(n, step int) {
	if n <= 0 || n%step != 0 {
		//nolint:forbidigo // the assembly would write past the end
		panic("kernel: length is not a whole number of vector steps")
	}
}

// gemmBounds touches the last element of every operand.
func gemmBounds(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs, rows int, rowScale, colScale, bias []float32,
) {
	whole(pairs, PairStep)
	whole(rows, RowStep)
	_ = c[(rows-1)*ldc+Panel-1]
	_ = a[(rows-1)*lda+2*pairs-1]
	_ = b[2*pairs*Panel-1]
	_ = rowScale[rows-1]
	_ = colScale[Panel-1]
	_ = bias[Panel-1]
}

// Gemm implements Kernels.
func (AVX2) Gemm(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs, rows int, rowScale, colScale, bias []float32,
) {
	gemmBounds(c, ldc, a, lda, b, pairs, rows, rowScale, colScale, bias)
	gemmAVX2(&c[0], uintptr(ldc)*4, &a[0], uintptr(lda)*2, &b[0], pairs, rows, &rowScale[0], &colScale[0], &bias[0])
}

// linearBounds touches the last element of every operand.
func linearBounds(c []float32, ldc int, a []int16, lda int, b []int16, pairs, rows int, sums []int32) {
	whole(pairs, BlockPairs)
	whole(rows, 1)
	_ = c[(rows-1)*ldc+Panel-1]
	_ = a[(rows-1)*lda+2*pairs-1]
	_ = b[2*pairs*Panel-1]
	_ = sums[rows*Panel-1]
}

// flag is a condition as assembly reads it.
func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Linear implements Kernels.
func (AVX2) Linear(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs int, rows []Row, cols *Columns, sums []int32,
) {
	linearBounds(c, ldc, a, lda, b, pairs, len(rows), sums)
	for at := 0; at < pairs; at += linearPairs {
		n := min(linearPairs, pairs-at)
		linearAVX2(&c[0], uintptr(ldc)*4, &a[2*at], uintptr(lda)*2, &b[2*at*Panel], n, len(rows), &rows[0], cols, &sums[0],
			flag(at == 0), flag(at+n == pairs))
	}
}

// FloatSums is AVX2 for processors that add floats in other units than those
// that multiply integers, and integers in any: since Zen, AMD's. There, integer
// sums take turns from the products, which costs a fifth of the speed.
type FloatSums struct{ AVX2 }

var _ Kernels = FloatSums{}

// Name returns "avx2-float-sums".
func (FloatSums) Name() string { return "avx2-float-sums" }

// Linear implements Kernels.
func (FloatSums) Linear(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs int, rows []Row, cols *Columns, sums []int32,
) {
	linearBounds(c, ldc, a, lda, b, pairs, len(rows), sums)
	for at := 0; at < pairs; at += linearPairs {
		n := min(linearPairs, pairs-at)
		linearFloatSums(&c[0], uintptr(ldc)*4, &a[2*at], uintptr(lda)*2, &b[2*at*Panel], n, len(rows),
			&rows[0], cols, &sums[0],
			flag(at == 0), flag(at+n == pairs))
	}
}

// Unpack implements Kernels.
func (AVX2) Unpack(dst []int16, src []byte) {
	n := len(src)
	whole(n, runBytes)
	runs := n / runBytes
	dst = dst[:runs*runLen]
	unpackAVX2(&dst[0], &src[0], runs)
}

// Range implements Kernels.
func (AVX2) Range(x []float32) (lo, hi float32) {
	whole(len(x), 32)
	return rangeAVX2(&x[0], len(x))
}

// Quant implements Kernels.
func (AVX2) Quant(dst []int16, x []float32, inv float32, zero int32) int32 {
	n := len(x)
	whole(n, 32)
	dst = dst[:n]
	return quantAVX2(&dst[0], &x[0], inv, zero, n)
}

// QuantHeads implements Kernels.
func (AVX2) QuantHeads(dst []int16, scale []float32, stride int, x []float32, qmax, factor float32) {
	n := len(x)
	whole(n, 32)
	dst = dst[:n]
	_ = scale[(n/32-1)*stride]
	quantHeadsAVX2(&dst[0], &scale[0], uintptr(stride)*4, &x[0], n/32, qmax, factor)
}

// QuantKeys implements Kernels.
func (AVX2) QuantKeys(dst []int16, headStride int, scale []float32, stride int, x []float32, qmax float32) {
	n := len(x)
	whole(n, 32)
	_ = dst[(n/32-1)*headStride+30*Panel+1]
	_ = scale[(n/32-1)*stride]
	quantKeysAVX2(&dst[0], uintptr(headStride)*2, &scale[0], uintptr(stride)*4, &x[0], n/32, qmax)
}

// ColAbsMax implements Kernels.
func (AVX2) ColAbsMax(acc, x []float32) {
	n := len(x)
	whole(n, 32)
	acc = acc[:n]
	colAbsMaxAVX2(&acc[0], &x[0], n)
}

// PackPair implements Kernels.
func (AVX2) PackPair(dst []int16, stride int, x0, x1, inv []float32) {
	n := len(x0)
	whole(n, Panel)
	x1, inv = x1[:n], inv[:n]
	_ = dst[(n/Panel-1)*stride+2*Panel-1]
	packPairAVX2(&dst[0], uintptr(stride)*2, &x0[0], &x1[0], &inv[0], n)
}

// Gelu implements Kernels.
func (AVX2) Gelu(x []float32) (lo, hi float32) {
	whole(len(x), 32)
	return geluAVX2(&x[0], len(x))
}

// AddNorm implements Kernels.
func (AVX2) AddNorm(x, add, gamma, beta []float32, eps float32) (lo, hi float32) {
	n := len(x)
	whole(n, 32)
	add, gamma, beta = add[:n], gamma[:n], beta[:n]
	return addNormAVX2(&x[0], &add[0], &gamma[0], &beta[0], n, eps)
}

// Softmax implements Kernels.
func (AVX2) Softmax(dst []int16, s []float32, n int) {
	whole(n, 16)
	whole(len(s), RowStep*n)
	dst = dst[:len(s)]
	for at := 0; at < len(s); at += n {
		softmaxAVX2(&dst[at], &s[at], n)
	}
}

//go:noescape
func linear8AVX2(
	c *float32, ldc uintptr, a *uint8, lda uintptr, b *int16, blocks, rows int, steps *float32, cols *Columns8,
	scratch, sums *int32, first, last int,
)

//go:noescape
func quant8AVX2(dst *uint8, x *float32, n int) (step float32)

// linear8Bounds touches the last element of every operand.
func linear8Bounds(c []float32, ldc int, a []uint8, lda int, b []int16, blocks, rows int, scratch []int32) {
	whole(blocks, 1)
	whole(rows, 1)
	_ = c[(rows-1)*ldc+Panel8-1]
	_ = a[(rows-1)*lda+blocks*InputBytes-1]
	_ = b[blocks*BlockWords-1]
	_ = scratch[Scratch8(rows)-1]
}

// Linear8 implements Kernels.
func (AVX2) Linear8(
	c []float32, ldc int, a []uint8, lda int, b []int16, blocks int, steps []float32, cols *Columns8, scratch []int32,
) {
	linear8Bounds(c, ldc, a, lda, b, blocks, len(steps), scratch)
	for at := 0; at < blocks; at += passBlocks {
		n := min(passBlocks, blocks-at)
		linear8AVX2(&c[0], uintptr(ldc)*4, &a[at*InputBytes], uintptr(lda), &b[at*BlockWords], n, len(steps),
			&steps[0], cols, &scratch[0], &scratch[passScratch], flag(at == 0), flag(at+n == blocks))
	}
}

// Quant8 implements Kernels.
func (AVX2) Quant8(dst []uint8, x []float32) (step float32) {
	n := len(x)
	whole(n, BlockLen)
	dst = dst[:n/BlockLen*InputBytes]
	return quant8AVX2(&dst[0], &x[0], n)
}
