package quality

import (
	"cmp"
	"maps"
	"math"
	"slices"

	pb "orgmem/proto"
)

// Depths are how many hits of a question are looked at: it counts whether what answers it is among so many.
var Depths = [...]int{1, 5, 10}

// z is the quantile of the normal distribution of a two-sided interval of 95 %.
const z = 1.959963984540054

// Wilson gives the 95 % score interval of a share of which found of n were seen (Wilson 1927). Of nothing it is
// everything, 0 to 1.
func Wilson(found, n uint64) (low, high float64) {
	if n == 0 {
		return 0, 1
	}
	m, p := float64(n), float64(found)/float64(n)
	mid := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(mid-half, 0), min(mid+half, 1)
}

// Asked counts a question: found are its hits, best first, and answers says which of them answer it.
func Asked(r *pb.QualityReport, k Kind, found []pb.NodeID, answers func(pb.NodeID) bool) (hit bool) {
	at := slices.IndexFunc(found, answers)
	one := OfKind(r, k)
	if one == nil {
		one = &pb.QualityRecall{Kind: string(k)}
		r.Recall = append(r.Recall, one)
	}
	one.Questions++
	for d, n := range []*uint64{&one.At1, &one.At5, &one.At10} {
		if at >= 0 && at < Depths[d] {
			*n++
		}
	}
	return at >= 0
}

// All adds up the questions of a memory's own content, of all kinds but KindFormer.
func All(r *pb.QualityReport) *pb.QualityRecall {
	sum := &pb.QualityRecall{Kind: "all"}
	for _, x := range r.GetRecall() {
		if x.GetKind() == string(KindFormer) {
			continue
		}
		sum.Questions += x.GetQuestions()
		sum.At1 += x.GetAt1()
		sum.At5 += x.GetAt5()
		sum.At10 += x.GetAt10()
	}
	return sum
}

// OfKind are the questions of a kind; nil: there were none.
func OfKind(r *pb.QualityReport, k Kind) *pb.QualityRecall {
	for _, x := range r.GetRecall() {
		if x.GetKind() == string(k) {
			return x
		}
	}
	return nil
}

// LanguagesOf are the languages of a report, the most frequent first.
func LanguagesOf(r *pb.QualityReport) []string {
	return slices.SortedFunc(maps.Keys(r.GetLanguages()), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.GetLanguages()[b], r.GetLanguages()[a]), cmp.Compare(a, b))
	})
}

// Ended reports whether a node states something that no longer holds.
func Ended(n *pb.Node, nowMs int64) bool { return n.GetValidToMs() != 0 && n.GetValidToMs() <= nowMs }

// FormerFirst reports whether, among the hits of a question, something that no longer holds stands before what holds
// now: what ended or was superseded, or gives a former value, before a later value of the same fact.
func FormerFirst(hits []*pb.Node, nowMs int64) bool {
	for i, former := range hits {
		for _, now := range hits[i+1:] {
			if Ended(now, nowMs) || now.GetStatus() != pb.StatusLive {
				continue
			}
			if former.GetSupersededBy() == now.GetId() && former.GetSupersededBy() != "" || givesFormer(former, now, nowMs) {
				return true
			}
		}
	}
	return false
}

// givesFormer reports whether a node gives another value to a fact than a later one does.
func givesFormer(former, now *pb.Node, nowMs int64) bool {
	if former.GetValidFromMs() >= now.GetValidFromMs() && !Ended(former, nowMs) {
		return false
	}
	for _, f := range former.GetFacts() {
		if slices.ContainsFunc(now.GetFacts(), func(g *pb.StatedFact) bool {
			return f.GetKey() == g.GetKey() && f.GetValue() != g.GetValue()
		}) {
			return true
		}
	}
	return false
}
