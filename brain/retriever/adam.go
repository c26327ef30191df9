package retriever

import "math"

// The rates of Adam (Kingma and Ba 2015).
const (
	momentum       = 0.9
	squareMomentum = 0.999
	tiny           = 1e-8
)

// adam keeps the moments of the derivatives that parameters move by.
type adam struct {
	mean, square []float64
	moves        int
}

func newAdam(parameters int) adam {
	return adam{mean: make([]float64, parameters), square: make([]float64, parameters)}
}

// move begins a move, and gives what its moments are to be divided by: they began at zero.
func (a *adam) move() (mean, square float64) {
	a.moves++
	return 1 - math.Pow(momentum, float64(a.moves)), 1 - math.Pow(squareMomentum, float64(a.moves))
}

// add takes the derivative by a parameter in, and gives both of its moments.
func (a *adam) add(k int, d float64) (mean, square float64) {
	a.mean[k] = momentum*a.mean[k] + (1-momentum)*d
	a.square[k] = squareMomentum*a.square[k] + (1-squareMomentum)*d*d
	return a.mean[k], a.square[k]
}

// restart forgets all moves.
func (a *adam) restart() {
	clear(a.mean)
	clear(a.square)
	a.moves = 0
}
