package partition

import (
	"orgmem/brain/conflict"
	"orgmem/brain/index"
)

// Embedders are the models that a node embeds with: today's, and former ones that partitions still have vectors of.
type Embedders struct {
	newest Embedder
	// before embeds until every node of the cluster has the newest; nil: the newest does at once.
	before Embedder
	common func() bool // whether every node has the newest
	byID   map[string]Embedder
}

// NewEmbedders has all of a node's models. Until common says that every node of the cluster has the newest, the first
// of the former ones embeds; nil: the newest does at once.
func NewEmbedders(newest Embedder, former []Embedder, common func() bool) Embedders {
	e := Embedders{newest: newest, byID: map[string]Embedder{}}
	for _, model := range append([]Embedder{newest}, former...) {
		if e.byID[model.ID()] == nil {
			e.byID[model.ID()] = model
		}
	}
	if common != nil && len(former) > 0 {
		e.before, e.common = former[0], common
	}
	return e
}

// Current is the model that new memories are embedded with, and that others are to be embedded with anew. It changes
// once at most while the node runs: when the last node of an older version has left the cluster.
func (e *Embedders) Current() Embedder {
	if e.before != nil && !e.common() {
		return e.before
	}
	return e.newest
}

// For is the embedder for what is new in a partition: the one that serves it, today's where none does yet. Where this
// node does not have the model any more, what is new gets no vector, and is found by its words like all that the
// partition holds, until the partition is embedded anew.
func (e *Embedders) For(now *Index) Embedder {
	model := now.State.GetModel()
	if model == "" {
		return e.Current()
	}
	if m := e.byID[model]; m != nil {
		return m
	}
	dim := e.Dim(model)
	if views := now.Snapshot.Views; len(views) > 0 {
		dim = views[0].Segment.Dim()
	}
	return WithoutVectors(model, dim, e.Current())
}

// ByID returns a model, nil where this node does not have it any more.
func (e *Embedders) ByID(model string) Embedder { return e.byID[model] }

// Dim is the dimension of a model that this node may not have any more: a
// segment of its chunks is then built without vectors.
func (e *Embedders) Dim(model string) int {
	if m := e.byID[model]; m != nil {
		return m.Dim()
	}
	return e.Current().Dim()
}

// LikenessQuery asks for the chunks that are nearest to a vector of a model, as cycles
// and trainings do.
func (e *Embedders) LikenessQuery(model string, v []float32) *index.Query {
	id := index.ModelID(model)
	return &index.Query{
		Mode: index.VectorOnly, Config: index.DefaultConfig(), N: conflict.Neighbours + maxOwnChunks,
		Vectors: map[index.ModelID][]float32{id: v}, Lines: map[index.ModelID]index.Line{id: e.Line(model)},
	}
}

// Line brings the cosines of a model to the range that thresholds are made for. Those of a model that this node does
// not have stay as they are.
func (e *Embedders) Line(model string) index.Line {
	if r, ok := e.byID[model].(Ranged); ok {
		factor, offset := r.CosineLine()
		return index.Line{Factor: factor, Offset: offset}
	}
	return index.Line{Factor: 1}
}

// Themes gives what sees in a model's vectors what texts are about, and the line that brings the cosines of what it
// sees to the range that thresholds are made for. Of a model that has nothing of its own for it, that is the vectors.
func (e *Embedders) Themes(model string) (seen func(v []float32) []float32, line index.Line) {
	if m, ok := e.byID[model].(Themed); ok {
		if t := m.Themes(); t != nil {
			factor, offset := t.CosineLine()
			return t.Of, index.Line{Factor: factor, Offset: offset}
		}
	}
	return func(v []float32) []float32 { return v }, e.Line(model)
}

// maxOwnChunks is how many chunks of the very text may stand among the nearest of
// one of its chunks.
const maxOwnChunks = 16
