package embed

import (
	"math"

	"orgmem/brain/embed/packfile"
)

// centre is what a model's vectors have in common, which says nothing about any of them. Those of
// multilingual-e5-small have a cosine of 0.78 even where the texts have nothing to do with each other, and texts of
// one language are nearer to each other than to the same in another. Without the mean of all vectors, unrelated texts
// have cosines around 0.1, as thresholds expect, and small integers hold the differences better; without the
// directions in which languages differ, a text is found in the language that it was not asked in.
//
// Sources: the mean, Mu and Viswanath, "All-but-the-Top", 2018; languages' directions, Yang et al., "A Simple and
// Effective Method To Eliminate the Self Language Bias in Multilingual Representations", 2021.
type centre struct {
	mean []float32   // [dim]
	off  [][]float32 // directions [dim] of length 1, each upright on the others
}

// leastLeft is the length that must be left of a unit vector. Less is the mean itself and rounding, and has no
// direction; the vector then stays as it was.
const leastLeft = 1e-3

func openCentre(f *packfile.File) (c centre, err error) {
	rows, err := f.CentreRows()
	if err != nil || len(rows) == 0 {
		return centre{}, err
	}
	c.mean, rows = rows[:f.Dim], rows[f.Dim:]
	for ; len(rows) > 0; rows = rows[f.Dim:] {
		c.off = append(c.off, rows[:f.Dim])
	}
	return c, nil
}

// takeOut removes the centre from a unit vector, which is of length 1 again afterwards. No step is fused, so that the
// bits are the same on every machine: a product of two float32 is exact in float64.
func (c *centre) takeOut(v []float32) {
	if c.mean == nil {
		return
	}
	left := make([]float32, len(v))
	for i, x := range v {
		left[i] = x - c.mean[i]
	}
	for _, d := range c.off {
		along := 0.0
		for i, x := range left {
			along += float64(x) * float64(d[i])
		}
		part := float32(along)
		for i := range left {
			left[i] -= float32(part * d[i])
		}
	}
	if length(left) >= leastLeft {
		copy(v, left)
		unit(v)
	}
}

func length(v []float32) float64 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x) // exact product: fusing changes nothing
	}
	return math.Sqrt(sum)
}

// unit brings a vector that is not zero to length 1.
func unit(v []float32) {
	inv := 1 / length(v)
	for i, x := range v {
		v[i] = float32(float64(x) * inv)
	}
}
