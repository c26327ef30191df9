package mcp

import (
	"context"

	pb "orgmem/proto"
)

type contextInput struct {
	Query     string `json:"query"`
	MaxTokens int    `json:"maxTokens"`
}

// pack is what matters for a query. About comes from the portrait of who the memory is of:
// who the user is matters to any task.
type pack struct {
	Note           string          `json:"note"`
	About          []text          `json:"about,omitempty"`
	Passages       []hit           `json:"passages"`
	Contradictions []contradiction `json:"contradictions,omitempty"`
	// Omitted counts the passages that were found and did not fit.
	Omitted int `json:"omitted,omitempty"`
}

// Shares of the budget: a quarter for who the user is, a quarter for contradictions; what
// they leave is the passages'.
const (
	aboutShare, contradictionShare = 4, 4
	// leastCut is the least of a passage that is worth quoting, in bytes.
	leastCut = 200
	// packOverhead is what the answer takes beside what it quotes: the note twice, the
	// marks, the names of the fields.
	packOverhead = 480
)

// getContext retrieves along the graph, and fits what was found into the budget, best
// first. The budget counts the whole answer, as a model reads it.
func getContext(ctx context.Context, s *session, in contextInput) (any, error) {
	var answer struct {
		Results        []rawHit
		Contradictions []rawContradiction
	}
	body := searchBody{Query: in.Query, TopK: contextHits, MaxHops: 2}
	if err := post(ctx, s, "/v1/retrieve", body, "", &answer); err != nil {
		return nil, err
	}
	who, err := s.view(ctx, recallInput{View: pb.RecallIdentity, Limit: maxView})
	if err != nil {
		return nil, err
	}
	budget := orDefault(in.MaxTokens, defaultContext)*bytesPerToken - packOverhead
	out := pack{Note: note, Passages: []hit{}}
	left := budget / aboutShare
	for _, it := range who.Items {
		if it.Kind == "basin" || it.Kind == "trait" {
			continue // figures; a sentence of the portrait says what they are worth
		}
		if size, ok := fits(it.Text, left); ok {
			out.About, left, budget = append(out.About, it.Text), left-size, budget-size
		}
	}
	left = budget / contradictionShare
	for _, c := range answer.Contradictions {
		shown := c.shown()
		if size, ok := fits(shown, left); ok {
			out.Contradictions, left, budget = append(out.Contradictions, shown), left-size, budget-size
		}
	}
	for _, h := range answer.Results {
		shown := h.shown()
		size, ok := fits(shown, budget)
		if room := budget - (size - len(shown.Text)); !ok && room >= leastCut {
			// Escapes may make it longer than its bytes: half of the room always fits.
			short, _ := cut(string(shown.Text), room/2)
			shown.Text = text(short + " …")
			size, ok = fits(shown, budget)
		}
		if !ok {
			out.Omitted++
			continue
		}
		out.Passages, budget = append(out.Passages, shown), budget-size
	}
	return out, nil
}

// fits is how many bytes v takes in an answer, and whether that is at most room.
func fits(v any, room int) (size int, ok bool) {
	raw, err := encode(v)
	return len(raw) + 1, err == nil && len(raw)+1 <= room
}
