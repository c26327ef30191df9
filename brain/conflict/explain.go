package conflict

import (
	"fmt"
	"slices"
	"strings"

	"orgmem/brain/claim"
	"orgmem/brain/extract"
	"orgmem/brain/text"
)

// maxQuote bounds what an explanation quotes of a passage, in bytes: the passages
// stand beside it in full.
const maxQuote = 120

// maxAbout bounds the words that say what two passages are about.
const maxAbout = 4

// explainFact tells of an update which value is the later one.
func explainFact(a, b *Passage, f, g *claim.Fact) string {
	of := "The " + f.Attribute + " of " + quote(f.Subject) + " is given two values: "
	if !updates(a, b) {
		return of + quote(f.Value) + " and " + quote(g.Value) + "."
	}
	if a.FromMs > b.FromMs {
		a, b, f, g = b, a, g, f
	}
	since, until := day(a.FromMs), day(b.FromMs)
	if since == until {
		return of + quote(f.Value) + ", and later on the same day " + quote(g.Value) + "."
	}
	return of + quote(f.Value) + " on " + since + " and " + quote(g.Value) + " on " + until + "."
}

var months = strings.Fields("January February March April May June July August September October November December")

// day is a time as a person reads it.
func day(ms int64) string {
	year, month, day := extract.DayOf(ms)
	return fmt.Sprintf("%d %s %d", day, months[month-1], year)
}

func explainDenial(a, b *Passage, x, y *profile) string {
	states, denies := a.Text[x.claim.Span.Start:x.claim.Span.End], b.Text[y.claim.Span.Start:y.claim.Span.End]
	if x.nots > y.nots {
		states, denies = denies, states
	}
	return "One passage states what the other denies: " + quote(states) + " against " + quote(denies) + "."
}

// explain says in what two statements are at odds that only a reader of language finds so, and quotes both; of two
// times the later first.
func (c *Candidate) explain() string {
	x := *c
	if x.twoTimes() && x.fromA < x.fromB {
		x.Turn()
	}
	if c.abroad != "" {
		return fmt.Sprintf(hardlyIn[c.abroad], quote(x.TextA), quote(x.TextB))
	}
	since, before := " in one passage", " in the other"
	if x.twoTimes() && day(x.fromA) != day(x.fromB) {
		since, before = " on "+day(x.fromA), " on "+day(x.fromB)
	}
	how := ""
	switch x.clash.kind {
	case claim.NoValue:
		how = "Both can hardly hold"
	case claim.Named:
		how = "Two are named where there is one"
	case claim.Clock, claim.Weekday, claim.Date:
		how = "Two times are given for the same"
	case claim.Count, claim.Money, claim.Percent, claim.Measure, claim.Duration, claim.Frequency:
		how = "Two values are given for the same"
	}
	if x.clash.kind != claim.NoValue {
		how += ", " + quote(x.clash.a) + " and " + quote(x.clash.b)
	}
	return how + ": " + quote(x.TextA) + since + ", " + quote(x.TextB) + before + "."
}

func explainWords(a, b *claim.Word) string {
	return "The passages are about the same and differ in what they say of it: " + quote(a.Form) + " in one, " +
		quote(b.Form) + " in the other."
}

// explainValues quotes the two values as they are written.
func explainValues(a, b *Passage, x, y *profile, i, k int, al *alignment) string {
	return "The passages are about the same and differ in what they say of it: " + quote(a.written(x, i, al.to[:])) +
		" in one, " + quote(b.written(y, k, al.back[:])) + " in the other."
}

// written is the value that begins with the i-th word, as it stands in the passage,
// with what both sides have of it: "16 March" where the other has "30 March".
func (p *Passage) written(x *profile, i int, to []int8) string {
	last := i
	for last+1 < len(x.words) && (to[last+1] < 0 || x.words[last+1].word.Kind == claim.Time ||
		units[x.words[last+1].word.Stem]) {
		last++
	}
	return p.Text[x.words[i].word.Start:x.words[last].word.End]
}

// explainOpposed names what both speak of, each word once; a single letter tells nobody
// anything.
func explainOpposed(x *profile, al *alignment) string {
	var about []string
	for i := range x.words {
		w := x.words[i].word.Form
		if al.to[i] >= 0 && !x.words[i].weak && x.words[i].sign == 0 && len(about) < maxAbout && len(w) > 1 &&
			!slices.Contains(about, w) {
			about = append(about, w)
		}
	}
	if len(about) == 0 {
		return "The passages draw opposite conclusions."
	}
	return "The passages draw opposite conclusions about the same: " + strings.Join(about, ", ") + "."
}

func quote(s string) string {
	return "“" + text.Truncate(strings.Join(strings.Fields(s), " "), maxQuote) + "”"
}
