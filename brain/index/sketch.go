package index

import (
	"encoding/binary"
	"math"
)

// A sketch holds two bits of each component of a row, a quarter of the row's
// bytes: the number l among -3, -1, 1 and 3 that its sign and size are nearest to,
// in units of half their root mean square. From them the product of a row x of
// length 1 with a query is estimated as q·x ≈ (q·l)/(x·l), which has no bias for
// rows in general position and a deviation of about 0.37/√dim (Gao et al., RaBitQ,
// 2024, with more bits). A search estimates all rows, and reads those that may be
// among the best.
//
// Sketches are made when a segment is built or opened, and never stored: that
// costs half a microsecond a row, and no version of the layout.
//
// The bits lie as the kernel looks them up (André, Kermarrec & Le Scouarnec, Cache
// locality is not enough, VLDB 2015): of 32 rows that follow each other, one of the
// bits of four components is 16 bytes, row r in the low and row r+16 in the high
// half of byte r. The upper bits of all components come first, then the lower ones.
// For each such group of four a table has the sums of all sixteen combinations, in
// a byte each, and one instruction looks up 32 rows.

const (
	// sketchRows is how many rows are looked up together.
	sketchRows = 32
	// sketchLeast is from how many chunks on a segment has a sketch. Below it the
	// rows themselves take less time than what the second pass would save; a segment
	// of 1,800 beside two large ones took 0.025 ms more without.
	sketchLeast = 512
	// sketchDoubt, divided by the root of the dimension, is how far below the bound
	// of selectRough an estimate may be for its row to be read: 1.6 deviations, 0.03
	// for 384 components. Of the hundred best that misses one in ten thousand, since
	// the bound itself is below the hundredth; 1.0 misses none and reads half as
	// many rows again, 0.4 misses one in three thousand (docs/retrieval.md).
	sketchDoubt = 0.6
)

// sketch is of all rows of a segment.
type sketch struct {
	codes []byte
	// inverse is 1/(x·l) for each row x of length 1, 0 for one without vector; up
	// to the end of the last block.
	inverse []float32
}

// tableLen is the length of a query's tables, and of the codes of sketchRows rows:
// 16 bytes for each of two bits of each four components.
func tableLen(stride int) int { return 8 * stride }

// newSketch makes the sketch of a segment; empty when it has too few rows.
func newSketch(s *Segment) sketch {
	n, w := s.Len(), stride(s.Dim())
	if n < sketchLeast || w == 0 {
		return sketch{}
	}
	blocks := (n + sketchRows - 1) / sketchRows
	k := sketch{codes: make([]byte, blocks*tableLen(w)), inverse: make([]float32, blocks*sketchRows)}
	raw := raw(s.vectors)
	for doc := range n {
		scale := s.scales[doc]
		if scale == 0 {
			continue
		}
		// The root mean square of a row of length 1, in units of its scale.
		middle := min(max(math.RoundToEven(1/(float64(scale)*math.Sqrt(float64(s.dim)))), 1), maxRow)
		codes := k.codes[doc/sketchRows*tableLen(w)+doc%16:][:tableLen(w)-15]
		sum := sketchRow(raw[doc*w:(doc+1)*w], uint8(middle), codes, doc%sketchRows/16*4)
		k.inverse[doc] = 1 / (scale * float32(sum))
	}
	return k
}

// sketchRow puts the bits of a row into the halves of every sixteenth byte of codes
// that shift says, and gives x·l. It takes eight components at a time, each in a
// byte of a word; no byte ever overflows into the next.
func sketchRow(row []byte, middle uint8, codes []byte, shift int) (sum int32) {
	const (
		ones   = 0x0101010101010101
		low    = 0x00ff00ff00ff00ff
		gather = 0x0102040810204080 // brings the lowest bits of eight bytes together
	)
	lower := 4 * len(row)
	for i := 0; i < len(row); i += 8 {
		x := binary.LittleEndian.Uint64(row[i:])
		negative := x >> 7 & ones
		// Minus a byte is its complement and one.
		size := (x ^ negative*0xff) + negative
		large := (size + uint64(128-middle)*ones) >> 7 & ones
		upper := byte((negative ^ ones) * gather >> 56)
		below := byte((negative ^ large) * gather >> 56)
		at := 4 * i
		codes[at] |= upper & 15 << shift
		codes[at+16] |= upper >> 4 << shift
		codes[lower+at] |= below & 15 << shift
		codes[lower+at+16] |= below >> 4 << shift
		// |x| of the small, three times |x| of the large.
		extra := size & (large * 0xff)
		pairs := size&low + size>>8&low + 2*(extra&low+extra>>8&low)
		sum += int32(pairs * 0x0001000100010001 >> 48)
	}
	return sum
}

// size is the memory it takes.
func (k *sketch) size() int { return len(k.codes) + 4*len(k.inverse) }

// lookup is a query as the kernel takes it: q·l of a row is step times the sum of
// its entries, less base.
type lookup struct {
	table      []byte
	step, base float32
}

// prepare makes the tables for the query, whose components times scale have
// length 1. With a row's upper and lower bits b and c, l = 4b + 2c - 3.
func (l *lookup) prepare(q []int16, scale float32) {
	if n := tableLen(len(q)); cap(l.table) < n {
		l.table = make([]byte, n)
	} else {
		l.table = l.table[:n]
	}
	var widest, total int32
	for j := 0; j < len(q); j += 4 {
		var sum int32
		for _, x := range q[j:][:4] {
			sum += max(int32(x), -int32(x))
		}
		widest = max(widest, sum)
		total += sum
	}
	// The sum of all entries, half of which are half as large and may be rounded
	// up, stays below 2¹⁶.
	groups := len(q) / 4
	most := int32(min(math.MaxUint8, (math.MaxUint16-groups)/(groups*3/2)))
	widest = max(widest, 1)
	upper, lower := l.table[:4*len(q)], l.table[4*len(q):]
	// most/widest with 40 bits behind the point: sums are below 2¹⁵ and most below
	// 2⁸, and a division for each of 3,000 entries took 10 µs.
	const point = 40
	factor, half := uint64(most)<<point/uint64(widest), uint64(1)<<(point-1)
	for j := 0; j < len(q); j += 4 {
		var least int32
		var sums [16]int32 // of the components whose bit is set
		for i, x := range q[j:][:4] {
			bit := 1 << i
			for v := range bit {
				sums[v|bit] = sums[v] + int32(x)
			}
			least -= min(int32(x), 0)
		}
		for v, sum := range sums {
			sum += least // 0 to widest
			upper[4*j+v] = byte((uint64(sum)*factor + half) >> point)
			lower[4*j+v] = byte((uint64(sum)*factor/2 + half) >> point)
		}
	}
	l.step = 4 * float32(widest) / float32(most) * scale
	l.base = 3 * float32(total) * scale
}

// sketchDotsPortable writes to out[i] the sum of the table's entries for the i-th
// of the rows whose codes follow each other, sketchRows in a block. All kernels
// give the same integers.
func sketchDotsPortable(table, codes []byte, out []uint16) {
	for b := 0; b < len(out); b += sketchRows {
		block, sums := codes[b/sketchRows*len(table):][:len(table)], out[b:][:sketchRows]
		clear(sums)
		for j := 0; j < len(table); j += 16 {
			t := table[j:][:16]
			for r, c := range block[j:][:16] {
				sums[r] += uint16(t[c&15])
				sums[r+16] += uint16(t[c>>4])
			}
		}
	}
}
