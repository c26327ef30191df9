package tenant

import (
	"iter"
	"maps"

	"orgmem/actors/partition"
	"orgmem/brain/conflict"
	"orgmem/brain/index"
	"orgmem/storage"
)

// Embedders are the models that a node embeds with: today's, and former ones that partitions still have vectors of.
type Embedders struct {
	Current partition.Embedder
	byID    map[string]partition.Embedder
}

func newEmbedders(m Models) Embedders {
	e := Embedders{Current: m.Embedder, byID: map[string]partition.Embedder{}}
	for _, model := range append([]partition.Embedder{m.Embedder}, m.Former...) {
		if e.byID[model.ID()] == nil {
			e.byID[model.ID()] = model
		}
	}
	return e
}

// ByID returns a model, nil where this node does not have it any more.
func (e *Embedders) ByID(model string) partition.Embedder { return e.byID[model] }

// IDs are the models that this node has.
func (e *Embedders) IDs() iter.Seq[string] { return maps.Keys(e.byID) }

// Dim is the dimension of a model that this node may not have any more: a
// segment of its chunks is then built without vectors.
func (e *Embedders) Dim(model string) int {
	if m := e.byID[model]; m != nil {
		return m.Dim()
	}
	return e.Current.Dim()
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
