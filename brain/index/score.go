package index

import (
	"math"
	"slices"

	pb "orgmem/proto"
)

// Config holds the constants of scoring. Start from DefaultConfig.
//
//	score = cosine + KeywordWeight·BM25norm + PhraseWeight·phrase share − BrevityWeight·brevity + TimeWeight·timely + context + reading
//
// The two large parts are on fixed scales: the cosine is that of the model, and
// BM25norm is the share of the query's information that matched, 0 to 1. Ranks
// (reciprocal rank fusion) throw these scales away, and lost to them on the sets
// where both were run (docs/retrieval.md).
type Config struct {
	// K1 and B are those of BM25 (Robertson & Zaragoza, The Probabilistic
	// Relevance Framework, 2009).
	K1, B float32
	// TitleWeight is what an occurrence in the title path counts, against 1 in
	// the body.
	TitleWeight float32
	// KeywordWeight is that of BM25norm in hybrid search.
	KeywordWeight float32
	// PhraseWeight is that of the share of the query's adjacent pairs of words
	// that are adjacent in the chunk, in hybrid search.
	PhraseWeight float32
	// BrevityWeight is what a chunk without any word loses in hybrid search; it
	// falls off as the chunk grows (see brevity). Of a few words a model makes a
	// vector that is near to everything, and they seldom say what is asked for.
	BrevityWeight float32
	// TimeWeight is what a chunk of a time that the query asks about gets, in
	// hybrid search. Its neighbours get nothing of it: that it is of that time
	// does not say that it is about what is asked.
	TimeWeight float32
	// Context is the part that its neighbours at distance 1, 2 and 3 get of
	// what a linked turn scores beyond ContextFloor times the query's best
	// score, in hybrid search. Turns further apart in time than ContextGapMs
	// are not linked. ContextDocs is for the neighbours of how many of the best
	// chunks this is worked out.
	Context      [contextReach]float32
	ContextFloor float32
	ContextGapMs int64
	ContextDocs  int
}

// DefaultConfig is the one configuration for all data. Its constants were chosen
// on development sets of chats, minutes, abstracts and encyclopaedia articles,
// and checked on others.
func DefaultConfig() Config {
	return Config{
		K1: 0.9, B: 0.4, TitleWeight: 1,
		KeywordWeight: 0.7,
		PhraseWeight:  0.3,
		BrevityWeight: 0.1,
		TimeWeight:    0.2,
		Context:       [contextReach]float32{0.4, 0.3, 0.2},
		ContextFloor:  0.5,
		ContextGapMs:  3600 * 1000,
		ContextDocs:   20,
	}
}

// fuse gives the score by which candidates are found: without phrase, brevity
// and context, which are looked at for candidates only.
func (q *Query) fuse(keyword, vector float32) float32 {
	switch q.Mode {
	case VectorOnly:
		return vector
	case KeywordOnly:
		return keyword
	default:
		return q.Config.KeywordWeight*keyword + vector
	}
}

// score gives the score that ranks.
func (q *Query) score(c *Candidate) float32 {
	s := q.fuse(c.Keyword, c.Vector)
	if q.Mode == Hybrid {
		s += q.Config.PhraseWeight*c.Phrase - q.Config.BrevityWeight*c.Brevity + c.Context +
			q.Config.TimeWeight*c.Timely + c.Reading
	}
	return s
}

// Read adds what somebody who has read a candidate of this query makes of it, in hybrid search.
func (q *Query) Read(c *Candidate, adds float32) {
	c.Reading = adds
	c.Score = q.score(c)
}

// Parts are what a candidate's score is made of. They add up to it, but for rounding.
type Parts struct{ Meaning, Words, Phrases, Neighbours, Time, Brevity, Reading float32 }

// Parts tells what the score of a candidate of this query is made of.
func (q *Query) Parts(c *Candidate) Parts {
	switch q.Mode {
	case VectorOnly:
		return Parts{Meaning: c.Vector}
	case KeywordOnly:
		return Parts{Words: c.Keyword}
	default:
		return Parts{
			Meaning: c.Vector, Words: q.Config.KeywordWeight * c.Keyword, Phrases: q.Config.PhraseWeight * c.Phrase,
			Neighbours: c.Context, Time: q.Config.TimeWeight * c.Timely, Brevity: -q.Config.BrevityWeight * c.Brevity,
			Reading: c.Reading,
		}
	}
}

// idf is that of BM25 as Lucene has it, never negative.
func idf(chunks, df int) float64 {
	df = min(df, chunks)
	return math.Log1p((float64(chunks) - float64(df) + 0.5) / (float64(df) + 0.5))
}

// roundingDoubt, in units of a row's scale, is by how much an int8 cosine may miss
// the exact one: a component is rounded by up to half a unit, so a product with a
// query of length 1 is off with a deviation of 1/√12, of which these are three. Two
// chunks are left in the order of their int8 cosines when they are six deviations
// apart, 4.4 of those of their difference: of 100,000 such pairs one is the wrong way
// round, by a ten-thousandth. Five read half as many vectors again.
const roundingDoubt = 0.9

// Open gives the candidates, by their positions in ascending order, that Fuse
// needs exact vectors of for its topK hits to be those, in their order, that exact
// vectors of all would give: of as many as hold topK nodes, and those behind them
// that may be better than the last, all that are too near to another to be certain
// of their place. The others keep the int8 cosine.
func Open(cands []Candidate, q *Query, topK int) []int {
	if q.Mode == KeywordOnly {
		return nil
	}
	var wrong float32
	for i := range cands {
		wrong = max(wrong, cands[i].Doubt)
	}
	seen := make(map[nodeKey]struct{}, topK)
	least, end := float32(0), len(cands)
	for i := range cands {
		c := &cands[i]
		if len(seen) == topK && c.Score < least {
			end = i
			break
		}
		if len(seen) < topK {
			seen[nodeKey{c.Part, c.Node}] = struct{}{}
			least = c.Score - 2*wrong
		}
	}
	// What those before can fall to at least, and those behind can rise to.
	floor, ceiling := make([]float32, end+1), make([]float32, end+1)
	floor[0], ceiling[end] = math.MaxFloat32, -math.MaxFloat32
	for i := range end {
		floor[i+1] = min(floor[i], cands[i].Score-cands[i].Doubt)
	}
	for i := end - 1; i >= 0; i-- {
		ceiling[i] = max(ceiling[i+1], cands[i].Score+cands[i].Doubt)
	}
	var open []int
	for i := range end {
		if c := &cands[i]; c.Score+c.Doubt >= floor[i] || c.Score-c.Doubt <= ceiling[i+1] {
			open = append(open, i)
		}
	}
	return open
}

// nodeKey is a node of a part.
type nodeKey struct {
	part int32
	node pb.NodeID
}

// Fuse ranks candidates for good. exact[i], where present and not empty, is the
// stored vector of candidate i (any length, of its model's dimension) and
// replaces the int8 cosine. Of each node in each part only the best chunk is
// kept; topK hits come back, best first, ties broken by part and Seq.
//
// A candidate without an exact vector keeps its int8 cosine; Open says which need
// one.
func Fuse(cands []Candidate, exact [][]float32, q *Query, topK int) []Hit {
	scored := make([]ranked, len(cands))
	vectors := make([]float32, len(cands))
	for i := range cands {
		c := cands[i]
		if i < len(exact) {
			c.sharpen(exact[i], q)
		}
		vectors[i] = c.Vector
		scored[i] = ranked{score: q.score(&c), part: c.Part, seq: c.Seq, doc: int32(i)}
	}
	slices.SortFunc(scored, compareRanked)
	seen := make(map[nodeKey]struct{}, topK)
	hits := make([]Hit, 0, min(topK, len(scored)))
	for _, r := range scored {
		if len(hits) >= topK {
			break
		}
		c := &cands[r.doc]
		k := nodeKey{c.Part, c.Node}
		if _, dup := seen[k]; dup {
			continue
		}
		seen[k] = struct{}{}
		hits = append(hits, Hit{
			Seq: c.Seq, Node: c.Node, Part: c.Part, Score: r.score, Vector: vectors[r.doc], Keyword: c.Keyword,
		})
	}
	return hits
}

// Sharpen gives candidates the cosine of their exact vectors, as Fuse does, and leaves
// them in their order.
func Sharpen(cands []Candidate, exact [][]float32, q *Query) {
	for i := range min(len(cands), len(exact)) {
		c := &cands[i]
		c.sharpen(exact[i], q)
		c.Score = q.score(c)
	}
}

// sharpen replaces the int8 cosine by that of a stored vector, if one of the
// candidate's model is stored.
func (c *Candidate) sharpen(exact []float32, q *Query) {
	if v := q.Vectors[c.Model]; len(exact) > 0 && len(v) == len(exact) {
		c.Vector = q.line(c.Model).at(cosine(v, exact))
	}
}
