package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"orgmem/brain/extract/tagger"
)

const (
	defaultEpochs = 8
	// minCount is how often a feature must occur to be kept.
	minCount = 3
	// rate and ridge are the step of AdaGrad (Duchi et al. 2011) and the pull
	// towards zero.
	rate, ridge = 0.05, 2e-5
	// dropout leaves features out at random, so that no word is relied upon alone:
	// the names of tomorrow are not those of the training data.
	dropout = 0.5
	// weightScale is the value of a packed weight of 1: ±5 fit into a byte.
	weightScale = 1.0 / 24
)

const nTags = tagger.Tags

type vec [nTags]float64

// example is a block with the places of its features.
type example struct {
	features [][]int32
	tags     []tagger.Tag
}

// trainer is a linear-chain conditional random field.
type trainer struct {
	keys           []uint32
	weights, grads []vec
	moves, moveG   [nTags]vec
	chance         *rand.Rand
}

func train(stdout io.Writer, lexicon string, sentences []labelled, epochs int) ([]byte, error) {
	raw, err := readFile(lexicon)
	if err != nil {
		return nil, err
	}
	model, err := tagger.Open(raw)
	if err != nil {
		return nil, err
	}
	t := &trainer{chance: rand.New(rand.NewPCG(3, 4))} //nolint:gosec // to be repeatable is the point
	examples := t.prepare(model, sentences)
	fmt.Fprintf(stdout, "%d blocks, %d features\n", len(examples), len(t.keys))
	for epoch := range epochs {
		loss := 0.0
		for _, i := range t.chance.Perm(len(examples)) {
			loss += t.step(examples[i])
		}
		fmt.Fprintf(stdout, "pass %d: loss %.4f\n", epoch+1, loss/float64(len(examples)))
	}
	c := model.Contents()
	c.Scale, c.Weights = weightScale, map[uint32]*[nTags]int8{}
	for i, w := range t.weights {
		var row [nTags]int8
		some := false
		for k, v := range w {
			row[k] = int8(min(max(math.Round(v/weightScale), -127), 127))
			some = some || row[k] != 0
		}
		if some {
			c.Weights[t.keys[i]] = &row
		}
	}
	for a := range nTags {
		for b := range nTags {
			c.Moves[a][b] = int16(math.Round(t.moves[a][b] / weightScale))
		}
	}
	packed := tagger.Pack(c)
	fmt.Fprintf(stdout, "%d features kept, %d bytes\n", len(c.Weights), len(packed))
	return packed, nil
}

// prepare computes the features and numbers those that occur often enough.
func (t *trainer) prepare(m *tagger.Model, sentences []labelled) []example {
	d := tagger.NewDecoder(m)
	counts := map[uint32]int{}
	type block struct {
		features [][]uint32
		tags     []tagger.Tag
	}
	blocks := make([]block, 0, len(sentences))
	for _, s := range sentences {
		tokens, tags := s.tokens()
		if len(tokens) == 0 {
			continue
		}
		b := block{tags: tags}
		for _, fs := range d.Features(s.text, tokens) {
			b.features = append(b.features, append([]uint32(nil), fs...))
			for _, f := range fs {
				counts[f]++
			}
		}
		blocks = append(blocks, b)
	}
	place := map[uint32]int32{}
	examples := make([]example, 0, len(blocks))
	for _, b := range blocks {
		e := example{tags: b.tags}
		for _, fs := range b.features {
			var row []int32
			for _, f := range fs {
				if counts[f] < minCount {
					continue
				}
				p, ok := place[f]
				if !ok {
					p = int32(len(t.keys))
					place[f] = p
					t.keys = append(t.keys, f)
				}
				row = append(row, p)
			}
			e.features = append(e.features, row)
		}
		examples = append(examples, e)
	}
	t.weights, t.grads = make([]vec, len(t.keys)), make([]vec, len(t.keys))
	return examples
}

// step follows the gradient of one block's log likelihood, and returns its loss.
func (t *trainer) step(e example) float64 {
	n := len(e.tags)
	scores := make([]vec, n)
	kept := make([][]int32, n)
	for i, row := range e.features {
		for _, p := range row {
			if t.chance.Float64() < dropout {
				continue
			}
			kept[i] = append(kept[i], p)
			for k, w := range &t.weights[p] {
				scores[i][k] += w / (1 - dropout)
			}
		}
	}
	alpha, beta := make([]vec, n), make([]vec, n)
	for i := range n {
		for b := range nTags {
			if i == 0 {
				alpha[i][b] = math.Inf(-1)
				if tagger.Allowed(tagger.Outside, tagger.Tag(b)) {
					alpha[i][b] = scores[i][b]
				}
				continue
			}
			var in vec
			for a := range nTags {
				in[a] = alpha[i-1][a] + t.move(a, b)
			}
			alpha[i][b] = logSum(&in) + scores[i][b]
		}
	}
	for i := n - 2; i >= 0; i-- {
		for a := range nTags {
			var out vec
			for b := range nTags {
				out[b] = t.move(a, b) + scores[i+1][b] + beta[i+1][b]
			}
			beta[i][a] = logSum(&out)
		}
	}
	all := logSum(&alpha[n-1])
	gold := 0.0
	var moveGrad [nTags]vec
	for i := range n {
		gold += scores[i][e.tags[i]]
		var g vec
		for b := range nTags {
			g[b] = -math.Exp(alpha[i][b] + beta[i][b] - all)
		}
		g[e.tags[i]]++
		for _, p := range kept[i] {
			adagrad(&t.weights[p], &t.grads[p], &g, 1/(1-dropout))
		}
		if i == 0 {
			continue
		}
		gold += t.move(int(e.tags[i-1]), int(e.tags[i]))
		for a := range nTags {
			for b := range nTags {
				if tagger.Allowed(tagger.Tag(a), tagger.Tag(b)) {
					moveGrad[a][b] -= math.Exp(alpha[i-1][a] + t.moves[a][b] + scores[i][b] + beta[i][b] - all)
				}
			}
		}
		moveGrad[e.tags[i-1]][e.tags[i]]++
	}
	for a := range nTags {
		adagrad(&t.moves[a], &t.moveG[a], &moveGrad[a], 1)
	}
	return all - gold
}

func (t *trainer) move(a, b int) float64 {
	if !tagger.Allowed(tagger.Tag(a), tagger.Tag(b)) {
		return math.Inf(-1)
	}
	return t.moves[a][b]
}

func adagrad(w, sum, g *vec, factor float64) {
	for k := range w {
		d := g[k]*factor - ridge*w[k]
		sum[k] += d * d
		if sum[k] > 0 {
			w[k] += rate * d / (1e-3 + math.Sqrt(sum[k]))
		}
	}
}

func logSum(v *vec) float64 {
	top := math.Inf(-1)
	for _, x := range v {
		top = max(top, x)
	}
	if math.IsInf(top, -1) {
		return top
	}
	sum := 0.0
	for _, x := range v {
		sum += math.Exp(x - top)
	}
	return top + math.Log(sum)
}
