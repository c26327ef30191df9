package retriever

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	pb "orgmem/proto"
)

const (
	// projectionRank is how many directions a projection moves questions in: more are
	// learned by heart by the questions that one memory gives.
	projectionRank = 8
	// maxProjectionDim bounds the vectors that are projected, and with projectionRank
	// what is stored: 16,384 numbers.
	maxProjectionDim = 1024
)

// Projection moves a question's vector q to where its answers lie: q + U Vᵀ q, brought
// to length 1. It does not change.
type Projection struct {
	model string
	dim   int
	at    []float32 // the rows of U, behind them those of V
}

// Model names the embedding model whose vectors it is for.
func (p *Projection) Model() string { return p.model }

// Apply gives the projected vector; nil where it is not for vectors of that length.
func (p *Projection) Apply(q []float32) []float32 {
	if p == nil || len(q) != p.dim {
		return nil
	}
	to := make([]float64, p.dim)
	widen(to, q)
	for r := range projectionRank {
		s := blas32.DDot(vector(p.row(projectionRank+r)), vector(q))
		for i, u := range p.row(r) {
			to[i] += s * float64(u)
		}
	}
	length := floats.Norm(to, 2)
	if length == 0 {
		return nil
	}
	out := make([]float32, p.dim)
	for i, x := range to {
		out[i] = float32(x / length)
	}
	return out
}

func (p *Projection) row(i int) []float32 { return p.at[i*p.dim : (i+1)*p.dim] }

// Parameters is how many numbers were learned; nil has none.
func (p *Projection) Parameters() int {
	if p == nil {
		return 0
	}
	return len(p.at)
}

// Message gives the projection as it is stored; nil of none.
func (p *Projection) Message() *pb.BrainProjection {
	if p == nil {
		return nil
	}
	return &pb.BrainProjection{Model: p.model, Dim: uint32(p.dim), Numbers: slices.Clone(p.at)}
}

// ProjectionFrom reads what Message gave, nil of nil; ErrCorrupt.
func ProjectionFrom(m *pb.BrainProjection) (*Projection, error) {
	if m == nil {
		return nil, nil
	}
	dim := int(m.GetDim())
	if m.GetModel() == "" || dim == 0 || dim > maxProjectionDim || len(m.GetNumbers()) != 2*projectionRank*dim {
		return nil, corrupt("projection")
	}
	for _, x := range m.GetNumbers() {
		if x != x || x > math.MaxFloat32 || x < -math.MaxFloat32 {
			return nil, corrupt("a number of the projection is none")
		}
	}
	return &Projection{model: m.GetModel(), dim: dim, at: m.GetNumbers()}, nil
}
