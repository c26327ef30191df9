package retriever

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	pb "orgmem/proto"
)

// What the gate looks at.
const (
	gateAlways    = iota
	gateBest      // the best passage's score
	gateMargin    // the best passage's score less the fifth's
	gateAgreement // how many of the five best by meaning and by word are the same
	gateNames     // how many concepts the question names
	gateDensity   // log of the steps that lead away from the seeds
	gateSubjects  // whether it names a subject
	gateCover     // how much of its words the names of subjects are
	gateFeatures
)

// gateNamesOf are what the things that the gate looks at are called.
var gateNamesOf = [gateFeatures]string{
	gateAlways: pb.GateAlways, gateBest: pb.GateBest, gateMargin: pb.GateMargin, gateAgreement: pb.GateAgreement,
	gateNames: pb.GateNames, gateDensity: pb.GateDensity, gateSubjects: pb.GateSubjects, gateCover: pb.GateCover,
}

// shut is a gate behind which nothing that a walk finds is heard.
const shut = 0.01

// gate decides how far a walk is heard in what search says to a question.
type gate struct {
	seen [gateFeatures]float64
	open float64 // 0 to 1
}

// look decides by the question, what it names and how many steps lead away from that.
func (g *gate) look(q *Question, w *wording, leads int, p *Parameters) {
	f := [gateFeatures]float64{gateAlways: 1}
	if len(q.Seeds) > 0 {
		f[gateBest] = float64(q.Seeds[0].Score)
		f[gateMargin] = float64(q.Seeds[0].Score - q.Seeds[min(4, len(q.Seeds)-1)].Score)
	}
	f[gateAgreement] = agreement(q.Seeds)
	f[gateNames] = min(float64(len(w.concepts)), 4) / 4
	f[gateDensity] = math.Log1p(float64(leads)) / 8
	for _, c := range w.concepts {
		if w.sight.subject(c.concept) {
			f[gateSubjects] = 1
			f[gateCover] += float64(c.words) / float64(max(1, w.words))
		}
	}
	g.seen, g.open = f, sigmoid(floats.Dot(p.Gate[:], f[:]))
}

// agreement is the share of the five best by meaning that are among the five best
// by word.
func agreement(seeds []Seed) float64 {
	const few = 5
	pick := func(key func(Seed) float32) []int32 {
		s := slices.Clone(seeds)
		slices.SortStableFunc(s, func(x, y Seed) int { return cmp.Compare(key(y), key(x)) })
		var out []int32
		for _, x := range s[:min(few, len(s))] {
			out = append(out, x.Passage)
		}
		return out
	}
	words := pick(func(s Seed) float32 { return s.Keyword })
	n := 0
	for _, x := range pick(func(s Seed) float32 { return s.Cosine }) {
		if slices.Contains(words, x) {
			n++
		}
	}
	return float64(n) / few
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Confidence is how far the gate is open, 0 to 1.
func (w *Walk) Confidence() float64 { return w.gate.open }

// ExplainGate tells what the gate has seen of the last question, and by how much each of it opened or shut it.
func (w *Walk) ExplainGate() *pb.GateExplained {
	out := &pb.GateExplained{Open: w.gate.open, Shut: shut}
	for k, sign := range gateNamesOf {
		x := w.gate.seen[k]
		out.Reasons = append(out.Reasons, &pb.GateReason{Sign: sign, Seen: x, Pull: w.p.Gate[k] * x})
	}
	return out
}
