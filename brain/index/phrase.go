package index

import (
	"math/bits"

	"orgmem/brain/text"
)

// A phrase is two words of the query that follow each other in a passage too.
// The words of each chunk are kept in order, a byte for each: a byte is enough,
// since both of a pair must agree, side by side. In a passage of 100 words a
// pair that is not there is seen with probability 100/255², and then adds a
// fraction of PhraseWeight. Two bytes would cost another 100 bytes per chunk.

// maxSequence bounds the words kept of a chunk; chunks have a few hundred.
const maxSequence = 4096

// maxPairs bounds the pairs of a query: one bit each in a word.
const maxPairs = 64

// wordByte is what is kept of a word; 0 is for a break.
func wordByte(t text.Term) byte {
	if t == text.Break {
		return 0
	}
	return byte(uint64(t)>>32%255) + 1
}

func appendSequence(dst []byte, ts []text.Term) []byte {
	for _, t := range ts[:min(len(ts), maxSequence)] {
		dst = append(dst, wordByte(t))
	}
	return dst
}

// sequence gives the word bytes of a chunk.
func (s *Segment) sequence(doc int) []byte { return s.wordSeqs[s.seqOff[doc]:s.seqOff[doc+1]] }

// phrases are the adjacent pairs of a query.
type phrases struct {
	// first[b] and second[b] are the pairs whose first or second word may be b.
	first, second [256]uint64
	weights       [maxPairs]float32
	total         float32
	n             int
}

// add takes the next pair.
func (p *phrases) add(a, b []text.Term, weight float32) {
	if p.n == maxPairs {
		return
	}
	for _, t := range a {
		p.first[wordByte(t)] |= 1 << p.n
	}
	for _, t := range b {
		p.second[wordByte(t)] |= 1 << p.n
	}
	p.weights[p.n] = weight
	p.total += weight
	p.n++
}

func (p *phrases) reset() {
	if p.n > 0 {
		clear(p.first[:])
		clear(p.second[:])
		p.n, p.total = 0, 0
	}
}

// share is the weight of the pairs in a sequence, of all pairs: 0 to 1.
func (p *phrases) share(seq []byte) float32 {
	if p.total <= 0 {
		return 0
	}
	var seen, before uint64
	for _, b := range seq {
		seen |= before & p.second[b]
		before = p.first[b]
	}
	var sum float32
	for ; seen != 0; seen &= seen - 1 {
		sum += p.weights[bits.TrailingZeros64(seen)]
	}
	return sum / p.total
}
