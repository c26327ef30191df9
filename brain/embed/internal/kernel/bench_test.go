package kernel

import (
	"fmt"
	"testing"
)

// BenchmarkLinear reports the rate of a whole weight matrix at the shapes of a
// short query and of a batch.
func BenchmarkLinear(b *testing.B) {
	for _, k := range Available() {
		for _, s := range []struct{ m, k, n int }{{16, 384, 1536}, {100, 384, 1152}, {100, 384, 1536}, {100, 1536, 384}} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", k.Name(), s.m, s.k, s.n), func(b *testing.B) {
				a, w := make([]int16, s.m*s.k), make([]int16, s.n*s.k)
				for i := range a {
					a[i] = int16(i % 1024)
				}
				for i := range w {
					w[i] = int16(i % (WeightMax + 1))
				}
				c := make([]float32, s.m*s.n)
				rows, sums, cols := make([]Row, s.m), make([]int32, s.m*Panel), Columns{}
				for b.Loop() {
					for p := 0; p < s.n; p += Panel {
						k.Linear(c[p:], s.n, a, s.k, w[p*s.k:][:Panel*s.k], s.k/2, rows, &cols, sums)
					}
				}
				macs := float64(s.m) * float64(s.k) * float64(s.n) * float64(b.N)
				b.ReportMetric(macs/b.Elapsed().Seconds()/1e9, "GMAC/s")
			})
		}
	}
}

func BenchmarkFloatPasses(b *testing.B) {
	for _, k := range Available() {
		x, y := make([]float32, 1536), make([]float32, 1536)
		q := make([]int16, 3072)
		for i := range x {
			x[i], y[i] = float32(i%17)-8, 1
		}
		b.Run(k.Name()+"/gelu1536", func(b *testing.B) {
			g := make([]float32, len(x))
			for b.Loop() {
				copy(g, x) // a second time would meet smaller and smaller numbers
				k.Gelu(g)
			}
		})
		b.Run(k.Name()+"/quant1536", func(b *testing.B) {
			for b.Loop() {
				k.Quant(q, x, 100, -800)
			}
		})
		b.Run(k.Name()+"/quant8-1536", func(b *testing.B) {
			to := make([]uint8, len(x)/BlockLen*InputBytes)
			for b.Loop() {
				k.Quant8(to, x)
			}
		})
		b.Run(k.Name()+"/addnorm384", func(b *testing.B) {
			for b.Loop() {
				k.AddNorm(x[:384], y[:384], y[:384], y[:384], 1e-12)
			}
		})
		b.Run(k.Name()+"/softmax12x112", func(b *testing.B) {
			for b.Loop() {
				k.Softmax(q, y[:12*112], 112)
			}
		})
		b.Run(k.Name()+"/quantheads384", func(b *testing.B) {
			for b.Loop() {
				k.QuantHeads(q, y, 1, x[:384], 8191, 1)
			}
		})
	}
}

// BenchmarkLinear8 is BenchmarkLinear with weights in blocks.
func BenchmarkLinear8(b *testing.B) {
	for _, k := range Available() {
		for _, s := range []struct{ m, k, n int }{{16, 384, 1536}, {100, 384, 1152}, {100, 384, 1536}, {100, 1536, 384}} {
			b.Run(fmt.Sprintf("%s/%dx%dx%d", k.Name(), s.m, s.k, s.n), func(b *testing.B) {
				blocks := s.k / BlockLen
				lda := blocks * InputBytes
				a, w := make([]uint8, s.m*lda), make([]int16, s.n/Panel8*blocks*BlockWords)
				for i := range a {
					a[i] = 1 + uint8(i)%16
				}
				for i := range w {
					w[i] = int16(i % 511)
				}
				c := make([]float32, s.m*s.n)
				steps, scratch, cols := make([]float32, s.m), make([]int32, Scratch8(s.m)), Columns8{}
				for b.Loop() {
					for p := 0; p < s.n; p += Panel8 {
						k.Linear8(c[p:], s.n, a, lda, w[p/Panel8*blocks*BlockWords:], blocks, steps, &cols, scratch)
					}
				}
				macs := float64(s.m) * float64(s.k) * float64(s.n) * float64(b.N)
				b.ReportMetric(macs/b.Elapsed().Seconds()/1e9, "GMAC/s")
			})
		}
	}
}
