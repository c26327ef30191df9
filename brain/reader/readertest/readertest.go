// Package readertest makes small readers for tests: of the real shape, with weights of chance, and quick under the race
// detector.
package readertest

import (
	"encoding/hex"
	"fmt"
	"strings"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/packfile/packtest"
	"orgmem/brain/reader"
)

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

func over(w packfile.Weights) (*reader.Reader, error) { return overBase(Weights(1), w) }

func overBase(words, w packfile.Weights) (*reader.Reader, error) {
	base, hash, err := baseOf(words)
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
func Base() (*embed.Model, string, error) { return baseOf(Weights(1)) }

func baseOf(w packfile.Weights) (*embed.Model, string, error) {
	pack, err := Pack("", w)
	if err != nil {
		return nil, "", err
	}
	hash, err := hashOf(pack)
	if err != nil {
		return nil, "", err
	}
	m, err := embed.LoadPack(pack, nil)
	return m, hash, err
}

func hashOf(pack []byte) (string, error) {
	f, err := packfile.Open(pack)
	if err != nil {
		return "", fmt.Errorf("readertest: %w", err)
	}
	hash := f.Hash()
	return hex.EncodeToString(hash[:]), nil
}

// Pack packs weights as a reader over the model with the hash base, or as a whole model where base is empty.
func Pack(base string, w packfile.Weights) ([]byte, error) {
	if base == "" {
		w.Heads = nil
	}
	h := shape()
	h.Base = base
	return packfile.Build(h, w)
}

func shape() packfile.Header {
	return packfile.Header{
		Name: "small", Layers: 2, Dim: 32, Heads: 1, FFN: 64, MaxTokens: 256, Epsilon: 1e-12,
		Pooling: packfile.PoolMean, Tokenizer: packfile.TokenizerWordPiece, CLS: 2, SEP: 3,
	}
}

// Weights are of chance, the same for a seed.
func Weights(seed uint64) packfile.Weights {
	h, chance := shape(), packtest.New(seed)
	w := chance.Weights(h, append(strings.Fields("[PAD] [UNK] [CLS] [SEP]"), Words...))
	w.Heads = []packfile.Head{
		{Name: reader.HeadHidden, In: 2 * h.Dim, Out: h.Dim, Linear: chance.Linear(2*h.Dim, h.Dim)},
		{Name: reader.HeadOut, In: h.Dim, Out: 3, Linear: chance.Linear(h.Dim, 3)},
		{Name: reader.AskHidden, In: 2 * h.Dim, Out: h.Dim, Linear: chance.Linear(2*h.Dim, h.Dim)},
		{Name: reader.AskOut, In: h.Dim, Out: 2, Linear: chance.Linear(h.Dim, 2)},
		{Name: reader.AskSpan, In: h.Dim, Out: 2, Linear: chance.Linear(h.Dim, 2)},
	}
	return w
}
