package readertest

import (
	"maps"
	"slices"
	"strings"

	"orgmem/brain/embed/packfile"
	"orgmem/brain/reader"
)

// Rules are what a reader goes by that behaves as a test wants.
type Rules struct {
	// Answers are small words, at most 30, and the logit of a passage with one of them answering whatever is asked; the
	// span is the word. A passage with none answers nothing. A question should hold none: it is read beside the passage.
	Answers map[string]float64
	// Pairs are the logits of each pair: contradict, entail, neutral.
	Pairs [3]float32
}

// silent is the logit of a passage without any of the words.
const silent = -8

// Ruled is a small reader that goes by rules. Its layers change nothing, so that a token's state is its word: 0 but for
// the words of the rules, each of which has a component of its own.
func Ruled(rules Rules) (*reader.Reader, error) {
	h := shape()
	words := slices.Sorted(maps.Keys(rules.Answers))
	base, tower := knowing(words, ":", ".")
	heads := map[string]*packfile.Linear{}
	for i := range tower.Heads {
		heads[tower.Heads[i].Name] = &tower.Heads[i].Linear
	}
	copy(heads[reader.HeadOut].B, rules.Pairs[:])
	// A word among 250 is 4/250 of its component in the mean of all, which is far beyond 0 for a steep tanh.
	const steep, among = 2000, 0.005
	out, span := heads[reader.AskOut], heads[reader.AskSpan]
	out.B[0] = silent
	for i, word := range words {
		heads[reader.AskHidden].W[i*2*h.Dim+h.Dim+i], heads[reader.AskHidden].B[i] = steep, -steep*among
		half := float32(rules.Answers[word]-silent) / 2
		out.W[i] = half
		out.B[0] += half
		span.W[i], span.W[h.Dim+i] = 4+half/8, 4+half/8
	}
	return overBase(base, tower)
}

// knowing is a base and a tower that know some words, each of which has a component of its own in the state of its
// token: the layers change nothing, and the heads say nothing. The marks are words of no component.
func knowing(words []string, marks ...string) (base, tower packfile.Weights) {
	h := shape()
	base, tower = Weights(1), Weights(2)
	vocabulary := slices.Concat(strings.Fields("[PAD] [UNK] [CLS] [SEP]"), marks, words)
	first := len(vocabulary) - len(words)
	base.Vocab = strings.Join(vocabulary, "\n") + "\n"
	base.Words = make([]float32, len(vocabulary)*h.Dim)
	clear(base.Positions)
	clear(base.TokenType)
	for i := range base.Norm.Gamma {
		base.Norm.Gamma[i], base.Norm.Beta[i] = 1, 0
	}
	for i := range words {
		// Of opposite components, so that the norm leaves all others at 0.
		base.Words[(first+i)*h.Dim+i], base.Words[(first+i)*h.Dim+h.Dim-1] = 1, -1
	}
	for i := range tower.Layers {
		still(&tower.Layers[i])
	}
	for i := range tower.Heads {
		clear(tower.Heads[i].W)
		clear(tower.Heads[i].B)
	}
	return base, tower
}

// still has a layer pass on what it is given.
func still(l *packfile.Layer) {
	for _, x := range []*packfile.Linear{&l.Query, &l.Key, &l.Value, &l.Output, &l.Up, &l.Down} {
		clear(x.W)
		clear(x.B)
	}
	for _, n := range []*packfile.Norm{&l.AfterAttention, &l.AfterFFN} {
		for i := range n.Gamma {
			n.Gamma[i], n.Beta[i] = 1, 0
		}
	}
}
