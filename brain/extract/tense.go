package extract

import (
	"orgmem/brain/extract/calendar"
	"orgmem/brain/extract/clause"
	"orgmem/brain/text"
)

// Which May a sentence means is not said by the word but by the verb that it hangs
// on: what somebody did in May was the last one, what they will do is the next.

// tense is when something happens, as its clause tells.
type tense = clause.Tense

const (
	untold  = clause.Untold
	bygone  = clause.Bygone
	present = clause.Present
	coming  = clause.Coming
)

const (
	// lateNote is how many days ago what is still to come may have been: a note is
	// often dated some days after it was written.
	lateNote = 14
	// maxAhead is how far ahead something is spoken of as if it were now, and how long
	// something lasts "until" a day, without the year: two thirds of one.
	maxAhead = 240
	// maxClause is how many tokens before and behind a date its verb is looked for.
	maxClause = 50
)

// year is the year of a day or month that is given without one, as the clause at
// token i tells; near is what is nearest to the document's time.
func (d *dater) year(i, today, near int, begin func(year int) (first, until int), grain Grain) int {
	last, _, _ := calendar.Civil(today)
	for from, _ := begin(last); from > today; from, _ = begin(last) {
		last--
	}
	next := last
	for _, until := begin(next); until <= today; _, until = begin(next) {
		next++
	}
	ahead, _ := begin(next)
	ahead -= today
	_, over := begin(last)
	bound := d.preposition(i)
	switch d.tense(i, grain) {
	case bygone:
		if bound == "for" && grain == Month {
			return near // the rent for December may have been paid before
		}
		return last
	case coming:
		if grain == Day && (today-over < lateNote || bound == "until" && ahead > maxAhead) {
			return near
		}
		return next
	case present:
		if grain == Day && ahead <= maxAhead {
			return next
		}
	case untold:
	}
	if (bound == "until" || bound == "by") && ahead <= maxAhead {
		return next
	}
	return near
}

// preposition is the word that ties the date at i to its clause, without the small
// words between; "till" is until, and "not until" is on.
func (d *dater) preposition(i int) string {
	for i--; i > 0 && nearly[d.low(i)] && !d.r.tokens[i].First; {
		i--
	}
	switch w := d.low(i); w {
	case "until", "till", "til":
		if d.low(i-1) == "not" {
			return "on"
		}
		return "until"
	default:
		return w
	}
}

// nearly are the words between a preposition and its date.
var nearly = text.Set(`the early late mid around about roughly approximately this end of beginning start middle first
	second half sunday monday tuesday wednesday thursday friday saturday`)

// tense is that of the clause that the date at token i stands in: of the finite verb
// before it that is nearest, else of the first behind it.
func (d *dater) tense(i int, grain Grain) tense {
	r := d.r
	if r.tagged.Tagged != nil && d.preposition(i) == "since" {
		return bygone
	}
	if t := r.saidTense(i); t != untold {
		return t
	}
	head := i // of the sentence, as far as is looked at
	for head > max(0, i-maxClause) && !r.tokens[head].First {
		head--
	}
	at := i - 1
	for at > head && nearly[r.lows[at]] {
		at--
	}
	prep := d.preposition(i)
	switch prep {
	case "since":
		return bygone
	case "of", "from":
		if at > head && clause.Tells(r.lows[at-1]) {
			return bygone // the minutes of 3 May
		}
	}
	c := clause.Clause{
		Tokens: r.tokens, Lows: r.lows, Model: r.model, Capital: r.capital, Months: months, Weekdays: weekdays,
		Head: head, To: min(d.to, i+maxClause), Date: i, OfDay: grain == Day, Prep: prep,
	}
	return c.Tense()
}
