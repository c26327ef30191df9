package index

import (
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Mode says which of the two scores rank.
type Mode uint8

// The modes.
const (
	Hybrid Mode = iota
	VectorOnly
	KeywordOnly
)

// Window is a half-open range of time in milliseconds.
type Window struct{ FromMs, UntilMs int64 }

// Filter says which chunks may be candidates. The zero value lets all pass.
type Filter struct {
	// Kinds: the node's kind is one of them; empty: any.
	Kinds []string
	// Created: the node's record time lies in it; nil: any.
	Created *Window
	// Attrs: the node has all of them (AttrHash).
	Attrs []uint64
	// Node is asked last, once per node and segment, for what the index does
	// not know (a domain, say); nil: any. part is the position of the snapshot
	// in the call to Candidates. The id shares the segment's memory.
	Node func(part int, id pb.NodeID) bool
}

func (f *Filter) empty() bool {
	return len(f.Kinds) == 0 && f.Created == nil && len(f.Attrs) == 0 && f.Node == nil
}

// Query is a search over the index.
type Query struct {
	Terms []text.QueryTerm
	// Vectors is the query's embedding under each model that the snapshots
	// use. A segment whose model is missing is searched by words only.
	Vectors map[ModelID][]float32
	// Lines bring the cosines of models to the range that Config was made for;
	// a model that is not named is of that range.
	Lines  map[ModelID]Line
	Mode   Mode
	Filter Filter
	// When is the time that the query asks about: what is of it is ranked higher
	// (Config.TimeWeight), and the rest stays.
	When When
	// IncludeSuperseded lets hidden chunks in.
	IncludeSuperseded bool
	// N is the number of candidates wanted, several times the number of hits
	// since chunks of one node collapse; 0 means DefaultCandidates, at most
	// MaxCandidates. Turns that their neighbours bring in come on top, if they
	// score as much as the last of these.
	N      int
	Config Config
}

// Line maps a cosine to Factor*cosine + Offset. Factor is positive.
type Line struct{ Factor, Offset float32 }

func (l Line) at(cosine float32) float32 { return l.Factor*cosine + l.Offset }

// line gives a model's line.
func (q *Query) line(m ModelID) Line {
	if l, ok := q.Lines[m]; ok {
		return l
	}
	return Line{Factor: 1}
}

const (
	// DefaultCandidates serves ten hits: the int8 scores misplace a chunk by a
	// few ranks, and documents have a handful of similar chunks.
	DefaultCandidates = 100
	// MaxCandidates bounds Query.N: 100 hits of 20 chunks each.
	MaxCandidates = 2000
)

func (q *Query) candidates() int {
	if q.N <= 0 {
		return DefaultCandidates
	}
	return min(q.N, MaxCandidates)
}

// Candidate is a chunk that may become a hit.
type Candidate struct {
	Seq  uint64
	Node pb.NodeID // shares the segment's memory: clone it to keep it
	// Part is the position of its snapshot in the call, View the view's in it,
	// Doc the chunk's in the segment.
	Part, View, Doc int32
	Model           ModelID
	// Vector is the cosine by the int8 vectors, Keyword the share of the
	// query's information that matched (BM25norm), Score the fused score.
	Vector, Keyword, Score float32
	// Doubt is by how much Vector may miss the cosine of the exact vectors.
	Doubt float32
	// Phrase is the share of the query's pairs of words that stand side by
	// side, Context what the turns around it add; hybrid search only.
	Phrase, Context float32
	// Brevity is how short the chunk is: 1 without any word, near 0 from some
	// thirty on.
	Brevity float32
	// Timely is 1 of what is of a time that the query asks about, else 0.
	Timely float32
	// Reading is what Query.Read has added.
	Reading float32
}

// Hit is a result: a node's best chunk. Node shares the segment's memory.
type Hit struct {
	Seq                    uint64
	Node                   pb.NodeID
	Part                   int32
	Score, Vector, Keyword float32
}
