package asked

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"orgmem/brain/extract"
	"orgmem/brain/extract/calendar"
	"orgmem/proto/canon"
)

// MaxQuestionText is how much of a question is looked at for times, in bytes.
const MaxQuestionText = 4 << 10

// "Two weeks ago" is no single day: what is said by how long ago it was, and was longAgo or more, may be aboutThen off.
const (
	longAgo   = 10 * dayMs
	aboutThen = 3 * dayMs
	dayMs     = 24 * 3600 * 1000
)

// seasonMonths are the months that seasons begin with on the northern half of the earth, by their names in English,
// German, French and Spanish.
var seasonMonths = map[string]int{
	"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
	"frühling": 3, "frühjahr": 3, "sommer": 6, "herbst": 9,
	"printemps": 3, "été": 6, "automne": 9, "hiver": 12,
	"primavera": 3, "verano": 6, "otoño": 9, "invierno": 12,
}

// monthsOfSeason is how long a season is.
const monthsOfSeason = 3

// askedSeason matches a season with what says which one: words before it, words or a year behind it.
var askedSeason = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:(` +
	`last|past|previous|this|next|coming|in(?: the)?|during(?: the)?|over the|` +
	`letzte[nrms]|vorige[nrms]|vergangene[nrms]|diese[nrms]|nächste[nrms]|kommende[nrms]|im|` +
	`en|au|cet|cette|la|el|este|esta|l['’]|en l['’])\s*)?` +
	`(spring|summer|autumn|fall|winter|frühling|frühjahr|sommer|herbst|printemps|été|automne|hiver|primavera|verano|` +
	`otoño|invierno)(?:\s+(dernier|passée?|prochain|pasad[oa]|próxim[oa]|(?:of |de |del )?(?:19|20)\d\d))?` +
	`(?:$|[^\pL\d])`)

// plainBefore are the words before a season that do not say which.
var plainBefore = map[string]bool{"": true, "la": true, "el": true, "l'": true, "l’": true}

// Times finds the times that a question asks about, at a time in Unix milliseconds, UTC. A season without a year is the
// last that is over where the question says "last", the one to come where it says "next", else the last that has begun.
func Times(question string, atMs int64) []extract.Date {
	question = canon.Prefix(question, MaxQuestionText)
	all := extract.Extract(extract.Document{Text: question, AtMs: atMs}).Dates
	for i, d := range all {
		if d.Relative && d.FromMs != math.MinInt64 && d.UntilMs == d.FromMs+dayMs && atMs-d.FromMs >= longAgo {
			all[i].FromMs, all[i].UntilMs = d.FromMs-aboutThen, d.UntilMs+aboutThen
		}
	}
	for _, m := range askedSeason.FindAllStringSubmatchIndex(question, -1) {
		part := func(k int) string {
			if m[2*k] < 0 {
				return ""
			}
			return strings.ToLower(question[m[2*k]:m[2*k+1]])
		}
		before, name, behind := part(1), part(2), part(3)
		sp := extract.Span{Start: m[4], End: m[5]}
		if behind == "" && plainBefore[before] || name == "fall" && before == "" || overlapsDate(all, sp) {
			continue
		}
		if m[6] >= 0 { // the year alone says less
			all = slices.DeleteFunc(all, func(d extract.Date) bool {
				return d.Grain == extract.Year && m[6] <= d.Span.Start && d.Span.End <= m[7]
			})
		}
		first := seasonMonths[name]
		year, err := strconv.Atoi(behind[max(0, len(behind)-len("2006")):])
		if err != nil {
			year = seasonYear(first, before+" "+behind, calendar.FloorDiv(int(atMs), dayMs))
		}
		all = append(all, extract.Date{
			Span: sp, Grain: extract.Quarter, Relative: err != nil, Confidence: 0.85,
			FromMs: at(calendar.Days(year, first, 1)), UntilMs: at(calendar.Days(year, first+monthsOfSeason, 1)),
		})
	}
	return all
}

// at is when a day begins.
func at(day int) int64 { return int64(day) * dayMs }

// overlapsDate tells whether a date was read there.
func overlapsDate(dates []extract.Date, sp extract.Span) bool {
	for _, d := range dates {
		if d.Span.Start < sp.End && sp.Start < d.Span.End {
			return true
		}
	}
	return false
}

// seasonYear is the year in which the season begins that words beside it mean, on a day.
func seasonYear(first int, words string, today int) int {
	year, _, _ := calendar.Civil(today)
	if calendar.Days(year, first, 1) > today {
		year-- // the last that has begun
	}
	for w := range strings.FieldsSeq(words) {
		switch {
		case w == "last", w == "past", w == "previous", strings.HasPrefix(w, "letzte"), strings.HasPrefix(w, "vorige"),
			strings.HasPrefix(w, "vergangene"), w == "dernier", strings.HasPrefix(w, "pass"), strings.HasPrefix(w, "pasad"):
			if calendar.Days(year, first+monthsOfSeason, 1) > today {
				year--
			}
		case w == "next", w == "coming", strings.HasPrefix(w, "nächste"), strings.HasPrefix(w, "kommende"),
			w == "prochain", strings.HasPrefix(w, "próxim"):
			year++
		}
	}
	return year
}
