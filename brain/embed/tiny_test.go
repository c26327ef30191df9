package embed

import (
	"math/rand/v2"
	"strings"
	"testing"

	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/packfile/packtest"
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

// tinyHeaders are the kinds of model that there are: of either pooling, and of twelve bits or four.
func tinyHeaders() (all []packfile.Header) {
	for _, pooling := range []packfile.Pooling{packfile.PoolMean, packfile.PoolCLS} {
		for _, bits := range []int{0, 4} {
			h := tinyHeader()
			h.Pooling, h.WeightBits, h.WordBits = pooling, bits, bits
			all = append(all, h)
		}
	}
	return all
}

// tinyPack is a model of the real architecture with random weights: small
// enough that the portable kernels run it under the race detector.
func tinyPack(t testing.TB, h packfile.Header) []byte {
	t.Helper()
	w := packtest.New(11).Weights(h, tinyWords)
	if h.WordBits == 4 {
		packtest.InBlocks(&h, &w)
	}
	pack, err := packfile.Build(h, w)
	if err != nil {
		t.Fatal(err)
	}
	return pack
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
