package index

import "math"

// heap holds the rank keys of the best chunks, the worst of them first.
type heap []uint64

// least is the score below which nothing enters the heap.
func (h heap) least(n int) float32 {
	if len(h) < n {
		return float32(math.Inf(-1))
	}
	return keyScore(h[0])
}

// offer puts a key into the heap of at most n.
func (h *heap) offer(key uint64, n int) {
	keys := *h
	if len(keys) < n {
		keys = append(keys, key)
		i := len(keys) - 1
		for i > 0 && keys[(i-1)/2] > key {
			keys[i] = keys[(i-1)/2]
			i = (i - 1) / 2
		}
		keys[i] = key
		*h = keys
		return
	}
	if key < keys[0] {
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(keys) {
			break
		}
		if down+1 < len(keys) && keys[down+1] < keys[down] {
			down++
		}
		if keys[down] >= key {
			break
		}
		keys[i] = keys[down]
		i = down
	}
	keys[i] = key
}

// rankKey packs a score and the place of a chunk among all into a number that is
// greater for a better chunk: of two with one score, the first. One comparison
// of integers then does for the heap.
func rankKey(score float32, at int) uint64 {
	b := math.Float32bits(score)
	if b>>31 != 0 {
		b = ^b
	} else {
		b |= 1 << 31
	}
	return uint64(b)<<32 | uint64(^uint32(at))
}

// keyScore unpacks the score.
func keyScore(key uint64) float32 {
	b := uint32(key >> 32)
	if b>>31 != 0 {
		b &^= 1 << 31
	} else {
		b = ^b
	}
	return math.Float32frombits(b)
}
