package index

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// bitset is a set of chunks of a segment. A published one never changes; nil is
// the empty set.
type bitset struct {
	words []uint64
	count int
}

func (b *bitset) has(doc int) bool {
	return b != nil && b.words[doc>>6]>>(doc&63)&1 != 0
}

func (b *bitset) len() int {
	if b == nil {
		return 0
	}
	return b.count
}

// word gives 64 chunks at once.
func (b *bitset) word(i int) uint64 {
	if b == nil {
		return 0
	}
	return b.words[i]
}

// edit is a change of a bitset that copies it at the first real difference.
type edit struct {
	old  *bitset
	new  *bitset
	size int // chunks
}

func (e *edit) set(doc int, on bool) {
	cur := e.old
	if e.new != nil {
		cur = e.new
	}
	if cur.has(doc) == on {
		return
	}
	if e.new == nil {
		e.new = &bitset{words: make([]uint64, (e.size+63)/64)}
		if e.old != nil {
			copy(e.new.words, e.old.words)
			e.new.count = e.old.count
		}
	}
	e.new.words[doc>>6] ^= 1 << (doc & 63)
	if on {
		e.new.count++
	} else {
		e.new.count--
	}
}

// result is the set after the edit, nil when empty.
func (e *edit) result() *bitset {
	b := e.old
	if e.new != nil {
		b = e.new
	}
	if b.len() == 0 {
		return nil
	}
	return b
}

// append appends the set to dst: the count as a uvarint, then the words unless it is 0.
func (b *bitset) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(b.len()))
	if b.len() == 0 {
		return dst
	}
	for _, w := range b.words {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// readSet reads a set of chunks below n.
func readSet(src []byte, n int) (*bitset, []byte, error) {
	count, k := binary.Uvarint(src)
	if k <= 0 || count > uint64(n) {
		return nil, nil, fmt.Errorf("liveness count: %w", ErrCorrupt)
	}
	src = src[k:]
	if count == 0 {
		return nil, src, nil
	}
	words := (n + 63) / 64
	if len(src) < 8*words {
		return nil, nil, fmt.Errorf("liveness of %d bytes: %w", len(src), ErrCorrupt)
	}
	b := &bitset{words: make([]uint64, words)}
	for i := range b.words {
		b.words[i] = binary.LittleEndian.Uint64(src[8*i:])
		b.count += bits.OnesCount64(b.words[i])
	}
	if r := n & 63; uint64(b.count) != count || r != 0 && b.words[words-1]>>r != 0 {
		return nil, nil, fmt.Errorf("liveness bits: %w", ErrCorrupt)
	}
	return b, src[8*words:], nil
}
