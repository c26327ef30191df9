// Package packtest makes small weights for tests, of the real shape and of chance: quick under the race detector.
package packtest

import (
	"math/rand/v2"
	"strings"

	"orgmem/brain/embed/packfile"
)

// Chance draws parts of a model, the same for a seed.
type Chance struct{ r *rand.Rand }

// New returns a source of parts.
func New(seed uint64) Chance {
	return Chance{rand.New(rand.NewPCG(seed, 12))} //nolint:gosec // to be repeatable is the point
}

// Values are n numbers around 0.
func (c Chance) Values(n int, spread float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(c.r.NormFloat64() * spread)
	}
	return x
}

// Linear is a dense layer.
func (c Chance) Linear(in, out int) packfile.Linear {
	return packfile.Linear{W: c.Values(in*out, 0.15), B: c.Values(out, 0.1)}
}

// Norm is a layer norm that changes little.
func (c Chance) Norm(dim int) packfile.Norm {
	n := packfile.Norm{Gamma: c.Values(dim, 0.1), Beta: c.Values(dim, 0.1)}
	for i := range n.Gamma {
		n.Gamma[i]++
	}
	return n
}

// Weights are a whole model with the shape of h.
func (c Chance) Weights(h packfile.Header, vocabulary []string) packfile.Weights {
	w := packfile.Weights{
		Vocab:     strings.Join(vocabulary, "\n") + "\n",
		Words:     c.Values(len(vocabulary)*h.Dim, 1),
		Positions: c.Values(h.MaxTokens*h.Dim, 0.3),
		TokenType: c.Values(h.Dim, 0.3),
		Norm:      c.Norm(h.Dim),
	}
	for range h.Layers {
		w.Layers = append(w.Layers, packfile.Layer{
			Query: c.Linear(h.Dim, h.Dim), Key: c.Linear(h.Dim, h.Dim), Value: c.Linear(h.Dim, h.Dim),
			Output: c.Linear(h.Dim, h.Dim), AfterAttention: c.Norm(h.Dim),
			Up: c.Linear(h.Dim, h.FFN), Down: c.Linear(h.FFN, h.Dim), AfterFFN: c.Norm(h.Dim),
		})
	}
	return w
}
