package unigram

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// A trie over the bytes of the pieces as a double array whose rows are addressed by XOR (Aoe 1989; the layout follows
// darts-clone, S. Yata), in units of four bytes:
//
//	bits 0 to 7    the byte that leads here from the parent
//	bit 8          a piece ends here: its id is the unit at the base, with bit 31 set
//	bits 9 to 30   the base: the child for byte c is the unit at base XOR c
//
// No two nodes have one base, so that the byte alone tells whose child a unit is. No piece holds the byte 0, whose
// place in a row is the id's. A step costs one load and a piece needs neither a string nor a hash.
const (
	unitEnds   = 1 << 8
	unitValue  = 1 << 31
	unitLabel  = 0xff | unitValue // what must equal the byte that was followed
	unitFree   = ^uint32(0)       // leads nowhere: its bit 31 matches no byte
	baseShift  = 9
	maxUnits   = 1 << 22
	rowUnits   = 256
	rowsInHand = 16 // rows behind the last one are closed: what is free there stays free, and building stays linear
)

// trieBuilder places rows in units and keeps the free units of the last rows in a ring.
type trieBuilder struct {
	keys []string // sorted, distinct, not empty
	ids  []int32

	units      []uint32
	taken      []bool  // the unit is a node, or an id
	based      []bool  // the unit is the base of a row
	next, prev []int32 // ring of free units; of no meaning for others
	head       int32   // -1: none is free
}

// buildTrie returns the units of a trie in which keys[i] leads to ids[i].
func buildTrie(keys []string, ids []int32) ([]uint32, error) {
	b := &trieBuilder{keys: keys, ids: ids, head: -1}
	b.grow()
	b.take(0)
	b.units[0] = 0
	if len(keys) > 0 {
		b.place(0, 0, len(keys), 0)
	}
	if len(b.units) > maxUnits {
		return nil, fmt.Errorf("%w: a trie of %d units", ErrVocab, len(b.units))
	}
	return b.units, nil
}

// grow adds a row of free units and closes the oldest row in hand.
func (b *trieBuilder) grow() {
	begin := len(b.units)
	for i := begin; i < begin+rowUnits; i++ {
		b.units, b.taken, b.based = append(b.units, unitFree), append(b.taken, false), append(b.based, false)
		b.next, b.prev = append(b.next, 0), append(b.prev, 0)
		b.free(int32(i))
	}
	for i := begin - rowsInHand*rowUnits; i >= 0 && i < begin-(rowsInHand-1)*rowUnits; i++ {
		if !b.taken[i] {
			b.take(i)
		}
	}
}

// free adds a unit to the end of the ring.
func (b *trieBuilder) free(i int32) {
	if b.head < 0 {
		b.head, b.next[i], b.prev[i] = i, i, i
		return
	}
	last := b.prev[b.head]
	b.next[last], b.prev[i], b.next[i], b.prev[b.head] = i, last, b.head, i
}

// take removes a unit from the ring.
func (b *trieBuilder) take(i int) {
	b.taken[i] = true
	n, p := b.next[i], b.prev[i]
	b.next[p], b.prev[n] = n, p
	if b.head == int32(i) {
		if b.head = n; n == int32(i) {
			b.head = -1
		}
	}
}

// place gives the node a row for keys[from:to], which agree in their first depth bytes. It recurses as deep as the
// longest key.
func (b *trieBuilder) place(node, from, to, depth int) {
	var room [rowUnits]byte
	labels := room[:0]
	ends := len(b.keys[from]) == depth
	if ends {
		labels = append(labels, 0)
	}
	first := from
	if ends {
		first++
	}
	for i := first; i < to; i++ {
		if c := b.keys[i][depth]; i == first || c != b.keys[i-1][depth] {
			labels = append(labels, c)
		}
	}
	base := b.base(labels)
	b.based[base] = true
	b.units[node] |= uint32(base) << baseShift
	for _, c := range labels {
		b.take(base ^ int(c))
		b.units[base^int(c)] = uint32(c)
	}
	if ends {
		b.units[node] |= unitEnds
		b.units[base] = uint32(b.ids[from]) | unitValue
	}
	for first < to {
		c := b.keys[first][depth]
		end := first + sort.Search(to-first, func(i int) bool { return b.keys[first+i][depth] != c })
		b.place(base^int(c), first, end, depth+1)
		first = end
	}
}

// base finds a row in which the units of all labels are free.
func (b *trieBuilder) base(labels []byte) int {
	for {
		if b.head >= 0 {
			for i := b.head; ; {
				if base := int(i) ^ int(labels[0]); !b.based[base] && b.fits(base, labels) {
					return base
				}
				if i = b.next[i]; i == b.head {
					break
				}
			}
		}
		b.grow()
	}
}

func (b *trieBuilder) fits(base int, labels []byte) bool {
	for _, c := range labels {
		if b.taken[base^int(c)] {
			return false
		}
	}
	return true
}

// unit returns a unit of an encoded trie, or one that leads nowhere behind its end: a trie that was made to harm may
// point there.
func unit(trie []byte, i uint32) uint32 {
	if at := uint(i) * 4; at < uint(len(trie)) {
		return binary.LittleEndian.Uint32(trie[at : at+4 : at+4])
	}
	return unitFree
}
