package tenant

import (
	"orgmem/actors/partition"
	"orgmem/brain/conflict"
	"orgmem/brain/index"
	"orgmem/storage"
)

// Embedders are the models that a node embeds with: today's, and former ones that partitions still have vectors of.
type Embedders struct {
	newest partition.Embedder
	// before embeds until every node of the cluster has the newest; nil: the newest does at once.
	before partition.Embedder
	common func() bool // whether every node has the newest
	byID   map[string]partition.Embedder
}

func newEmbedders(m Models, speaks func(version uint32) bool) Embedders {
	e := Embedders{newest: m.Embedder, byID: map[string]partition.Embedder{}}
	for _, model := range append([]partition.Embedder{m.Embedder}, m.Former...) {
		if e.byID[model.ID()] == nil {
			e.byID[model.ID()] = model
		}
	}
	if m.EmbedderSince > 0 && len(m.Former) > 0 {
		e.before, e.common = m.Former[0], func() bool { return speaks(m.EmbedderSince) }
	}
	return e
}

// Current is the model that new memories are embedded with, and that others are to be embedded with anew. It changes
// once at most while the node runs: when the last node of an older version has left the cluster.
func (e *Embedders) Current() partition.Embedder {
	if e.before != nil && !e.common() {
		return e.before
	}
	return e.newest
}

// For is the embedder for what is new in a partition: the one that serves it, today's where none does yet. Where this
// node does not have the model any more, what is new gets no vector, and is found by its words like all that the
// partition holds, until the partition is embedded anew.
func (e *Embedders) For(now *partition.Index) partition.Embedder {
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
	return partition.WithoutVectors(model, dim, e.Current())
}

// ByID returns a model, nil where this node does not have it any more.
func (e *Embedders) ByID(model string) partition.Embedder { return e.byID[model] }

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
	return &index.Query{
		Mode: index.VectorOnly, Config: index.DefaultConfig(), N: conflict.Neighbours + maxOwnChunks,
		Vectors: map[index.ModelID][]float32{index.ModelID(model): v}, Lines: e.linesOf(model),
	}
}

// linesOf brings the cosines of a model to the range that thresholds are made for.
func (e *Embedders) linesOf(model string) map[index.ModelID]index.Line {
	if r, ok := e.byID[model].(partition.Ranged); ok {
		factor, offset := r.CosineLine()
		return map[index.ModelID]index.Line{index.ModelID(model): {Factor: factor, Offset: offset}}
	}
	return nil
}

// settingsOf is settings for who holds no store.
func (o *View) settingsOf(part *partition.Ref) (s partition.Settings, err error) {
	err = o.WithStore(func(st *storage.Store) error {
		s, err = o.Residents.Settings(st, part)
		return err
	})
	return s, err
}

// maxOwnChunks is how many chunks of the very text may stand among the nearest of
// one of its chunks.
const maxOwnChunks = 16
