package index

import "math"

const (
	// maxRow is the largest component of a stored row.
	maxRow = 127
	// maxQuery is the largest component of a quantised query. With rows of 7
	// bits and MaxDim components the sum stays below 2³¹. Twelve bits make the
	// query's share of the error negligible: all of it is the rows'.
	maxQuery = 4095
)

// quantizeRow writes the direction of v as integers into row (zero beyond v) and
// gives the scale with which they come nearest to the unit vector in the sense
// of least squares; 0 for a vector without direction.
func quantizeRow(row []int8, v []float32) (scale float32) {
	var norm, peak float64
	for _, x := range v {
		norm += float64(x) * float64(x)
		peak = max(peak, math.Abs(float64(x)))
	}
	if peak == 0 {
		return 0
	}
	norm = math.Sqrt(norm)
	f := maxRow / peak
	var dot, sq float64
	for i, x := range v {
		r := math.RoundToEven(float64(x) * f)
		row[i] = int8(r)
		dot += r * float64(x)
		sq += r * r
	}
	return float32(dot / norm / sq)
}

// quantizeQuery writes the direction of v as integers into q, and gives the
// scale that makes q[i]*scale its unit vector; 0 when it has no direction.
func quantizeQuery(q []int16, v []float32) (scale float32) {
	var norm, peak float64
	for _, x := range v {
		norm += float64(x) * float64(x)
		peak = max(peak, math.Abs(float64(x)))
	}
	clear(q)
	if !(peak > 0) || math.IsInf(norm, 0) {
		return 0
	}
	f := maxQuery / peak
	for i, x := range v {
		q[i] = int16(math.RoundToEven(float64(x) * f))
	}
	return float32(1 / (f * math.Sqrt(norm)))
}

// cosine of two float vectors of one length, 0 when one has no direction.
func cosine(a, b []float32) float32 {
	var ab, aa, bb float64
	for i, x := range a {
		y := b[i]
		ab += float64(x) * float64(y)
		aa += float64(x) * float64(x)
		bb += float64(y) * float64(y)
	}
	if d := math.Sqrt(aa * bb); d > 0 && !math.IsInf(d, 0) {
		return float32(ab / d)
	}
	return 0
}

// CosineOfUnit is the cosine of a query's vector, which has length 1, and a stored one; 0 where that is zero.
func CosineOfUnit(q, v []float32) float32 {
	var dot, square float32
	for i := range min(len(q), len(v)) {
		dot += q[i] * v[i]
		square += v[i] * v[i]
	}
	if square == 0 {
		return 0
	}
	return dot / float32(math.Sqrt(float64(square)))
}
