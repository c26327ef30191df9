package extract

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/extract/tagger"
	reading "orgmem/brain/reader"
	"orgmem/brain/text"
)

// clocks adds a day for each time of a sentence that is one of the day alone, "by noon", "from 3", that of the date
// before it, or of writing; and for a day with a name that is today, the reader says. The dates of the sentence are
// those from the first on. What is on a day that the sentence tells already is not told again.
func (r *reader) clocks(from, to, first int) {
	if r.atMs == 0 {
		return
	}
	for _, s := range r.tagged.in(r.tokens[from].Start, r.tokens[to-1].End) {
		if s.Type != reading.Time || s.P < sureTime || s.Told < leastTold || s.Tense == reading.Recurring ||
			s.Start < r.tokens[from].Start || len(r.out.Dates) >= MaxDates {
			continue
		}
		named := s.Tense == reading.Present && s.TenseP >= sureTense &&
			strings.IndexFunc(r.text[min(r.opened(s.Start), s.End):s.End], unicode.IsUpper) >= 0
		minute, clocked := r.clocked(from, to, s.Start, s.End)
		if !named && !clocked {
			continue
		}
		at := first // behind the dates before it
		for at < len(r.out.Dates) && r.out.Dates[at].Span.Start < s.Start {
			at++
		}
		if at < len(r.out.Dates) && r.out.Dates[at].Span.Start < s.End || at > first &&
			r.out.Dates[at-1].Span.End > s.Start {
			continue // it is dated
		}
		if at < len(r.out.Dates) && r.out.Dates[at].Span.Start-s.End <= maxGap {
			continue // five on Thursday
		}
		day := dayIndex(r.atMs)
		if !named {
			day = dayOfClock(r, s, at, first, minute)
		}
		told := func(x Date) bool { return x.FromMs >= day*msPerDay && x.FromMs < (day+1)*msPerDay }
		if slices.ContainsFunc(r.out.Dates[first:], told) {
			continue
		}
		r.out.Dates = slices.Insert(r.out.Dates, at, Date{
			Span: s.Span, FromMs: day * msPerDay, UntilMs: (day + 1) * msPerDay, Grain: Day, Relative: true, Confidence: 0.6,
		})
	}
}

// maxGap is how many bytes may lie between a time of the day and its date.
const maxGap = 6

// dayOfClock is the day of a time of the day, s, before which lie the dates up to at, those of its sentence from first
// on: that of the date before it in its sentence, else of the last date on that side of today which its tense tells,
// else of writing.
func dayOfClock(r *reader, s reading.Span, at, first, minute int) int64 {
	today := dayIndex(r.atMs)
	said := untold
	if t := tenseOf(s); s.TenseP >= sureTense && t != present {
		said = t
	}
	if at > 0 {
		x := r.out.Dates[at-1]
		day := dayIndex(x.FromMs)
		oneDay := x.FromMs != math.MinInt64 && x.UntilMs-x.FromMs <= msPerDay
		if oneDay && (at > first || said == untold || said == coming && day > today || said == bygone && day < today) {
			of := strings.ToLower(r.text[x.Span.Start:x.Span.End])
			if minute >= 0 && minute < smallHours && (strings.Contains(of, "tonight") ||
				strings.Contains(of, "night") && !strings.ContainsAny(of, "0123456789")) {
				day++
			}
			return day
		}
	}
	if minute == 0 && said == coming {
		return today + 1 // at midnight
	}
	return today
}

// smallHours is the minute of the day at which the night before it is over.
const smallHours = 6 * 60

// dayTimes are times of the day that no clock tells.
var dayTimes = map[string]int{
	"noon": 720, "midday": 720, "midnight": 0, "lunchtime": 750, "lunch": 750, "dawn": -1, "dusk": -1, "dark": -1,
	"sunrise": -1, "sunset": -1, "nightfall": -1, "bedtime": -1, "teatime": -1, "breakfast": -1, "o'clock": -1,
	"o’clock": -1, "a.m.": -1, "p.m.": -1, "am": -1, "pm": -1,
}

// aroundClocks are the words beside the number of an hour.
var aroundClocks = text.Set(`at by from until till before after between and to past half quarter about around sharp
	the in
	morning afternoon evening night this - – , / latest`)

// opened is a place, or the end of the word there where it begins a sentence: that capital is nobody's.
func (r *reader) opened(at int) int {
	i, found := slices.BinarySearchFunc(r.tokens, at, func(t tagger.Token, at int) int { return t.Start - at })
	if found && r.tokens[i].First {
		return r.tokens[i].End
	}
	return at
}

// clocked tells whether what stands in [start, end) is a time of the day, and in which minute; -1: it is not known.
func (r *reader) clocked(from, to, start, end int) (minute int, ok bool) {
	minute = -1
	hours, others := 0, 0
	for i := from; i < to; i++ {
		if r.tokens[i].Start < start || r.tokens[i].End > end {
			continue
		}
		w := r.lows[i]
		if m := clock(w); m >= 0 {
			return m, true
		}
		if m, known := dayTimes[w]; known {
			minute, ok = max(minute, m), true
			continue
		}
		n := spokenHours[w]
		if n == 0 && r.tokens[i].Kind == tagger.Number {
			n, _ = number(w)
		}
		if hour := strings.TrimRight(w, "apm.h"); hour != w {
			if n, _ = number(hour); n > 0 {
				ok = true
			}
		}
		switch {
		case n > 0 && n <= 24 && (clockLinks[r.before(i)] || i+1 < to && clockLinks[r.lows[i+1]]):
			hours++
			if minute = 60 * n; strings.HasSuffix(w, "pm") {
				minute = -1
			}
		case !aroundClocks[w]:
			others++
		case w == "evening", w == "afternoon":
			minute = -1
		}
	}
	if ok {
		return minute, true
	}
	return minute, hours > 0 && others == 0
}

// clockLinks are words beside the number of an hour that make it one.
var clockLinks = text.Set(`at by from until till before after between to past about around sharp o'clock this in - –`)

// before is the word before token i.
func (r *reader) before(i int) string {
	if i == 0 {
		return ""
	}
	return r.lows[i-1]
}

var spokenHours = func() map[string]int {
	m := map[string]int{}
	for i, w := range strings.Fields("one two three four five six seven eight nine ten eleven twelve") {
		m[w] = i + 1
	}
	return m
}()
