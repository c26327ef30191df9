package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// blockOperands makes rows and a panel in blocks; in every third everything is at its limit.
func blockOperands(r *rand.Rand, blocks, rows, lda int) (a []uint8, b []int16, terms []Row, cols Columns8) {
	a, b = make([]uint8, rows*lda), make([]int16, blocks*BlockWords)
	extreme := r.IntN(3) // 0: the least weights and largest inputs, 1: the largest of both, 2: anything
	limit := ScaleMax8(blocks * BlockLen)
	for i := range a {
		if a[i] = MaxUint8; extreme == 2 {
			a[i] = uint8(r.IntN(MaxUint8 + 1))
		}
	}
	for k := range blocks * BlockLen {
		for j := range Panel8 {
			number := uint8(r.IntN(16))
			if extreme < 2 {
				number = uint8(15 * extreme)
			}
			setNumber(b, j, k, number)
			if k%BlockLen == 0 {
				s := int16(limit)
				if extreme == 2 {
					s = int16(r.IntN(2*limit+1) - limit)
				}
				b[ScalePlace(j, k)] = s
			}
			cols.Sum[j] += int32(b[ScalePlace(j, k)]) * int32(int(number)-8)
		}
	}
	for j := range Panel8 {
		cols.Scale[j], cols.Bias[j] = float32(r.NormFloat64()*1e-4), float32(r.NormFloat64())
	}
	terms = make([]Row, rows)
	for i := range terms {
		terms[i] = Row{Scale: float32(r.NormFloat64() * 1e-2), Zero: int32(-r.IntN(MaxUint8 + 1))}
	}
	return a, b, terms, cols
}

func TestLinear8IsBitEqual(t *testing.T) {
	t.Parallel()
	for _, k := range vectorKernels(t) {
		r := rand.New(rand.NewPCG(8, 3))
		for range 90 {
			blocks := 1 + r.IntN(50) // up to more than four passes
			rows := 1 + r.IntN(20)
			lda, ldc := blocks*BlockLen+r.IntN(9), Panel8+r.IntN(9)
			a, b, terms, cols := blockOperands(r, blocks, rows, lda)
			got, want := make([]float32, rows*ldc), make([]float32, rows*ldc)
			scratch := make([]int32, Scratch8(rows))
			Portable{}.Linear8(want, ldc, a, lda, b, blocks, terms, &cols, scratch)
			for i := range scratch {
				scratch[i] = int32(r.Uint32())
			}
			k.Linear8(got, ldc, a, lda, b, blocks, terms, &cols, scratch)
			sameBits(t, k.Name()+" linear8", got, want)
		}
	}
}

// The portable kernel against the definition, in integers that cannot overflow.
func TestLinear8IsWhatItSays(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 4))
	const rows = 3
	for _, blocks := range []int{1, 5, 48} {
		inputs := blocks * BlockLen
		weights, scales := make([]int64, inputs*Panel8), make([]int64, inputs*Panel8)
		a, b, terms, cols := blockOperands(r, blocks, rows, inputs)
		clear(b)
		cols.Sum = [Panel8]int32{}
		limit := int64(ScaleMax8(inputs))
		for i := range weights {
			k, j := i/Panel8, i%Panel8
			weights[i] = int64(r.IntN(16)) - 8
			if scales[i] = r.Int64N(2*limit+1) - limit; k%BlockLen > 0 {
				scales[i] = scales[i-Panel8]
			}
			setNumber(b, j, k, uint8(weights[i]+8))
			b[ScalePlace(j, k)] = int16(scales[i])
			cols.Sum[j] += int32(weights[i] * scales[i])
		}
		c := make([]float32, rows*Panel8)
		Portable{}.Linear8(c, Panel8, a, inputs, b, blocks, terms, &cols, make([]int32, Scratch8(rows)))
		for i, got := range c {
			row, j := terms[i/Panel8], i%Panel8
			sum := int64(0)
			for k := range inputs {
				sum += (int64(a[i/Panel8*inputs+k]) + int64(row.Zero)) * weights[k*Panel8+j] * scales[k*Panel8+j]
			}
			if sum != int64(int32(sum)) {
				t.Fatalf("the sum %d leaves int32", sum)
			}
			if want := float32(float32(float32(sum)*row.Scale)*cols.Scale[j]) + cols.Bias[j]; got != want {
				t.Fatalf("%d blocks, row %d, output %d: %g, want %g", blocks, i/Panel8, j, got, want)
			}
		}
	}
}

func TestQuantRow8(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 5))
	for range 500 {
		x := floats(r, 32*(1+r.IntN(5)), math.Pow(10, r.Float64()*8-4))
		for i := range x {
			x[i] += float32(r.NormFloat64()) * x[0] // sometimes all on one side
		}
		q := make([]uint8, len(x))
		lo, hi := Portable{}.Range(x)
		row := QuantRow8(Portable{}, q, x, lo, hi)
		for i, u := range q {
			back := float64(int32(u)+row.Zero) * float64(row.Scale)
			if math.Abs(back-float64(x[i])) > 0.51*float64(row.Scale) {
				t.Fatalf("%g comes back as %g, a step is %g", x[i], back, row.Scale)
			}
		}
		if row.Zero > 0 || row.Zero < -MaxUint8 {
			t.Fatalf("%+v", row)
		}
		for _, k := range vectorKernels(t) {
			other := make([]uint8, len(x))
			if QuantRow8(k, other, x, lo, hi) != row || !slices.Equal(other, q) {
				t.Fatalf("%s quant8 differs", k.Name())
			}
		}
	}
}

// setNumber puts the number of output o and input k into a panel of blocks, where 0
// is what has not been set.
func setNumber(panel []int16, o, k int, number uint8) {
	in := k % BlockLen
	at := k/BlockLen*2*BlockWords + 128*(in/8) + 64*(o/16) + 4*(o%16) + in%4
	shift := 8*(at%2) + in/4%2*4
	panel[at/2] |= int16(uint16(number) << shift)
}

// A block at once is its numbers one by one.
func TestSetBlock(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(41, 42))
	for o := range Panel8 {
		want, got := make([]int16, 2*BlockWords), make([]int16, 2*BlockWords)
		for k := 0; k < 2*BlockLen; k += BlockLen {
			var numbers [BlockLen / 2]byte
			sum := int32(0)
			for i := range numbers {
				numbers[i] = byte(r.Uint32())
				if o == 3 {
					numbers[i] = 0xff
				}
				setNumber(want, o, k+i, numbers[i]&15)
				setNumber(want, o, k+i+BlockLen/2, numbers[i]>>4)
				sum += int32(numbers[i]&15) + int32(numbers[i]>>4) - 16
			}
			if s := SetBlock(got, o, k, &numbers); s != sum {
				t.Fatalf("output %d: a sum of %d, want %d", o, s, sum)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("output %d: other numbers", o)
		}
	}
}
