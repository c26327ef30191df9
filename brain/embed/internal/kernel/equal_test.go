package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// vectorKernels returns every implementation this machine can run besides the
// portable one.
func vectorKernels(t testing.TB) []Kernels {
	var all []Kernels
	for _, k := range Available() {
		if k.Name() != (Portable{}).Name() {
			all = append(all, k)
		}
	}
	if len(all) == 0 {
		t.Skip("this machine runs only the portable kernels")
	}
	return all
}

func floats(r *rand.Rand, n int, spread float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * spread)
	}
	return x
}

func ints(r *rand.Rand, n, limit int) []int16 {
	x := make([]int16, n)
	for i := range x {
		x[i] = int16(r.IntN(2*limit+1) - limit)
	}
	return x
}

// sameBits compares representations, so that a zero's sign counts too.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %g, portable says %g", what, i, got[i], want[i])
		}
	}
}

func TestGemmIsBitEqual(t *testing.T) {
	for _, k := range vectorKernels(t) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			pairs := PairStep * (1 + r.IntN(12))
			rows := RowStep * (1 + r.IntN(20))
			lda, ldc := 2*pairs+r.IntN(9), Panel+r.IntN(9)
			// Largest operands whose sums still fit: 127 * limit * K < 2^31.
			limit := min(MaxInt16, math.MaxInt32/(127*2*pairs))
			a := ints(r, rows*lda, limit)
			b := ints(r, 2*pairs*Panel, 127)
			rs, cs, bias := floats(r, rows, 1e-4), floats(r, Panel, 1e-2), floats(r, Panel, 1)
			got, want := make([]float32, rows*ldc), make([]float32, rows*ldc)
			Portable{}.Gemm(want, ldc, a, lda, b, pairs, rows, rs, cs, bias)
			k.Gemm(got, ldc, a, lda, b, pairs, rows, rs, cs, bias)
			sameBits(t, k.Name()+" gemm", got, want)
		}
	}
}

func TestGemmAtTheEdgeOfInt32(t *testing.T) {
	// Every product has the same sign and the sum is as large as it may be.
	const pairs, rows = 768, 6
	const limit = int16(math.MaxInt32 / (127 * 2 * pairs))
	a, b := make([]int16, rows*2*pairs), make([]int16, 2*pairs*Panel)
	for i := range a {
		a[i] = limit
	}
	for i := range b {
		b[i] = -127
	}
	one, zero := make([]float32, Panel), make([]float32, Panel)
	for i := range one {
		one[i] = 1
	}
	want := float32(-127 * 2 * pairs * int32(limit))
	for _, k := range Available() {
		c := make([]float32, rows*Panel)
		k.Gemm(c, Panel, a, 2*pairs, b, pairs, rows, one, one, zero)
		if c[0] != want || c[len(c)-1] != want {
			t.Errorf("%s: %g, want %g", k.Name(), c[0], want)
		}
	}
}

// linearOperands makes rows and weights whose sums of blocks come up to BlockMax.
func linearOperands(r *rand.Rand, pairs, rows, lda int) (a, b []int16, terms []Row, cols Columns) {
	const most = BlockMax / (2 * BlockPairs * WeightMax)
	a, b = make([]int16, rows*lda), make([]int16, 2*pairs*Panel)
	whole := r.IntN(2) == 0 // everything at its limit
	for i := range a {
		if a[i] = most; !whole {
			a[i] = int16(r.IntN(most + 1))
		}
	}
	for i := range b {
		if b[i] = WeightMax; !whole {
			b[i] = int16(r.IntN(WeightMax + 1))
		}
	}
	terms = make([]Row, rows)
	for i := range terms {
		terms[i] = Row{Scale: float32(r.NormFloat64() * 1e-3), Zero: int32(-r.IntN(most))}
		for _, u := range a[i*lda:][:2*pairs] {
			terms[i].Sum += int32(u)
		}
	}
	for j := range Panel {
		cols.Zero[j] = int32(r.IntN(WeightMax))
		cols.Scale[j], cols.Bias[j] = float32(r.NormFloat64()*1e-2), float32(r.NormFloat64())
		for k := range 2 * pairs {
			cols.Sum[j] += int32(b[k/2*2*Panel+2*j+k%2]) - cols.Zero[j]
		}
	}
	return a, b, terms, cols
}

func TestLinearIsBitEqual(t *testing.T) {
	for _, k := range vectorKernels(t) {
		r := rand.New(rand.NewPCG(1, 3))
		for range 60 {
			pairs := BlockPairs * (1 + r.IntN(60)) // up to more than two passes
			rows := 1 + r.IntN(20)
			lda, ldc := 2*pairs+r.IntN(9), Panel+r.IntN(9)
			a, b, terms, cols := linearOperands(r, pairs, rows, lda)
			got, want := make([]float32, rows*ldc), make([]float32, rows*ldc)
			sums := make([]int32, rows*Panel)
			Portable{}.Linear(want, ldc, a, lda, b, pairs, terms, &cols, sums)
			k.Linear(got, ldc, a, lda, b, pairs, terms, &cols, sums)
			sameBits(t, k.Name()+" linear", got, want)
		}
	}
}

// The portable kernel against the definition, in integers that cannot overflow.
func TestLinearIsWhatItSays(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	const pairs, rows = 5 * BlockPairs, 3
	a, b, terms, cols := linearOperands(r, pairs, rows, 2*pairs)
	c := make([]float32, rows*Panel)
	Portable{}.Linear(c, Panel, a, 2*pairs, b, pairs, terms, &cols, nil)
	for i, got := range c {
		row, j := terms[i/Panel], i%Panel
		sum := int64(0)
		for k := range 2 * pairs {
			sum += int64(int32(a[i/Panel*2*pairs+k])+row.Zero) * int64(int32(b[k/2*2*Panel+2*j+k%2])-cols.Zero[j])
		}
		if want := float32(float32(float32(sum)*row.Scale)*cols.Scale[j]) + cols.Bias[j]; got != want {
			t.Fatalf("row %d, output %d: %g, want %g", i/Panel, j, got, want)
		}
	}
}

func TestQuantRowKeepsItsBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for range 500 {
		x := floats(r, 32, math.Pow(10, r.Float64()*8-4))
		for i := range x {
			x[i] += float32(r.NormFloat64()) * x[0] // sometimes all on one side
		}
		most := 3 + r.IntN(4000)
		q := make([]int16, len(x))
		lo, hi := Portable{}.Range(x)
		row := QuantRow(Portable{}, q, x, lo, hi, most)
		sum := int32(0)
		for i, u := range q {
			if u < 0 || int(u) > most {
				t.Fatalf("%g in %g to %g is %d of %d", x[i], lo, hi, u, most)
			}
			back := float64(int32(u)+row.Zero) * float64(row.Scale)
			if math.Abs(back-float64(x[i])) > 0.51*float64(row.Scale) {
				t.Fatalf("%g comes back as %g, a step is %g", x[i], back, row.Scale)
			}
			sum += int32(u)
		}
		if row.Sum != sum || row.Zero > 0 {
			t.Fatalf("%+v, the sum is %d", row, sum)
		}
	}
}

func TestFloatPassesAreBitEqual(t *testing.T) {
	ref := Portable{}
	for _, k := range vectorKernels(t) {
		r := rand.New(rand.NewPCG(3, 4))
		for round := range 80 {
			n := 32 * (1 + r.IntN(48))
			spread := math.Pow(10, r.Float64()*4-2)
			if round == 0 {
				spread = 0 // an all-zero row
			}
			x := floats(r, n, spread)

			lo, hi := ref.Range(x)
			if l, h := k.Range(x); l != lo || h != hi {
				t.Fatalf("%s range: %g to %g, want %g to %g", k.Name(), l, h, lo, hi)
			}
			q0, q1 := make([]int16, n), make([]int16, n)
			most := 3 + r.IntN(MaxInt16-2)
			s0, s1 := QuantRow(ref, q0, x, lo, hi, most), QuantRow(k, q1, x, lo, hi, most)
			if s0 != s1 || !slices.Equal(q0, q1) {
				t.Fatalf("%s quant differs", k.Name())
			}

			h0, h1 := make([]float32, n/32*3), make([]float32, n/32*3)
			ref.QuantHeads(q0, h0, 3, x, 8191, 0.17677669)
			k.QuantHeads(q1, h1, 3, x, 8191, 0.17677669)
			sameBits(t, k.Name()+" head scales", h1, h0)
			if !slices.Equal(q0, q1) {
				t.Fatalf("%s quant heads differs", k.Name())
			}

			k0, k1 := make([]int16, n/32*600), make([]int16, n/32*600)
			ref.QuantKeys(k0, 600, h0, 3, x, 8191)
			k.QuantKeys(k1, 600, h1, 3, x, 8191)
			sameBits(t, k.Name()+" key scales", h1, h0)
			if !slices.Equal(k0, k1) {
				t.Fatalf("%s quant keys differs", k.Name())
			}

			y := floats(r, n, spread)
			c0, c1 := slices.Clone(y), slices.Clone(y)
			for i := range c0 {
				c0[i] = abs32(c0[i])
				c1[i] = c0[i]
			}
			ref.ColAbsMax(c0, x)
			k.ColAbsMax(c1, x)
			sameBits(t, k.Name()+" column maximum", c1, c0)

			inv := make([]float32, n)
			for i := range inv {
				inv[i] = MaxInt16 / max(c0[i], abs32(y[i]), TinyMax)
			}
			stride := 2*Panel + r.IntN(70)
			p0, p1 := make([]int16, n/Panel*stride), make([]int16, n/Panel*stride)
			ref.PackPair(p0, stride, x, y, inv)
			k.PackPair(p1, stride, x, y, inv)
			if !slices.Equal(p0, p1) {
				t.Fatalf("%s pack differs", k.Name())
			}

			g0, g1 := slices.Clone(x), slices.Clone(x)
			lo, hi = ref.Gelu(g0)
			if l, h := k.Gelu(g1); l != lo || h != hi {
				t.Fatalf("%s gelu: %g to %g, want %g to %g", k.Name(), l, h, lo, hi)
			}
			sameBits(t, k.Name()+" gelu", g1, g0)

			gamma, beta := floats(r, n, 1), floats(r, n, 0.1)
			a0, a1 := slices.Clone(x), slices.Clone(x)
			lo, hi = ref.AddNorm(a0, y, gamma, beta, 1e-12)
			if l, h := k.AddNorm(a1, y, gamma, beta, 1e-12); l != lo || h != hi {
				t.Fatalf("%s add norm: %g to %g, want %g to %g", k.Name(), l, h, lo, hi)
			}
			sameBits(t, k.Name()+" add norm", a1, a0)

			e0 := slices.Concat(x, y, y, x)
			for i := range e0 {
				if i%n >= n-5 {
					e0[i] = -1e30 // masked keys
				}
			}
			e1, p0, p1 := slices.Clone(e0), make([]int16, len(e0)), make([]int16, len(e0))
			ref.Softmax(p0, e0, n)
			k.Softmax(p1, e1, n)
			sameBits(t, k.Name()+" softmax", e1, e0)
			if !slices.Equal(p0, p1) {
				t.Fatalf("%s softmax integers differ", k.Name())
			}
		}
	}
}

func TestUnpackIsEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	src := make([]byte, 21*runBytes)
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	want := make([]int16, 21*runLen)
	Portable{}.Unpack(want, src)
	for _, k := range vectorKernels(t) {
		got := make([]int16, len(want))
		k.Unpack(got, src)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: unpacked weights differ", k.Name())
		}
	}
}

func TestGeluIsExact(t *testing.T) {
	for x := -12.0; x < 12; x += 1.0 / 256 {
		want := x * 0.5 * (1 + math.Erf(x/math.Sqrt2))
		if got := float64(gelu(float32(x))); math.Abs(got-want) > 1.5e-6 {
			t.Fatalf("gelu(%g) = %g, want %g", x, got, want)
		}
	}
}

func TestExpIsExact(t *testing.T) {
	for x := -86.9; x <= 0; x += 1.0 / 64 {
		want := math.Exp(float64(float32(x)))
		if got := float64(expNeg(float32(x))); math.Abs(got-want) > (3e-7-1.2e-7*x)*want {
			t.Fatalf("exp(%g) = %g, want %g", x, got, want)
		}
	}
	if expNeg(-87.5) != 0 || expNeg(-1e30) != 0 || expNeg(0) != 1 {
		t.Fatal("exp at its ends")
	}
}

// softmaxBound backs the claim in the encoder that a row of probabilities
// times int16 values stays in int32.
func TestSoftmaxSumsToOne(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		n := 16 * (1 + r.IntN(32))
		s := floats(r, n, 3)
		q := make([]int16, n)
		Portable{}.Softmax(q, s, len(s))
		sum := 0
		for _, v := range q {
			if v < 0 {
				t.Fatal("a negative probability")
			}
			sum += int(v)
		}
		if d := sum - MaxInt16; d < -n || d > n {
			t.Fatalf("%d probabilities sum to %d of %d", n, sum, MaxInt16)
		}
	}
}

func TestVerifyRefusesAWrongKernel(t *testing.T) {
	if !verify(Portable{}) {
		t.Fatal("portable does not equal itself")
	}
	if verify(offByOne{}) {
		t.Fatal("a kernel with a wrong last bit passed")
	}
	if verify(saturating{}) {
		t.Fatal("a kernel that loses a scale passed")
	}
	if verify(flushing{}) {
		t.Fatal("a kernel that loses a block passed")
	}
}

// offByOne is a kernel whose matrix product is wrong in one element.
type offByOne struct{ Portable }

func (o offByOne) Gemm(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs, rows int, rowScale, colScale, bias []float32,
) {
	o.Portable.Gemm(c, ldc, a, lda, b, pairs, rows, rowScale, colScale, bias)
	last := (rows-1)*ldc + Panel - 1
	c[last] = math.Nextafter32(c[last], 10)
}

// saturating is a kernel that loses the largest scale.
type saturating struct{ Portable }

func (s saturating) Linear8(
	c []float32, ldc int, a []uint8, lda int, b []int16, blocks int, steps []float32, cols *Columns8, scratch []int32,
) {
	b = slices.Clone(b)
	for i := range b {
		if i%BlockWords >= numberWords {
			b[i] = min(b[i], ScaleMax8-1)
		}
	}
	s.Portable.Linear8(c, ldc, a, lda, b, blocks, steps, cols, scratch)
}

// flushing is a kernel on a processor that takes subnormal numbers for zero: a
// block with a small sum is lost.
type flushing struct{ Portable }

func (f flushing) Linear(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs int, rows []Row, cols *Columns, sums []int32,
) {
	a = slices.Clone(a)
	for r := range rows {
		clear(a[r*lda:][:2*BlockPairs])
	}
	f.Portable.Linear(c, ldc, a, lda, b, pairs, rows, cols, sums)
}
