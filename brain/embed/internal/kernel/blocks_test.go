package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// blockOperands makes rows and a panel in blocks; in two of three everything is at its limit.
func blockOperands(r *rand.Rand, blocks, rows, lda int) (a []uint8, b []int16, steps []float32, cols Columns8) {
	a, b = make([]uint8, rows*lda), make([]int16, blocks*BlockWords)
	extreme := r.IntN(3) // 0: the least weights and largest inputs, 1: the largest of both, 2: anything
	limit := min(ScaleMax8, math.MaxInt32/(8*InputMax*MultiplierMax*BlockLen*blocks))
	for row := range rows {
		for n := range blocks {
			x := a[row*lda+n*InputBytes:][:InputBytes]
			for k := range BlockLen {
				if x[k] = inputZero + InputMax; extreme == 2 {
					x[k] = uint8(inputZero - InputMax + r.IntN(2*InputMax+1))
				} else if row%3 == 1 {
					x[k] = inputZero - InputMax
				}
			}
			m := MultiplierMax
			if extreme == 2 {
				m = 1 + r.IntN(MultiplierMax)
			}
			putMultiplier(x[BlockLen:], int32(m))
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
		}
	}
	for j := range Panel8 {
		cols.Scale[j], cols.Bias[j] = float32(r.NormFloat64()*1e-4), float32(r.NormFloat64())
	}
	steps = make([]float32, rows)
	for i := range steps {
		steps[i] = float32(r.NormFloat64() * 1e-2)
	}
	return a, b, steps, cols
}

func TestLinear8IsBitEqual(t *testing.T) {
	t.Parallel()
	for _, k := range vectorKernels(t) {
		r := rand.New(rand.NewPCG(8, 3))
		for range 90 {
			blocks := 1 + r.IntN(50) // up to more than four passes
			rows := 1 + r.IntN(20)
			lda, ldc := blocks*InputBytes+r.IntN(9), Panel8+r.IntN(9)
			a, b, steps, cols := blockOperands(r, blocks, rows, lda)
			got, want := make([]float32, rows*ldc), make([]float32, rows*ldc)
			scratch := make([]int32, Scratch8(rows))
			Portable{}.Linear8(want, ldc, a, lda, b, blocks, steps, &cols, scratch)
			for i := range scratch {
				scratch[i] = int32(r.Uint32())
			}
			k.Linear8(got, ldc, a, lda, b, blocks, steps, &cols, scratch)
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
		inputs, lda := blocks*BlockLen, blocks*InputBytes
		weights, scales := make([]int64, inputs*Panel8), make([]int64, inputs*Panel8)
		a, b, steps, cols := blockOperands(r, blocks, rows, lda)
		clear(b)
		limit := min(ScaleMax8, math.MaxInt32/(8*InputMax*MultiplierMax*int64(inputs)))
		for i := range weights {
			k, j := i/Panel8, i%Panel8
			weights[i] = int64(r.IntN(16)) - 8
			if scales[i] = r.Int64N(2*limit+1) - limit; k%BlockLen > 0 {
				scales[i] = scales[i-Panel8]
			}
			setNumber(b, j, k, uint8(weights[i]+8))
			b[ScalePlace(j, k)] = int16(scales[i])
		}
		c := make([]float32, rows*Panel8)
		Portable{}.Linear8(c, Panel8, a, lda, b, blocks, steps, &cols, make([]int32, Scratch8(rows)))
		for i, got := range c {
			row, j := a[i/Panel8*lda:], i%Panel8
			sum := int64(0)
			for k := range inputs {
				x := row[k/BlockLen*InputBytes:]
				sum += (int64(x[k%BlockLen]) - 128) * int64(x[BlockLen]) * weights[k*Panel8+j] * scales[k*Panel8+j]
			}
			if sum != int64(int32(sum)) {
				t.Fatalf("the sum %d leaves int32", sum)
			}
			if want := float32(float32(float32(sum)*steps[i/Panel8])*cols.Scale[j]) + cols.Bias[j]; got != want {
				t.Fatalf("%d blocks, row %d, output %d: %g, want %g", blocks, i/Panel8, j, got, want)
			}
		}
	}
}

// Every input comes back to within half a step of its block, and a block's step is not larger than its largest input,
// or a sixteenth of the row's largest, asks for.
func TestQuant8(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 5))
	for range 500 {
		x := floats(r, BlockLen*(1+r.IntN(50)), math.Pow(10, r.Float64()*8-4))
		largest := 0.0
		for i := range x {
			x[i] += float32(r.NormFloat64()) * x[0] // sometimes all on one side
			if i/BlockLen%3 == 1 {
				x[i] /= float32(1 + i)
			}
			if i/BlockLen == 4 {
				x[i] = 0
			}
			largest = max(largest, math.Abs(float64(x[i])))
		}
		q := make([]uint8, len(x)/BlockLen*InputBytes)
		step := Portable{}.Quant8(q, x)
		for n := range len(x) / BlockLen {
			in, block := q[n*InputBytes:][:InputBytes], x[n*BlockLen:][:BlockLen]
			m, most := float64(in[BlockLen]), 0.0
			for i, v := range block {
				back := (float64(in[i]) - 128) * m * float64(step)
				if math.Abs(back-float64(v)) > 0.51*m*float64(step) || in[i] == 0 {
					t.Fatalf("%g comes back as %g, a step is %g", v, back, m*float64(step))
				}
				most = max(most, math.Abs(float64(v)))
			}
			if room := 16 * most / largest; m < 1 || m > 16 || m > room+1.01 {
				t.Fatalf("a multiplier of %g where %g is the least", m, room)
			}
		}
		for _, k := range vectorKernels(t) {
			other := make([]uint8, len(q))
			if k.Quant8(other, x) != step || !slices.Equal(other, q) {
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
			for i := range numbers {
				numbers[i] = byte(r.Uint32())
				if o == 3 {
					numbers[i] = 0xff
				}
				setNumber(want, o, k+i, numbers[i]&15)
				setNumber(want, o, k+i+BlockLen/2, numbers[i]>>4)
			}
			SetBlock(got, o, k, &numbers)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("output %d: other numbers", o)
		}
	}
}
