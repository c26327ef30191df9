package extract

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/extract/tagger"
	reading "orgmem/brain/reader"
)

// shortDays are weekdays as people shorten them.
var shortDays = map[string]int{"weds": 3, "thurs": 4, "thur": 4, "tues": 2}

func spokenDay(w string) int {
	if n := weekdays[w]; n > 0 {
		return n
	}
	return shortDays[w]
}

// spokenWeekday reads "Sat", "Tuesday week", "Friday next week", and of "Monday 4 November" the date.
func (d *dater) spokenWeekday(today int) (period, bool) {
	k := d.the()
	this := d.low(k) == "this"
	if this {
		k++
	}
	n := spokenDay(d.low(k))
	if n == 0 || d.low(k-1) == "every" || d.low(k-1) == "each" || d.r.tokens[k].Kind != tagger.Word {
		return period{}, false
	}
	at := k + 1
	if w := d.low(at); w == "," || w == "." || w == "the" {
		at++
	}
	if next := d.low(at); d.within(at, k) && next != "" && (next[0] >= '0' && next[0] <= '9' || months[next] > 0 ||
		spokenOrdinals[next] > 0) && !strings.Contains(next, ":") {
		of := *d
		of.i = at
		if d.low(at-1) == "the" {
			of.i--
		}
		if p, ok := of.date(); ok && p.until-p.from == 1 && weekday(p.from) == n-1 {
			*d = of
			return p, true
		}
	}
	switch {
	case d.low(k+1) == "week" && d.within(k+1, k):
		d.i = k + 2
		d.relative = true
		return dayPeriod(today + floorMod(n-1-weekday(today), 7) + 7), true
	case d.low(k+1) == "next" && d.low(k+2) == "week":
		d.i, d.relative = k+3, true
		return dayPeriod(weekPeriod(today).from + 7 + n - 1), true
	case (d.low(k+1) == "this" || d.low(k+1) == "last") && d.low(k+2) == "week":
		monday := weekPeriod(today).from
		if d.low(k+1) == "last" {
			monday -= 7
		}
		d.i, d.relative = k+3, true
		if days := monday + n - 1; days < today && d.tense(k, Day) == coming {
			return dayPeriod(days + 7), true // said on a Sunday
		}
		return dayPeriod(monday + n - 1), true
	case this && d.tense(k, Day) != coming:
		return period{}, false
	}
	d.i, d.relative = k, true
	p, ok := d.weekday(n-1, today)
	if next := d.low(d.i); ok && (next == "/" || next == "and" || next == "-" || next == "–") && d.within(d.i+1, k) {
		if m := spokenDay(d.low(d.i + 1)); m > 0 && d.low(d.i+2) != "week" {
			p.until = p.from + floorMod(m-n, 7) + 1
			d.i += 2
			d.time()
		}
	}
	return p, ok
}

// dayRange reads "11–14 June" and "11-13 May".
func (d *dater) dayRange(today int) (period, bool) {
	first, at := d.i, d.i+1
	from, to, joined := strings.Cut(d.low(d.i), "-")
	if !joined {
		switch d.low(at) {
		case "-", "–", "to", "and", "until":
		default:
			return period{}, false
		}
		to, at = d.low(at+1), at+2
	}
	a, ok := dayNumber(from)
	b, also := dayNumber(to)
	if d.low(at) == "of" {
		at++
	}
	m := months[d.low(at)]
	if !ok || !also || m == 0 || b <= a || !d.within(at, first) {
		return period{}, false
	}
	d.i = at + 1
	return d.chosen(first, today, func(y int) period {
		return period{daysOf(y, m, a), daysOf(y, m, b) + 1, Day}
	}), true
}

// twoNumbers reads the numbers of 30/09, 25.11 and 4/5/2026, whose year is 0 where there is none; end is behind them.
func (d *dater) twoNumbers() (a, b, year, end int, ok bool) {
	w := d.low(d.i)
	day, month, dotted := strings.Cut(strings.TrimSuffix(w, "."), ".")
	if end = d.i + 1; !dotted {
		if d.low(d.i+1) != "/" {
			return 0, 0, 0, 0, false
		}
		day, month, end = w, d.low(d.i+2), d.i+3
	}
	a, ok = dayNumber(day)
	b, also := dayNumber(month)
	if n, known := number(d.low(end + 1)); d.low(end) == "/" && known && n >= minYear && n <= maxYear {
		year, end = n, end+2
	}
	return a, b, year, end, ok && also && (!dotted || b <= 12) && d.low(end) != "/" && d.low(end) != "%" &&
		months[d.low(end)] == 0
}

// dayMonth reads 30/09, 4/26, 25.11 and 4/5/2026: where day and month cannot be told apart, the nearer of two readings.
func (d *dater) dayMonth(today int) (period, bool) {
	a, b, year, end, ok := d.twoNumbers()
	if !ok {
		return period{}, false
	}
	first := d.i
	var readings []period
	read := func(day, month int) {
		if month > 12 || day > monthDays(2024, month) {
			return
		}
		of := func(y int) period { return dayPeriod(daysOf(y, month, day)) }
		if year > 0 {
			readings = append(readings, of(year))
			return
		}
		readings = append(readings, d.pick(first, today, yearly(today, of)))
	}
	read(a, b)
	if end != first+1 && a != b {
		read(b, a)
	}
	if len(readings) == 0 {
		return period{}, false
	}
	p := readings[0]
	if len(readings) > 1 {
		d.guessed = true
		if distance(readings[1], today) < distance(p, today) {
			p = readings[1]
		}
	}
	d.i = end
	d.time()
	return p, true
}

// span reads "H2", "week 34", "two years ago" to the day, "the week after next".
func (d *dater) span(today int) (period, bool) {
	w := d.low(d.i)
	if w == "h1" || w == "h2" {
		first := 1 + 6*int(w[1]-'1')
		start := d.i
		d.i++
		return d.chosen(start, today, func(y int) period {
			return period{daysOf(y, first, 1), daysOf(y, first+6, 1), Quarter}
		}), true
	}
	k := d.the()
	if unit := d.low(k); (unit == "week" || unit == "weekend" || unit == "month") && d.low(k+2) != "" {
		by := 0
		switch d.low(k+1) + " " + d.low(k+2) {
		case "after next":
			by = 2
		case "before last":
			by = -2
		}
		if by != 0 {
			p, ok := d.shifted(unit, today, by)
			d.i, d.relative = k+3, true
			return p, ok
		}
	}
	if w == "calendar" {
		k++
	}
	if unit := d.low(k); unit == "week" || unit == "cw" || unit == "kw" || unit == "wk" {
		if n, ok := number(d.low(k + 1)); ok && n >= 1 && n <= 53 {
			d.i = k + 2
			return d.chosen(k, today, func(y int) period { // the week of 4 January is the first
				p := weekPeriod(daysOf(y, 1, 4) + 7*(n-1))
				return p
			}), true
		}
	}
	return period{}, false
}

// anniversary reads "a year ago", "in two years", "a fortnight ago": as long from today, to the day.
func (d *dater) anniversary(today int) (period, bool) {
	n := numerals[d.low(d.i)]
	if n == 0 {
		n, _ = number(d.low(d.i))
	}
	k := d.i + 1
	if d.low(d.i) == "a" && (d.low(k) == "couple" || d.low(k) == "few") {
		n, k = numerals[d.low(k)], k+1
		if d.low(k) == "of" {
			k++
		}
	}
	sign := 0
	switch after := d.low(k + 1); {
	case after == "ago":
		sign = -1
	case d.low(d.i-1) == "in" && d.tense(d.i, Day) != bygone:
		sign = 1
	case after == "from" && (d.low(k+2) == "now" || d.low(k+2) == "today"):
		sign = 1
	}
	if n == 0 || n > 200 || sign == 0 {
		return period{}, false
	}
	year, month, day := civil(today)
	var p period
	switch strings.TrimSuffix(d.low(k), "s") {
	case "fortnight":
		p = period{today + 14*sign*n, today + 14*sign*n + 1, Week}
	case "quarter":
		first := daysOf(year, month+3*sign*n, 1)
		p = period{first + min(day, 28) - 1, first + min(day, 28), Month}
	case "week":
		by, known := map[string]int{"yesterday": -1, "tomorrow": 1}[d.low(k+2)]
		if !known || sign > 0 {
			return period{}, false
		}
		d.i, d.relative = k+3, true
		return dayPeriod(today - 7*n + by), true
	case "year":
		if d.low(d.i-1) == "half" {
			return period{}, false
		}
		at := daysOf(year+sign*n, month, min(day, monthDays(year+sign*n, month)))
		p = period{at, at + 1, Year}
	default:
		return period{}, false
	}
	d.i, d.relative = k+1, true
	switch d.low(d.i) {
	case "ago":
		d.i++
	case "from":
		d.i += 2
	}
	return p, true
}

var decades = map[string]int{
	"twenties": 1920, "thirties": 1930, "forties": 1940, "fifties": 1950, "sixties": 1960, "seventies": 1970,
	"eighties": 1980, "nineties": 1990,
}

// spokenWord reads words for days that are no words of the calendar.
func (d *dater) spokenWord(today int) (period, bool) {
	w, next := d.low(d.i), d.low(d.i+1)
	year, month, _ := civil(today)
	d.relative = true
	take := func(n int, p period) (period, bool) {
		d.i += n
		d.time()
		return p, true
	}
	switch {
	case w == "tmrw" || w == "tmr" || w == "tomorow" || w == "2moro" || w == "tomoz":
		return take(1, dayPeriod(today+1))
	case w == "yday" || w == "yest":
		return take(1, dayPeriod(today-1))
	case w == "tonite":
		return take(1, dayPeriod(today))
	case w == "this" && (next == "evening" || next == "night" || next == "noon" || next == "lunchtime"):
		return take(2, dayPeriod(today))
	case w == "last" && (next == "evening" || next == "nite"):
		return take(2, dayPeriod(today-1))
	case w == "this" && next == "coming" && d.low(d.i+2) == "weekend":
		saturday := today + floorMod(5-weekday(today), 7)
		return take(3, period{saturday, saturday + 2, Day})
	case w == "this" && next == "coming" && spokenDay(d.low(d.i+2)) > 0:
		return take(3, dayPeriod(today+1+floorMod(spokenDay(d.low(d.i+2))-2-weekday(today), 7)))
	case w == "all" && next == "week":
		return take(2, weekPeriod(today))
	case w == "year" && next == "end", w == "year-end":
		return take(2-strings.Count(w, "-"), dayPeriod(daysOf(year, 12, 31)))
	case w == "month" && next == "end", w == "month-end":
		return take(2-strings.Count(w, "-"), dayPeriod(daysOf(year, month+1, 1)-1))
	case w == "weekend" && d.low(d.i-1) != "last" && d.low(d.i-1) != "next":
		saturday := weekPeriod(today).from + 5
		if saturday > today && d.tense(d.i, Day) == bygone {
			saturday -= 7
		}
		return take(1, period{saturday, saturday + 2, Day})
	case w == "the" && next == "last" && d.low(d.i+2) == "day" && d.low(d.i+3) != "of":
		return period{}, false
	}
	if k := d.the(); decades[d.low(k)] > 0 {
		first := decades[d.low(k)]
		d.i, d.relative, d.dated = k+1, false, true
		return period{daysOf(first, 1, 1), daysOf(first+10, 1, 1), Decade}, true
	}
	if n, ok := number(w); ok && len(w) == 4 && n >= minYear && n <= maxYear && d.r.tokens[d.i].Kind == tagger.Number {
		d.relative = false
		d.dated = true
		d.i++
		return yearPeriod(n), true
	}
	return period{}, false
}

// bareMonth reads a month without what says that it is one: "July", "Oct", "Dec. 6", "May the 4th".
func (d *dater) bareMonth(today int) (period, bool) {
	m := months[d.low(d.i)]
	if m == 0 {
		return period{}, false
	}
	start := d.i
	at := d.i + 1
	if d.low(at) == "." || d.low(at) == "the" {
		at++
	}
	if day, ok := dayNumber(d.low(at)); ok {
		if at == d.i+1 && d.r.word(d.i)[0] < 'a' {
			return period{}, false // which the calendar reads
		}
		d.i = at + 1
		p := d.chosen(start, today, func(y int) period { return dayPeriod(daysOf(y, m, min(day, monthDays(y, m)))) })
		d.time()
		return p, true
	}
	switch d.low(d.i - 1) {
	case "last", "next", "end", "this":
		return period{}, false
	}
	d.i++
	if d.low(d.i) == "." && d.within(d.i+1, start) {
		d.i++
	}
	return d.chosen(start, today, func(y int) period { return monthPeriod(y, m) }), true
}

// clocks adds a day for each time of a sentence that is one of the day alone, "by noon", "from 3", that of the date
// before it in the sentence, or of writing; and for a day with a name that is today, the reader says. The dates of the
// sentence are those from the first on.
func (r *reader) clocks(from, to, first int) {
	if r.atMs == 0 {
		return
	}
	for _, s := range r.tagged.in(r.tokens[from].Start, r.tokens[to-1].End) {
		if s.Type != reading.Time || s.P < sureTime || recurs(s) || s.Start < r.tokens[from].Start ||
			len(r.out.Dates) >= MaxDates {
			continue
		}
		named := s.Tense == reading.Present && s.TenseP >= sureTense &&
			strings.IndexFunc(r.text[s.Start:s.End], unicode.IsUpper) >= 0
		if !named && !r.clocked(from, to, s.Start, s.End) {
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
		day := dayIndex(r.atMs) * msPerDay
		if at > first && !named {
			if x := r.out.Dates[at-1]; x.FromMs != math.MinInt64 && x.UntilMs-x.FromMs <= msPerDay {
				day = dayIndex(x.FromMs) * msPerDay
			}
		}
		r.out.Dates = slices.Insert(r.out.Dates, at, Date{
			Span: s.Span, FromMs: day, UntilMs: day + msPerDay, Grain: Day, Relative: true, Confidence: 0.6,
		})
	}
}

// clocked tells whether what stands in [start, end) is a time of the day.
func (r *reader) clocked(from, to, start, end int) bool {
	for i := from; i < to; i++ {
		if r.tokens[i].Start < start || r.tokens[i].End > end {
			continue
		}
		w := r.lows[i]
		switch {
		case clock(w) >= 0, w == "noon", w == "midnight", w == "midday", w == "lunchtime", w == "o'clock", w == "o’clock",
			w == "a.m.", w == "p.m.", w == "am", w == "pm":
			return true
		}
		if hour := strings.TrimRight(w, "apm.h"); hour != w {
			if _, ok := number(hour); ok {
				return true
			}
		}
	}
	return false
}
