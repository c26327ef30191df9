package index

import (
	"cmp"
	"math"
	"slices"
)

// Config holds the constants of scoring. Start from DefaultConfig.
type Config struct {
	// K1 and B are those of BM25 (Robertson & Zaragoza, The Probabilistic
	// Relevance Framework, 2009).
	K1, B float32
	// TitleWeight is what an occurrence in the title path counts, against 1 in
	// the body.
	TitleWeight float32
	// KeywordWeight is w in score = w·BM25norm + cosine.
	KeywordWeight float32
}

// DefaultConfig is the one configuration for all data.
func DefaultConfig() Config {
	return Config{K1: 1.2, B: 0.75, TitleWeight: 1, KeywordWeight: 0.6}
}

// fuse gives the score that ranks.
func (q *Query) fuse(keyword, vector float32) float32 {
	switch q.Mode {
	case VectorOnly:
		return vector
	case KeywordOnly:
		return keyword
	}
	return q.Config.KeywordWeight*keyword + vector
}

// idf is that of BM25 as Lucene has it, never negative.
func idf(chunks, df int) float64 {
	df = min(df, chunks)
	return math.Log1p((float64(chunks) - float64(df) + 0.5) / (float64(df) + 0.5))
}

// Fuse ranks candidates for good. exact[i], where present and not empty, is the
// stored vector of candidate i (any length, of its model's dimension) and
// replaces the int8 cosine. Of each node in each part only the best chunk is
// kept; topK hits come back, best first, ties broken by part and Seq.
//
// A candidate without an exact vector keeps its int8 cosine, which is within
// about 0.005; give vectors to twice as many candidates as hits are wanted.
func Fuse(cands []Candidate, exact [][]float32, q *Query, topK int) []Hit {
	ranked := make([]Candidate, len(cands))
	copy(ranked, cands)
	for i := range ranked {
		c := &ranked[i]
		if i < len(exact) && len(exact[i]) > 0 {
			if v := q.Vectors[c.Model]; len(v) == len(exact[i]) {
				c.Vector = cosine(v, exact[i])
			}
		}
		c.Score = q.fuse(c.Keyword, c.Vector)
	}
	slices.SortFunc(ranked, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Seq, b.Seq))
	})
	type key struct {
		part int32
		node string
	}
	seen := make(map[key]struct{}, topK)
	hits := make([]Hit, 0, min(topK, len(ranked)))
	for _, c := range ranked {
		if len(hits) >= topK {
			break
		}
		k := key{c.Part, string(c.Node)}
		if _, dup := seen[k]; dup {
			continue
		}
		seen[k] = struct{}{}
		hits = append(hits, Hit{Seq: c.Seq, Node: c.Node, Part: c.Part, Score: c.Score, Vector: c.Vector, Keyword: c.Keyword})
	}
	return hits
}
