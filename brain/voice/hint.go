package voice

import (
	"fmt"
	"strings"
)

// marked is from where on a rate is worth a word: half as much again as common.
const marked = 0.6

// trait turns a measure that stands out into advice.
type trait struct {
	group, name   string
	often, seldom string // empty: not worth a word
}

// traits are what a writer can act on, the most audible first.
var traits = []trait{
	{"opening", "lowerCase", "begins in lower case", ""},
	{"closing", "fullStop", "", "leaves out the last full stop"},
	{"address", "greetings", "greets", ""},
	{"address", "thanks", "says thanks", ""},
	{"address", "emoji", "uses emoji", ""},
	{"address", "emoticons", "uses emoticons", ""},
	{"stance", "hedges", "hedges (maybe, probably, I think)", "states things flatly, without hedging"},
	{"stance", "boosters", "stresses (really, definitely)", ""},
	{"punctuation", "exclamations", "uses exclamation marks", ""},
	{"punctuation", "questions", "asks questions", ""},
	{"punctuation", "parentheses", "adds asides in parentheses", ""},
	{"punctuation", "longDashes", "uses dashes", ""},
	{"punctuation", "semicolons", "uses semicolons", ""},
	{"punctuation", "ellipses", "trails off with an ellipsis", ""},
	{"spelling", "contractions", "contracts (don't, it's)", "writes words out rather than contracting them"},
	{"rhythm", "lists", "writes lists", ""},
	{"stance", "self", "speaks in the first person", ""},
	{"stance", "group", "says we", ""},
}

// maxTraits bounds a hint: a prompt that lists everything teaches nothing.
const maxTraits = 6

// Hint is a sentence or two that tell a writer how to sound like p's person.
func Hint(p Profile) string {
	var b strings.Builder
	length := "short"
	switch {
	case p.MessageWords >= 60:
		length = "long"
	case p.MessageWords >= 25:
		length = "middling"
	}
	manner := "neutral in tone"
	switch {
	case p.Formality >= 0.65:
		manner = "formal"
	case p.Formality <= 0.35:
		manner = "informal"
	}
	depth := "in plain terms"
	switch {
	case p.TechnicalDepth >= 0.5:
		depth = "deep in technical detail"
	case p.TechnicalDepth >= 0.2:
		depth = "with technical terms"
	}
	fmt.Fprintf(&b, "Writes %s messages (about %.0f words), %s, %s.", length, p.MessageWords, manner, depth)
	var notable []string
	for _, t := range traits {
		v := p.style(t.group, t.name)
		switch {
		case t.name == "contractions" && v <= -marked && !p.writesOut(),
			t.name == "fullStop" && v <= -marked && !p.leavesOpen():
			// it would be said of people who had no occasion
		case v >= marked && t.often != "":
			notable = append(notable, t.often)
		case v <= -marked && t.seldom != "":
			notable = append(notable, t.seldom)
		}
		if len(notable) == maxTraits {
			break
		}
	}
	if n := len(notable); n > 0 {
		s := strings.Join(notable[:n-1], ", ")
		if n > 1 {
			s += " and "
		}
		fmt.Fprintf(&b, " More than others, this person %s%s.", s, notable[n-1])
	}
	return b.String()
}

// writesOut tells whether the person writes words out that others contract: they do so
// seldom, and not for want of words to contract.
func (p *Profile) writesOut() bool {
	full, known := p.measure("spelling", "writtenOut")
	return p.style("spelling", "contractions") <= -marked && (!known || full >= 0 || p.Formality >= 0.65)
}

// leavesOpen tells whether the person leaves out the last full stop: nothing stands in
// its place, neither another mark nor a name.
func (p *Profile) leavesOpen() bool {
	open, known := p.measure("closing", "open")
	return p.style("closing", "fullStop") <= -marked && (!known || open >= 0.3)
}

// measure is a measure's value, and whether there is one.
func (p *Profile) measure(group, name string) (float64, bool) {
	for _, m := range p.Style {
		if m.Group == group && m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}

// style is a measure's value; 0, as everybody has it, without a measure.
func (p *Profile) style(group, name string) float64 {
	v, _ := p.measure(group, name)
	return v
}
