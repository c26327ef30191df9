package kernel

import "math"

// Portable is the specification of every other implementation: what it
// returns is right by definition. Every product that feeds an addition is
// wrapped in float32(...) to keep the compiler from fusing the two.
type Portable struct{}

var _ Kernels = Portable{}

// Name returns "portable".
func (Portable) Name() string { return "portable" }

// Unpack implements Kernels.
func (Portable) Unpack(dst []int16, src []byte) {
	for ; len(src) > 0; src, dst = src[runBytes:], dst[runLen:] {
		in, out := src[:runBytes], dst[:runLen]
		for i := range runLen / 2 {
			low := int16(in[runLen+i])
			out[i] = int16(int8(in[i]))<<4 | low&15
			out[i+runLen/2] = int16(int8(in[i+runLen/2]))<<4 | low>>4
		}
	}
}

// Gemm implements Kernels. Two rows by four outputs keep eight sums in
// registers; wider tiles spill on amd64 and arm64 alike.
func (Portable) Gemm(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs, rows int, rowScale, colScale, bias []float32,
) {
	k := 2 * pairs
	b = b[:k*Panel]
	for r := 0; r < rows; r += RowStep {
		x, y := a[r*lda:][:k], a[(r+1)*lda:][:k]
		for j := 0; j < Panel; j += 4 {
			s0, s1, s2, s3, t0, t1, t2, t3 := tile(x, y, b[2*j:])
			for i, sum := range [8]int32{s0, s1, s2, s3, t0, t1, t2, t3} {
				row, o := r+i/4, j+i%4
				c[row*ldc+o] = float32(float32(float32(sum)*rowScale[row])*colScale[o]) + bias[o]
			}
		}
	}
}

// tile multiplies two rows with four outputs of a panel.
func tile(x, y, b []int16) (s0, s1, s2, s3, t0, t1, t2, t3 int32) {
	for len(x) >= 2 && len(y) >= 2 && len(b) >= 8 {
		x0, x1, y0, y1 := int32(x[0]), int32(x[1]), int32(y[0]), int32(y[1])
		v, w := int32(b[0]), int32(b[1])
		s0 += x0*v + x1*w
		t0 += y0*v + y1*w
		v, w = int32(b[2]), int32(b[3])
		s1 += x0*v + x1*w
		t1 += y0*v + y1*w
		v, w = int32(b[4]), int32(b[5])
		s2 += x0*v + x1*w
		t2 += y0*v + y1*w
		v, w = int32(b[6]), int32(b[7])
		s3 += x0*v + x1*w
		t3 += y0*v + y1*w
		x, y, b = x[2:], y[2:], b[min(2*Panel, len(b)):]
	}
	return s0, s1, s2, s3, t0, t1, t2, t3
}

func abs32(x float32) float32 {
	return math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
}

// Linear implements Kernels. Sums and corrections wrap around; the result is
// within int32, so that does no harm.
func (Portable) Linear(
	c []float32, ldc int, a []int16, lda int, b []int16, pairs int, rows []Row, cols *Columns, _ []int32,
) {
	k := 2 * pairs
	b = b[:k*Panel]
	for r := 0; r < len(rows); r += 2 {
		last := min(r+1, len(rows)-1) // the same row twice, where it is the last
		x, y := a[r*lda:][:k], a[last*lda:][:k]
		for j := 0; j < Panel; j += 4 {
			s0, s1, s2, s3, t0, t1, t2, t3 := tile(x, y, b[2*j:])
			for i, sum := range [8]int32{s0, s1, s2, s3, t0, t1, t2, t3} {
				row, o := min(r+i/4, last), j+i%4
				t := &rows[row]
				sum += t.Zero*cols.Sum[o] - t.Sum*cols.Zero[o]
				c[row*ldc+o] = float32(float32(float32(sum)*t.Scale)*cols.Scale[o]) + cols.Bias[o]
			}
		}
	}
}

// Range implements Kernels.
func (Portable) Range(x []float32) (lo, hi float32) {
	hi = TinyMax
	for _, v := range x {
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// roundMagic rounds a float32 of magnitude below 2^22 to the nearest even
// integer when added and subtracted: 1.5*2^23 leaves no bits for a fraction.
const roundMagic = 12582912

func round(v float32) int32 {
	return int32(math.Float32bits(v+roundMagic) - math.Float32bits(roundMagic))
}

func toInt16(v float32) int16 { return int16(round(v)) }

// Quant implements Kernels.
func (Portable) Quant(dst []int16, x []float32, inv float32, zero int32) (sum int32) {
	dst = dst[:len(x)]
	for i, v := range x {
		u := round(float32(v*inv)) - zero
		dst[i] = int16(u)
		sum += u
	}
	return sum
}

// QuantHeads implements Kernels.
func (Portable) QuantHeads(dst []int16, scale []float32, stride int, x []float32, qmax, factor float32) {
	for h := 0; h*32 < len(x); h++ {
		m := float32(TinyMax)
		for _, v := range x[h*32:][:32] {
			m = max(m, abs32(v))
		}
		inv := qmax / m
		for i, v := range x[h*32:][:32] {
			dst[h*32+i] = toInt16(float32(v * inv))
		}
		scale[h*stride] = float32(m/qmax) * factor
	}
}

// QuantKeys implements Kernels.
func (p Portable) QuantKeys(dst []int16, headStride int, scale []float32, stride int, x []float32, qmax float32) {
	var group [32]int16
	for h := 0; h*32 < len(x); h++ {
		p.QuantHeads(group[:], scale[h*stride:], 0, x[h*32:][:32], qmax, 1)
		for i := 0; i < len(group); i += 2 {
			copy(dst[h*headStride+i*Panel:], group[i:i+2])
		}
	}
}

// ColAbsMax implements Kernels.
func (Portable) ColAbsMax(acc, x []float32) {
	acc = acc[:len(x)]
	for i, v := range x {
		acc[i] = max(acc[i], abs32(v))
	}
}

// PackPair implements Kernels.
func (Portable) PackPair(dst []int16, stride int, x0, x1, inv []float32) {
	for j := range x0 {
		d := dst[j/Panel*stride+2*(j%Panel):][:2]
		d[0] = toInt16(float32(x0[j] * inv[j]))
		d[1] = toInt16(float32(x1[j] * inv[j]))
	}
}

// The error function as an odd polynomial over an even one on [-4, 4], beyond
// which float32 cannot tell it from ±1. The coefficients are those of the
// Eigen library (generic_fast_erf_float, MPL-2.0 numbers, not code); the test
// holds the resulting GELU to 1e-6 of the exact one.
const (
	erfClamp = 4
	erfA1    = -1.60960333262415e-02
	erfA3    = -2.95459980854025e-03
	erfA5    = -7.34990630326855e-04
	erfA7    = -5.69250639462346e-05
	erfA9    = -2.10102402082508e-06
	erfA11   = 2.77068142495902e-08
	erfA13   = -2.72614225801306e-10
	erfB0    = -1.42647390514189e-02
	erfB2    = -7.37332916720468e-03
	erfB4    = -1.68282697438203e-03
	erfB6    = -2.13374055278905e-04
	erfB8    = -1.45660718464996e-05
	sqrtHalf = 0.70710678118654752440
)

// gelu evaluates both polynomials in pairs of terms (Estrin): chains half as
// long as Horner's let the vector code overlap more of them.
func gelu(x float32) float32 {
	u := max(min(float32(x*sqrtHalf), erfClamp), -erfClamp)
	w := float32(u * u)
	v := float32(w * w)
	p := float32(v*erfA13) + (float32(w*erfA11) + erfA9)
	p = float32(v*p) + (float32(w*erfA7) + erfA5)
	p = float32(v*p) + (float32(w*erfA3) + erfA1)
	p = float32(p * u)
	q := float32(v*erfB8) + (float32(w*erfB6) + erfB4)
	q = float32(v*q) + (float32(w*erfB2) + erfB0)
	return float32(float32(x*0.5) * (1 + p/q))
}

// Gelu implements Kernels.
func (Portable) Gelu(x []float32) (lo, hi float32) {
	hi = TinyMax
	for i, v := range x {
		g := gelu(v)
		x[i] = g
		lo, hi = min(lo, g), max(hi, g)
	}
	return lo, hi
}

// laneSum adds the 32 running sums of a long row: first the four groups of
// eight, (0+1)+(2+3), then halves of eight, of four, of two. It is the order
// in which vector registers fold.
func laneSum(s *[32]float32) float32 {
	var v [8]float32
	for i := range v {
		v[i] = (s[i] + s[8+i]) + (s[16+i] + s[24+i])
	}
	return fold8(&v)
}

func fold8(v *[8]float32) float32 {
	return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]))
}

// AddNorm implements Kernels.
func (Portable) AddNorm(x, add, gamma, beta []float32, eps float32) (lo, hi float32) {
	n := float32(len(x))
	add, gamma, beta = add[:len(x)], gamma[:len(x)], beta[:len(x)]
	var s [32]float32
	for i := range x {
		v := x[i] + add[i]
		x[i] = v
		s[i%32] += v
	}
	mean := laneSum(&s) / n
	s = [32]float32{}
	for i := range x {
		d := x[i] - mean
		x[i] = d
		s[i%32] += float32(d * d)
	}
	inv := 1 / float32(math.Sqrt(float64(laneSum(&s)/n+eps)))
	hi = TinyMax
	for i := range x {
		v := float32(float32(x[i]*inv)*gamma[i]) + beta[i]
		x[i] = v
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}

// exp on [-87, 0] as a power of two: the nearest integer goes to the exponent,
// the rest through a polynomial with relative error 1e-7 (minimax on [-½, ½],
// found by iterated least squares). The product with log2e is rounded once, so
// the error grows with |x|, to 1e-5 where the result is e^-87.
const (
	expFloor = -87
	log2e    = 1.44269504088896341
	exp2P1   = 0.6931470036506653
	exp2P2   = 0.24022242426872253
	exp2P3   = 0.05550733581185341
	exp2P4   = 0.009671512991189957
	exp2P5   = 0.001326472731307149
)

func expNeg(x float32) float32 {
	if x < expFloor {
		return 0
	}
	z := float32(x * log2e)
	t := z + roundMagic
	r := z - (t - roundMagic)
	s := float32(r * r)
	y := float32(s*(float32(r*exp2P5)+exp2P4)) + (float32(r*exp2P3) + exp2P2)
	y = float32(s*y) + (float32(r*exp2P1) + 1)
	// The low bits of t hold the integer; in the exponent they multiply by
	// that power of two.
	return math.Float32frombits(math.Float32bits(y) + math.Float32bits(t)<<23)
}

// Softmax implements Kernels.
func (Portable) Softmax(dst []int16, s []float32, n int) {
	for at := 0; at < len(s); at += n {
		softmax(dst[at:], s[at:][:n])
	}
}

// softmax is that of a row. The sum runs in sixteen lanes.
func softmax(dst []int16, s []float32) {
	m := s[0]
	for _, v := range s {
		m = max(m, v)
	}
	var lanes [16]float32
	for i, v := range s {
		e := expNeg(v - m)
		s[i] = e
		lanes[i%16] += e
	}
	var v [8]float32
	for i := range v {
		v[i] = lanes[i] + lanes[8+i]
	}
	inv := MaxInt16 / fold8(&v)
	dst = dst[:len(s)]
	for i, e := range s {
		dst[i] = toInt16(float32(e * inv))
	}
}
