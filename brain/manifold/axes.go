package manifold

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	// maxAxes is how many principal dimensions are kept, and enoughVariance the
	// share of the variance from which on no more are: what lies beyond is noise to
	// a clustering, and sixteen numbers can still be shown.
	maxAxes        = 16
	enoughVariance = 0.8
	// maxLaid bounds the signals that the axes are laid through, evenly chosen over
	// time: 2,000 points fix 16 axes to a few degrees, in some 0.2 s.
	maxLaid = 2000
)

// lay computes the mean, the principal axes and their shares of the variance.
func lay(points [][]float32) (mean []float32, axes [][]float32, ratios []float64) {
	n, d := len(points), len(points[0])
	middle := make([]float64, d)
	for _, p := range points {
		for i, x := range p {
			middle[i] += float64(x)
		}
	}
	mean = make([]float32, d)
	for i := range middle {
		middle[i] /= float64(n)
		mean[i] = float32(middle[i])
	}
	centered := mat.NewDense(n, d, nil)
	for r, p := range points {
		row := centered.RawRowView(r)
		for i, x := range p {
			row[i] = float64(x) - middle[i]
		}
	}
	// The smaller of the two products has the same eigenvalues.
	narrow := n < d
	var product mat.SymDense
	if narrow {
		product.SymOuterK(1/float64(n), centered)
	} else {
		product.SymOuterK(1/float64(n), centered.T())
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(&product, true) {
		return mean, nil, nil // does not happen for finite input
	}
	values := eigen.Values(nil) // ascending
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	total := 0.0
	for _, v := range values {
		total += max(v, 0)
	}
	if total <= 0 {
		return mean, nil, nil
	}
	sum := 0.0
	for k := len(values) - 1; k >= 0 && len(axes) < maxAxes && sum < enoughVariance; k-- {
		if values[k] <= total*1e-9 {
			break
		}
		axis := make([]float64, d)
		if narrow {
			mat.NewVecDense(d, axis).MulVec(centered.T(), vectors.ColView(k))
		} else {
			mat.Col(axis, k, &vectors)
		}
		axes = append(axes, unit(axis))
		ratios = append(ratios, values[k]/total)
		sum += values[k] / total
	}
	return mean, axes, ratios
}

// unit scales an axis to length 1 and turns it so that its largest component is
// positive: the sign of an eigenvector is chance.
func unit(axis []float64) []float32 {
	length, largest := 0.0, 0.0
	for _, x := range axis {
		length += x * x
		if math.Abs(x) > math.Abs(largest) {
			largest = x
		}
	}
	scale := 1 / math.Sqrt(length)
	if largest < 0 {
		scale = -scale
	}
	out := make([]float32, len(axis))
	for i, x := range axis {
		out[i] = float32(x * scale)
	}
	return out
}

// project gives the coordinates of a vector on the axes.
func (s *State) project(v []float32) []float32 {
	out := make([]float32, len(s.Axes))
	for k, axis := range s.Axes {
		sum := float32(0)
		for i, x := range axis {
			sum += x * (v[i] - s.Mean[i])
		}
		out[k] = sum
	}
	return out
}
