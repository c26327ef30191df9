// Package explain says in JSON why a search gave its hits in their order. It promises that the parts of a hit add up to its
// total. One of its own, since the package of routes is as large as it may be.
package explain

import (
	"github.com/go-json-experiment/json"

	"orgmem/api/wire"
	pb "orgmem/proto"
)

// SearchExplanation explains a search as a whole.
type SearchExplanation struct {
	Passages uint32           `json:"passages" doc:"That were compared by all parts of the score."`
	Nodes    uint32           `json:"nodes" doc:"That these are of."`
	Brain    *GateExplanation `json:"brain,omitzero" doc:"Absent where none ranked."`
}

// GateExplanation is how far a brain was trusted, and why.
type GateExplanation struct {
	Gate wire.Measure `json:"gate" minimum:"0" maximum:"1" doc:"How far the brain trusts itself here."`
	Shut wire.Measure `json:"shut" doc:"@gateExplanation.shut"`

	PropagationTier string `json:"propagationTier" enum:"none,local,regional,global" doc:"@brainFound.propagationTier"`

	Signs []GateSign `json:"signs" doc:"What the gate went by. The pulls add up to its logit."`
}

// GateSign is one thing that the gate went by.
type GateSign struct {
	Sign string       `json:"sign" enum:"always,best,margin,agreement,names,density,subjects,cover" doc:"@gateSign.sign"`
	Seen wire.Measure `json:"seen"`
	Pull wire.Measure `json:"pull" doc:"@gateSign.pull"`
}

// HitExplanation is how a hit came to its place.
type HitExplanation struct {
	Rank        uint32       `json:"rank,omitzero" doc:"@hitExplanation.rank"`
	MeaningRank uint32       `json:"meaningRank,omitzero" doc:"@hitExplanation.meaningRank"`
	WordsRank   uint32       `json:"wordsRank,omitzero" doc:"@hitExplanation.wordsRank"`
	Parts       ScoreParts   `json:"parts"`
	Total       wire.Score   `json:"total" doc:"@hitExplanation.total"`
	Brain       *BrainChange `json:"brain,omitzero" doc:"@hitExplanation.brain"`
	DuplicateOf string       `json:"duplicateOf,omitempty" doc:"@hitExplanation.duplicateOf"`
}

// ScoreParts add up to the total.
type ScoreParts struct {
	Meaning    wire.Score `json:"meaning" doc:"Likeness of meaning."`
	Words      wire.Score `json:"words" doc:"@scoreParts.words"`
	Phrases    wire.Score `json:"phrases" doc:"Words of the question that stand side by side."`
	Neighbours wire.Score `json:"neighbours" doc:"@scoreParts.neighbours"`
	Time       wire.Score `json:"time" doc:"@scoreParts.time"`
	Brevity    wire.Score `json:"brevity" doc:"@scoreParts.brevity"`
	Reading    wire.Score `json:"reading" doc:"@scoreParts.reading"`
}

// BrainChange is what a brain added to the total.
type BrainChange struct {
	Rank    uint32     `json:"rank" doc:"Its place by the brain."`
	Known   bool       `json:"known" doc:"@brainChange.known"`
	Walk    wire.Score `json:"walk" doc:"@brainChange.walk"`
	Meaning wire.Score `json:"meaning"`
	Words   wire.Score `json:"words"`
	Near    wire.Score `json:"near" doc:"@brainChange.near"`
	Change  wire.Score `json:"change" doc:"@brainChange.change"`
	Total   wire.Score `json:"total" doc:"@brainChange.total"`
}

// OfSearch returns nil where no explanation was asked for.
func OfSearch(e *pb.SearchExplained) *SearchExplanation {
	if e == nil {
		return nil
	}
	out := &SearchExplanation{Passages: e.GetPassages(), Nodes: e.GetNodes()}
	if g := e.GetGate(); g != nil {
		out.Brain = &GateExplanation{wire.Measure(g.GetOpen()), wire.Measure(g.GetShut()), e.GetTier(), []GateSign{}}
		for _, r := range g.GetReasons() {
			out.Brain.Signs = append(out.Brain.Signs, GateSign{r.GetSign(), wire.Measure(r.GetSeen()), wire.Measure(r.GetPull())})
		}
	}
	return out
}

// OfHit returns nil where no explanation was asked for.
func OfHit(h *pb.Hit) *HitExplanation {
	e := h.GetExplained()
	if e == nil {
		return nil
	}
	out := &HitExplanation{
		Rank: e.GetRank(), MeaningRank: e.GetMeaningRank(), WordsRank: e.GetWordsRank(),
		Parts: ScoreParts{
			wire.Score(e.GetMeaning()), wire.Score(e.GetWords()), wire.Score(e.GetPhrases()), wire.Score(e.GetNeighbours()),
			wire.Score(e.GetTime()), wire.Score(e.GetBrevity()),
			wire.Score(e.GetReading()),
		},
		Total: wire.Score(e.GetTotal()), DuplicateOf: h.GetDuplicateOf(),
	}
	if x := e.GetBrain(); x != nil {
		out.Brain = &BrainChange{
			x.GetRank(), x.GetSeen(), wire.Score(x.GetWalk()), wire.Score(x.GetMeaning()), wire.Score(x.GetWords()),
			wire.Score(x.GetNear()), wire.Score(x.GetChange()), wire.Score(x.GetTotal()),
		}
	}
	return out
}

// Append writes an explanation behind the other fields of an object: it is asked for seldom, so the library
// does it.
func Append[T any](b []byte, of *T) ([]byte, bool) {
	if of == nil {
		return b, true
	}
	raw, err := json.Marshal(of, wire.Options)
	return append(append(b, `,"explanation":`...), raw...), err == nil
}
