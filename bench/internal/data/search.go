package data

import (
	"orgmem/brain/embed"
	"orgmem/brain/grounding"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Search says how near passages are to a question, as the service's search does, but without an index: their
// words all weigh the same.
type Search struct {
	encoder  *embed.Encoder
	analyzer text.Analyzer
}

// NewSearch returns a search by a model.
func NewSearch(m *embed.Model) *Search { return &Search{encoder: m.NewEncoder()} }

// Rate sets the hits' cosines with the question, and what share of its words they hold.
func (s *Search) Rate(question string, hits []*pb.Hit) {
	texts := make([]string, len(hits))
	for i, h := range hits {
		texts[i] = h.GetChunk()
	}
	q, vectors := s.encoder.Query(question), make([][]float32, len(hits))
	s.encoder.Passages(vectors, texts)
	for i, h := range hits {
		var cosine float32
		for k := range q {
			cosine += q[k] * vectors[i][k]
		}
		h.Vector, h.Keyword = float64(cosine), grounding.Share(&s.analyzer, question, h.GetChunk())
	}
}
