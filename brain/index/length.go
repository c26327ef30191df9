package index

import "math"

// Lengths are stored in a byte: exactly up to exactLength, then sixteen steps to
// the doubling, so within 2.2 %. Lucene does the same with fewer exact values.
const (
	exactLength = 128
	lengthSteps = 16
)

// lengths gives the length of each code.
var lengths = func() (t [256]float32) {
	for c := range t {
		if c < exactLength {
			t[c] = float32(c)
		} else {
			t[c] = float32(exactLength * math.Exp2(float64(c-exactLength)/lengthSteps))
		}
	}
	return t
}()

// lengthCode gives the code nearest to a length in words.
func lengthCode(words uint32) uint8 {
	if words < exactLength {
		return uint8(words)
	}
	c := exactLength + math.Round(lengthSteps*math.Log2(float64(words)/exactLength))
	return uint8(min(c, 255))
}
