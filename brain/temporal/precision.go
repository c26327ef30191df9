package temporal

import (
	"math"
	"strings"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/text"
)

// The precisions of a time, from the finest: how long the stretch is that a text names.
const (
	Minute  = "minute"
	Day     = "day" // also of several days
	Week    = "week"
	Month   = "month"
	Quarter = "quarter"
	Year    = "year"
	Decade  = "decade"
	Century = "century"
)

// The bounds of a time of which a text tells one end only.
const (
	Latest   = "latest"   // "until Friday", "before the 9th"
	Earliest = "earliest" // "since March"
)

const (
	minuteMs = 60 * 1000
	dayMs    = 24 * 60 * minuteMs
	weekDays = 7
)

// Precision is how exactly a text that means [from, until) names the time; empty where one end is open.
func Precision(from, until int64) string {
	switch {
	case from == math.MinInt64 || until == math.MaxInt64:
		return ""
	case until-from <= minuteMs:
		return Minute
	case from%dayMs != 0 || until%dayMs != 0:
		return Day
	case until-from == weekDays*dayMs:
		return Week
	}
	y, m, d := calendar.Civil(int(from / dayMs))
	toYear, toMonth, toDay := calendar.Civil(int(until / dayMs))
	if d != 1 || toDay != 1 {
		return Day
	}
	months := 12*(toYear-y) + toMonth - m
	switch {
	case months == 1:
		return Month
	case months == 3:
		return Quarter
	case months == 12:
		return Year
	case months == 120:
		return Decade
	case months == 1200:
		return Century
	}
	return Day
}

// boundOf is which end of a time a text tells, where it tells only one.
func boundOf(d Date) string {
	switch {
	case d.FromMs == math.MinInt64:
		return Latest
	case d.UntilMs == math.MaxInt64:
		return Earliest
	}
	return ""
}

// momentOf is where the timeline shows a date: at its beginning or, where that is open, at its end. "Before the 9th" is
// shown on the 9th. What a week or a longer time is still to bring, while it runs, is shown from the day on which it is
// told: on the Monday before that nobody knew of it.
func (n *Note) momentOf(d Date, said text.Span) int64 {
	switch {
	case d.FromMs == math.MinInt64 && strings.HasPrefix(strings.ToLower(n.Text[d.Span.Start:d.Span.End]), "before"):
		return d.UntilMs
	case d.FromMs == math.MinInt64:
		return d.UntilMs - 1
	}
	today := n.AtMs - (n.AtMs%dayMs+dayMs)%dayMs
	if d.FromMs >= today || today >= d.UntilMs || d.UntilMs == math.MaxInt64 || d.UntilMs-d.FromMs <= dayMs ||
		tellsPast(n.Text[said.Start:said.End]) {
		return d.FromMs
	}
	before := strings.TrimRight(strings.ToLower(n.Text[said.Start:max(said.Start, d.Span.Start)]), " ")
	if strings.HasSuffix(before, "as of") || strings.HasSuffix(before, "from") { // its beginning is what is meant
		return d.FromMs
	}
	return today
}

// tellsPast tells whether a sentence tells of something that was, by its verbs.
func tellsPast(s string) bool {
	w := words(s)
	for i, x := range w {
		switch {
		case past[x]:
			return true
		case !strings.HasSuffix(x, "ed") || len(x) < 4 || awaited[x] || nouns[x]:
		case i > 0 && passive[w[i-1]]: // "is released", "to be posted"
		default:
			return true
		}
	}
	return false
}

var (
	// nouns end as verbs of the past do.
	nouns = text.Set(`shed seed hundred indeed need feed speed breed weed reed bleed proceed succeed exceed sled embed
		shred bred biped kindred sacred wicked naked rugged aged united limited`)
	past = text.Set(`was were had did got went made met took saw came found sent gave said told wrote ran left lost
		bought won been became began broke brought built caught chose drew drove ate fell felt flew forgot grew held
		kept knew led paid sold slept spent spoke stood taught thought wore`)
	// awaited are participles of what is to come.
	awaited = text.Set(`expected planned scheduled need needed supposed proposed booked feed speed based red bed`)
	passive = text.Set(`is are be being gets get will to`)
)
