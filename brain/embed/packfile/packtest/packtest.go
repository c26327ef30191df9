// Package packtest makes small weights for tests, of the real shape and of chance: quick under the race detector.
package packtest

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"

	"orgmem/brain/embed/internal/half"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/trellis"
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

// InBlocks makes a header and its weights those of four bits.
func InBlocks(h *packfile.Header, w *packfile.Weights) {
	h.WeightBits, h.WordBits = 4, 4
	w.Words, w.Blocks = nil, blocks(w.Words)
	for i := range w.Layers {
		l := &w.Layers[i]
		for _, m := range []*packfile.Linear{&l.Query, &l.Key, &l.Value, &l.Output, &l.Up, &l.Down} {
			m.W, m.Blocks = nil, blocks(m.W)
		}
	}
}

// InTiers makes the words of a header and weights in blocks those of three tiers, which have a third of them each.
func InTiers(h *packfile.Header, w *packfile.Weights) error {
	size := packfile.BlocksLen(h.Dim)
	n := len(w.Blocks) / size
	h.Tiers = []packfile.Tier{{Pieces: n / 3}, {Pieces: n / 3, PairBits: 4}, {Pieces: n - n/3*2, PairBits: 3}}
	rest := w.Blocks[n/3*size:]
	w.Blocks = w.Blocks[: n/3*size : n/3*size]
	for _, t := range h.Tiers[1:] {
		blocks := rest
		rows := trellis.Rows{
			N: t.Pieces, Row: func(x []float32, i int) { packfile.FillFromBlocks(x, blocks[i*size:]) },
		}
		code, err := trellis.Learn(rows, h.Dim, t.PairBits)
		if err != nil {
			return err
		}
		data, _ := code.Encode(rows)
		w.Coded = append(w.Coded, packfile.Coded{Code: code, Rows: data})
		rest = rest[t.Pieces*size:]
	}
	return nil
}

// blocks rounds x: each block's largest weight is 8 steps on the side where there are 8.
func blocks(x []float32) (out []byte) {
	for ; len(x) > 0; x = x[packfile.BlockLen:] {
		largest := float32(0)
		for _, v := range x[:packfile.BlockLen] {
			if v*v > largest*largest {
				largest = v
			}
		}
		scale := half.From32(largest / -8)
		out = binary.LittleEndian.AppendUint16(out, scale)
		number := func(v float32) byte {
			if half.To32(scale) == 0 {
				return 8
			}
			return byte(min(max(v/half.To32(scale)+8.5, 0), 15))
		}
		for i := range packfile.BlockLen / 2 {
			out = append(out, number(x[i])|number(x[i+packfile.BlockLen/2])<<4)
		}
	}
	return out
}
