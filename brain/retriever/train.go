package retriever

import (
	"math"
	"slices"
)

const (
	// rate is that of Adam.
	rate = 0.03
	// hold draws the parameters to the prior: little content must not move them far.
	hold = 0.002
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
	walk      *Walk
	learn     []Asked
	checks    []Asked
	now, best Parameters
	adam      adam
	epochs
	further weighing
}

// NewTrainer begins a training: learn is what the parameters move by, check is what
// says when it is enough.
func NewTrainer(g *Graph, salt Salt, learn, check []Asked, seed uint64) *Trainer {
	t := &Trainer{walk: NewWalk(g, salt), learn: learn, checks: check, now: Prior(), epochs: newEpochs(seed)}
	t.best = t.now
	t.adam = newAdam(len(t.now.flat()))
	return t
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
	if which := t.next(); len(which) > 0 {
		t.move(which)
		return false
	}
	from, to := t.check(len(t.checks))
	for i := range t.checks[from:to] {
		a := &t.checks[from+i]
		t.walk.Forward(&t.now, &a.Question)
		l, ok := t.walk.loss(answersOf(&a.Example), nil)
		if ok {
			t.note(l)
		}
		t.further.note(l, ok)
	}
	if to < len(t.checks) {
		return false
	}
	if _, better := t.end(); better {
		t.best = t.now
		t.further.better()
	}
	t.further.next()
	if t.over() || len(t.learn) == 0 {
		return !t.weigh()
	}
	t.shuffle(len(t.learn))
	return false
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
	first, second := t.adam.move()
	prior := Prior()
	at, from, d := t.now.flat(), prior.flat(), g.flat()
	for k, x := range at {
		if t.further.begun && k < len(at)-furtherFeatures {
			continue
		}
		grad := *d[k]/float64(n) + hold*(*x-*from[k])
		mean, square := t.adam.add(k, grad)
		*x -= rate * (mean / first) / (math.Sqrt(square/second) + tiny)
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
