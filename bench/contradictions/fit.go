package main

import (
	"math"

	"orgmem/brain/conflict"
)

const (
	// rounds of gradient descent; the loss does not move in its fourth digit after
	// half of them.
	rounds = 600
	// ridge is the penalty on the standardised weights.
	ridge = 2.0
)

// fit is logistic regression on standardised features, with the examples of one
// fold left out. The weights are those of the features as they come.
func fit(examples []example, without int) (w conflict.Features) {
	n := len(w)
	var mean, deviation [len(w)]float64
	total := 0.0
	for _, e := range examples {
		if e.fold == without {
			continue
		}
		total += e.weight
		for k, v := range e.features {
			mean[k] += e.weight * v
		}
	}
	for k := range mean {
		mean[k] /= total
	}
	for _, e := range examples {
		if e.fold == without {
			continue
		}
		for k, v := range e.features {
			deviation[k] += e.weight * (v - mean[k]) * (v - mean[k]) / total
		}
	}
	mean[0], deviation[0] = 0, 1 // the bias
	for k := range deviation {
		deviation[k] = math.Sqrt(deviation[k])
		if deviation[k] < 1e-9 {
			deviation[k] = math.Inf(1) // a feature that never changes tells nothing
		}
	}
	var s [len(w)]float64
	for range rounds {
		var slope [len(w)]float64
		for _, e := range examples {
			if e.fold == without {
				continue
			}
			z := 0.0
			for k := range n {
				z += s[k] * (e.features[k] - mean[k]) / deviation[k]
			}
			p := 1 / (1 + math.Exp(-z))
			if e.opposed {
				p--
			}
			for k := range n {
				slope[k] += e.weight * p * (e.features[k] - mean[k]) / deviation[k]
			}
		}
		for k := range n {
			if k > 0 {
				slope[k] += ridge * s[k]
			}
			s[k] -= slope[k] / total
		}
	}
	w[0] = s[0]
	for k := 1; k < n; k++ {
		w[k] = s[k] / deviation[k]
		w[0] -= w[k] * mean[k]
	}
	return w
}

func logit(w, f conflict.Features) (z float64) {
	for k := range w {
		z += w[k] * f[k]
	}
	return z
}
