package tenant

import (
	"orgmem/actors/partition"
	"orgmem/brain/conflict"
	"orgmem/brain/index"
	"orgmem/storage"
)

// Dim is the dimension of a model that this node may not have any more: a
// segment of its chunks is then built without vectors.
func (s *System) Dim(model string) int {
	if m := s.Models[model]; m != nil {
		return m.Dim()
	}
	return s.Config.Embedder.Dim()
}

// LikenessQuery asks for the chunks that are nearest to a vector of a model, as cycles
// and trainings do.
func (s *System) LikenessQuery(model string, v []float32) *index.Query {
	return &index.Query{
		Mode: index.VectorOnly, Config: index.DefaultConfig(), N: conflict.Neighbours + maxOwnChunks,
		Vectors: map[index.ModelID][]float32{index.ModelID(model): v}, Lines: s.linesOf(model),
	}
}

// linesOf brings the cosines of a model to the range that thresholds are made for.
func (s *System) linesOf(model string) map[index.ModelID]index.Line {
	if r, ok := s.Models[model].(partition.Ranged); ok {
		factor, offset := r.CosineLine()
		return map[index.ModelID]index.Line{index.ModelID(model): {Factor: factor, Offset: offset}}
	}
	return nil
}

// settingsOf is settings for who holds no store.
func (o *View) settingsOf(part *partition.Ref) (s partition.Settings, err error) {
	err = o.WithStore(func(st *storage.Store) error {
		s, err = o.System.Partitions.Settings(st, part)
		return err
	})
	return s, err
}

// maxOwnChunks is how many chunks of the very text may stand among the nearest of
// one of its chunks.
const maxOwnChunks = 16
