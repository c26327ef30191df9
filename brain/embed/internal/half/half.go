// Package half converts IEEE 754 half floats, in which vectors are stored and
// the scales of four-bit weights are published.
package half

import "math"

// shift112 moves the exponent between the two biases, 15 and 127. A product
// with it is exact, also for subnormal halves.
var shift112 = math.Float32frombits((127 + 112) << 23)

// To32 returns the value of a half float, exactly.
func To32(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	if h&0x7c00 == 0x7c00 { // infinite or not a number
		return math.Float32frombits(sign | 0x7f800000 | uint32(h&0x3ff)<<13)
	}
	f := math.Float32frombits(uint32(h&0x7fff)<<13) * shift112
	return math.Float32frombits(sign | math.Float32bits(f))
}

// From32 returns the nearest half float, ties to even. Values beyond 65504
// become infinite.
func From32(x float32) uint16 {
	b := math.Float32bits(x)
	sign := uint16(b >> 16 & 0x8000)
	b &= 0x7fffffff
	switch {
	case b > 0x7f800000: // not a number stays one
		return sign | 0x7e00
	case b >= 0x47800000: // 65536 and above
		return sign | 0x7c00
	case b < 0x38800000: // below 2^-14: subnormal, in units of 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(b))*(1<<24)))
	}
	b -= 112 << 23
	b += 0xfff + b>>13&1 // to nearest, ties to even; a carry into the exponent is right
	return sign | uint16(b>>13)
}
