package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"orgmem/brain/embed/packfile"
)

// tensor is a named array of a published model.
type tensor struct {
	dims  []int
	data  []float32 // nil for other types than 32-bit float
	bytes []byte    // nil for other types than bytes
}

var errWeights = errors.New("not the weights this recipe was written for")

// floats reads little-endian values of the given shape.
func floats(raw []byte, dims []int) ([]float32, error) {
	size := 1
	for _, d := range dims {
		if d < 0 || d > len(raw) {
			return nil, fmt.Errorf("%d bytes for shape %v", len(raw), dims)
		}
		size *= d
	}
	if size*4 != len(raw) {
		return nil, fmt.Errorf("%d bytes for shape %v", len(raw), dims)
	}
	x := make([]float32, size)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return x, nil
}

const wordVectors = "embeddings.word_embeddings.weight"

// bert finds the parts of a BERT encoder by the names its training framework
// gave them, which may all carry one prefix.
func bert(tensors map[string]tensor, layers int) (packfile.Weights, error) {
	r := weightReader{tensors: tensors}
	for name := range tensors {
		if p, ok := strings.CutSuffix(name, wordVectors); ok {
			r.prefix = p
		}
	}
	w := packfile.Weights{
		Words:     r.tensor(wordVectors),
		Positions: r.tensor("embeddings.position_embeddings.weight"),
		TokenType: r.tensor("embeddings.token_type_embeddings.weight"),
		Norm:      r.norm("embeddings.LayerNorm"),
	}
	for i := range layers {
		at := "encoder.layer." + strconv.Itoa(i) + "."
		w.Layers = append(w.Layers, packfile.Layer{
			Query:          r.linear(at + "attention.self.query"),
			Key:            r.linear(at + "attention.self.key"),
			Value:          r.linear(at + "attention.self.value"),
			Output:         r.linear(at + "attention.output.dense"),
			AfterAttention: r.norm(at + "attention.output.LayerNorm"),
			Up:             r.linear(at + "intermediate.dense"),
			Down:           r.linear(at + "output.dense"),
			AfterFFN:       r.norm(at + "output.LayerNorm"),
		})
	}
	if next := r.prefix + "encoder.layer." + strconv.Itoa(layers) + ".output.LayerNorm.weight"; r.err == nil &&
		tensors[next].data != nil {
		r.err = fmt.Errorf("%w: more than %d layers", errWeights, layers)
	}
	if r.err != nil {
		return packfile.Weights{}, r.err
	}
	// The rows are tokens of types 0 and 1; single texts are all of type 0.
	w.TokenType = w.TokenType[:min(len(w.TokenType), len(w.Norm.Gamma))]
	return w, nil
}

// weightReader keeps the first error, so that the list above stays a list.
// Sizes are checked by packfile.Build.
type weightReader struct {
	tensors map[string]tensor
	prefix  string
	err     error
}

func (r *weightReader) tensor(name string) []float32 {
	t := r.tensors[r.prefix+name]
	if t.data == nil && r.err == nil {
		r.err = fmt.Errorf("%w: no float tensor %q", errWeights, name)
	}
	return t.data
}

func (r *weightReader) norm(name string) packfile.Norm {
	return packfile.Norm{Gamma: r.tensor(name + ".weight"), Beta: r.tensor(name + ".bias")}
}

func (r *weightReader) linear(name string) packfile.Linear {
	return packfile.Linear{W: r.tensor(name + ".weight"), B: r.tensor(name + ".bias")}
}
