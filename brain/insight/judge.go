package insight

import (
	"cmp"
	"slices"
)

// Judge says how likely it is that a reader calls a candidate an insight, from 0 to 1.
// It is a pure function of the candidate.
type Judge func(*Candidate) float64

// leastSure is the judgement from which on a candidate is shown: an insight that a reader
// would not call one is worse than none.
const leastSure = 0.5

// doubtful is what is taken off where the texts are documents: there "no longer" and
// "from … to" mostly explain how something works.
const doubtful = 0.25

// ByRules judges by how surely the wording means it, and how much it names: of what
// names nothing a reader learns nothing.
func ByRules(c *Candidate) float64 {
	g := &c.Grounds
	sure := g.Form
	if g.Long && c.Kind != KindDue && c.Kind != KindCommitment {
		sure -= doubtful
	}
	switch c.Kind {
	case KindRecurrence:
		return sure
	case KindQuestion:
		if g.Concrete < 2 {
			return 0
		}
		return sure
	}
	if g.Concrete < 2 && !g.Named {
		sure -= 0.15
	}
	if g.Words > 22 { // an argument, not a fact
		sure -= 0.15
	}
	if g.Days > 1 {
		sure += 0.05
	}
	return max(0, min(sure, 0.97))
}

// Rank keeps what is judged to be an insight: of each kind the surest [MaxPerKind], what
// is said twice once, and nothing that is over at nowMS where there is more that is not.
func Rank(all []Candidate, judge Judge, nowMS int64) []Ranked {
	var out []Ranked
	for _, kind := range saidKinds {
		var of []Ranked
		for i := range all {
			if c := &all[i]; c.Kind == kind && !slices.ContainsFunc(of, func(o Ranked) bool {
				return slices.Equal(o.About, c.About)
			}) {
				if sure := judge(c); sure >= leastSure {
					of = append(of, Ranked{c, sure})
				}
			}
		}
		slices.SortStableFunc(of, func(a, b Ranked) int {
			return cmp.Or(over(b, nowMS)-over(a, nowMS), cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.AtMS, a.AtMS),
				slices.Compare(a.About, b.About))
		})
		out = append(out, of[:min(len(of), MaxPerKind)]...)
	}
	return out
}

// Ranked is a candidate that is shown, with how sure it is.
type Ranked struct {
	*Candidate
	Confidence float64
}

// over is 0 for what is over, so that it comes last.
func over(r Ranked, nowMS int64) int {
	if r.UntilMS != 0 && r.UntilMS <= nowMS {
		return 0
	}
	return 1
}

// Said tells whether a kind is one of what notes say, and not of the graph's shape: such
// an insight quotes nothing but the notes that it rests on.
func Said(kind string) bool { return slices.Contains(saidKinds, kind) }

var saidKinds = []string{KindDue, KindChange, KindResponsibility, KindRecurrence, KindCommitment, KindQuestion}
