package retriever

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"
)

const (
	// remembered is how many moves the curvature is estimated from.
	remembered = 10
	// maxTried is how many places one line search looks at. The loss of a walk has
	// steps, where another node comes among those that it goes on from; in front of one
	// there is no place that satisfies the conditions of Wolfe, and looking on finds none.
	maxTried = 5
	// leastDecrease is what a move must gain, as a part of what the slope promises.
	leastDecrease = 1e-4
)

// descent goes down a function by L-BFGS (Liu and Nocedal 1989) with the line search of
// Moré and Thuente (1994), both gonum's. optimize.Minimize would do the same in one
// call and on goroutines of its own. Here the caller asks where the function is to be
// evaluated, and takes its time over that: a training can be cancelled between two
// batches of questions, and stored between two moves.
type descent struct {
	lbfgs optimize.LBFGS
	lines optimize.LinesearchMethod
	at    optimize.Location // in units of scale
	scale []float64
	goes  bool   // a line search is under way
	tried int    // places that it has looked at
	trail []spot // where the last moves ended, and the first of them began
}

// spot is where a move ended, with the function's value and derivatives.
type spot struct {
	at, slope []float64
	value     float64
}

// outcome is what a descent makes of an evaluation.
type outcome int

const (
	searching outcome = iota // on along the line
	arrived                  // to where the function was evaluated
	ended                    // there is no way down from where the last move ended
)

// newDescent begins where the function's value and derivatives are known. A scale is by
// how much a number is to change where another changes by 1.
func newDescent(x, scale []float64, value float64, slope []float64) *descent {
	return resumeDescent(scale, []spot{{
		floats.DivTo(make([]float64, len(x)), x, scale), floats.MulTo(make([]float64, len(x)), slope, scale), value,
	}})
}

// resumeDescent goes on from where others moved, as if it had moved there itself.
func resumeDescent(scale []float64, trail []spot) *descent {
	d := &descent{lbfgs: optimize.LBFGS{Store: remembered}, scale: scale, trail: trail}
	d.lines.NextDirectioner, d.lines.Linesearcher = d, &optimize.MoreThuente{DecreaseFactor: leastDecrease}
	last := trail[len(trail)-1]
	d.at = optimize.Location{X: slices.Clone(last.at), F: last.value, Gradient: slices.Clone(last.slope)}
	return d
}

// next puts into x where the function is to be evaluated.
func (d *descent) next(x []float64) { floats.MulTo(x, d.at.X, d.scale) }

// tell takes the function's value and derivatives there.
func (d *descent) tell(value float64, slope []float64) outcome {
	d.at.F = value
	floats.MulTo(d.at.Gradient, slope, d.scale)
	if !finite(d.at.F) || !finite(d.at.Gradient...) {
		return ended
	}
	op, err := d.lines.Iterate(&d.at)
	if err == nil && op == optimize.MajorIteration {
		d.trail = append(d.trail, spot{slices.Clone(d.at.X), slices.Clone(d.at.Gradient), d.at.F})
		d.trail = d.trail[max(0, len(d.trail)-remembered-1):]
		return arrived
	}
	if d.tried++; d.tried == maxTried {
		return ended
	}
	return d.follow(err)
}

// goOn begins a line search, from the beginning or from where a move ended.
func (d *descent) goOn() outcome {
	d.tried = 0
	if d.goes {
		_, err := d.lines.Iterate(&d.at)
		return d.follow(err)
	}
	d.goes = true
	_, err := d.lines.Init(&d.at)
	return d.follow(err)
}

func (d *descent) follow(err error) outcome {
	if err != nil || !finite(d.at.X...) {
		return ended
	}
	return searching
}

// InitDirection is L-BFGS's behind all moves that are known.
func (d *descent) InitDirection(_ *optimize.Location, dir []float64) (step float64) {
	for i, p := range d.trail {
		if at := (&optimize.Location{X: p.at, Gradient: p.slope}); i == 0 {
			step = d.lbfgs.InitDirection(at, dir)
		} else {
			step = d.lbfgs.NextDirection(at, dir)
		}
	}
	return step
}

// NextDirection is that of L-BFGS.
func (d *descent) NextDirection(at *optimize.Location, dir []float64) (step float64) {
	return d.lbfgs.NextDirection(at, dir)
}

func finite(all ...float64) bool {
	return !slices.ContainsFunc(all, func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
}
