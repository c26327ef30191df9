package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"orgmem/brain/retriever"
)

const (
	// sharpness is how many nats a point of cosine is worth in the loss.
	sharpness = 20
	// projectionRate is Adam's, projectionHold draws to the identity; the rest are as in
	// a training of the retriever.
	projectionRate     = 0.002
	projectionHold     = 0.001
	projectionEpochs   = 16
	projectionPatience = 3
	projectionBatch    = 32
)

// projection moves a question to where its answers lie. Of rank 0 it weighs each
// component, q + w∘q; of another it adds a matrix of that rank, q + U Vᵀ q.
type projection struct {
	rank, dim int
	// at are the numbers that are learned: w, or the rows of U and behind them those
	// of V.
	at []float64
}

func newProjection(rank, dim int, seed uint64) *projection {
	p := &projection{rank: rank, dim: dim, at: make([]float64, dim)}
	if rank > 0 {
		p.at = make([]float64, 2*rank*dim)
		r := rand.New(rand.NewPCG(seed, 0x70726f6a))
		for i := range p.at[rank*dim:] { // U is zero: it begins as the identity
			p.at[rank*dim+i] = r.NormFloat64() / math.Sqrt(float64(dim))
		}
	}
	return p
}

func (p *projection) row(i int) []float64 { return p.at[i*p.dim : (i+1)*p.dim] }

// apply gives a question's vector, of length 1.
func (p *projection) apply(q []float32) []float32 {
	if p == nil {
		return q
	}
	to, length := p.moved(q)
	out := make([]float32, len(to))
	for i, x := range to {
		out[i] = float32(x / length)
	}
	return out
}

func (p *projection) moved(q []float32) (to []float64, length float64) {
	to = make([]float64, p.dim)
	for i, x := range q {
		to[i] = float64(x)
		if p.rank == 0 {
			to[i] += p.at[i] * float64(x)
		}
	}
	for r := range p.rank {
		s := along(p.row(p.rank+r), q)
		for i, u := range p.row(r) {
			to[i] += s * u
		}
	}
	for _, x := range to {
		length += x * x
	}
	return to, math.Sqrt(length)
}

func along(v []float64, q []float32) float64 {
	s := 0.0
	for i, x := range q {
		s += v[i] * float64(x)
	}
	return s
}

// confusion is a question with what answers it, and what search takes for that.
type confusion struct {
	q             []float32
	right, others [][]float32
}

// loss gives how badly a question is told from what does not answer it, in nats, and
// adds its derivatives: the mean over the answers g of -log(e^z(g) / (e^z(g) + N)).
func (p *projection) loss(c *confusion, into []float64) float64 {
	to, length := p.moved(c.q)
	unit := make([]float64, len(to))
	for i, x := range to {
		unit[i] = x / length
	}
	score := func(v []float32) float64 { return math.Exp(sharpness * (along(unit, v) - 1)) }
	others, each := 0.0, make([]float64, len(c.others))
	for i, v := range c.others {
		each[i] = score(v)
		others += each[i]
	}
	pull := make([]float64, len(to)) // of the unit vector
	add := func(v []float32, by float64) {
		for i, x := range v {
			pull[i] += by * float64(x)
		}
	}
	loss, spill, share := 0.0, 0.0, 1/float64(len(c.right))
	for _, v := range c.right {
		e := score(v)
		loss -= share * math.Log(e/(e+others))
		add(v, share*sharpness*(e/(e+others)-1))
		spill += share * sharpness / (e + others)
	}
	if into == nil {
		return loss
	}
	for i, v := range c.others {
		add(v, spill*each[i])
	}
	same := 0.0 // what only makes the vector longer is lost
	for i, x := range unit {
		same += x * pull[i]
	}
	for i, x := range unit {
		pull[i] = (pull[i] - same*x) / length
	}
	if p.rank == 0 {
		for i, x := range c.q {
			into[i] += pull[i] * float64(x)
		}
	}
	for r := range p.rank {
		u, v := p.row(r), p.row(p.rank+r)
		s, back := along(v, c.q), 0.0
		for i, x := range pull {
			into[r*p.dim+i] += s * x
			back += u[i] * x
		}
		for i, x := range c.q {
			into[(p.rank+r)*p.dim+i] += back * float64(x)
		}
	}
	return loss
}

// project learns a projection from questions that the memory asks itself, until it
// gains nothing on those that check.
func (m *memory) project(rank int, examples []retriever.Example, learn, check []*asked, seed uint64) *projection {
	p := newProjection(rank, m.encoder.Dim(), seed)
	start := slices.Clone(p.at)
	confused := func(examples []retriever.Example, of []*asked) (out []confusion) {
		for i, a := range of {
			c := confusion{q: a.v}
			docs := map[int32]bool{}
			for _, x := range examples[i].Answers {
				c.right = append(c.right, m.vectors[x])
				docs[m.docOf[x]] = true
			}
			for _, s := range a.Seeds {
				if !docs[m.docOf[s.Passage]] {
					c.others = append(c.others, m.vectors[s.Passage])
				}
			}
			out = append(out, c)
		}
		return out
	}
	from, by := confused(examples[:len(learn)], learn), confused(examples[len(learn):], check)
	best, bestLoss, wasted := slices.Clone(p.at), math.Inf(1), 0
	mean, square := make([]float64, len(p.at)), make([]float64, len(p.at))
	moves := 0
	for epoch := 0; epoch < projectionEpochs && wasted < projectionPatience; epoch++ {
		loss := 0.0
		for i := range by {
			loss += p.loss(&by[i], nil) / float64(len(by))
		}
		if loss < bestLoss {
			bestLoss, wasted = loss, 0
			copy(best, p.at)
		} else {
			wasted++
		}
		order := rand.New(rand.NewPCG(seed, uint64(epoch))).Perm(len(from))
		for some := range slices.Chunk(order, projectionBatch) {
			grad := make([]float64, len(p.at))
			for _, i := range some {
				p.loss(&from[i], grad)
			}
			moves++
			for k := range p.at {
				d := grad[k]/float64(len(some)) + projectionHold*(p.at[k]-start[k])
				mean[k] = 0.9*mean[k] + 0.1*d
				square[k] = 0.999*square[k] + 0.001*d*d
				p.at[k] -= projectionRate * mean[k] / (1 - math.Pow(0.9, float64(moves))) / (math.Sqrt(square[k]/(1-math.Pow(0.999, float64(moves)))) + 1e-8)
			}
		}
	}
	copy(p.at, best)
	return p
}
