package retriever

import (
	"math"
	"math/rand/v2"
)

const (
	// maxEpochs bounds a training, patience how long it goes on without gain.
	maxEpochs = 16
	patience  = 3
	// batch is after how many examples the parameters move, and how many a step of
	// a training looks at: some 50 ms.
	batch = 32
	// leastBetter is the loss on the checks that counts as gained, in nats.
	leastBetter = 1e-4
)

// epochs is how far a training has come. In each epoch it learns from all examples, a
// batch at a step, and is then checked. The first epoch is only the checks: what it
// begins with must be beaten.
type epochs struct {
	seed          uint64
	order         []int   // the examples of this epoch that are left
	checked       int     // checks of this epoch that are done
	sum           float64 // of their losses
	counted       int     // losses in the sum
	epoch, wasted int
	bestLoss      float64
}

func newEpochs(seed uint64) epochs { return epochs{seed: seed, bestLoss: math.Inf(1)} }

// next gives the examples that the next step learns from; none: the checks are next.
func (e *epochs) next() []int {
	n := min(batch, len(e.order))
	which := e.order[:n]
	e.order = e.order[n:]
	return which
}

// check gives which of the checks the next step makes, from the first up to the second.
func (e *epochs) check(all int) (from, to int) {
	from = e.checked
	e.checked = min(from+batch, all)
	return from, e.checked
}

// note takes the loss of a check.
func (e *epochs) note(loss float64) { e.sum, e.counted = e.sum+loss, e.counted+1 }

// end ends an epoch whose checks are all made, and gives their mean loss and whether
// it is the least so far.
func (e *epochs) end() (loss float64, better bool) {
	loss = e.sum / float64(max(1, e.counted))
	if better = loss < e.bestLoss-leastBetter; better {
		e.bestLoss, e.wasted = loss, 0
	} else {
		e.wasted++
	}
	e.epoch++
	e.checked, e.sum, e.counted = 0, 0, 0
	return loss, better
}

// over says whether nothing more is to be gained.
func (e *epochs) over() bool { return e.epoch > maxEpochs || e.wasted >= patience }

// shuffle puts the examples of an epoch into its order, which depends on nothing
// before it: a training that goes on from a checkpoint meets the same.
func (e *epochs) shuffle(examples int) {
	r := rand.New(rand.NewPCG(e.seed, uint64(e.epoch))) //nolint:gosec // to be repeatable is the point
	e.order = r.Perm(examples)
}
