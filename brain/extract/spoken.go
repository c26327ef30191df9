package extract

import (
	"strings"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/extract/clause"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// What people say of time in a hurry means something else as often: "the 14th", "autumn", "30/9", "Friday week", "at
// 3". It is read only where the reader is sure that it is a time.

// spoken reads a period at d.i that is said so, and moves behind it.
func (d *dater) spoken() (period, bool) {
	today, ok := d.today()
	if !ok || !d.r.surelyTime(d.i) {
		return period{}, false
	}
	for _, read := range []func(int) (period, bool){
		d.part, d.beside, d.thatTime, d.holiday, d.ordinalDay, d.season, d.spokenWeekday, d.dayRange, d.dayMonth, d.span,
		d.spokenWord, d.anniversary, d.bareMonth,
	} {
		try := *d
		if p, ok := read(today); ok {
			return p, true
		}
		*d = try
	}
	return period{}, false
}

// within tells whether token i belongs to the reader's time that token k does.
func (d *dater) within(i, k int) bool {
	if i < 0 || i >= d.to {
		return false
	}
	a, ok := d.r.timeAt(i)
	b, also := d.r.timeAt(k)
	return ok && also && a.Start == b.Start
}

// pick chooses among periods that are meant alike, in order, by the tense of the date at token i: the last that has
// begun, the next that is not over, the nearest.
func (d *dater) pick(i, today int, all []period) period {
	d.relative = true
	t := d.tense(i, all[0].grain)
	best := all[0]
	for _, p := range all {
		begun, open := p.from <= today, p.until > today
		switch {
		case t == bygone && begun:
			best = p
		case t == coming && open && best.until <= today:
			best = p
		case (t == untold || t == present) && distance(p, today) < distance(best, today):
			best = p
		}
	}
	return best
}

// distance is how many days a period is away from a day.
func distance(p period, day int) int { return max(0, p.from-day, day-p.until+1) }

// past and ahead choose "last" and "next" of such periods.
func past(all []period, today int) period {
	best := all[0]
	for _, p := range all {
		if p.until <= today {
			best = p
		}
	}
	return best
}

func aheadOf(all []period, today int) period {
	for _, p := range all {
		if p.from > today {
			return p
		}
	}
	return all[len(all)-1]
}

// yearly makes candidates of what comes each year.
func yearly(today int, of func(year int) period) (all []period) {
	year, _, _ := calendar.Civil(today)
	for y := year - 2; y <= year+2; y++ {
		all = append(all, of(y))
	}
	return all
}

// chosen reads what stands around a thing that comes each year and tells which is meant: a year behind it, or "last",
// "next" or "this" before it, which the tense replaces where they are missing.
func (d *dater) chosen(start, today int, of func(year int) period) period {
	end := d.i
	if n, ok := number(d.low(end + 1)); ok && len(d.low(end+1)) == 2 && (d.low(end) == "'" || d.low(end) == "’") {
		d.i, d.dated = end+2, true // September '19
		return of(century(n))
	}
	if year, behind := d.yearAt(end); year != 0 {
		d.i, d.dated = behind, true
		if n, ok := number(d.low(behind + 1)); ok && d.low(behind) == "/" && n == (year+1)%100 {
			d.i += 2 // winter 2018/19
		}
		return of(year)
	}
	if year, behind := d.yearAt(end + 1); year != 0 && d.low(end) == "in" { // Easter in 2016
		d.i, d.dated = behind, true
		return of(year)
	}
	all := yearly(today, of)
	d.relative = true
	switch {
	case d.low(end) == "before" && d.low(end+1) == "last":
		d.i += 2
		return past(all, past(all, today).from)
	case d.low(end) == "after" && d.low(end+1) == "next":
		d.i += 2
		return aheadOf(all, aheadOf(all, today).from)
	}
	switch d.low(start - 1) {
	case "last", "past", "previous":
		return past(all, today)
	case "next", "coming":
		return aheadOf(all, today)
	case "'s", "’s": // last year's Christmas
		if by, ok := years[d.low(start-3)]; ok && d.low(start-2) == "year" {
			year, _, _ := calendar.Civil(today)
			return of(year + by)
		}
	case "this":
		for _, p := range all {
			if p.from <= today && today < p.until {
				return p
			}
		}
		year, _, _ := calendar.Civil(today)
		return of(year)
	}
	return d.pick(start, today, all)
}

// ordinal reads fifth, 5th, 5. and twenty-first.
func ordinal(w string) (int, bool) {
	if n, ok := spokenOrdinals[w]; ok {
		return n, true
	}
	if len(w) < 3 || w[0] < '0' || w[0] > '9' {
		return 0, false
	}
	switch w[len(w)-2:] {
	case "st", "nd", "rd", "th":
		return dayNumber(w)
	}
	return 0, false
}

var spokenOrdinals = func() map[string]int {
	m := map[string]int{}
	for i, w := range strings.Fields(`first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth
		thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second
		twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth
		thirty-first`) {
		m[w] = i + 1
	}
	return m
}()

// article is d.i behind an article.
func article(d *dater) int {
	if d.low(d.i) == "the" {
		return d.i + 1
	}
	return d.i
}

// ordinalDay reads "the 14th", "the fifth", "the 14th and 15th": of the month that the tense tells.
func (d *dater) ordinalDay(today int) (period, bool) {
	k := article(d)
	n, ok := ordinal(d.low(k))
	if !ok || k == d.i && spokenOrdinals[d.low(k)] > 0 {
		return period{}, false
	}
	year, month, _ := calendar.Civil(today)
	switch next := d.low(k + 1); {
	case spokenOrdinals[d.low(k)] > 0 && next == "of" && months[d.low(k+2)] > 0: // the first of March
		m := months[d.low(k+2)]
		d.i = k + 3
		return d.chosen(k, today, func(y int) period { return monthDay(y, m, n) }), true
	case months[next] > 0, next == "of" && months[d.low(k+2)] > 0:
		return period{}, false // which is read by the calendar
	case next == "of" && d.low(k+2) == "the" && d.low(k+3) == "month":
		d.i = k + 4
	case next == "of" && d.low(k+2) == "the" && d.low(k+3) == "year":
		d.i = k + 4
		return d.pick(k, today, yearly(today, func(y int) period { return dayPeriod(calendar.Days(y, 1, n)) })), true
	case next == "of" && d.low(k+3) == "month" && years[d.low(k+2)] != 0, next == "of" && d.low(k+2) == "this" &&
		d.low(k+3) == "month": // the 8th of last month
		d.i, d.relative = k+4, true
		m := month + years[d.low(k+2)]
		return dayPeriod(calendar.Days(year, m, 1) + min(n, calendar.MonthDays(year, m)) - 1), true
	case d.within(k+1, k) && d.r.tokens[k+1].Kind == tagger.Word && (spokenOrdinals[d.low(k)] > 0 ||
		!clause.Relates(next) && !clause.Joins(next) && next != "this"):
		return period{}, false
	default:
		d.i = k + 1
	}
	if told, ok := monthAhead(d, k, today); ok {
		year, month, _ = calendar.Civil(told.from)
		if n <= calendar.MonthDays(year, month) {
			d.relative = true
			return tiedTo(d, dayPeriod(told.from+n-1), n), true
		}
		year, month, _ = calendar.Civil(today)
	}
	var all []period
	for m := month - 2; m <= month+2; m++ {
		if first := calendar.Days(year, m, 1); n <= calendar.Days(year, m+1, 1)-first {
			all = append(all, dayPeriod(first+n-1))
		}
	}
	return tiedTo(d, d.pick(k, today, all), n), true
}

// tiedTo is the nth of a month with what is tied to it: the 14th and 15th.
func tiedTo(d *dater, p period, n int) period {
	if next := d.low(d.i); next == "and" || next == "/" {
		if last, ok := ordinal(d.low(d.i + 1)); ok && last > n && months[d.low(d.i+2)] == 0 {
			p.until += last - n
			d.i += 2
		}
	}
	return p
}

var seasons = map[string]int{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}

// season reads "autumn", "last winter", "spring 2024", "the summer before last".
func (d *dater) season(today int) (period, bool) {
	k := d.i
	switch d.low(k) {
	case "the", "last", "this", "next", "past", "coming":
		k++
	}
	first := seasons[d.low(k)]
	if first == 0 {
		return period{}, false
	}
	d.i = k + 1
	return d.chosen(k, today, func(y int) period {
		return period{calendar.Days(y, first, 1), calendar.Days(y, first+3, 1), Quarter}
	}), true
}

// holiday reads the days of the year that have a name and a date that is known.
func (d *dater) holiday(today int) (period, bool) {
	k := d.i
	switch d.low(k) {
	case "the", "last", "this", "next":
		k++
	}
	for n := 4; n > 0; n-- {
		if k+n > d.to {
			continue
		}
		name := strings.ReplaceAll(strings.ToLower(d.r.text[d.r.tokens[k].Start:d.r.tokens[k+n-1].End]), "’", "'")
		if of := calendar.Holiday(name); of != nil {
			if elsewhere[d.low(k-1)] {
				return period{}, false
			}
			d.i = k + n
			if p, ok := apposed(d, k, of); ok {
				return p, true
			}
			p := d.chosen(k, today, func(y int) period { return dayPeriod(of(y)) })
			if bound := d.preposition(k); !d.dated && d.r.saidTense(k) == present && !bounds[bound] &&
				d.low(d.i) != "is" && d.low(d.i) != "falls" {
				p = dayPeriod(today) // it is, wherever that is; but not where Easter is early
			}
			d.time()
			return p, true
		}
	}
	return period{}, false
}

// elsewhere are words before a feast that others keep on another day.
var elsewhere = text.Set(`lunar chinese orthodox coptic jewish persian vietnamese tamil thai`)

// bounds are the prepositions of what begins or ends at a day, which is then not that of writing.
var bounds = text.Set(`since until before after by from`)

// apposed reads the date that stands beside a feast's name and says when it is: "Independence Day on the 6th of
// December", "Thanksgiving (3 December)".
func apposed(d *dater, k int, on func(year int) int) (period, bool) {
	of := *d
	link := d.low(d.i)
	switch link {
	case "on", ",", "(", "–", "-":
		of.i++
	default:
		return period{}, false
	}
	if of.low(of.i) == "the" {
		of.i++
	}
	if w := of.low(of.i); w == "" || months[w] == 0 && (w[0] < '0' || w[0] > '9') {
		return period{}, false
	}
	p, ok := of.date()
	year, _, _ := calendar.Civil(p.from)
	if !ok || p.until-p.from != 1 || !withMonth(&of, k) || link != "on" && on(year) != p.from {
		return period{}, false
	}
	*d = of
	return p, true
}

// withMonth tells whether a month is named between token k and d.i.
func withMonth(d *dater, k int) bool {
	for ; k < d.i; k++ {
		if months[d.low(k)] > 0 {
			return true
		}
	}
	return false
}

// monthAt reads the month, quarter or year at token k that a part is of.
func (d *dater) monthAt(k, today int) (period, int, bool) {
	var p period
	of := *d
	of.i = k
	w := of.low(k)
	switch {
	case w == "the" && (of.low(k+1) == "month" || of.low(k+1) == "year"):
		y, m, _ := calendar.Civil(today)
		d.relative = true
		if of.low(k+1) == "year" {
			return yearPeriod(y), k + 2, true
		}
		return monthPeriod(y, m), k + 2, true
	case w == "that" && of.low(k+1) == "month":
		x, ok := d.before(k)
		if !ok {
			return period{}, 0, false
		}
		y, m, _ := calendar.Civil(x.from)
		d.relative = true
		return monthPeriod(y, m), k + 2, true
	case months[w] > 0:
		month := months[w]
		of.i = k + 1
		p = of.chosen(k, today, func(y int) period { return monthPeriod(y, month) })
	default:
		var ok bool
		if p, ok = of.date(); !ok || p.until-p.from < 7 || p.from == always || p.until == ever || p.grain == Decade {
			return period{}, 0, false
		}
	}
	d.relative, d.dated = d.relative || of.relative, of.dated
	return p, of.i, true
}

// part reads what is a part of a month or year: "early March", "mid-May", "the second week of January", "the last
// Friday of the month", "the second half of August".
func (d *dater) part(today int) (period, bool) {
	k := article(d)
	w := d.low(k)
	if rest, ok := strings.CutPrefix(w, "mid-"); ok && months[rest] > 0 {
		month := months[rest]
		d.i = k + 1
		return byMiddle(d, k, third(d.chosen(k, today, func(y int) period { return monthPeriod(y, month) }), 1)), true
	}
	which, known := map[string]int{
		"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "later": 2,
	}[w]
	if known {
		at := k + 1
		if d.low(at) == "-" || d.low(at) == "of" {
			at++
		}
		p, end, ok := d.monthAt(at, today)
		if !ok {
			return period{}, false
		}
		d.i = end
		if p = third(p, which); w == "beginning" || w == "start" {
			p = dayPeriod(p.from)
		}
		if which == 1 {
			p = byMiddle(d, k, p)
		}
		return p, true
	}
	n, ok := ordinal(w)
	if w == "last" {
		n, ok = -1, true
	}
	if !ok {
		return period{}, false
	}
	at := k + 1
	if w := d.low(at); (w == "working" || w == "business") && d.low(at+1) == "day" {
		at++
	} else if w == "few" || w == "couple" {
		at++
	}
	many := spokenHours[d.low(at)] // the first two Fridays
	if many > 1 && n > 0 {
		at++
	}
	unit, several := strings.CutSuffix(d.low(at), "s")
	if of := d.low(at + 1); of != "of" && of != "in" {
		return period{}, false
	}
	month, end, ok := d.monthAt(at+2, today)
	if !ok {
		return period{}, false
	}
	if d.low(at-1) == "working" || d.low(at-1) == "business" {
		unit = "working day"
	}
	p, ok := nth(month, n, unit)
	if last, known := nth(month, n+many-1, unit); ok && known && several && many > 1 && n > 0 {
		p.until = last.until
	}
	if ok && several && unit == "day" && n*n == 1 { // the first days, the last days
		if p.until += 2; n < 0 {
			p = period{p.from - 2, p.until - 2, Day}
		}
	}
	if ok {
		d.i = end
		d.time()
	}
	return p, ok
}

// byMiddle is the 15th, where something is due by the middle of a month, which token k begins.
func byMiddle(d *dater, k int, p period) period {
	if p.grain == Month && p.until-p.from == 10 && d.preposition(k) == "by" {
		return dayPeriod(p.from + 4)
	}
	return p
}

// third is the first, middle or last part of a month or a year.
func third(p period, which int) period {
	if p.grain == Week { // Monday and Tuesday, Wednesday, Thursday and Friday
		return []period{{p.from, p.from + 2, Day}, dayPeriod(p.from + 2), {p.from + 3, p.from + 5, Day}}[which]
	}
	at := func(n int) int {
		if p.grain == Month {
			return min(p.from+10*n, p.until)
		}
		return p.from + (p.until-p.from)*n/3
	}
	if which == 2 {
		return period{at(2), p.until, p.grain}
	}
	return period{at(which), at(which + 1), p.grain}
}

// nth is the nth day, weekday, week or half of a period, from its end where n is -1.
func nth(p period, n int, unit string) (period, bool) {
	var q period
	days := 7
	switch {
	case unit == "day" && n < 0:
		q = dayPeriod(p.until - 1)
	case unit == "day":
		q = dayPeriod(p.from + n - 1)
	case unit == "working day" && n > 0 && n < 25: // but for feasts
		q = dayPeriod(p.from - 1)
		for ; n > 0; n-- {
			if q = dayPeriod(q.from + 1); calendar.Weekday(q.from) > 4 {
				n++
			}
		}
	case unit == "half" && n > 0 && n <= 2:
		middle := p.from + (p.until-p.from)/2
		if p.grain == Month {
			middle = p.from + 15
		}
		if q = (period{p.from, middle, p.grain}); n == 2 {
			q = period{middle, p.until, p.grain}
		}
	case unit == "week" && n < 0:
		q = period{p.until - days, p.until, Week}
	case unit == "week":
		q = period{p.from + days*(n-1), min(p.from+days*n, p.until), Week}
	case weekdays[unit] > 0:
		q = dayPeriod(calendar.NthWeekday(p.from, p.until, n, weekdays[unit]))
	case unit == "weekend":
		saturday := p.from + calendar.FloorMod(5-calendar.Weekday(p.from), days) + days*(n-1)
		if n < 0 {
			saturday = p.until - 1 - calendar.FloorMod(calendar.Weekday(p.until-1)-5, days)
		}
		q = period{saturday, saturday + 2, Day}
	}
	return q, q.from >= p.from && q.from < p.until && q.until > q.from
}
