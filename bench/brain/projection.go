package main

import (
	"cmp"
	"slices"

	"orgmem/brain/index"
	"orgmem/brain/retriever"
)

// project learns a projection of the questions as the service does; nil: it is of no
// use. gain is what it is worth by its own measure.
func (m *memory) project(g *retriever.Graph, examples []retriever.Example, learn, check []*asked,
	seed uint64,
) (p *retriever.Projection, gain float64) {
	confused := func(g *retriever.Graph, examples []retriever.Example, of []*asked) (out []retriever.Confused) {
		for i, a := range of {
			c := retriever.Confused{Query: a.v}
			for _, p := range examples[i].Answers {
				c.Right = append(c.Right, m.vectors[p])
			}
			for _, p := range g.Mistaken(&retriever.Asked{Example: examples[i], Question: a.Question}) {
				c.Others = append(c.Others, m.vectors[p])
			}
			out = append(out, c)
		}
		return out
	}
	t := retriever.NewProjector(m.encoder.Dim(), confused(g, examples, learn[:retriever.ForProjection(len(learn))]),
		confused(g, examples[len(learn):], check), seed)
	for !t.Step() {
	}
	return t.Projection(string(m.encoder.ID())), t.Gain()
}

// further finds what is nearest to the projected questions, as the service does.
func (m *memory) further(of []*asked, p *retriever.Projection) {
	if p == nil {
		return
	}
	model := index.ModelID(m.encoder.ID())
	inParallel(len(of), 16, func() func(int, int) {
		var scratch index.Scratch
		return func(from, to int) {
			for _, a := range of[from:to] {
				a.hits = nil
				q := &index.Query{
					Mode: index.VectorOnly, Config: index.DefaultConfig(), N: retriever.MaxFurther,
					Vectors: map[index.ModelID][]float32{model: p.Apply(a.v)}, Lines: map[index.ModelID]index.Line{model: m.line},
				}
				for _, c := range scratch.Candidates([]*index.Snapshot{m.snapshot}, q) {
					a.hits = append(a.hits, retriever.Hit{Passage: int32(c.Seq - 1), Likeness: c.Vector})
				}
				scratch.Reset()
				slices.SortFunc(a.hits, func(x, y retriever.Hit) int {
					return cmp.Or(cmp.Compare(y.Likeness, x.Likeness), cmp.Compare(x.Passage, y.Passage))
				})
				a.Further = func() []retriever.Hit { return a.hits }
			}
		}
	})
}

// byProjection gives the documents that are nearest to the projected question.
func (a *asked) byProjection() []int32 {
	var out []int32
	for _, h := range a.hits {
		out = append(out, h.Passage)
	}
	return a.m.documents(out)
}
