package retriever

import (
	"math"
	"math/rand/v2"
)

const (
	// maxEpochs bounds a training, patience how long it goes on without gain.
	maxEpochs = 16
	patience  = 3
	// batch is after how many examples the parameters move.
	batch = 32
	// rate, momentum and the rest are those of Adam (Kingma and Ba 2015).
	rate           = 0.03
	momentum       = 0.9
	squareMomentum = 0.999
	tiny           = 1e-8
	// hold draws the parameters to the prior: little content must not move them far.
	hold = 0.002
)

// Trainer fits parameters to examples, an epoch at a time.
type Trainer struct {
	walk  *Walk
	ask   []Asked
	check []Asked
	rand  *rand.Rand

	now, Best      Parameters
	BestLoss       float64
	m, v           []float64
	t              int
	epoch, waiting int
}

// Asked is an example with what search says to it.
type Asked struct {
	Example
	Question
}

// NewTrainer begins a training.
func NewTrainer(g *Graph, salt Salt, train, check []Asked, seed uint64) *Trainer {
	t := &Trainer{walk: NewWalk(g, salt), ask: train, check: check, rand: rand.New(rand.NewPCG(seed, 1)), now: Prior()} //nolint:gosec // to be repeatable is the point
	t.Best = t.now
	t.BestLoss = t.Loss(&t.now, check)
	n := len(t.now.flat())
	t.m, t.v = make([]float64, n), make([]float64, n)
	return t
}

func answersOf(e *Example) map[int32]bool {
	out := map[int32]bool{}
	for _, a := range e.Answers {
		out[a] = true
	}
	return out
}

// Loss is the mean over questions.
func (t *Trainer) Loss(p *Parameters, asked []Asked) float64 {
	sum, n := 0.0, 0
	for i := range asked {
		t.walk.Forward(p, &asked[i].Question)
		if l, ok := t.walk.loss(answersOf(&asked[i].Example), nil); ok {
			sum, n = sum+l, n+1
		}
	}
	return sum / math.Max(1, float64(n))
}

// Epoch goes once over the examples; done when nothing more is to be gained.
func (t *Trainer) Epoch() (done bool) {
	order := t.rand.Perm(len(t.ask))
	for from := 0; from < len(order); from += batch {
		t.learn(order[from:min(from+batch, len(order))])
	}
	t.epoch++
	if l := t.Loss(&t.now, t.check); l < t.BestLoss-1e-4 {
		t.Best, t.BestLoss, t.waiting = t.now, l, 0
	} else {
		t.waiting++
	}
	return t.epoch >= maxEpochs || t.waiting >= patience
}

func (t *Trainer) learn(which []int) {
	var g gradient
	n := 0
	for _, i := range which {
		t.walk.Forward(&t.now, &t.ask[i].Question)
		if _, ok := t.walk.loss(answersOf(&t.ask[i].Example), &g); ok {
			n++
		}
	}
	if n == 0 {
		return
	}
	t.t++
	prior := Prior()
	at, from, d := t.now.flat(), prior.flat(), g.flat()
	for k, x := range at {
		grad := *d[k]/float64(n) + hold*(*x-*from[k])
		t.m[k] = momentum*t.m[k] + (1-momentum)*grad
		t.v[k] = squareMomentum*t.v[k] + (1-squareMomentum)*grad*grad
		m := t.m[k] / (1 - math.Pow(momentum, float64(t.t)))
		v := t.v[k] / (1 - math.Pow(squareMomentum, float64(t.t)))
		*x -= rate * m / (math.Sqrt(v) + tiny)
	}
}
