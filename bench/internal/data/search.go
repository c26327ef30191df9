package data

import (
	"orgmem/brain/answer"
	"orgmem/brain/embed"
	"orgmem/brain/grounding"
	"orgmem/brain/text"
)

// Search says how near passages are to a question, as the service's search does, but without an index: their
// words all weigh the same.
type Search struct {
	encoder  *embed.Encoder
	analyzer text.Analyzer
}

// NewSearch returns a search by a model.
func NewSearch(m *embed.Model) *Search { return &Search{encoder: m.NewEncoder()} }

// Rate sets the cosines of the passages' hits with the question, and what share of its words they hold.
func (s *Search) Rate(question string, read []answer.Read) {
	texts := make([]string, len(read))
	for i := range read {
		texts[i] = read[i].Hit.GetChunk()
	}
	q, vectors := s.encoder.Query(question), make([][]float32, len(read))
	s.encoder.Passages(vectors, texts)
	for i := range read {
		h := read[i].Hit
		h.Vector, h.Keyword = float64(Dot(q, vectors[i])), grounding.Share(&s.analyzer, question, h.GetChunk())
	}
}

// Share is what share of a question's words a text holds.
func (s *Search) Share(question, in string) float64 {
	return grounding.Share(&s.analyzer, question, in)
}
