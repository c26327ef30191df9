package retriever

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// MaxFurther is how many passages near to the projected question count.
const MaxFurther = 100

// brings is the activation that the best hit brings for each point of furtherStart, so
// that a move of a training is small beside what a passage needs to be noticed.
const brings = 0.1

// sure is how many standard errors the hits of the projected question must gain on
// the checks: what is learned from questions that a memory makes of its own words is
// easier to gain by on these than on what people ask.
const sure = 2

// further is what a passage has of being near to the projected question.
type further struct {
	near         float64 // by how much it is nearer than the last of the hits
	pull, behind float64 // its part of the activation that the best brings; its likeness less the best's
}

// Projects says whether what is near to the projected question counts for something.
func (p *Parameters) Projects() bool { return p.Further != [furtherFeatures]float64{} }

// project lets the walk go on from the hits of the projected question, too. It begins
// behind the first step, when the gate is known: behind a shut one nothing of it is
// heard, or looked for, and what opens it does not depend on a projection.
func (w *Walk) project(q *Question) {
	if q.Further == nil || w.gate.open < shut || !w.weighs && !w.p.Projects() {
		return
	}
	hits := q.Further()
	hits = hits[:min(len(hits), MaxFurther)]
	for _, h := range hits {
		w.at(h.Passage)
	}
	w.look(q)
	for k, h := range hits {
		i := w.local[h.Passage]
		if !w.scored[i] {
			continue // it is gone
		}
		f := &w.further[i]
		f.near = float64(h.Likeness - hits[len(hits)-1].Likeness)
		if k < seedPassages {
			f.behind = float64(h.Likeness - hits[0].Likeness)
			f.pull = math.Exp(w.p.Sharp * f.behind)
			w.act[1][i] += brings * w.p.Further[furtherStart] * f.pull
		}
	}
}

// ForProjection says how many of the questions that a training learns from a
// projection is learned from. What its hits count is learned from the others: to
// those that it knows it is nearer than to any that will be asked.
func ForProjection(learn int) int { return learn * 2 / 3 }

// weighing is the part of a training that learns what the hits of the projected
// question count, when all else is learned and stays as it is.
type weighing struct {
	begun bool
	// losses on the checks: with nothing, of this epoch and of the best; NaN: no answer
	// was reached
	base, now, best []float64
}

func (w *weighing) note(loss float64, ok bool) {
	if !w.begun {
		return
	}
	if !ok {
		loss = math.NaN()
	}
	w.now = append(w.now, loss)
}

func (w *weighing) better() { w.best = append(w.best[:0], w.now...) }

func (w *weighing) next() {
	if w.begun && w.base == nil {
		w.base = append([]float64{}, w.now...) // they count nothing yet
	}
	w.now = w.now[:0]
}

// gain gives by how many nats the checks are answered better in the mean, and the
// standard error of that.
func (w *weighing) gain() (mean, spread float64) {
	var gains []float64
	for i, x := range w.best {
		if d := w.base[i] - x; !math.IsNaN(d) {
			gains = append(gains, d)
		}
	}
	if len(gains) < 2 {
		return 0, 0
	}
	mean, deviation := stat.MeanStdDev(gains, nil)
	return mean, stat.StdErr(deviation, float64(len(gains)))
}

// worth says whether what was gained is more than chance explains.
func (w *weighing) worth() bool {
	mean, spread := w.gain()
	return mean > sure*spread
}

// weigh begins to learn what the hits of the projected question count; false: there
// are none, or it has been done.
func (t *Trainer) weigh() bool {
	if t.further.begun || len(t.learn) == 0 || t.learn[0].Further == nil {
		return false
	}
	t.further = weighing{begun: true}
	t.walk.weighs = true
	t.learn = t.learn[ForProjection(len(t.learn)):]
	t.now = t.best
	t.fitting = newFitting(numbers(t.learned(&t.now)), weighings)
	return true
}

// Gained gives by how many nats the hits of the projected question let the checks be
// answered better, and the standard error of that.
func (t *Trainer) Gained() (mean, spread float64) { return t.further.gain() }
