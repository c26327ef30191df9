package embed_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/embed"
)

func TestF16RoundTripsEveryHalf(t *testing.T) {
	for h := range 1 << 16 {
		b := []byte{byte(h), byte(h >> 8)}
		v := embed.DecodeF16(nil, b)
		if math.IsNaN(float64(v[0])) {
			if h&0x7c00 != 0x7c00 {
				t.Fatalf("%#04x decodes to NaN", h)
			}
			continue
		}
		if back := embed.EncodeF16(nil, v); back[0] != b[0] || back[1] != b[1] {
			t.Fatalf("%#04x decodes to %v, encodes to %#02x%02x", h, v[0], back[1], back[0])
		}
	}
}

func TestF16IsNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float32Range(-65000, 65000).Draw(t, "x")
		h := embed.EncodeF16(nil, []float32{x})
		got := float64(embed.DecodeF16(nil, h)[0])
		bits := uint16(h[0]) | uint16(h[1])<<8
		for _, d := range []int{-1, 1} {
			n := bits + uint16(d)
			if n&0x7fff > 0x7bff {
				continue
			}
			other := float64(embed.DecodeF16(nil, []byte{byte(n), byte(n >> 8)})[0])
			if math.Abs(other-float64(x)) < math.Abs(got-float64(x)) {
				t.Fatalf("%v becomes %v, %v is nearer", x, got, other)
			}
		}
	})
}
