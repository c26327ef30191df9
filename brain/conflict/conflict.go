package conflict

import (
	"slices"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// Neighbours is among how many of its nearest passages a passage's conflicts are
// looked for. Twice as many found none that these had missed, in 400 as in 10,000
// passages; 8 missed one in fifty.
const Neighbours = 12

// Kind is in what two statements are at odds.
type Kind string

// The kinds that the interface knows.
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
	// Title is what the text stands under, if anything: the subject of a mail.
	Title string
	// FromMs is when what it says began to hold, in Unix milliseconds; 0 where
	// that is not known. Two values of one fact at two times are an update: they
	// are reported with a lower severity.
	FromMs int64

	profiles []profile // of Claims, made when first compared
	topic    topic
	subject  string // of its title, without the mark of a reply
	replies  bool   // its title has such a mark
	prepared bool
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

// Near is how two passages stand to each other in their partition.
type Near struct {
	// Cosine is that of their vectors, or 0 where it is not known.
	Cosine float64
	// Rank is the place of the one among the nearest of the other, 1 for the
	// nearest; 0 where it was found by its words. Of is how many passages the
	// partition has. The further away and the more there are, the likelier it is
	// that two passages look opposed by chance.
	Rank, Of int
	// Clear is by which part of its cosine it exceeds those of the neighbours further
	// down (see [Clearance]), 0 where that is not known. What stands out of its
	// surroundings is about the same thing however many passages there are.
	Clear float64

	pairs int // of statements that the two passages have
}

const (
	// surroundings is from which place on a passage's neighbours are taken for
	// others that are merely of its kind, and leastSurroundings how many it takes to
	// tell.
	surroundings      = 5
	leastSurroundings = 4
)

// Clearance tells of a passage's nearest neighbours, whose cosines come in falling
// order, by which part of it each cosine exceeds their mean from the fifth on: a half
// where the others are half as near. All are 0 where there are too few to tell.
func Clearance(cosines []float64) []float64 {
	clear := make([]float64, len(cosines))
	if len(cosines) < surroundings-1+leastSurroundings {
		return clear
	}
	far, level := cosines[surroundings-1:], 0.0
	for _, c := range far {
		level += c / float64(len(far))
	}
	for i, c := range cosines {
		if c > 0 {
			clear[i] = 1 - level/c
		}
	}
	return clear
}

// Judge compares passages. The zero value is ready to use; it holds working
// memory, so it is for one goroutine at a time.
type Judge struct{ al alignment }

// Compare gives the gravest conflict between two passages; ok is false if they do not
// conflict.
func (j *Judge) Compare(a, b *Passage, near Near) (f Finding, ok bool) {
	near.pairs = len(a.prepare()) * len(b.prepare())
	for x := range a.profiles {
		for y := range b.profiles {
			g, found := j.claims(a, b, &a.profiles[x], &b.profiles[y], near)
			if found && g.Severity > f.Severity {
				f, ok = g, true
			}
		}
	}
	return f, ok
}

// claims applies the rules to two claims, the surest first.
func (j *Judge) claims(a, b *Passage, x, y *profile, near Near) (Finding, bool) {
	f := Finding{A: x.claim.Span, B: y.claim.Span}
	if elsewhere(a, b, x, y, &near) {
		return f, false
	}
	if f, ok, foreign := abroad(a, b, x, y); foreign {
		return f, ok
	}
	update := updates(a, b)
	points := x.claim.Points || y.claim.Points
	if factsDiffer(x.claim, y.claim, update) && !(points && update) { // two meetings have two recordings
		f.Kind, f.Severity = Value, 0.8
		if dated(&x.claim.Fact) && dated(&y.claim.Fact) {
			f.Kind = Temporal
		}
		if update {
			f.Severity = 0.5 // one of them is out of date, and nobody is wrong
		}
		f.Explanation = explainFact(a, b, &x.claim.Fact, &y.claim.Fact)
		return f, true
	}
	others := x.claim.Fact.Key != 0 && y.claim.Fact.Key != 0 && x.claim.Fact.Key != y.claim.Fact.Key
	if points || others || strangers(x, y) {
		return f, false // about nothing that is the same, or about other things by name
	}
	align(&j.al, x, y)
	if c := denies(x, y, &j.al, near.Cosine); c >= leastDenial {
		f.Kind, f.Severity, f.Explanation = Negation, min(1, c), explainDenial(a, b, x, y)
		return f, true
	}
	if i, k, c := opposites(x, y, &j.al); c >= leastOpposite {
		f.Kind, f.Severity, f.Explanation = Antonym, c, explainWords(x.words[i].word, y.words[k].word)
		return f, true
	}
	if i, k, kind, ok := values(x, y, &j.al); ok {
		f.Kind, f.Severity = kind, 0.7
		f.Explanation = explainValues(a, b, x, y, i, k, &j.al)
		return f, true
	}
	if c := opposed(x, y, &j.al, near); c > 0 && conclude(a, b, x, y) {
		f.Kind, f.Severity, f.Explanation = Semantic, c, explainOpposed(x, &j.al)
		return f, true
	}
	return f, false
}

const (
	// fewStatements and shortFinding are how many statements and bytes what is a finding, or a note of one, has at most.
	fewStatements = 3
	shortFinding  = 400
)

// conclude tells whether two claims may be conclusions, of which the rule of opposite ones speaks. One of their passages is
// short enough for one: of two stretches of prose on one subject a statement of this one always looks opposed to some
// statement of that.
func conclude(a, b *Passage, x, y *profile) bool {
	return min(len(a.profiles), len(b.profiles)) <= fewStatements && min(len(a.Text), len(b.Text)) <= shortFinding &&
		!turnsOfOne(a, b) && !x.talks(a.Text) && !y.talks(b.Text)
}

// updates tells whether two passages are of two times, so that what the one says may
// have taken the place of what the other says.
func updates(a, b *Passage) bool { return a.FromMs != 0 && b.FromMs != 0 && a.FromMs != b.FromMs }

// factsDiffer tells whether two claims give one attribute of one subject two
// values. A value that only says more than the other does not differ ("3 May" and "3 May in
// Lisbon" both hold), unless the one took the other's place later on.
func factsDiffer(x, y *claim.Claim, update bool) bool {
	f, g := &x.Fact, &y.Fact
	if f.Key == 0 || f.Key != g.Key || f.Same == g.Same || describes(f) && describes(g) {
		return false
	}
	return update || !within(f.Words, g.Words) && !within(g.Words, f.Words)
}

// describes tells whether a value says of what kind something is, "a town in the north". Something is of many kinds,
// and of two things with one name each is of its own.
func describes(f *claim.Fact) bool {
	return len(f.Words) > 2 && (f.Words[0].Form == "a" || f.Words[0].Form == "an")
}

// within tells whether all the words that carry meaning of a are among those of b.
func within(a, b []claim.Word) bool {
	for i := range a {
		if a[i].Kind == claim.Function {
			continue
		}
		if !slices.ContainsFunc(b, func(w claim.Word) bool { return w.Stem == a[i].Stem }) {
			return false
		}
	}
	return true
}

// dated tells whether a value is a time.
func dated(f *claim.Fact) bool {
	return slices.ContainsFunc(f.Words, func(w claim.Word) bool { return w.Kind == claim.Time })
}
