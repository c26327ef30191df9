// Package centring measures what the vectors of a model have in common, so that a pack can carry it and the encoder take
// it out (package embed, centre.go).
package centring

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// ErrNothing reports vectors that have no such directions.
var ErrNothing = errors.New("centring: the means of languages lie in no directions")

// Measure returns rows of a vector's length, end to end: the mean, over kinds and languages, of the vectors of each, and
// behind it so many directions of length 1, each upright on the others, in which the means of languages lie apart,
// strongest first. kinds holds vectors by language, such as those of passages and those of questions, which a model
// with prefixes puts in two places. Each language counts alike, however many vectors it has; all need at least one.
func Measure(directions int, kinds ...[][][]float32) ([]float32, error) {
	var apart [][]float64 // what the mean of a language is off from that of its kind
	var whole []float64
	for _, languages := range kinds {
		means := make([][]float64, len(languages))
		for i, vectors := range languages {
			means[i] = mean(vectors)
		}
		middle := make([]float64, len(means[0]))
		for _, m := range means {
			floats.AddScaled(middle, 1/float64(len(means)), m)
		}
		for _, m := range means {
			floats.Sub(m, middle)
		}
		apart = append(apart, means...)
		if whole == nil {
			whole = make([]float64, len(middle))
		}
		floats.AddScaled(whole, 1/float64(len(kinds)), middle)
	}
	if directions > min(len(apart), len(whole)) {
		return nil, fmt.Errorf("%w: %d are wanted of %d means", ErrNothing, directions, len(apart))
	}
	all := mat.NewDense(len(apart), len(whole), nil)
	for i, row := range apart {
		all.SetRow(i, row)
	}
	var svd mat.SVD
	if !svd.Factorize(all, mat.SVDThinV) || directions > 0 && svd.Values(nil)[directions-1] == 0 {
		return nil, ErrNothing
	}
	var found mat.Dense
	svd.VTo(&found)
	rows := make([]float32, 0, (1+directions)*len(whole))
	for _, x := range whole {
		rows = append(rows, float32(x))
	}
	for d := range directions {
		for i := range whole {
			rows = append(rows, float32(found.At(i, d)))
		}
	}
	return rows, nil
}

func mean(vectors [][]float32) []float64 {
	out := make([]float64, len(vectors[0]))
	for _, v := range vectors {
		for i, x := range v {
			out[i] += float64(x) / float64(len(vectors))
		}
	}
	return out
}
