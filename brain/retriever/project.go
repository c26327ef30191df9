package retriever

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// nearSharpness is how many nats a point of cosine is worth in the loss of a
	// projection.
	nearSharpness = 20
	// projectionRate is Adam's, projectionHold draws to where it began.
	projectionRate = 0.002
	projectionHold = 0.001
	// MaxConfused is how many of what search takes for the answers of a question are
	// learned from, its best.
	MaxConfused = 100
)

// Confused is a question's vector with those of what answers it, and of what search
// takes for that. All have length 1.
type Confused struct {
	Query         []float32
	Right, Others [][]float32
}

// Projector learns a projection from questions that a memory asks itself, until it
// gains nothing on those that check. It keeps the vectors that it is given.
type Projector struct {
	dim           int
	learn, checks []Confused

	start, now, best []float64
	first            float64 // the loss on the checks of no projection
	adam             adam
	epochs
	own projecting
}

// NewProjector begins to learn a projection of vectors of some length.
func NewProjector(dim int, learn, check []Confused, seed uint64) *Projector {
	p := &Projector{dim: dim, learn: learn, checks: check, epochs: newEpochs(seed)}
	p.start = make([]float64, 2*projectionRank*dim)
	r := rand.New(rand.NewPCG(seed, 0x70726f6a))           //nolint:gosec // to be repeatable is the point
	for i := projectionRank * dim; i < len(p.start); i++ { // U is zero: it begins as no projection
		p.start[i] = r.NormFloat64() / math.Sqrt(float64(dim))
	}
	p.now, p.best = slices.Clone(p.start), slices.Clone(p.start)
	p.adam = newAdam(len(p.start))
	return p
}

// Step goes on by one batch; done when nothing more is to be gained.
func (p *Projector) Step() (done bool) {
	if p.dim == 0 || p.dim > maxProjectionDim || len(p.learn) == 0 || len(p.checks) == 0 {
		return true
	}
	if which := p.next(); len(which) > 0 {
		p.move(which)
		return false
	}
	from, to := p.check(len(p.checks))
	for i := range p.checks[from:to] {
		p.note(p.own.loss(p.now, &p.checks[from+i], nil))
	}
	if to < len(p.checks) {
		return false
	}
	loss, better := p.end()
	if better {
		copy(p.best, p.now)
	}
	if p.epoch == 1 {
		p.first = loss
	}
	if p.over() {
		return true
	}
	p.shuffle(len(p.learn))
	return false
}

// Projection gives what did best on the checks, for vectors of a model; nil where none
// did better than search without a projection.
func (p *Projector) Projection(model string) *Projection {
	if p.Gain() <= 0 {
		return nil
	}
	out := &Projection{model: model, dim: p.dim, at: make([]float32, len(p.best))}
	for i, x := range p.best {
		out.at[i] = float32(x)
	}
	return out
}

// Gain is by how many nats the projection makes the answers to the checks likelier among what
// search finds for them.
func (p *Projector) Gain() float64 {
	if p.epoch == 0 {
		return 0
	}
	return p.first - p.bestLoss
}

func (p *Projector) move(which []int) {
	grad := make([]float64, len(p.now))
	for _, i := range which {
		p.own.loss(p.now, &p.learn[i], grad)
	}
	first, second := p.adam.move()
	for k, d := range grad {
		d = d/float64(len(which)) + projectionHold*(p.now[k]-p.start[k])
		mean, square := p.adam.add(k, d)
		p.now[k] -= projectionRate * mean / first / (math.Sqrt(square/second) + tiny)
	}
}

// projecting is the working memory of one projection.
type projecting struct {
	to, pull []float64 // the projected question, of length 1; the loss's derivative by it
	along    [projectionRank]float64
	each     []float64
}

// loss is how badly a question is kept apart from what does not answer it, in nats, and
// adds its derivatives by the numbers of the projection: the mean over the answers g of
// -log(e^z(g) / (e^z(g) + N)), where z is the cosine and N the sum of e^z over all that
// are no answers.
func (w *projecting) loss(at []float64, c *Confused, into []float64) float64 {
	if len(c.Right) == 0 || len(c.Others) == 0 {
		return 0
	}
	dim := len(c.Query)
	row := func(i int) []float64 { return at[i*dim : (i+1)*dim] }
	w.to, w.pull = slices.Grow(w.to[:0], dim)[:dim], slices.Grow(w.pull[:0], dim)[:dim]
	for i, x := range c.Query {
		w.to[i] = float64(x)
	}
	for r := range projectionRank {
		s := alike(row(projectionRank+r), c.Query)
		w.along[r] = s
		for i, u := range row(r) {
			w.to[i] += s * u
		}
	}
	length := math.Sqrt(dot(w.to, w.to))
	if length == 0 {
		return 0
	}
	for i := range w.to {
		w.to[i] /= length
	}
	score := func(v []float32) float64 { return math.Exp(nearSharpness * (alike(w.to, v) - 1)) }
	others := 0.0
	w.each = w.each[:0]
	for _, v := range c.Others {
		w.each = append(w.each, score(v))
		others += w.each[len(w.each)-1]
	}
	clear(w.pull)
	add := func(v []float32, by float64) {
		for i, x := range v {
			w.pull[i] += by * float64(x)
		}
	}
	loss, spill, share := 0.0, 0.0, 1/float64(len(c.Right))
	for _, v := range c.Right {
		e := score(v)
		loss -= share * math.Log(e/(e+others))
		if into != nil {
			add(v, share*nearSharpness*(e/(e+others)-1))
			spill += share * nearSharpness / (e + others)
		}
	}
	if into == nil {
		return loss
	}
	for i, v := range c.Others {
		add(v, spill*w.each[i])
	}
	same := dot(w.to, w.pull) // what only makes the vector longer is lost
	for i, x := range w.to {
		w.pull[i] = (w.pull[i] - same*x) / length
	}
	for r := range projectionRank {
		u, back := row(r), 0.0
		du, dv := into[r*dim:(r+1)*dim], into[(projectionRank+r)*dim:(projectionRank+r+1)*dim]
		for i, x := range w.pull {
			du[i] += w.along[r] * x
			back += u[i] * x
		}
		for i, x := range c.Query {
			dv[i] += back * float64(x)
		}
	}
	return loss
}

func alike(v []float64, q []float32) float64 {
	s := 0.0
	for i, x := range q {
		s += v[i] * float64(x)
	}
	return s
}

// Mistaken gives the passages that search takes for the answers of a question and that
// are not in the documents of these, best first.
func (g *Graph) Mistaken(a *Asked) []int32 {
	var out []int32
	for _, s := range a.Seeds {
		if s.Passage == Unknown || slices.ContainsFunc(a.Answers, func(p int32) bool {
			return g.docOf[p] == g.docOf[s.Passage]
		}) {
			continue
		}
		if out = append(out, s.Passage); len(out) == MaxConfused {
			break
		}
	}
	return out
}
