package training

import (
	"cmp"
	"slices"

	"orgmem/actors/partition"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxProjectedFrom bounds the passages whose vectors a projection is learned from:
	// 61 MB.
	maxProjectedFrom = 40_000
	// projectBatch is how many of them one task reads.
	projectBatch = 64
)

// project learns a projection of the questions, from the first part of those that are
// learned from; nil: none tells their answers from what search takes for these.
func (r *Run) project(st *storage.Store, parts []*partition.Ref, src *Source, graph *retriever.Graph,
	asked []retriever.Asked, asking []*BrainQuery,
) (*retriever.Projection, error) {
	model := r.Org.System.Embedders.Current()
	learned, checked := retriever.Split(len(asked))
	learn, check := asked[:retriever.ForProjection(learned)], asked[learned:checked]
	vectors, err := r.vectorsOf(st, parts, src, graph, append(slices.Clone(learn), check...))
	if err != nil {
		return nil, err
	}
	confused := func(from int, asked []retriever.Asked) (out []retriever.Confused) {
		for i := range asked {
			a := &asked[i]
			c := retriever.Confused{Query: asking[from+i].Lookup.Vectors[index.ModelID(model.ID())]}
			if len(c.Query) != model.Dim() {
				continue
			}
			for _, p := range a.Answers {
				if v := vectors[p]; v != nil {
					c.Right = append(c.Right, v)
				}
			}
			for _, p := range graph.Mistaken(a) {
				if v := vectors[p]; v != nil {
					c.Others = append(c.Others, v)
				}
			}
			out = append(out, c)
		}
		return out
	}
	t := retriever.NewProjector(model.Dim(), confused(0, learn), confused(learned, check), brainSeed)
	for done := false; !done; {
		if err := r.compute(func(int) error { done = t.Step(); return nil }); err != nil {
			return nil, err
		}
	}
	r.metrics = map[string]float64{"projectionAlone": t.Gain()} // in nats of each question that checks
	return t.Projection(model.ID()), nil
}

// vectorsOf reads the vectors of what answers some questions, and of what search takes
// for that, the best of each before the second best of any.
func (r *Run) vectorsOf(st *storage.Store, parts []*partition.Ref, src *Source, graph *retriever.Graph,
	asked []retriever.Asked,
) (map[int32][]float32, error) {
	model := r.Org.System.Embedders.Current()
	vectors := map[int32][]float32{}
	var order []int32
	want := func(p int32) {
		if _, known := vectors[p]; !known && len(order) < maxProjectedFrom {
			vectors[p] = nil
			order = append(order, p)
		}
	}
	mistaken := make([][]int32, len(asked))
	for i := range asked {
		for _, p := range asked[i].Answers {
			want(p)
		}
		mistaken[i] = graph.Mistaken(&asked[i])
	}
	for k := range retriever.MaxConfused {
		for _, all := range mistaken {
			if k < len(all) {
				want(all[k])
			}
		}
	}
	read := make([][]float32, len(order))
	var tasks []func(int) error
	for from := 0; from < len(order); from += projectBatch {
		tasks = append(tasks, func(int) error {
			for i := from; i < min(from+projectBatch, len(order)); i++ {
				at := src.Places[order[i]]
				v, err := partition.ReadVector(st, parts[at.Part], model.ID(), at.Seq)
				if err != nil {
					return err
				}
				if len(v) == model.Dim() { // of another length: not of these weights
					read[i] = v
				}
			}
			return nil
		})
	}
	if err := r.compute(tasks...); err != nil {
		return nil, err
	}
	for i, p := range order {
		vectors[p] = read[i]
	}
	return vectors, nil
}

// further finds what is near to the projected questions, once.
func (r *Run) further(p *retriever.Projection, asked []retriever.Asked, asking []*BrainQuery) error {
	var tasks []func(int) error
	for from := 0; from < len(asked); from += askBatch {
		tasks = append(tasks, func(worker int) error {
			for i := from; i < min(from+askBatch, len(asked)); i++ {
				asked[i].Further = nil
				if find := asking[i].Widen(p, &r.Org.System.Computers[worker].Comparer.Scratch); find != nil {
					hits := find()
					asked[i].Further = func() []retriever.Hit { return hits }
				}
			}
			return nil
		})
	}
	return r.compute(tasks...)
}

// Widen gives a search for what is near to the projected question; nil: there is no
// projection, or not for a vector that is here. What the brain does not know is left
// out: it gains nothing by walking.
func (a *BrainQuery) Widen(p *retriever.Projection, own *index.Scratch) func() []retriever.Hit {
	if p == nil {
		return nil
	}
	model := index.ModelID(p.Model())
	to := p.Apply(a.Lookup.Vectors[model])
	if to == nil {
		return nil
	}
	return func() (hits []retriever.Hit) {
		q := *a.Lookup.Query
		q.Mode, q.N, q.Vectors = index.VectorOnly, retriever.MaxFurther, map[index.ModelID][]float32{model: to}
		defer own.Reset()
		for _, c := range own.Candidates(a.Lookup.Snapshots, &q) {
			if n := a.PassageOf(ChunkID{a.Parts[c.Part].ID, c.Seq}); n != retriever.Unknown && c.Model == model {
				hits = append(hits, retriever.Hit{Passage: n, Likeness: c.Vector})
			}
		}
		slices.SortFunc(hits, func(x, y retriever.Hit) int {
			return cmp.Or(cmp.Compare(y.Likeness, x.Likeness), cmp.Compare(x.Passage, y.Passage))
		})
		return hits[:min(len(hits), retriever.MaxFurther)]
	}
}

// modelOf gives what is stored of what was learned.
func modelOf(p *retriever.Parameters, by *retriever.Projection) *pb.BrainModel {
	m := p.Message()
	if p.Projects() { // one that counts nothing is of no use
		m.Projection = by.Message()
	}
	return m
}
