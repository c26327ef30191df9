package embed

import (
	"math/rand/v2"
	"strings"
	"testing"

	"orgmem/brain/embed/packfile"
)

// tinyWords is the vocabulary of the tiny model; ids are line numbers.
var tinyWords = strings.Fields(`[PAD] [UNK] [CLS] [SEP] the a plan budget tea water meeting moved late ask find
	##s ##ing . , : question old new key train archive office release noon monday`)

const (
	tinyCLS = 2
	tinySEP = 3
	tinyMax = 120
)

func tinyHeader() packfile.Header {
	return packfile.Header{
		Name: "tiny", Layers: 2, Dim: 64, Heads: 2, FFN: 160, MaxTokens: tinyMax, Epsilon: 1e-12,
		Pooling: packfile.PoolMean, Tokenizer: packfile.TokenizerWordPiece, CLS: tinyCLS, SEP: tinySEP,
	}
}

// tinyPack is a model of the real architecture with random weights: small
// enough that the portable kernels run it under the race detector.
func tinyPack(t testing.TB, h packfile.Header) []byte {
	t.Helper()
	pack, err := packfile.Build(h, tinyWeights(t, h, 11))
	if err != nil {
		t.Fatal(err)
	}
	return pack
}

// tinyWeights are random ones of that shape.
func tinyWeights(t testing.TB, h packfile.Header, seed uint64) packfile.Weights {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 12))
	values := func(n int, spread float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64() * spread)
		}
		return x
	}
	linear := func(in, out int) packfile.Linear {
		return packfile.Linear{W: values(in*out, 0.15), B: values(out, 0.1)}
	}
	norm := func() packfile.Norm {
		n := packfile.Norm{Gamma: values(h.Dim, 0.1), Beta: values(h.Dim, 0.1)}
		for i := range n.Gamma {
			n.Gamma[i]++
		}
		return n
	}
	w := packfile.Weights{
		Vocab:     strings.Join(tinyWords, "\n") + "\n",
		Words:     values(len(tinyWords)*h.Dim, 1),
		Positions: values(h.MaxTokens*h.Dim, 0.3),
		TokenType: values(h.Dim, 0.3),
		Norm:      norm(),
	}
	for range h.Layers {
		w.Layers = append(w.Layers, packfile.Layer{
			Query: linear(h.Dim, h.Dim), Key: linear(h.Dim, h.Dim), Value: linear(h.Dim, h.Dim),
			Output: linear(h.Dim, h.Dim), AfterAttention: norm(),
			Up: linear(h.Dim, h.FFN), Down: linear(h.FFN, h.Dim), AfterFFN: norm(),
		})
	}
	return w
}

func tinyModel(t testing.TB, h packfile.Header) *Model {
	t.Helper()
	m, err := LoadPack(tinyPack(t, h), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sentence returns n words of the tiny vocabulary, each one token.
func sentence(r *rand.Rand, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = tinyWords[4+r.IntN(11)]
	}
	return strings.Join(words, " ")
}
