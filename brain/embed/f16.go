package embed

import (
	"encoding/binary"
	"slices"

	"orgmem/brain/embed/internal/half"
)

// EncodeF16 appends the IEEE 754 half floats nearest to v, little-endian, ties to
// even. Values beyond 65504 become infinite; the components of a unit vector
// keep 11 bits.
func EncodeF16(dst []byte, v []float32) []byte {
	for _, x := range v {
		dst = binary.LittleEndian.AppendUint16(dst, half.From32(x))
	}
	return dst
}

// DecodeF16 appends the values of b, whose length is even.
func DecodeF16(dst []float32, b []byte) []float32 {
	from, n := len(dst), len(b)/2
	dst = slices.Grow(dst, n)[:from+n]
	for i := range dst[from:] {
		dst[from+i] = half.To32(binary.LittleEndian.Uint16(b[2*i:]))
	}
	return dst
}
