package retriever

import (
	"math"
	"slices"

	pb "orgmem/proto"
)

const (
	// hold draws the parameters to the prior: little content must not move them far.
	hold = 0.002
	// unreached is the loss of a question of which no answer was reached, in nats. Were
	// it none, a training would gain by not reaching what is hard to rank.
	unreached = 8
)

// stages of a training: of how many parts of the examples each takes the first, and how
// often it evaluates the loss on them at most. A few tell the direction as well as all do,
// and most moves are made by them. With 16 and 8 evaluations, recall@10 of the questions
// that judge was 0.861 on scifact's first 2,000 passages; it is 0.885.
var stages = [...]struct{ parts, most int }{{4, 24}, {1, 24}}

// weighings is how often the loss is evaluated at most to learn what the hits of the
// projected question count: two numbers.
const weighings = 8

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
	asks      []Asked
	now, best Parameters
	one       gradient
	fitting
	further weighing
	curve   []*pb.BrainPoint // at most maxEpochs
}

// NewTrainer begins a training: learn is what the parameters move by, check is what
// says when it is enough.
func NewTrainer(g *Graph, salt Salt, learn, check []Asked) *Trainer {
	t := &Trainer{walk: NewWalk(g, salt), learn: learn, asks: check, now: Prior(), best: Prior()}
	t.fitting = newFitting(numbers(t.learned(&t.now)), stages[0].most)
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
	stage := t.stage
	if t.further.begun {
		stage = len(stages)
	}
	return (float64(stage) + float64(t.spent)/float64(t.most+1)) / float64(len(stages)+1)
}

// Step goes on by one batch; done when nothing more is to be gained.
func (t *Trainer) Step() (done bool) {
	if !t.begun || t.checking {
		return t.check()
	}
	n := t.part()
	from, to := t.examples(n)
	t.put()
	for i := range t.learn[from:to] {
		t.evaluate(&t.learn[from+i])
	}
	if to < n {
		return false
	}
	if t.further.begun {
		t.stayAtNothing()
	}
	prior := Prior()
	out := t.evaluated(n, hold, numbers(t.learned(&prior)))
	t.checking = out == arrived
	if out == ended {
		t.epoch++
		return t.next()
	}
	return false
}

// part is how many of the examples this stage takes.
func (t *Trainer) part() int {
	if t.further.begun {
		return len(t.learn)
	}
	return max(1, len(t.learn)/stages[t.stage].parts)
}

// learned gives the numbers that are being learned, to change in place.
func (t *Trainer) learned(p *Parameters) []*float64 {
	all := p.flat()
	n := len(all) - furtherFeatures
	if t.further.begun {
		return all[n:]
	}
	return all[:n]
}

// put walks with what is to be evaluated. A hit of the projected question
// cannot count less than nothing, as no activation can: there the sign is left out.
func (t *Trainer) put() {
	for k, at := range t.learned(&t.now) {
		if *at = t.x[k]; t.further.begun {
			*at = math.Abs(*at)
		}
	}
}

// stayAtNothing takes away the derivatives of numbers that are 0 and make the loss rise whichever way they go, since
// their sign is left out: a descent would follow a slope that the loss does not have.
func (t *Trainer) stayAtNothing() {
	for k, x := range t.x {
		if x == 0 && t.slope[k] > 0 {
			t.slope[k] = 0
		}
	}
}

func numbers(at []*float64) []float64 {
	out := make([]float64, len(at))
	for k, x := range at {
		out[k] = *x
	}
	return out
}

// evaluate adds the loss of an example.
func (t *Trainer) evaluate(a *Asked) {
	t.walk.Forward(&t.now, &a.Question)
	t.one.Parameters = Parameters{}
	l, ok := t.walk.loss(answersOf(&a.Example), &t.one)
	if !ok {
		l = unreached
	}
	slope := numbers(t.learned(&t.one.Parameters))
	for k, x := range t.x {
		if t.further.begun && x < 0 {
			slope[k] = -slope[k]
		}
	}
	t.add(l, slope)
}

// check makes the next checks.
func (t *Trainer) check() (done bool) {
	from, to := t.checks(len(t.asks))
	for i := range t.asks[from:to] {
		a := &t.asks[from+i]
		t.walk.Forward(&t.now, &a.Question)
		l, ok := t.walk.loss(answersOf(&a.Example), nil)
		t.further.note(l, ok)
		if !ok {
			l = unreached
		}
		t.sum += l
	}
	if to < len(t.asks) {
		return false
	}
	checked := t.sum / float64(max(1, len(t.asks)))
	better, on := t.judge(len(t.asks))
	t.plot(checked, better)
	if better {
		t.best = t.now
		t.further.better()
	}
	t.further.next()
	t.checking = false
	return len(t.learn) == 0 || !on && t.next()
}

// next begins the next stage, with the best parameters so far; done after the last stage.
func (t *Trainer) next() (done bool) {
	if t.further.begun || t.stage == len(stages)-1 {
		return !t.weigh()
	}
	t.now = t.best
	t.begin(t.stage + 1)
	return false
}

func (t *Trainer) begin(stage int) {
	t.stage = stage
	t.again(numbers(t.learned(&t.now)), stages[stage].most)
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
	return w.markFound(a)
}

// markFound judges what the last walk found.
func (w *Walk) markFound(a *Asked) Marks {
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
