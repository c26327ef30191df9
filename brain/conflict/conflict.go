package conflict

import (
	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// Neighbours is among how many of its nearest passages a passage's conflicts are
// looked for.
const Neighbours = 24

// Kind is in what two statements are at odds.
type Kind string

// The kinds that the interface knows (decisions §9).
const (
	Negation Kind = "negation" // one denies what the other states
	Value    Kind = "value"    // one thing is given two values
	Temporal Kind = "temporal" // one event is given two times
	Antonym  Kind = "antonym"  // opposite words about the same
	Semantic Kind = "semantic" // opposite meaning in other words
)

// Passage is a text with what it states.
type Passage struct {
	Text   string
	Claims []claim.Claim
	// FromMs is when what it says began to hold, in Unix milliseconds; 0 where
	// that is not known. Two values of one fact at two times are an update: they
	// are reported with a lower severity.
	FromMs int64
}

// Finding is a pair of statements at odds.
type Finding struct {
	Kind Kind
	// Severity is from 0 to 1: how sure it is, and how much of it is at odds
	// rather than merely out of date.
	Severity float64
	// Explanation is a sentence or two for a person. It quotes both passages, so
	// it must go where they go when one of them is forgotten.
	Explanation string
	// A and B are where the statements stand in the two passages.
	A, B text.Span
}

// Judge compares passages. The zero value is ready to use; it holds working
// memory, so it is for one goroutine at a time.
type Judge struct{}

// Compare gives the gravest conflict between two passages; ok is false where
// there is none. cosine is that of the passages' vectors, or 0 where it is not
// known.
func (j *Judge) Compare(a, b *Passage, cosine float64) (f Finding, ok bool) {
	for i := range a.Claims {
		for k := range b.Claims {
			if g, found := facts(a, b, &a.Claims[i], &b.Claims[k]); found && g.Severity > f.Severity {
				f, ok = g, true
			}
		}
	}
	return f, ok
}

// facts compares two values of one attribute of one subject.
func facts(a, b *Passage, x, y *claim.Claim) (Finding, bool) {
	if x.Fact.Key == 0 || x.Fact.Key != y.Fact.Key || x.Fact.Same == y.Fact.Same {
		return Finding{}, false
	}
	severity := 0.8
	if a.FromMs != 0 && b.FromMs != 0 && a.FromMs != b.FromMs {
		severity = 0.5 // an update: only one of them is out of date
	}
	return Finding{
		Kind: Value, Severity: severity, A: x.Span, B: y.Span,
		Explanation: "The " + x.Fact.Attribute + " of " + x.Fact.Subject + " is given as “" + x.Fact.Value + "” and as “" + y.Fact.Value + "”.",
	}, true
}
