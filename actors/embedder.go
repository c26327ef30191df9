package actors

import (
	"google.golang.org/protobuf/proto"

	"orgmem/brain/conflict"
	"orgmem/brain/embed"
	"orgmem/brain/index"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Embedder turns text into vectors. Its methods may be called from any
// goroutine.
type Embedder interface {
	// ID names the model and its weights: vectors of different ids are never
	// compared.
	ID() string
	// Dim is the number of components of a vector.
	Dim() int
	// CountTokens is the length of a text in the model's tokens.
	CountTokens(text string) int
	// NewEncoder returns the working memory of one goroutine.
	NewEncoder() Encoder
}

// ranged is an Embedder whose cosines have a range of their own: the line brings
// them to the range that scores were made for, factor*cosine + offset.
type ranged interface {
	CosineLine() (factor, offset float32)
}

// Encoder computes vectors, in one goroutine at a time. Vectors have length 1
// and belong to the caller.
type Encoder interface {
	Passages(texts []string) [][]float32
	Query(text string) []float32
}

// computer is the working memory of one CPU worker.
type computer struct {
	wordsmith

	comparer comparer // of cognition
}

// encoders are one worker's encoders, made when first needed.
type encoders struct{ made map[string]Encoder }

func (e *encoders) of(m Embedder) Encoder {
	if e.made == nil {
		e.made = map[string]Encoder{}
	}
	enc := e.made[m.ID()]
	if enc == nil {
		enc = m.NewEncoder()
		e.made[m.ID()] = enc
	}
	return enc
}

// dim is the dimension of a model that this node may not have any more: a
// segment of its chunks is then built without vectors.
func (s *System) dim(model string) int {
	if m := s.models[model]; m != nil {
		return m.Dim()
	}
	return s.cfg.Embedder.Dim()
}

func chunkOptions(e Embedder) text.ChunkOptions {
	return text.ChunkOptions{Count: e.CountTokens}
}

func cloneState(s *pb.PartitionState) *pb.PartitionState { return proto.CloneOf(s) }

// likenessQuery asks for the chunks that are nearest to a vector of a model, as cycles
// and trainings do.
func (s *System) likenessQuery(model string, v []float32) *index.Query {
	return &index.Query{
		Mode: index.VectorOnly, Config: index.DefaultConfig(), N: conflict.Neighbours + maxOwnChunks,
		Vectors: map[index.ModelID][]float32{index.ModelID(model): v}, Lines: s.linesOf(model),
	}
}

// linesOf brings the cosines of a model to the range that thresholds are made for.
func (s *System) linesOf(model string) map[index.ModelID]index.Line {
	if r, ok := s.models[model].(ranged); ok {
		factor, offset := r.CosineLine()
		return map[index.ModelID]index.Line{index.ModelID(model): {Factor: factor, Offset: offset}}
	}
	return nil
}

// NewEmbedder wraps a model of package embed.
func NewEmbedder(m *embed.Model) Embedder { return modelEmbedder{m} }

type modelEmbedder struct{ m *embed.Model }

func (e modelEmbedder) ID() string                           { return string(e.m.ID()) }
func (e modelEmbedder) Dim() int                             { return e.m.Dim() }
func (e modelEmbedder) CountTokens(text string) int          { return e.m.CountTokens(text) }
func (e modelEmbedder) CosineLine() (factor, offset float32) { return e.m.CosineLine() }
func (e modelEmbedder) NewEncoder() Encoder                  { return modelEncoder{e.m.NewEncoder()} }

type modelEncoder struct{ e *embed.Encoder }

func (e modelEncoder) Passages(texts []string) [][]float32 {
	out := make([][]float32, len(texts))
	e.e.Passages(out, texts)
	return out
}

func (e modelEncoder) Query(text string) []float32 { return e.e.Query(text) }
