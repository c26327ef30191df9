package retriever

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

const (
	// patience is how many moves a stage of a training makes without gain.
	patience = 3
	// batch is how many examples a step of a training looks at: some 50 ms.
	batch = 32
	// leastBetter is the loss on the checks that counts as gained, in nats.
	leastBetter = 1e-4
	// leastSteep is the mean square of a derivative below which it does not say how steep
	// the loss is.
	leastSteep = 0.05
)

// fitting is how far a training has come. It evaluates the loss on what it learns from, a
// batch at a step, until that has moved down, and is then checked. It begins with the
// checks alone: what it begins with must be beaten.
type fitting struct {
	x           []float64 // what is learned, where the loss is evaluated
	down        *descent  // nil: the stage has just begun
	value       float64   // sums over the examples that have been evaluated
	slope       []float64
	square      []float64 // of the derivatives, where the stage begins; nil: all are as steep
	done        int       // examples of this evaluation
	evaluations int       // of this stage
	most        int       // of them
	spent       int       // of them, those behind the last move
	stage       int
	epoch       int // moves with their checks, and stages that ended otherwise
	verdict
}

// verdict is what the checks say.
type verdict struct {
	begun    bool // they have been made of what the training begins with
	checking bool // they are being made behind a move
	checked  int  // those of them that are done
	sum      float64
	wasted   int
	bestLoss float64
}

func newFitting(x []float64, most int) fitting {
	n := len(x)
	return fitting{
		x: x, most: most, slope: make([]float64, n), square: make([]float64, n),
		verdict: verdict{bestLoss: math.Inf(1)},
	}
}

// again begins another stage.
func (f *fitting) again(x []float64, most int) {
	f.x, f.most, f.down, f.done, f.evaluations, f.spent, f.wasted = x, most, nil, 0, 0, 0, 0
}

// examples gives which of them the next step evaluates, from the first up to the second.
func (f *fitting) examples(all int) (from, to int) {
	if f.done == 0 {
		if f.down != nil {
			f.down.next(f.x)
		}
		f.value = 0
		clear(f.slope)
		clear(f.square)
	}
	from = f.done
	f.done = min(from+batch, all)
	return from, f.done
}

// add takes the loss of an example and its derivatives.
func (f *fitting) add(loss float64, slope []float64) {
	f.value += loss
	floats.Add(f.slope, slope)
	if f.down == nil {
		for k, d := range slope {
			f.square[k] += d * d
		}
	}
}

// evaluated ends an evaluation on some examples. Their mean loss has a penalty for how
// far the parameters are from a prior: half of hold for the square of the distance.
func (f *fitting) evaluated(examples int, hold float64, prior []float64) outcome {
	f.done = 0
	f.evaluations++
	n := float64(examples)
	f.value /= n
	floats.Scale(1/n, f.slope)
	for k, x := range f.x {
		d := x - prior[k]
		f.value += hold / 2 * d * d
		f.slope[k] += hold * d
	}
	if f.down == nil {
		scale := make([]float64, len(f.x))
		for k := range scale {
			if scale[k] = 1; f.square != nil {
				scale[k] = 1 / math.Sqrt(f.square[k]/n+leastSteep)
			}
		}
		f.down = newDescent(f.x, scale, f.value, f.slope)
		return f.down.goOn()
	}
	out := f.down.tell(f.value, f.slope)
	if out == searching && f.evaluations >= f.most {
		return ended
	}
	return out
}

// checks gives which of them the next step makes, from the first up to the second.
func (f *fitting) checks(all int) (from, to int) {
	from = f.checked
	f.checked = min(from+batch, all)
	return from, f.checked
}

// judge ends the checks behind a move, and says whether their mean loss is the least so
// far, and whether the stage goes on.
func (f *fitting) judge(checks int) (better, on bool) {
	loss := f.sum / float64(max(1, checks))
	if better = loss < f.bestLoss-leastBetter; better {
		f.bestLoss, f.wasted = loss, 0
	} else {
		f.wasted++
	}
	f.checked, f.sum = 0, 0
	if !f.begun {
		f.begun = true
		return better, true
	}
	f.epoch++
	f.spent = f.evaluations
	return better, f.wasted < patience && f.evaluations < f.most && f.down.goOn() == searching
}
