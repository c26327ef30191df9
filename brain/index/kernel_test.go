package index

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, MaxDim/rowAlign).Draw(t, "blocks") * rowAlign
		n := rapid.IntRange(0, 9).Draw(t, "rows")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		extreme := rapid.Bool().Draw(t, "extreme")
		q, rows := make([]int16, dim), make([]int8, dim*n)
		for i := range q {
			q[i] = int16(r.IntN(2*maxQuery+1) - maxQuery)
			if extreme {
				q[i] = maxQuery
			}
		}
		for i := range rows {
			rows[i] = int8(r.IntN(2*maxRow+1) - maxRow)
			if extreme {
				rows[i] = -maxRow
			}
		}
		a, b := make([]int32, n), make([]int32, n)
		dotRows(q, rows, a)
		dotRowsPortable(q, rows, b)
		if !slices.Equal(a, b) {
			t.Fatalf("%v\n%v", a, b)
		}
		for i := range b {
			var want int64
			for k := range q {
				want += int64(q[k]) * int64(rows[i*dim+k])
			}
			if int64(b[i]) != want {
				t.Fatalf("row %d: %d, want %d", i, b[i], want)
			}
		}
	})
}

func BenchmarkDotRows(b *testing.B) {
	const dim = 384
	for _, n := range []int{1000, 10_000, 100_000} {
		q, rows, out := make([]int16, dim), make([]int8, dim*n), make([]int32, n)
		for i := range rows {
			rows[i] = int8(i)
		}
		b.Run(itoa(n), func(b *testing.B) {
			b.SetBytes(int64(len(rows)))
			for b.Loop() {
				dotRows(q, rows, out)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		})
	}
}

func itoa(n int) string {
	if n >= 1000 {
		return itoa(n/1000) + "k"
	}
	return string(rune('0'+n/100)) + string(rune('0'+n/10%10)) + string(rune('0'+n%10))
}

func TestAboveKernelsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, scanBlock).Draw(t, "n")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		kw, vec := make([]float32, n), make([]float32, n)
		for i := range kw {
			kw[i], vec[i] = float32(r.IntN(8))/8, float32(r.IntN(16)-8)/8 // many are equal to least
		}
		weight := rapid.SampledFrom([]float32{0, 1, 1.33}).Draw(t, "weight")
		least := rapid.SampledFrom([]float32{float32(math.Inf(-1)), -0.5, 0, 0.5, 1, 9}).Draw(t, "least")
		a := slices.Clone(above(make([]int32, scanBlock), kw, vec, weight, least))
		b := abovePortable(make([]int32, scanBlock), kw, vec, weight, least)
		if !slices.Equal(a, b) {
			t.Fatalf("%v\n%v", a, b)
		}
		for i := range kw {
			if slices.Contains(b, int32(i)) != (float32(weight*kw[i])+vec[i] >= least) {
				t.Fatalf("place %d: %v", i, b)
			}
		}
	})
}
