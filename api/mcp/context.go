package mcp

import (
	"context"
	"unicode/utf8"

	pb "orgmem/proto"
	"orgmem/proto/canon"
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
	leastCut = 120
	// packOverhead is what the answer takes beside what it quotes, in bytes of ASCII: the
	// note twice, the marks, the names of the fields.
	packOverhead = 480
)

// What characters cost, in twelfths of a token. Which tokenizer reads an answer nobody knows
// here; of seven languages in seven scripts, o200k_base and cl100k_base make fewer tokens
// than this. A node's id is letters by chance, of which they make twice as many as of words.
const (
	perToken  = 12
	costASCII = 4
	cost2     = 12 // of two bytes: letters with accents, Cyrillic, Greek, Arabic, Hebrew
	cost3     = 15 // of three: the scripts of Asia
	cost4     = 24 // of four: emoji
	costID    = 20 * perToken
)

// cost is what a model pays for a text.
func cost(raw []byte) int {
	total := 0
	for len(raw) > 0 {
		_, size := utf8.DecodeRune(raw)
		total += [...]int{costASCII, cost2, cost3, cost4}[size-1]
		raw = raw[size:]
	}
	return total
}

// budget is what is left of an answer's tokens, or of a share of them.
type budget int

// take draws what v costs, if that is there.
func (b *budget) take(v any, ids int) bool {
	raw, err := encode(v)
	price := cost(raw) + costASCII + ids*costID // and a comma
	if err != nil || price > int(*b) {
		return false
	}
	*b -= budget(price)
	return true
}

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
	left := budget(orDefault(in.MaxTokens, defaultContext)*perToken - packOverhead*costASCII)
	out := pack{Note: note, Passages: []hit{}}
	share := left / aboutShare
	left -= share
	for _, it := range who.Items {
		if it.Kind == "basin" || it.Kind == "trait" {
			continue // figures; a sentence of the portrait says what they are worth
		}
		if share.take(it.Text, 0) {
			out.About = append(out.About, it.Text)
		}
	}
	left += share // what nobody needed
	share = left / contradictionShare
	left -= share
	for _, c := range answer.Contradictions {
		if shown := c.shown(); share.take(shown, len(shown.Sides)) {
			out.Contradictions = append(out.Contradictions, shown)
		}
	}
	left += share
	for _, h := range answer.Results {
		shown, ok := left.passage(h.shown())
		if !ok {
			out.Omitted++
			continue
		}
		out.Passages = append(out.Passages, shown)
	}
	return out, nil
}

// passage draws a passage, cut where only a part of it fits.
func (b *budget) passage(h hit) (hit, bool) {
	whole := string(h.Text)
	for size := len(whole); ; size = size * 3 / 4 {
		if short := canon.Prefix(whole, size); len(short) < len(whole) {
			h.Text = text(short + " …")
		}
		if b.take(h, 1) {
			return h, true
		}
		if size < leastCut {
			return h, false
		}
	}
}
