package canon

import (
	"math"
	"strconv"
)

// The figures of answers and events are rounded to what they mean. A measured value is
// a float64 of sixteen digits, the last of which are made by arithmetic, by float32 and
// by the order of a sum: 0.9999999999999992 of ten questions that were all found. What
// a client sent is no figure: it is answered as it came.
const (
	// measureDecimals: a mean over a thousand questions differs in the fourth decimal,
	// and two more let a client compute with what it was answered.
	measureDecimals = 6
	// scoreDigits: neighbours in a ranking may differ in the third digit of small
	// numbers, whose first may stand anywhere behind the point.
	scoreDigits = 6
	// exactBelow is from where a float64 holds no measureDecimals any more.
	exactBelow = 1 << 32
)

// Measure rounds a share, a likelihood, a mean or an amount: to six decimals.
func Measure(x float64) float64 {
	if math.Abs(x) >= exactBelow || math.IsNaN(x) {
		return x
	}
	unit := math.Pow10(measureDecimals)
	return math.Round(x*unit)/unit + 0 // and no -0
}

// Score rounds what results are ranked by: to six significant digits. The order of two
// scores stays, or they become equal.
func Score(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x + 0
	}
	var buf [32]byte
	rounded, err := strconv.ParseFloat(string(strconv.AppendFloat(buf[:0], x, 'g', scoreDigits, 64)), 64)
	if err != nil { // beyond the largest float64 by the rounding
		return x
	}
	return rounded
}

// Shares rounds measures that add up to a whole, so that they still do: what the
// rounding leaves over goes to those that it took most from, the first among equals.
func Shares(xs []float64) []float64 {
	unit := math.Pow10(measureDecimals)
	out, lost := make([]float64, len(xs)), make([]float64, len(xs))
	total, units := 0.0, 0.0
	for i, x := range xs {
		total += x
		whole := math.Floor(x * unit)
		out[i], lost[i] = whole, x*unit-whole
		units += whole
	}
	for left := math.Round(total*unit) - units; left >= 1; left-- {
		most := 0
		for i := range lost {
			if lost[i] > lost[most] {
				most = i
			}
		}
		out[most]++
		lost[most]--
	}
	for i := range out {
		out[i] /= unit
	}
	return out
}
