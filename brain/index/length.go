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

// brevityWords is how many words bring brevity down to 1/e.
const brevityWords = 8

// brevity gives, of each code, how short a chunk is: exp(-words/brevityWords). Function words are no words here, as
// everywhere in lengths.
var brevity = func() (t [256]float32) {
	for c := range t {
		t[c] = float32(math.Exp(-float64(lengths[c]) / brevityWords))
	}
	return t
}()

// brevity tells how short a chunk is.
func (s *Segment) brevity(doc int32) float32 { return brevity[s.lens[doc]] }

// lengthCode gives the code nearest to a length in words.
func lengthCode(words uint32) uint8 {
	if words < exactLength {
		return uint8(words)
	}
	c := exactLength + math.Round(lengthSteps*math.Log2(float64(words)/exactLength))
	return uint8(min(c, 255))
}
