package trellis

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
)

// How a code is learnt.
const (
	unit       = 64       // steps to a standard deviation
	farthest   = 6 * unit // what lies farther out is taken for this
	sampleRows = 4000     // that the table is fitted to
	rounds     = 5        // of fitting
)

// Rows are n rows: row sets x to row i. It may be called from several goroutines at once.
type Rows struct {
	N   int
	Row func(x []float32, i int)
}

// Learn makes a code of so many bits a pair for rows of so many columns. It is a pure function of them, and takes some
// seconds. It fails with ErrCode.
func Learn(rows Rows, columns, bits int) (*Code, error) {
	if rows.N < 1 || columns < 2 || columns%2 != 0 || bits < LeastBits || bits > MostBits {
		return nil, fmt.Errorf("%w: %d rows of %d columns in %d bits a pair", ErrCode, rows.N, columns, bits)
	}
	c := &Code{
		bits: bits, table: make([]int16, 2*states), mean: make([]float32, columns), step: make([]float32, columns),
	}
	c.measure(rows)
	// Something like a normal distribution, to begin with: each value is the sum of eight bytes.
	r := rand.NewPCG(1, uint64(bits))
	for i := range c.table {
		sum := 0
		for v := r.Uint64(); v > 0; v >>= 8 {
			sum += int(v & 255)
		}
		const mean, deviation = 8 * 255 / 2, 209
		c.table[i] = int16((sum - mean) * unit / deviation)
	}
	n := min(rows.N, sampleRows)
	sample := Rows{N: n, Row: func(x []float32, i int) { rows.Row(x, int(int64(i)*int64(rows.N)/int64(n))) }}
	for range rounds {
		c.refit(sample)
	}
	return c, nil
}

// measure sets the means and the steps of columns.
func (c *Code) measure(rows Rows) {
	sum, squares, x := make([]float64, len(c.mean)), make([]float64, len(c.mean)), make([]float32, len(c.mean))
	for i := range rows.N {
		rows.Row(x, i)
		for j, v := range x {
			sum[j] += float64(v)
			squares[j] += float64(float64(v) * float64(v))
		}
	}
	for j := range c.mean {
		mean := sum[j] / float64(rows.N)
		variance := squares[j]/float64(rows.N) - float64(mean*mean)
		c.mean[j], c.step[j] = float32(mean), float32(math.Sqrt(max(variance, 0))/unit)
	}
}

// refit moves every entry to the mean of what it stands for in the rows.
func (c *Code) refit(rows Rows) {
	var sums [2 * states]int64
	var count [states]int64
	var mu sync.Mutex
	c.each(rows, func(_ int, s *search) {
		mu.Lock() // sums of integers, in whatever order
		defer mu.Unlock()
		for t, at := range s.path {
			count[at]++
			sums[2*at] += int64(s.x[2*t])
			sums[2*at+1] += int64(s.x[2*t+1])
		}
	})
	for i := range c.table {
		if n := count[i/2]; n > 0 {
			c.table[i] = int16(math.RoundToEven(float64(sums[i]) / float64(n)))
		}
	}
}

// Encode writes all rows, RowBytes each, and returns them with the share of the variance that is lost.
func (c *Code) Encode(rows Rows) (data []byte, lost float64) {
	size := RowBytes(len(c.mean), c.bits)
	data = make([]byte, rows.N*size)
	var mu sync.Mutex
	var errors, all int64
	c.each(rows, func(i int, s *search) {
		s.write(data[i*size:][:size], c.bits)
		mu.Lock()
		defer mu.Unlock()
		errors += s.errors(c)
		for _, v := range s.x {
			all += int64(v) * int64(v)
		}
	})
	return data, float64(errors) / float64(max(all, 1))
}

// each finds the best path of every row, on all processors, and calls f with it.
func (c *Code) each(rows Rows, f func(i int, s *search)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			s, x := newSearch(c), make([]float32, len(c.mean))
			for i := w; i < rows.N; i += workers {
				rows.Row(x, i)
				s.quantize(c, x)
				s.find(c)
				f(i, s)
			}
		})
	}
	wg.Wait()
}

// search is the room that the search for a row's path takes.
type search struct {
	x     []int32 // the row in steps
	table [states][2]int32
	cost  [states]uint32 // least sum of squares of a path that ends in a state
	best  []uint32       // of the states that lead to the same ones: the least cost, and in the lowest bits which it is
	from  []uint8        // [pairs][len(best)], which it was
	path  []uint16       // [pairs] states
}

func newSearch(c *Code) *search {
	pairs, groups := len(c.mean)/2, states>>c.bits
	s := &search{
		x: make([]int32, 2*pairs), path: make([]uint16, pairs),
		best: make([]uint32, groups), from: make([]uint8, pairs*groups),
	}
	for i := range s.table {
		s.table[i] = [2]int32{int32(c.table[2*i]), int32(c.table[2*i+1])}
	}
	return s
}

// quantize sets the row that is searched for.
func (s *search) quantize(c *Code, x []float32) {
	for i, v := range x {
		s.x[i] = 0
		if step := float64(c.step[i]); step > 0 {
			s.x[i] = int32(math.RoundToEven(min(max((float64(v)-float64(c.mean[i]))/step, -farthest), farthest)))
		}
	}
}

// unreached is the cost of states that no path leads to yet, restPairs after how many pairs costs begin at 0 again:
// with that they stay below 2^32 beside the number of a state. The costs of any two states differ by at most the
// squares of Window/LeastBits pairs, since every state leads to every other in as many.
const (
	unreached = 1 << 24
	restPairs = 16
)

// find finds the path with the least sum of squares.
func (s *search) find(c *Code) {
	bits, groups := c.bits, len(s.best)
	for i := range s.cost {
		s.cost[i] = unreached
	}
	s.cost[0] = 0
	pairs := len(s.path)
	for t := range pairs {
		if t%restPairs == 0 {
			s.rest()
		}
		s.step(s.from[t*groups:][:groups], bits, s.x[2*t], s.x[2*t+1])
	}
	state := 0
	for i, v := range s.cost {
		if v < s.cost[state] {
			state = i
		}
	}
	for t := pairs - 1; t >= 0; t-- {
		s.path[t] = uint16(state)
		group := state >> bits
		state = group | int(s.from[t*groups+group])<<(Window-bits)
	}
}

// rest takes the least cost from all.
func (s *search) rest() {
	least := s.cost[0]
	for _, v := range s.cost {
		least = min(least, v)
	}
	for i := range s.cost {
		s.cost[i] -= least
	}
}

// step goes one pair, a and b, further.
func (s *search) step(from []uint8, bits int, a, b int32) {
	best, each := s.best, 1<<bits
	for j := range each {
		cost := s.cost[j*len(best):][:len(best)]
		if j == 0 {
			for g, v := range cost {
				best[g] = v << bits
			}
			continue
		}
		for g, v := range cost {
			best[g] = min(best[g], v<<bits|uint32(j))
		}
	}
	for g, v := range best {
		from[g] = uint8(v & uint32(each-1))
		base, cost, entries := v>>bits, s.cost[g*each:][:each], s.table[g*each:][:each]
		for i, e := range entries {
			p, q := a-e[0], b-e[1]
			cost[i] = base + uint32(p*p+q*q)
		}
	}
}

// errors is the sum of squares of what the path leaves.
func (s *search) errors(c *Code) (sum int64) {
	for t, at := range s.path {
		p, q := int64(s.x[2*t])-int64(c.table[2*int(at)]), int64(s.x[2*t+1])-int64(c.table[2*int(at)+1])
		sum += p*p + q*q
	}
	return sum
}

// write writes the path's bits.
func (s *search) write(row []byte, bits int) {
	word, have, at := uint32(0), 0, 0
	for _, state := range s.path {
		word, have = word<<bits|uint32(state)&(1<<bits-1), have+bits
		if have >= 8 {
			have -= 8
			row[at] = byte(word >> have)
			at++
		}
	}
	if have > 0 {
		row[at] = byte(word << (8 - have))
	}
}
