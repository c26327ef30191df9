// Package readertest makes small readers for tests: of the real shape, with weights of chance, and quick under the race
// detector.
package readertest

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/reader"
)

const dim, ffn, maxTokens = 32, 64, 256

// Words are those of the small vocabulary that are not marks.
var Words = strings.Fields("the office is in berlin munich open closed on monday . not")

// Reader is a small reader whose verdicts are of chance.
func Reader() (*reader.Reader, error) { return over(Weights(2)) }

// Certain is a small reader that gives every pair the same verdict, whose logits these are: contradict, entail,
// neutral.
func Certain(logits [3]float32) (*reader.Reader, error) {
	w := Weights(2)
	out := &w.Heads[1].Linear
	clear(out.W)
	copy(out.B, logits[:])
	return over(w)
}

func over(w packfile.Weights) (*reader.Reader, error) {
	base, hash, err := Base()
	if err != nil {
		return nil, err
	}
	pack, err := Pack(hash, w)
	if err != nil {
		return nil, err
	}
	return reader.LoadPack(pack, base, nil)
}

// Base is the model that the small readers are made for, and the hash of its pack.
func Base() (*embed.Model, string, error) {
	pack, err := Pack("", Weights(1))
	if err != nil {
		return nil, "", err
	}
	f, err := packfile.Open(pack)
	if err != nil {
		return nil, "", fmt.Errorf("readertest: %w", err)
	}
	hash := f.Hash()
	m, err := embed.LoadPack(pack, nil)
	return m, hex.EncodeToString(hash[:]), err
}

// Pack packs weights as a reader over the model with the hash base, or as a model where there is none.
func Pack(base string, w packfile.Weights) ([]byte, error) {
	if base == "" {
		w.Heads = nil
	}
	return packfile.Build(packfile.Header{
		Name: "small", Layers: len(w.Layers), Dim: dim, Heads: 1, FFN: ffn, MaxTokens: maxTokens, Epsilon: 1e-12, Base: base,
		Pooling: packfile.PoolMean, Tokenizer: packfile.TokenizerWordPiece, CLS: 2, SEP: 3,
	}, w)
}

// Weights are of chance, the same for a seed.
func Weights(seed uint64) packfile.Weights {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // weights of chance, the same each time
	values := func(n int, spread float64) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64() * spread)
		}
		return x
	}
	linear := func(in, out int) packfile.Linear {
		return packfile.Linear{W: values(in*out, 0.2), B: values(out, 0.1)}
	}
	norm := func() packfile.Norm { return packfile.Norm{Gamma: values(dim, 1), Beta: values(dim, 0.1)} }
	vocabulary := append(strings.Fields("[PAD] [UNK] [CLS] [SEP]"), Words...)
	w := packfile.Weights{
		Vocab: strings.Join(vocabulary, "\n") + "\n", Words: values(len(vocabulary)*dim, 1),
		Positions: values(maxTokens*dim, 0.3), TokenType: values(dim, 0.3), Norm: norm(),
		Heads: []packfile.Head{
			{Name: reader.HeadHidden, In: 2 * dim, Out: dim, Linear: linear(2*dim, dim)},
			{Name: reader.HeadOut, In: dim, Out: 3, Linear: linear(dim, 3)},
		},
	}
	for range 2 {
		w.Layers = append(w.Layers, packfile.Layer{
			Query: linear(dim, dim), Key: linear(dim, dim), Value: linear(dim, dim), Output: linear(dim, dim),
			Up: linear(dim, ffn), Down: linear(ffn, dim), AfterAttention: norm(), AfterFFN: norm(),
		})
	}
	return w
}
