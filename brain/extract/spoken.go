package extract

import (
	"math"
	"strings"

	"orgmem/brain/extract/tagger"
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
		d.part, d.beside, d.ordinalDay, d.season, d.holiday, d.spokenWeekday, d.dayRange, d.dayMonth, d.span,
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
	if i >= d.to {
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
	year, _, _ := civil(today)
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
		if n < 50 {
			return of(2000 + n)
		}
		return of(1900 + n)
	}
	if year, behind := d.yearAt(end); year != 0 {
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
	case "this":
		for _, p := range all {
			if p.from <= today && today < p.until {
				return p
			}
		}
		year, _, _ := civil(today)
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

// the is d.i behind an article.
func (d *dater) the() int {
	if d.low(d.i) == "the" {
		return d.i + 1
	}
	return d.i
}

// ordinalDay reads "the 14th", "the fifth", "the 14th and 15th": of the month that the tense tells.
func (d *dater) ordinalDay(today int) (period, bool) {
	k := d.the()
	n, ok := ordinal(d.low(k))
	if !ok || k == d.i && spokenOrdinals[d.low(k)] > 0 {
		return period{}, false
	}
	switch next := d.low(k + 1); {
	case months[next] > 0, next == "of" && months[d.low(k+2)] > 0:
		return period{}, false // which is read by the calendar
	case next == "of" && d.low(k+2) == "the" && d.low(k+3) == "month":
		d.i = k + 4
	case d.within(k+1, k) && d.r.tokens[k+1].Kind == tagger.Word && !prepositions[next] && !joints[next] && next != "this":
		return period{}, false
	default:
		d.i = k + 1
	}
	year, month, _ := civil(today)
	var all []period
	for m := month - 2; m <= month+2; m++ {
		if first := daysOf(year, m, 1); n <= daysOf(year, m+1, 1)-first {
			all = append(all, dayPeriod(first+n-1))
		}
	}
	p := d.pick(k, today, all)
	if next := d.low(d.i); next == "and" || next == "/" {
		if last, ok := ordinal(d.low(d.i + 1)); ok && last > n && months[d.low(d.i+2)] == 0 {
			p.until += last - n
			d.i += 2
		}
	}
	return p, true
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
		return period{daysOf(y, first, 1), daysOf(y, first+3, 1), Quarter}
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
		if of, ok := holidays[name]; ok {
			d.i = k + n
			p := d.chosen(k, today, func(y int) period { return dayPeriod(of(y)) })
			if !d.dated && d.r.saidTense(k) == present {
				p = dayPeriod(today) // it is, wherever that is
			}
			d.time()
			return p, true
		}
	}
	return period{}, false
}

// monthAt reads the month, quarter or year at token k that a part is of.
func (d *dater) monthAt(k, today int) (p period, end int, ok bool) {
	of := *d
	of.i = k
	w := of.low(k)
	switch {
	case w == "the" && (of.low(k+1) == "month" || of.low(k+1) == "year"):
		y, m, _ := civil(today)
		d.relative = true
		if of.low(k+1) == "year" {
			return yearPeriod(y), k + 2, true
		}
		return monthPeriod(y, m), k + 2, true
	case months[w] > 0:
		month := months[w]
		of.i = k + 1
		p = of.chosen(k, today, func(y int) period { return monthPeriod(y, month) })
	default:
		if p, ok = of.date(); !ok || p.grain != Month && p.grain != Year && p.grain != Quarter {
			return period{}, 0, false
		}
	}
	d.relative, d.dated = d.relative || of.relative, of.dated
	return p, of.i, true
}

// part reads what is a part of a month or year: "early March", "mid-May", "the second week of January", "the last
// Friday of the month", "the second half of August".
func (d *dater) part(today int) (period, bool) {
	k := d.the()
	w := d.low(k)
	if rest, ok := strings.CutPrefix(w, "mid-"); ok && months[rest] > 0 {
		month := months[rest]
		d.i = k + 1
		return third(d.chosen(k, today, func(y int) period { return monthPeriod(y, month) }), 1), true
	}
	which, known := map[string]int{
		"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2,
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
		return p, true
	}
	n, ok := ordinal(w)
	if w == "last" {
		n, ok = -1, true
	}
	of := d.low(k + 2)
	if !ok || of != "of" && of != "in" {
		return period{}, false
	}
	unit := strings.TrimSuffix(d.low(k+1), "s")
	month, end, ok := d.monthAt(k+3, today)
	if !ok {
		return period{}, false
	}
	p, ok := nth(month, n, unit)
	if ok {
		d.i = end
		d.time()
	}
	return p, ok
}

// third is the first, middle or last part of a month or a year.
func third(p period, which int) period {
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
		q = dayPeriod(countedWeekday(p, n, weekdays[unit]))
	case unit == "weekend":
		saturday := p.from + floorMod(5-weekday(p.from), days) + days*(n-1)
		if n < 0 {
			saturday = p.until - 1 - floorMod(weekday(p.until-1)-5, days)
		}
		q = period{saturday, saturday + 2, Day}
	}
	return q, q.from >= p.from && q.from < p.until && q.until > q.from
}

// beside reads "the day after Labor Day", "the Sunday before Easter", "two weeks after 3 May", "a week on Friday", and
// "the day after" or "a week later" than the date before.
func (d *dater) beside(today int) (period, bool) {
	k := d.the()
	n, unit := 1, d.low(k)
	if count := numerals[unit]; count > 0 && k == d.i {
		n, k = count, k+1
		unit = strings.TrimSuffix(d.low(k), "s")
	} else if count, ok := number(unit); ok && k == d.i {
		n, k = count, k+1
		unit = strings.TrimSuffix(d.low(k), "s")
	}
	length := map[string]int{"day": 1, "week": 7, "fortnight": 14}[unit]
	if weekdays[unit] == 0 && length == 0 && unit != "weekend" || n > 99 {
		return period{}, false
	}
	link, sign := d.low(k+1), 1
	switch link {
	case "after", "from", "later":
	case "before", "earlier":
		sign = -1
	case "on", "today", "tomorrow":
		if length < 7 {
			return period{}, false
		}
		if link != "on" {
			k--
		}
	default:
		return period{}, false
	}
	if next := d.low(k + 2); weekdays[unit] > 0 && (next == "next" || next == "last") && !d.within(k+3, d.i) {
		ahead := floorMod(sign*(weekdays[unit]-1-weekday(today)), 7)
		if ahead == 0 {
			ahead = 7
		}
		d.i, d.relative = k+3, true
		return dayPeriod(today + sign*(ahead+7)), true
	}
	base, ok := d.anchor(k+2, link, sign)
	if !ok {
		return period{}, false
	}
	if length > 0 {
		return dayPeriod(base + sign*n*length), true
	}
	day, days := weekdays[unit], 1
	if unit == "weekend" {
		day, days = 6, 2
	}
	away := floorMod(sign*(day-1-weekday(base)), 7)
	if away == 0 {
		away = 7
	}
	return period{base + sign*away, base + sign*away + days, Day}, true
}

// anchor is the day that "after" and "before" count from: that of the date at token k, or of the last date before. It
// moves behind it.
func (d *dater) anchor(k int, link string, sign int) (day int, ok bool) {
	of := *d
	of.i = k
	if next := of.low(k); link == "from" && (next == "now" || next == "today") {
		return 0, false
	} else if next == "that" {
		of.i++
	} else if d.within(k, d.i) && link != "later" && link != "earlier" {
		p, ok := of.date()
		if !ok {
			return 0, false
		}
		d.i, d.relative, d.guessed = of.i, true, of.guessed
		if sign > 0 {
			return p.until - 1, true
		}
		return p.from, true
	}
	n := len(d.r.out.Dates)
	if n == 0 || link == "on" || link == "from" {
		return 0, false
	}
	x := d.r.out.Dates[n-1]
	d.i, d.relative, d.guessed = min(of.i, d.to), true, true
	if link == "later" || link == "earlier" {
		d.i = k
	}
	switch {
	case sign > 0 && x.UntilMs != math.MaxInt64:
		return int(dayIndex(x.UntilMs - 1)), true
	case sign < 0 && x.FromMs != math.MinInt64:
		return int(dayIndex(x.FromMs)), true
	}
	return 0, false
}
