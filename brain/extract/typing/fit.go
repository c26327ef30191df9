package typing

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

const (
	// penalty is what the square of a weight costs: 1 to 3 do as well on what is left out of the training.
	penalty = 2
	// leastSeen is how often a clue must be seen to weigh anything.
	leastSeen = 4
)

// Example is a labelled name: the clues that are seen of it, and its type.
type Example struct {
	Clues []Clue
	Type  int
}

// Fit returns what the clues weigh for each type, in the order of Names, by multinomial logistic regression.
func Fit(seen []Example) ([][Types]float64, error) {
	counts := make([]int, clues)
	for _, x := range seen {
		for _, c := range x.Clues {
			counts[c]++
		}
	}
	used := make([]Example, len(seen)) // with the clues that were seen often enough
	for i, x := range seen {
		used[i].Type = x.Type
		for _, c := range x.Clues {
			if counts[c] >= leastSeen {
				used[i].Clues = append(used[i].Clues, c)
			}
		}
	}
	problem := optimize.Problem{
		Func: func(w []float64) float64 { return loss(nil, w, used) },
		Grad: func(grad, w []float64) { loss(grad, w, used) },
	}
	result, err := optimize.Minimize(problem, make([]float64, int(clues)*Types),
		&optimize.Settings{GradientThreshold: 0.01}, &optimize.LBFGS{})
	if err != nil {
		return nil, err
	}
	w := make([][Types]float64, clues)
	for i, v := range result.X {
		w[i/Types][i%Types] = v
	}
	return w, nil
}

// loss is what the labels cost under weights, and the weights themselves; grad, if any, becomes its slope.
func loss(grad, w []float64, seen []Example) float64 {
	sum := 0.0
	for i, v := range w {
		sum += penalty / 2.0 * v * v
		if grad != nil {
			grad[i] = penalty * v
		}
	}
	for _, x := range seen {
		var p [Types]float64
		for _, c := range x.Clues {
			for k := range p {
				p[k] += w[int(c)*Types+k]
			}
		}
		most, all := slices.Max(p[:]), 0.0
		for k, v := range p {
			p[k] = math.Exp(v - most)
			all += p[k]
		}
		sum -= math.Log(p[x.Type] / all)
		if grad == nil {
			continue
		}
		for k := range p {
			p[k] /= all
		}
		p[x.Type]--
		for _, c := range x.Clues {
			for k, v := range p {
				grad[int(c)*Types+k] += v
			}
		}
	}
	return sum
}

// Right is how many examples have the type for which, of these weights, the heaviest speak.
func Right(w [][Types]float64, all []Example) int {
	right := 0
	for _, x := range all {
		var sum [Types]float64
		for _, c := range x.Clues {
			for k, v := range w[c] {
				sum[k] += v
			}
		}
		if sum[x.Type] == slices.Max(sum[:]) {
			right++
		}
	}
	return right
}
