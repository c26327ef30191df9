package partition

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	"orgmem/brain/embed"
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

// Ranged is an Embedder whose cosines have a range of their own: the line brings
// them to the range that scores were made for, factor*cosine + offset.
type Ranged interface {
	CosineLine() (factor, offset float32)
}

// Themed is an Embedder that may have something that sees in its vectors what texts are about; nil: it has not.
type Themed interface {
	Themes() *embed.Themes
}

// Encoder computes vectors, in one goroutine at a time. Vectors have length 1
// and belong to the caller.
type Encoder interface {
	Passages(texts []string) [][]float32
	Query(text string) []float32
}

// WithoutVectors stands for a model that this node does not have: texts are cut as for another one, and get no vectors.
func WithoutVectors(id string, dim int, cut Embedder) Embedder {
	return absent{id: id, dim: dim, cut: cut}
}

type absent struct {
	id  string
	dim int
	cut Embedder
}

func (a absent) ID() string                  { return a.id }
func (a absent) Dim() int                    { return a.dim }
func (a absent) CountTokens(text string) int { return a.cut.CountTokens(text) }
func (a absent) NewEncoder() Encoder         { return noVectors{} }

type noVectors struct{}

func (noVectors) Passages(texts []string) [][]float32 { return make([][]float32, len(texts)) }
func (noVectors) Query(string) []float32              { return nil }

// Encoders are one worker's encoders, made when first needed.
type Encoders struct{ made map[string]Encoder }

// Of returns the encoder of a model.
func (e *Encoders) Of(m Embedder) Encoder {
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

// ChunkOptions are how texts are cut into chunks for a model.
func ChunkOptions(e Embedder) text.ChunkOptions {
	return text.ChunkOptions{Count: e.CountTokens}
}

// CloneState copies the head of a partition.
func CloneState(s *pb.PartitionState) *pb.PartitionState { return proto.CloneOf(s) }

// NewEmbedder wraps a model of package embed.
func NewEmbedder(m *embed.Model) Embedder { return modelEmbedder{m} }

// NewLateEmbedder is NewEmbedder for a model that is loaded when something is first embedded with it, and then stays. Of
// the outline it tells what vectors are compared by. The pack is the program's own, and the outline has read it, so that
// load fails only where memory has changed under it.
func NewLateEmbedder(outline *embed.Model, load func() (*embed.Model, error)) Embedder {
	return lateEmbedder{modelEmbedder{outline}, sync.OnceValue(func() *embed.Model {
		m, err := load()
		if err != nil {
			panic(fmt.Errorf("load a former embedding model: %w", err)) //nolint:forbidigo // see above
		}
		return m
	})}
}

type lateEmbedder struct {
	modelEmbedder

	loaded func() *embed.Model
}

func (e lateEmbedder) CountTokens(text string) int { return e.loaded().CountTokens(text) }
func (e lateEmbedder) NewEncoder() Encoder         { return modelEncoder{e.loaded().NewEncoder()} }

type modelEmbedder struct{ m *embed.Model }

func (e modelEmbedder) ID() string                           { return string(e.m.ID()) }
func (e modelEmbedder) Dim() int                             { return e.m.Dim() }
func (e modelEmbedder) CountTokens(text string) int          { return e.m.CountTokens(text) }
func (e modelEmbedder) CosineLine() (factor, offset float32) { return e.m.CosineLine() }
func (e modelEmbedder) Themes() *embed.Themes                { return e.m.Themes() }
func (e modelEmbedder) NewEncoder() Encoder                  { return modelEncoder{e.m.NewEncoder()} }

type modelEncoder struct{ e *embed.Encoder }

func (e modelEncoder) Passages(texts []string) [][]float32 {
	out := make([][]float32, len(texts))
	e.e.Passages(out, texts)
	return out
}

func (e modelEncoder) Query(text string) []float32 { return e.e.Query(text) }
