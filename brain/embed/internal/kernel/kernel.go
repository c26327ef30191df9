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

// WeightMax is the largest weight of Linear, BlockPairs the number of pairs of
// inputs whose products are summed before they leave the range that float32
// holds exactly, and BlockMax the end of that range: the largest input times
// the largest sum of 2*BlockPairs weights of an output must not exceed it. With
// ten bits of weights that leaves inputs a little more than ten.
const (
	WeightMax  = 1023
	BlockPairs = 8
	BlockMax   = 1 << 24
)

// linearPairs is how many pairs of inputs the AVX2 kernels take at a time: their
// weights, 12 KB, stay in the first-level cache for all rows, while the unfinished
// sums wait in memory.
const linearPairs = 192

// Row is a row of activations, as whole numbers u from 0 up that stand for
// (u + Zero)*Scale. Assembly knows the layout.
type Row struct {
	Scale float32
	Zero  int32 // at most 0: it stands for the least value, which is not above 0
	Sum   int32 // of all u
}

// Columns are the outputs of a panel, with weights as whole numbers v from 0 to
// WeightMax that stand for (v - Zero)*Scale. Assembly knows the layout.
type Columns struct {
	Zero  [Panel]int32
	Sum   [Panel]int32 // of v - Zero over all inputs
	Scale [Panel]float32
	Bias  [Panel]float32
}

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

	// Linear multiplies rows of a (row stride lda, pairs*2 values each) with a
	// panel of weights b and writes sixteen columns of c (row stride ldc):
	//
	//	S       = sum_k (a[r][k] + rows[r].Zero) * (b[k][j] - cols.Zero[j])
	//	c[r][j] = float32(S) * rows[r].Scale * cols.Scale[j] + cols.Bias[j]
	//
	// pairs is a multiple of BlockPairs. The caller guarantees that no sum of a
	// block exceeds BlockMax, and that S stays in int32. sums is scratch space
	// for Panel values a row.
	Linear(c []float32, ldc int, a []int16, lda int, b []int16, pairs int, rows []Row, cols *Columns, sums []int32)

	// Linear8 multiplies rows of a (row stride lda bytes, blocks of InputBytes
	// each) with a panel of weights in blocks and writes Panel8 columns of c (row
	// stride ldc). With q for the inputs, m for their multipliers, w for the
	// weights and s for the scales of their blocks:
	//
	//	S       = sum_k q[r][k] * m[r][k/BlockLen] * w[k][j] * s[k/BlockLen][j]
	//	c[r][j] = float32(S) * steps[r] * cols.Scale[j] + cols.Bias[j]
	//
	// The caller guarantees that S stays in int32 whatever the inputs are:
	// InputMax * MultiplierMax * sum_k |w[k][j] * s[k/BlockLen][j]| is below 2^31,
	// and no scale is above ScaleMax8. scratch has the length that Scratch8 says.
	Linear8(
		c []float32, ldc int, a []uint8, lda int, b []int16, blocks int, steps []float32, cols *Columns8, scratch []int32,
	)

	// Quant8 turns a row into blocks of inputs, as Linear8 takes them. A block's
	// multiplier is the least that its largest magnitude leaves room for; with step
	// for what is returned, x is about q * m * step. len(x) is a multiple of
	// BlockLen.
	Quant8(dst []uint8, x []float32) (step float32)

	// Gemm multiplies rows (a multiple of RowStep) of a (row stride lda, pairs*2
	// values each) with one panel b and writes sixteen columns of c (row
	// stride ldc):
	//
	//	c[r][j] = float32(sum_k a[r][k]*b[k][j]) * rowScale[r] * colScale[j] + bias[j]
	//
	// pairs is a multiple of PairStep. The caller guarantees that no sum
	// leaves int32: max|a| times the largest column sum of |b| is below 2^31.
	Gemm(c []float32, ldc int, a []int16, lda int, b []int16, pairs, rows int, rowScale, colScale, bias []float32)

	// Range returns the least of x and 0 and the largest of x and TinyMax.
	// len(x) is a multiple of 32.
	Range(x []float32) (lo, hi float32)

	// Quant writes x*inv, rounded to the nearest even integer, less zero, and
	// returns the sum of what it wrote. len(x) is a multiple of 32; |x*inv| is
	// below 2^22 and the result within int16.
	Quant(dst []int16, x []float32, inv float32, zero int32) (sum int32)

	// QuantHeads scales each group of 32 values of x by its own maximum to
	// qmax and writes the scales that undo it, times factor, to scale[0],
	// scale[stride], ... .
	QuantHeads(dst []int16, scale []float32, stride int, x []float32, qmax, factor float32)

	// QuantKeys does the same with a row of keys and factor 1, and writes each
	// group where Gemm expects one column of a panel: values 2i and 2i+1 of group
	// h at dst[h*headStride+2*Panel*i].
	QuantKeys(dst []int16, headStride int, scale []float32, stride int, x []float32, qmax float32)

	// ColAbsMax raises acc[j] to |x[j]| where that is larger. len(x) is a
	// multiple of 32.
	ColAbsMax(acc, x []float32)

	// PackPair quantises two rows by column, x0[j]*inv[j] and x1[j]*inv[j]
	// rounded to the nearest even integer, and writes them side by side as one
	// pair of K values of len(x0)/Panel panels that lie stride values apart.
	PackPair(dst []int16, stride int, x0, x1, inv []float32)

	// Gelu replaces x by x*Phi(x), the exact (erf) form BERT was trained
	// with, and returns the Range of the result. len(x) is a multiple of 32.
	Gelu(x []float32) (lo, hi float32)

	// AddNorm sets x to layernorm(x + add)*gamma + beta over its whole length
	// (a multiple of 32) and returns the Range of the result.
	AddNorm(x, add, gamma, beta []float32, eps float32) (lo, hi float32)

	// Softmax writes exp(s-max)/sum of each row of n values as integers of
	// 1/MaxInt16. It overwrites s. Values more than 87 below the maximum become
	// exactly zero. n is a multiple of 16, the number of rows one of RowStep.
	Softmax(dst []int16, s []float32, n int)
}

// QuantRow turns a row into integers from 0 to most, its least value (or 0)
// first. lo and hi come from Range, Gelu or AddNorm.
func QuantRow(k Kernels, dst []int16, x []float32, lo, hi float32, most int) Row {
	// Both ends may be rounded outwards, hence two steps less than there are.
	steps := float32(most - 2)
	inv := steps / (hi - lo)
	zero := round(float32(lo * inv))
	return Row{Scale: (hi - lo) / steps, Zero: zero, Sum: k.Quant(dst, x, inv, zero)}
}
