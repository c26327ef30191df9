package kernel

// RowStep divides the number of activation rows a matrix kernel is given.
// Inside, six rows by sixteen outputs fill twelve of the sixteen AVX2 registers
// with sums and leave four for operands; a remainder of four or two rows has a
// loop of its own, so that a short query does not pay for rows it lacks.
const RowStep = 2

// Panel is the number of outputs a weight panel covers: two AVX2 registers or
// one AVX-512 register of pairs.
const Panel = 16

// PairStep is what Gemm unrolls by: the number of K values must be a multiple
// of 2*PairStep.
const PairStep = 4

// A run of packed weights, as package packfile stores them.
const (
	runLen   = 32
	runBytes = 48
)

// MaxInt16 is the largest magnitude an activation is scaled to. The negative
// end stops at the same magnitude, so a pair of products never reaches the one
// sum (2 * 2^30) that int32 cannot hold.
const MaxInt16 = 32767

// TinyMax replaces the maximum of an all-zero row, so that its scale stays an
// ordinary number. It is far below any activation and far above the smallest
// normal float32.
const TinyMax = 1e-30

// Kernels is one implementation of the inner loops. All slices belong to the
// caller; nothing is retained. Lengths are the caller's duty and are checked
// only by ordinary slice bounds before assembly runs.
type Kernels interface {
	// Name is "portable", "avx2" or "avx512-vnni".
	Name() string

	// Unpack expands 12-bit weights, 32 from each 48 bytes: their upper bytes,
	// then the low four bits of weights i and i+16 in byte i. len(src) is a
	// multiple of 48.
	Unpack(dst []int16, src []byte)

	// Gemm multiplies rows (a multiple of RowStep) of a (row stride lda, pairs*2
	// values each) with one panel b and writes sixteen columns of c (row
	// stride ldc):
	//
	//	c[r][j] = float32(sum_k a[r][k]*b[k][j]) * rowScale[r] * colScale[j] + bias[j]
	//
	// pairs is a multiple of PairStep. The caller guarantees that no sum
	// leaves int32: max|a| times the largest column sum of |b| is below 2^31.
	Gemm(c []float32, ldc int, a []int16, lda int, b []int16, pairs, rows int, rowScale, colScale, bias []float32)

	// AbsMax returns max|x|, at least TinyMax. len(x) is a multiple of 32.
	AbsMax(x []float32) float32

	// Quant writes x*inv, rounded to the nearest even integer. len(x) is a
	// multiple of 32, and |x*inv| at most MaxInt16 before rounding.
	Quant(dst []int16, x []float32, inv float32)

	// QuantHeads scales each group of 32 values of x by its own maximum to
	// qmax and writes the scales that undo it, times factor, to scale[0],
	// scale[stride], ... .
	QuantHeads(dst []int16, scale []float32, stride int, x []float32, qmax, factor float32)

	// ColAbsMax raises acc[j] to |x[j]| where that is larger. len(x) is a
	// multiple of 32.
	ColAbsMax(acc, x []float32)

	// PackPair quantises two rows by column, x0[j]*inv[j] and x1[j]*inv[j]
	// rounded to the nearest even integer, and writes them side by side as one
	// pair of K values of len(x0)/Panel panels that lie stride values apart.
	PackPair(dst []int16, stride int, x0, x1, inv []float32)

	// Gelu replaces x by x*Phi(x), the exact (erf) form BERT was trained
	// with, and returns max|x| of the result, at least TinyMax. len(x) is a
	// multiple of 32.
	Gelu(x []float32) float32

	// AddNorm sets x to layernorm(x + add)*gamma + beta over its whole length
	// (a multiple of 32) and returns max|x| of the result, at least TinyMax.
	AddNorm(x, add, gamma, beta []float32, eps float32) float32

	// Softmax writes exp(s-max)/sum as integers of 1/MaxInt16. It overwrites
	// s. Values more than 87 below the maximum become exactly zero. len(s) is
	// a multiple of 16.
	Softmax(dst []int16, s []float32)
}

// QuantRow scales one row to ±qmax and returns the factor that undoes it. The
// maximum comes from AbsMax, Gelu or AddNorm.
func QuantRow(k Kernels, dst []int16, x []float32, max, qmax float32) float32 {
	k.Quant(dst, x, qmax/max)
	return max / qmax
}
