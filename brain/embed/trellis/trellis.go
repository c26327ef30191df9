// Package trellis stores rows of numbers, such as the vectors of rare words, in 1.5 to 3 bits a number.
//
// A row is a sequence of pairs, and each pair adds a few bits to what was read before. The last Window bits name an
// entry of a table of pairs, so that an entry of 1,024 is chosen with three or four bits: which ones can be next
// depends on those before, and the encoder looks for the best path through all of them (Viterbi 1967). It is the
// bit-shift trellis of QTIP (Tseng and others, 2024) with a table that is learnt. Of rows that are as good as normally
// distributed and whose columns are independent, 4 bits a pair leave .081 of the variance as error, where four numbers
// to a byte leave .096 and nothing can leave less than .063; 3 bits leave .15. A window of twelve bits would leave
// .076, for four times the search.
//
// Everything that is learnt is computed in whole numbers or in float64 with every product rounded, so that the same
// rows give the same bytes on every machine.
package trellis

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits of a code.
const (
	// Window is how many bits name an entry of the table.
	Window = 10
	// LeastBits is the least that a pair may have.
	LeastBits = 2
	// MostBits is the most that a pair may have.
	MostBits = 6

	states = 1 << Window
)

// ErrCode reports a code, or rows, that cannot be one.
var ErrCode = errors.New("trellis: bad code")

// Code is what rows are read with. It is immutable and safe for concurrent use.
type Code struct {
	bits       int
	table      []int16   // [states][2], in steps
	mean, step []float32 // [columns]
}

// Bits is what a pair of numbers takes.
func (c *Code) Bits() int { return c.bits }

// Columns is how many numbers a row has.
func (c *Code) Columns() int { return len(c.mean) }

// RowBytes is the length of a row of so many columns with so many bits a pair.
func RowBytes(columns, bits int) int { return (columns/2*bits + 7) / 8 }

// size is the length of a code in a file.
func size(columns int) int { return 2*2*states + 2*4*columns }

// Append adds the code to b as Open reads it, little endian: the table, two int16 an entry, then for each column the
// mean and the step, float32.
func (c *Code) Append(b []byte) []byte {
	for _, v := range c.table {
		b = binary.LittleEndian.AppendUint16(b, uint16(v))
	}
	for i := range c.mean {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.mean[i]))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(c.step[i]))
	}
	return b
}

// Open reads a code of so many bits a pair for rows of so many columns. It fails with ErrCode.
func Open(data []byte, columns, bits int) (*Code, error) {
	if columns < 2 || columns%2 != 0 || bits < LeastBits || bits > MostBits || len(data) != size(columns) {
		return nil, fmt.Errorf("%w: %d bytes for %d columns and %d bits a pair", ErrCode, len(data), columns, bits)
	}
	c := &Code{
		bits: bits, table: make([]int16, 2*states), mean: make([]float32, columns), step: make([]float32, columns),
	}
	for i := range c.table {
		c.table[i] = int16(binary.LittleEndian.Uint16(data[2*i:]))
	}
	data = data[2*len(c.table):]
	for i := range columns {
		c.mean[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[8*i:]))
		c.step[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[8*i+4:]))
		if sum := float64(c.mean[i]) + float64(c.step[i]); math.IsNaN(sum) || math.IsInf(sum, 0) {
			return nil, fmt.Errorf("%w: column %d lies at %g in steps of %g", ErrCode, i, c.mean[i], c.step[i])
		}
	}
	return c, nil
}

// Decode sets x, which has Columns values, to what a row of RowBytes bytes stands for. It costs about 0.5 µs.
func (c *Code) Decode(x []float32, row []byte) {
	x, mean, step := x[:len(c.mean)], c.mean, c.step[:len(c.mean)]
	mask := uint32(1)<<c.bits - 1
	state, read, have := uint32(0), uint32(0), 0
	for i := 0; i+1 < len(x); i += 2 {
		if have < c.bits {
			read, row = read<<8|uint32(row[0]), row[1:]
			have += 8
		}
		have -= c.bits
		state = (state<<c.bits | read>>have&mask) & (states - 1)
		x[i] = float32(float32(c.table[2*state])*step[i]) + mean[i]
		x[i+1] = float32(float32(c.table[2*state+1])*step[i+1]) + mean[i+1]
	}
}
