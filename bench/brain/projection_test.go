package main

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestProjectionGradient compares the derivatives with differences of the loss.
func TestProjectionGradient(t *testing.T) {
	t.Parallel()

	r := rand.New(rand.NewPCG(1, 2))
	const dim = 12
	vector := func() []float32 {
		v, length := make([]float32, dim), 0.0
		for i := range v {
			x := r.NormFloat64()
			v[i], length = float32(x), length+x*x
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(length))
		}
		return v
	}
	for _, rank := range []int{0, 3} {
		p := newProjection(rank, dim, 1)
		for i := range p.at {
			p.at[i] += 0.1 * r.NormFloat64()
		}
		c := confusion{q: vector(), right: [][]float32{vector(), vector()}, others: [][]float32{vector(), vector(), vector()}}
		grad := make([]float64, len(p.at))
		p.loss(&c, grad)
		for k := range p.at {
			const h = 1e-6
			at := p.at[k]
			p.at[k] = at + h
			up := p.loss(&c, nil)
			p.at[k] = at - h
			down := p.loss(&c, nil)
			p.at[k] = at
			if want := (up - down) / (2 * h); math.Abs(grad[k]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("rank %d, number %d: derivative %v, by differences %v", rank, k, grad[k], want)
			}
		}
	}
}
