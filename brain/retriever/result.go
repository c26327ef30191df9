package retriever

import (
	"cmp"
	"math"
	"slices"

	pb "orgmem/proto"
)

// Ranked is a passage that a walk found.
type Ranked struct {
	Seed
	From       int32 // the seed that it is; -1: the walk reached it
	Total      float64
	Activation float64 // 0 where the walk did not come
	near       float64 // by how much it is nearer to the projected question than the last of its hits
}

// Explain tells what a walk added to the score that search gives a passage of it.
func (w *Walk) Explain(r *Ranked) *pb.BrainExplained {
	out := &pb.BrainExplained{
		Seen: r.Passage != Unknown, Walk: w.gate.open * r.Activation,
		Meaning: w.gate.open * w.p.Meaning * float64(r.Cosine), Words: w.gate.open * w.p.Words * float64(r.Keyword),
		Near:  w.gate.open * w.p.Further[furtherNear] * r.near,
		Total: r.Total,
	}
	out.Change = r.Total - float64(r.Score)
	return out
}

// Passages gives the best passages, one of each document, best first. Those of
// documents that the graph does not hold all come; the caller knows their documents.
func (w *Walk) Passages(topK int) []Ranked {
	best := map[int32]int{}
	var out []Ranked
	for i := range int32(len(w.nodes)) {
		if !w.isPassage(i) || !w.scored[i] {
			continue
		}
		r := Ranked{Seed: w.seed[i], From: w.origin[i], Total: w.score[i], Activation: w.reach[i], near: w.further[i].near}
		doc := w.docOf(i)
		if k, ok := best[doc]; ok && doc != Unknown {
			if r.Total > out[k].Total {
				out[k] = r
			}
			continue
		}
		best[doc] = len(out)
		out = append(out, r)
	}
	slices.SortFunc(out, func(x, y Ranked) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.From, y.From), cmp.Compare(x.Passage, y.Passage))
	})
	return out[:min(topK, len(out))]
}

// Active is a concept that a walk came to.
type Active struct {
	Entity     pb.NodeID
	Activation float64
}

// Entities gives the most active concepts that are entities of the graph, best
// first.
func (w *Walk) Entities(topK int) []Active {
	var out []Active
	for i := range int32(len(w.nodes)) {
		if w.isPassage(i) || w.isDomain(i) {
			continue
		}
		if id := w.g.concept[int(w.nodes[i])-len(w.g.docOf)]; id != "" {
			most := 0.0
			for t := range w.act {
				most = max(most, w.act[t][i])
			}
			out = append(out, Active{id, most})
		}
	}
	slices.SortFunc(out, func(x, y Active) int {
		return cmp.Or(cmp.Compare(y.Activation, x.Activation), cmp.Compare(x.Entity, y.Entity))
	})
	return out[:min(topK, len(out))]
}

// Tier says how far the walk went for what it found.
type Tier string

// The tiers.
const (
	TierNone     Tier = "none"     // nothing was gained by walking
	TierLocal    Tier = "local"    // what the question names, and what its finds name
	TierRegional Tier = "regional" // one hop further
	TierGlobal   Tier = "global"   // beyond
)

// leastGain is the part of a passage's score that walking must have brought for
// Tier to count it.
const leastGain = 0.01

// Tier tells how far the walk went for some of its passages.
func (w *Walk) Tier(found []Ranked) Tier {
	far := 0
	for _, r := range found {
		if r.Passage == Unknown || w.gate.open*r.Activation < leastGain*math.Abs(r.Total) {
			continue
		}
		i, most, at := w.local[r.Passage], 0.0, 0
		for t := 1; t <= steps; t++ {
			if x := w.p.Heard[t] * math.Log1p(w.act[t][i]/trace); x > most {
				most, at = x, t
			}
		}
		far = max(far, at)
	}
	switch {
	case far == 0:
		return TierNone
	case far <= 2:
		return TierLocal
	case far <= 4:
		return TierRegional
	default:
		return TierGlobal
	}
}
