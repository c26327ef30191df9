package retriever

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// maxEpochs bounds a training, patience how long it goes on without gain.
	maxEpochs = 16
	patience  = 3
	// batch is after how many examples the parameters move, and how many a step of
	// the trainer looks at: some 50 ms.
	batch = 32
	// rate, momentum and the rest are those of Adam (Kingma and Ba 2015).
	rate           = 0.03
	momentum       = 0.9
	squareMomentum = 0.999
	tiny           = 1e-8
	// hold draws the parameters to the prior: little content must not move them far.
	hold = 0.002
	// leastBetter is the loss on the checks that counts as gained, in nats.
	leastBetter = 1e-4
)

// caution is by how much the gate stands less open, in nats, than a training would have
// it where a question names nothing that a document is about. Questions that are made
// of a memory's own words and names are easier to answer by these than what people
// ask: on claims that others have written, the walk put something else before what
// search had right, while on the questions that judge it lost two of a hundred. A
// subject is where a walk leads somewhere; without one there are only names and words
// to go by (docs/brain.md has what it is worth, and how it was chosen). In a graph
// without edges not even names lead anywhere, and it counts twice.
const caution = 1.5

// Asked is an example with what search says to it.
type Asked struct {
	Example
	Question
}

// Trainer fits parameters to examples.
type Trainer struct {
	walk  *Walk
	learn []Asked
	check []Asked
	seed  uint64

	now, best     Parameters
	bestLoss      float64
	mean, square  []float64 // of the derivatives
	moves         int       // of the parameters
	order         []int     // the examples of this epoch that are left
	checked       int       // checks of this epoch that are done
	sum           float64   // of their losses
	counted       int
	epoch, wasted int
	further       weighing
}

// NewTrainer begins a training: learn is what the parameters move by, check is what
// says when it is enough.
func NewTrainer(g *Graph, salt Salt, learn, check []Asked, seed uint64) *Trainer {
	t := &Trainer{walk: NewWalk(g, salt), learn: learn, check: check, seed: seed, now: Prior(), bestLoss: math.Inf(1)}
	t.best = t.now
	n := len(t.now.flat())
	t.mean, t.square = make([]float64, n), make([]float64, n)
	return t // the first epoch is only the checks: the prior must be beaten
}

// Best gives the parameters that did best on the checks, with caution.
func (t *Trainer) Best() Parameters {
	p := t.best
	if !t.further.worth() {
		p.Further = [furtherFeatures]float64{}
	}
	p.Gate[gateAlways] -= caution
	p.Gate[gateSubjects] += caution
	if t.walk.g.Size().Edges == 0 {
		p.Gate[gateAlways] -= caution
	}
	return p
}

// Progress is how much of the longest possible training is done, 0 to 1.
func (t *Trainer) Progress() float64 {
	return float64(t.further.before+t.epoch) / (2 * (maxEpochs + 1))
}

// Step goes on by one batch; done when nothing more is to be gained.
func (t *Trainer) Step() (done bool) {
	if len(t.order) > 0 {
		n := min(batch, len(t.order))
		t.move(t.order[:n])
		t.order = t.order[n:]
		return false
	}
	n := min(batch, len(t.check)-t.checked)
	for i := range t.check[t.checked : t.checked+n] {
		a := &t.check[t.checked+i]
		t.walk.Forward(&t.now, &a.Question)
		l, ok := t.walk.loss(answersOf(&a.Example), nil)
		if ok {
			t.sum, t.counted = t.sum+l, t.counted+1
		}
		t.further.note(l, ok)
	}
	if t.checked += n; t.checked < len(t.check) {
		return false
	}
	if l := t.sum / float64(max(1, t.counted)); l < t.bestLoss-leastBetter {
		t.best, t.bestLoss, t.wasted = t.now, l, 0
		t.further.better()
	} else {
		t.wasted++
	}
	t.epoch++
	t.checked, t.sum, t.counted = 0, 0, 0
	t.further.next()
	if t.epoch > maxEpochs || t.wasted >= patience || len(t.learn) == 0 {
		return !t.weigh()
	}
	t.shuffle()
	return false
}

// shuffle puts the examples of an epoch into its order, which depends on nothing
// before it: a training that goes on from a checkpoint meets the same.
func (t *Trainer) shuffle() {
	r := rand.New(rand.NewPCG(t.seed, uint64(t.epoch))) //nolint:gosec // to be repeatable is the point
	t.order = r.Perm(len(t.learn))
}

// move takes a step against the mean derivative of some examples.
func (t *Trainer) move(which []int) {
	var g gradient
	n := 0
	for _, i := range which {
		t.walk.Forward(&t.now, &t.learn[i].Question)
		if _, ok := t.walk.loss(answersOf(&t.learn[i].Example), &g); ok {
			n++
		}
	}
	if n == 0 {
		return
	}
	t.moves++
	prior := Prior()
	at, from, d := t.now.flat(), prior.flat(), g.flat()
	for k, x := range at {
		if t.further.begun && k < len(at)-furtherFeatures {
			continue
		}
		grad := *d[k]/float64(n) + hold*(*x-*from[k])
		t.mean[k] = momentum*t.mean[k] + (1-momentum)*grad
		t.square[k] = squareMomentum*t.square[k] + (1-squareMomentum)*grad*grad
		m := t.mean[k] / (1 - math.Pow(momentum, float64(t.moves)))
		v := t.square[k] / (1 - math.Pow(squareMomentum, float64(t.moves)))
		*x -= rate * m / (math.Sqrt(v) + tiny)
	}
	for i, x := range t.now.Further {
		t.now.Further[i] = max(0, x) // less than nothing is no activation
	}
}

func answersOf(e *Example) map[int32]bool {
	out := map[int32]bool{}
	for _, a := range e.Answers {
		out[a] = true
	}
	return out
}

// Marks are how well a ranking does on one question: the share of the answers
// among the first ten documents, and one over the rank of the first answer.
type Marks struct{ Recall, Reciprocal float64 }

// ranked is how many documents are looked at: the gate goes by recall@10 (docs/brain.md).
const ranked = 10

// Mark judges a walk with some parameters.
func (w *Walk) Mark(p *Parameters, a *Asked) Marks {
	w.Forward(p, &a.Question)
	var docs []int32
	for _, r := range w.Passages(ranked) {
		if r.Passage != Unknown {
			docs = append(docs, w.g.docOf[r.Passage])
		}
	}
	return w.g.mark(docs, a.Answers)
}

// Found gives the passages that search found, best first.
func (q *Question) Found() []int32 {
	var out []int32
	for _, s := range q.Seeds {
		if s.Passage != Unknown {
			out = append(out, s.Passage)
		}
	}
	return out
}

// MarkRanking judges other passages, best first.
func (g *Graph) MarkRanking(passages []int32, a *Asked) Marks {
	var docs []int32
	for _, p := range passages {
		if d := g.docOf[p]; !slices.Contains(docs, d) {
			docs = append(docs, d)
		}
	}
	return g.mark(docs[:min(len(docs), ranked)], a.Answers)
}

func (g *Graph) mark(docs, answers []int32) (m Marks) {
	var want []int32
	for _, a := range answers {
		if d := g.docOf[a]; !slices.Contains(want, d) {
			want = append(want, d)
		}
	}
	found := 0
	for i, d := range docs {
		if slices.Contains(want, d) {
			found++
			if m.Reciprocal == 0 {
				m.Reciprocal = 1 / float64(i+1)
			}
		}
	}
	if found > 0 {
		m.Recall = float64(found) / float64(len(want))
	}
	return m
}
