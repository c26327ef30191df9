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
	// in the call to Candidates.
	Node func(part int, id pb.NodeID) bool
}

// Config holds the constants of scoring. Start from DefaultConfig.
type Config struct {
	// K1 and B are those of BM25 (Robertson & Zaragoza 2009).
	K1, B float32
	// TitleWeight is what an occurrence in the title path counts, against 1 in
	// the body.
	TitleWeight float32
	// KeywordWeight is w in score = w·BM25norm + cosine.
	KeywordWeight float32
}

// DefaultConfig is the one configuration for all data.
func DefaultConfig() Config { panic("not yet") }

// Query is a search over the index.
type Query struct {
	Terms []text.QueryTerm
	// Vectors is the query's embedding under each model that the snapshots
	// use. A segment whose model is missing is searched by words only.
	Vectors map[ModelID][]float32
	Mode    Mode
	Filter  Filter
	// IncludeSuperseded lets hidden chunks in.
	IncludeSuperseded bool
	// N is the number of candidates wanted, several times the number of hits
	// since chunks of one node collapse; 0 means 100, at most MaxCandidates.
	N      int
	Config Config
}

// MaxCandidates bounds Query.N: 100 hits of 20 chunks each.
const MaxCandidates = 2000

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
}

// Scratch holds the memory a search works in, for one search at a time. The
// zero value is ready; keep it for the next search.
type Scratch struct{}

// Candidates gives the best N chunks over all snapshots by the int8 fused score,
// best first. Both scores are known for each. nil snapshots are skipped. The
// slice belongs to the scratch until its next use.
func (sc *Scratch) Candidates(snapshots []*Snapshot, q *Query) []Candidate { panic("not yet") }

// Hit is a result: a node's best chunk.
type Hit struct {
	Seq                    uint64
	Node                   pb.NodeID
	Part                   int32
	Score, Vector, Keyword float32
}

// Fuse ranks candidates for good. exact[i], where present and not empty, is the
// stored vector of candidate i (any length, of its model's dimension) and
// replaces the int8 cosine. Of each node in each part only the best chunk is
// kept; topK hits come back, best first, ties broken by part and Seq.
func Fuse(cands []Candidate, exact [][]float32, q *Query, topK int) []Hit { panic("not yet") }
