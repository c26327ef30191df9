package voice

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/mathext"
)

// marked is from where on a rate is worth a word: half as much again as common.
const marked = 0.6

// trait turns a measure that stands out into advice.
type trait struct {
	group, name   string
	often, seldom string // empty: not worth a word
}

// inWords tells whether the measure counts words of a list, which are English ones: of who writes in another
// language, or in catchwords, it says nothing.
func (t *trait) inWords() bool {
	return t.group == "stance" || t.name == "greetings" || t.name == "thanks" || t.name == "contractions"
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
	manner := cmp.Or(p.tone(), "neutral in tone")
	depth := cmp.Or(p.depth(), "in plain terms")
	fmt.Fprintf(&b, "Writes %s messages (about %.0f words), %s, %s.", length(p.MessageWords, "middling"), p.MessageWords,
		manner, depth)
	if s := p.notable(maxTraits, true); s != "" {
		fmt.Fprintf(&b, " More than others, this person %s.", s)
	}
	return b.String()
}

// maxShown bounds the habits that [Manner] tells.
const maxShown = 3

// chance is how likely it may be at most that somebody who writes as everybody does would seem to have a habit that
// [Manner] tells. Some twenty are looked at, so that one in ten people without any habit would get one. A rate alone
// would give most of them one: an emoticon in ten messages is fourteen times what is common.
const chance = 0.005

// inOneGo is how many occurrences count as one, where a message can hold several: who sets one exclamation mark sets
// another, and that is one message's mood.
const inOneGo = 2

// asLetters is from where on somebody is called formal to others: notes that only leave out what they can are above
// what [Hint] asks, letters and minutes above this.
const asLetters = 0.8

// Manner says how p's person writes, as one would say it of somebody: how long, in what tone, and what stands out.
func Manner(p Profile) string {
	typical, known := p.measure("rhythm", "typicalWords")
	if !known {
		typical = p.MessageWords
	}
	var b strings.Builder
	b.WriteString("Writes " + length(typical, "medium-length"))
	if tone := p.tone(); p.inEnglish() && (tone != "formal" || p.Formality >= asLetters) {
		b.WriteString(strings.TrimSuffix(", "+tone, ", "))
	}
	b.WriteString(" messages")
	if depth := p.depth(); depth != "" {
		b.WriteString(" " + depth)
	}
	words := max(1, int(math.Round(typical)))
	plural := "s"
	if words == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, " (typically %d word%s; %d messages).", words, plural, p.Evidence)
	if s := p.notable(maxShown, false); s != "" {
		fmt.Fprintf(&b, " More than others, %s.", s)
	}
	return b.String()
}

// length is what one calls a message of so many words.
func length(words float64, middling string) string {
	switch {
	case words >= 60:
		return "long"
	case words >= 25:
		return middling
	}
	return "short"
}

// tone is what one calls the person's formality; empty where it is neither much nor little.
func (p *Profile) tone() string {
	switch {
	case p.Formality >= 0.65:
		return "formal"
	case p.Formality <= 0.35:
		return "informal"
	}
	return ""
}

// depth is what one calls the person's technical depth; empty in plain terms.
func (p *Profile) depth() string {
	switch {
	case p.TechnicalDepth >= 0.5:
		return "deep in technical detail"
	case p.TechnicalDepth >= 0.2:
		return "with technical terms"
	}
	return ""
}

// notable lists what stands out, at most so many habits; empty where nothing does. What the person leaves out is a
// writer's advice and nobody's habit: hardly anybody's notes hedge or contract. A habit must be sure, advice need not.
func (p *Profile) notable(most int, leftOut bool) string {
	var notable []string
	english := p.inEnglish()
	for _, t := range traits {
		v := p.style(t.group, t.name)
		if !leftOut && !p.sure(&t, v) {
			continue
		}
		switch {
		case t.inWords() && !english,
			t.name == "contractions" && v <= -marked && !p.writesOut(),
			t.name == "fullStop" && v <= -marked && !p.leavesOpen():
			// it would be said of people who had no occasion
		case v >= marked && t.often != "":
			notable = append(notable, t.often)
		case v <= -marked && t.seldom != "" && (leftOut || t.group == "closing"):
			notable = append(notable, t.seldom)
		}
		if len(notable) == most {
			break
		}
	}
	n := len(notable)
	if n <= 1 {
		return strings.Join(notable, "")
	}
	return strings.Join(notable[:n-1], ", ") + " and " + notable[n-1]
}

// sure tells whether it is hardly by chance that a trait's measure is v, as much or as little: the lower, or the upper,
// confidence bound of the rate is beyond what is common.
func (p *Profile) sure(t *trait, v float64) bool {
	for _, r := range plain {
		if r.group != t.group || r.name != t.name {
			continue
		}
		of := float64(p.Evidence)
		if r.per == cWords {
			of *= p.MessageWords
		}
		seen := min(max(0, math.Round(math.Exp2(v)*(of*r.common+1)-1)), math.Round(of)) // as it was counted, see rate.of
		switch {
		case v < 0: // so far only what a message has once or not at all
			return seen >= of || mathext.RegIncBeta(of-seen, seen+1, 1-r.common) <= chance
		case seen == 0:
			return false
		case t.once():
			return mathext.RegIncBeta(seen, of-seen+1, r.common) <= chance
		}
		return mathext.GammaIncReg(seen/inOneGo, of*r.common/inOneGo) <= chance
	}
	return false
}

// once tells whether a message has what is counted once or not at all.
func (t *trait) once() bool {
	return t.group == "opening" || t.group == "closing" || t.name == "greetings" || t.name == "lists"
}

// rare is a rate below a third of the common one.
const rare = -1.6

// inEnglish tells whether the lists of words can judge the person's texts: at least two of the classes that no
// English sentence does without come at a rate that is not rare. A profile without measures is believed.
func (p *Profile) inEnglish() bool {
	if len(p.Style) == 0 {
		return true
	}
	common := 0
	for _, class := range []string{"articles", "prepositions", "conjunctions", "auxiliaries"} {
		if p.style("stance", class) > rare {
			common++
		}
	}
	return common >= 2
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
