package kernel

// VNNI is AVX2 with the matrix products on AVX-512 VNNI registers, and sixteen
// lanes for those float passes that take the most time.
type VNNI struct{ AVX2 }

var _ Kernels = VNNI{}

//go:noescape
func gemmVNNI(
	c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs int, rows int, rowScale, colScale, bias *float32,
)

//go:noescape
func linearVNNI(c *float32, ldc uintptr, a *int16, lda uintptr, b *int16, pairs, rows int, row *Row, cols *Columns)

// Name returns "avx512-vnni".
func (VNNI) Name() string { return "avx512-vnni" }

// Gemm implements Kernels.
func (VNNI) Gemm(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs, rows int, rowScale, colScale, bias []float32,
) {
	gemmBounds(c, ldc, a, lda, b, pairs, rows, rowScale, colScale, bias)
	gemmVNNI(&c[0], uintptr(ldc)*4, &a[0], uintptr(lda)*2, &b[0], pairs, rows, &rowScale[0], &colScale[0], &bias[0])
}

// Linear implements Kernels.
func (VNNI) Linear(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs int, rows []Row, cols *Columns, sums []int32,
) {
	linearBounds(c, ldc, a, lda, b, pairs, len(rows), sums)
	linearVNNI(&c[0], uintptr(ldc)*4, &a[0], uintptr(lda)*2, &b[0], pairs, len(rows), &rows[0], cols)
}

//go:noescape
func linear8VNNI(
	c *float32, ldc uintptr, a *uint8, lda uintptr, b *int16, blocks, rows int, steps *float32, cols *Columns8,
	scratch, sums *int32, first, last int,
)

// Linear8 implements Kernels.
func (VNNI) Linear8(
	c []float32, ldc int, a []uint8, lda int, b []int16, blocks int, steps []float32, cols *Columns8, scratch []int32,
) {
	linear8Bounds(c, ldc, a, lda, b, blocks, len(steps), scratch)
	for at := 0; at < blocks; at += passBlocks {
		n := min(passBlocks, blocks-at)
		linear8VNNI(&c[0], uintptr(ldc)*4, &a[at*InputBytes], uintptr(lda), &b[at*BlockWords], n, len(steps),
			&steps[0], cols, &scratch[0], &scratch[passScratch], flag(at == 0), flag(at+n == blocks))
	}
}

//go:noescape
func quant8AVX512(dst *uint8, x *float32, n int) (step float32)

// Quant8 implements Kernels.
func (v VNNI) Quant8(dst []uint8, x []float32) (step float32) {
	n := len(x)
	if n%(4*BlockLen) != 0 {
		return v.AVX2.Quant8(dst, x)
	}
	whole(n, 4*BlockLen)
	dst = dst[:n/BlockLen*InputBytes]
	return quant8AVX512(&dst[0], &x[0], n)
}

//go:noescape
func geluAVX512(x *float32, n int) (lo, hi float32)

//go:noescape
func addNormAVX512(x, add, gamma, beta *float32, n int, eps float32) (lo, hi float32)

//go:noescape
func softmaxAVX512(dst *int16, s *float32, n, rows int)

// Gelu implements Kernels.
func (VNNI) Gelu(x []float32) (lo, hi float32) {
	whole(len(x), 32)
	return geluAVX512(&x[0], len(x))
}

// AddNorm implements Kernels.
func (VNNI) AddNorm(x, add, gamma, beta []float32, eps float32) (lo, hi float32) {
	n := len(x)
	whole(n, 32)
	add, gamma, beta = add[:n], gamma[:n], beta[:n]
	return addNormAVX512(&x[0], &add[0], &gamma[0], &beta[0], n, eps)
}

// Softmax implements Kernels.
func (VNNI) Softmax(dst []int16, s []float32, n int) {
	whole(n, 16)
	whole(len(s), RowStep*n)
	dst = dst[:len(s)]
	softmaxAVX512(&dst[0], &s[0], n, len(s)/n)
}
