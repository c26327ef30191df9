package retriever

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
)

const (
	// nearSharpness is how many nats a point of cosine is worth in the loss of a
	// projection.
	nearSharpness = 20
	// projectionHold draws to where it began.
	projectionHold = 0.03
	// maxProjections bounds how often the loss of a projection is evaluated.
	maxProjections = 64
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
	dim         int
	learn, asks []Confused

	start, best []float64
	first       float64 // the loss on the checks of no projection
	fitting
	own projecting
}

// NewProjector begins to learn a projection of vectors of some length.
func NewProjector(dim int, learn, check []Confused, seed uint64) *Projector {
	p := &Projector{dim: dim, learn: learn, asks: check}
	p.start = make([]float64, 2*projectionRank*dim)
	r := rand.New(rand.NewPCG(seed, 0x70726f6a))           //nolint:gosec // to be repeatable is the point
	for i := projectionRank * dim; i < len(p.start); i++ { // U is zero: it begins as no projection
		p.start[i] = r.NormFloat64() / math.Sqrt(float64(dim))
	}
	p.fitting = newFitting(slices.Clone(p.start), maxProjections)
	p.best, p.square = slices.Clone(p.start), nil // its numbers are alike
	return p
}

// Step goes on by one batch; done when nothing more is to be gained.
func (p *Projector) Step() (done bool) {
	if p.dim == 0 || p.dim > maxProjectionDim || len(p.learn) == 0 || len(p.asks) == 0 {
		return true
	}
	if !p.begun || p.checking {
		return p.check()
	}
	from, to := p.examples(len(p.learn))
	for i := range p.learn[from:to] {
		p.value += p.own.loss(p.x, &p.learn[from+i], p.slope)
	}
	if to < len(p.learn) {
		return false
	}
	out := p.evaluated(len(p.learn), projectionHold, p.start)
	p.checking = out == arrived
	return out == ended
}

func (p *Projector) check() (done bool) {
	from, to := p.checks(len(p.asks))
	for i := range p.asks[from:to] {
		p.sum += p.own.loss(p.x, &p.asks[from+i], nil)
	}
	if to < len(p.asks) {
		return false
	}
	first := !p.begun
	better, on := p.judge(len(p.asks))
	if better {
		copy(p.best, p.x)
	}
	if first {
		p.first = p.bestLoss
	}
	p.checking = false
	return !on
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
	if !p.begun {
		return 0
	}
	return p.first - p.bestLoss
}

// projecting is the working memory of one projection. Vectors are multiplied by gonum, in
// the precision that they are stored in: a loop in float64 over the same numbers took
// three times as long.
type projecting struct {
	query        []float64
	to, pull     []float64 // the projected question, of length 1; the loss's derivative by it
	to32, pull32 []float32 // the same, as the vectors are
	along        [projectionRank]float64
	each         []float64
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
	if len(w.to) != dim {
		w.to, w.pull, w.query = make([]float64, dim), make([]float64, dim), make([]float64, dim)
		w.to32, w.pull32 = make([]float32, dim), make([]float32, dim)
	}
	widen(w.query, c.Query)
	copy(w.to, w.query)
	for r := range projectionRank {
		w.along[r] = floats.Dot(row(projectionRank+r), w.query)
		floats.AddScaled(w.to, w.along[r], row(r))
	}
	length := floats.Norm(w.to, 2)
	if length == 0 {
		return 0
	}
	floats.Scale(1/length, w.to)
	for i, x := range w.to {
		w.to32[i] = float32(x)
	}
	score := func(v []float32) float64 {
		return math.Exp(nearSharpness * (blas32.DDot(vector(w.to32), vector(v)) - 1))
	}
	others := 0.0
	w.each = w.each[:0]
	for _, v := range c.Others {
		w.each = append(w.each, score(v))
		others += w.each[len(w.each)-1]
	}
	clear(w.pull32)
	add := func(v []float32, by float64) { blas32.Axpy(float32(by), vector(v), vector(w.pull32)) }
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
	widen(w.pull, w.pull32)
	floats.AddScaled(w.pull, -floats.Dot(w.to, w.pull), w.to) // what only makes the vector longer is lost
	floats.Scale(1/length, w.pull)
	for r := range projectionRank {
		floats.AddScaled(into[r*dim:(r+1)*dim], w.along[r], w.pull)
		floats.AddScaled(into[(projectionRank+r)*dim:(projectionRank+r+1)*dim], floats.Dot(row(r), w.pull), w.query)
	}
	return loss
}

func vector(v []float32) blas32.Vector { return blas32.Vector{N: len(v), Inc: 1, Data: v} }

func widen(into []float64, v []float32) {
	for i, x := range v {
		into[i] = float64(x)
	}
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
