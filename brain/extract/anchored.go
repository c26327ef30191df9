package extract

import (
	"math"
	"strings"

	"orgmem/brain/extract/calendar"
)

// Many dates can only be read from the date before them: "the week after", "two days before that", "that October", "in
// August, from the 8th to the 19th".

// before is the period of the last date before token i, without its open ends; not of one that was told far before.
func (d *dater) before(i int) (period, bool) {
	n := len(d.r.out.Dates)
	if n == 0 {
		return period{}, false
	}
	x := d.r.out.Dates[n-1]
	if d.r.tokens[min(i, len(d.r.tokens)-1)].Start-x.Span.End > maxApart {
		return period{}, false
	}
	p := period{int(dayIndex(x.FromMs)), int(dayIndex(x.UntilMs-1)) + 1, x.Grain}
	switch {
	case x.FromMs == math.MinInt64:
		p.from = p.until - 1
	case x.UntilMs == math.MaxInt64:
		p.until = p.from + 1
	}
	return p, true
}

// maxApart is how many bytes may lie between a date and the date before it that it is read from.
const maxApart = 400

// maxDatesBack is among how many dates before one the month is looked for that it may be of.
const maxDatesBack = 3

// monthAhead is the month to come that the date before token i names, where the one at i is to come, too.
func monthAhead(d *dater, i, today int) (period, bool) {
	if _, ok := d.before(i); !ok || d.tense(i, Day) != coming {
		return period{}, false
	}
	all := d.r.out.Dates
	for n := len(all) - 1; n >= max(0, len(all)-maxDatesBack); n-- {
		days := (all[n].UntilMs - all[n].FromMs) / msPerDay
		if from := int(dayIndex(all[n].FromMs)); all[n].Grain == Month && from > today && days > 9 && days < 32 {
			year, month, _ := calendar.Civil(from)
			return monthPeriod(year, month), true
		}
	}
	return period{}, false
}

// unitOf is a length of time: days, or months where it has months.
var unitOf = map[string]struct{ days, months int }{
	"day": {days: 1}, "night": {days: 1}, "evening": {days: 1}, "morning": {days: 1}, "week": {days: 7},
	"eve": {days: 1}, "fortnight": {days: 14}, "month": {months: 1}, "quarter": {months: 3}, "year": {months: 12},
}

// beside reads "the day after Labor Day", "the Sunday before Easter", "two weeks after 3 May", "a week on Friday", and
// "the day after" or "a week later" than the date before.
func (d *dater) beside(today int) (period, bool) {
	k := article(d)
	n, unit := 1, d.low(k)
	if unit == "following" && k > d.i { // the following Monday
		unit = d.low(k + 1)
		base, ok := d.before(k)
		if !ok || weekdays[unit] == 0 && unitOf[unit].days+unitOf[unit].months == 0 {
			return period{}, false
		}
		d.i, d.relative, d.guessed = k+2, true, true
		return countedFrom(base, 1, 1, unit)
	}
	if count := countAt(d, k); count > 0 && k == d.i {
		n, k = count, k+1
		unit = strings.TrimSuffix(d.low(k), "s")
	}
	if _, known := unitOf[unit]; !known && weekdays[unit] == 0 && months[unit] == 0 && unit != "weekend" || n > 99 {
		return period{}, false
	}
	link, sign := d.low(k+1), 1
	if !d.within(k+1, d.i) {
		return period{}, false
	}
	switch link {
	case "after", "later":
	case "from":
		if next := d.low(k + 2); next != "then" && next != "that" && next != "yesterday" && next != "tomorrow" &&
			weekdays[next] == 0 {
			return period{}, false
		}
	case "before", "earlier":
		sign = -1
	case "of": // the eve of the first Advent
		if sign = -1; unit != "eve" {
			return period{}, false
		}
	case "on", "today", "tomorrow":
		if unitOf[unit].days < 7 && unitOf[unit].months == 0 {
			return period{}, false
		}
		if link != "on" {
			k--
		} else if d.low(k+2) == "from" {
			k++
		}
	default:
		return period{}, false
	}
	switch next := d.low(k + 2); {
	case link == "today" && d.low(k+1) == "ago":
		return period{}, false
	case weekdays[unit] > 0 && (next == "next" || next == "last") && !d.within(k+3, d.i):
		ahead := calendar.FloorMod(sign*(weekdays[unit]-1-calendar.Weekday(today)), 7)
		if ahead == 0 {
			ahead = 7
		}
		d.i, d.relative = k+3, true
		return dayPeriod(today + sign*(ahead+7)), true
	case unit == "night" && link == "before" && next == "last":
		d.i, d.relative = k+3, true
		return dayPeriod(today - 2), true
	}
	base, ok := anchorAt(d, k+2, link)
	if !ok {
		return period{}, false
	}
	return countedFrom(base, sign, n, unit)
}

// countAt reads a small number in digits or words at token k.
func countAt(d *dater, k int) int {
	if n := numerals[d.low(k)]; n > 0 {
		return n
	}
	n, _ := number(d.low(k))
	return n
}

// countedFrom is n units after a period, or before it; the weekday, weekend or month next to it.
func countedFrom(base period, sign, n int, unit string) (period, bool) {
	day := base.from
	if sign > 0 {
		day = base.until - 1
	}
	switch u := unitOf[unit]; {
	case months[unit] > 0:
		year, _, _ := calendar.Civil(day)
		p := monthPeriod(year, months[unit])
		if sign > 0 && p.from <= day {
			p = p.next(false)
		} else if sign < 0 && p.until > day {
			p = monthPeriod(year-1, months[unit])
		}
		return p, true
	case u.months > 0:
		year, month, dom := calendar.Civil(base.from)
		first := calendar.Days(year, month+sign*n*u.months, 1)
		if base.until-base.from >= 28 && base.until-base.from <= 31 {
			year, month, _ = calendar.Civil(first)
			return monthPeriod(year, month), true
		}
		year, month, _ = calendar.Civil(first)
		return dayPeriod(first + min(dom, calendar.MonthDays(year, month)) - 1), true
	case u.days > 0:
		return dayPeriod(day + sign*n*u.days), true
	}
	weekdayOf, days := weekdays[unit], 1
	if unit == "weekend" {
		weekdayOf, days = 6, 2
	}
	away := calendar.FloorMod(sign*(weekdayOf-1-calendar.Weekday(day)), 7)
	if away == 0 {
		away = 7
	}
	return period{day + sign*away, day + sign*away + days, Day}, true
}

// anchorAt is the period that "after" and "before" count from: that of the date at token k, or of the last date before.
// It moves behind it.
func anchorAt(d *dater, k int, link string) (period, bool) {
	of := *d
	of.i = k
	if next := of.low(k); next == "that" || next == "then" {
		of.i++
	} else if d.within(k, d.i) && link != "later" && link != "earlier" {
		p, ok := of.date()
		if !ok {
			return period{}, false
		}
		d.i, d.relative, d.guessed = of.i, true, of.guessed
		return p, true
	}
	if link == "on" && of.i == k {
		return period{}, false
	}
	p, ok := d.before(d.i)
	if !ok {
		return period{}, false
	}
	d.i, d.relative, d.guessed = min(of.i, d.to), true, true
	if link == "later" || link == "earlier" {
		d.i = k
	}
	return p, true
}

// thatTime reads "that October", "that Thursday" and "the Sunday": of the year or the days of the date before.
func (d *dater) thatTime(today int) (period, bool) {
	k := d.i + 1
	that := d.low(d.i) == "that"
	if !that && d.low(d.i) != "the" || d.r.tokens[k-1].First && !that {
		return period{}, false
	}
	base, ok := d.before(d.i)
	if !ok {
		return period{}, false
	}
	if m := months[d.low(k)]; that && m > 0 {
		year, _, _ := calendar.Civil(base.from)
		d.i, d.relative = k+1, true
		return monthPeriod(year, m), true
	}
	if n := weekdays[d.low(k)]; n > 0 && base.until-base.from <= 7 && (that || base.from > today) {
		switch next := d.low(k + 1); {
		case next == "before", next == "after", next == "of", next == "week", d.within(k+1, k) && next != "" &&
			(next[0] >= '0' && next[0] <= '9' || months[next] > 0 || spokenOrdinals[next] > 0):
			return period{}, false
		}
		d.i, d.relative, d.guessed = k+1, true, true
		day := base.from + calendar.FloorMod(n-1-calendar.Weekday(base.from), 7)
		d.time()
		return dayPeriod(day), true
	}
	return period{}, false
}

// yearsAgo reads "four years ago" at token k.
func yearsAgo(d *dater, k int) (n, end int) {
	if w := d.low(k + 1); (w != "year" && w != "years") || d.low(k+2) != "ago" {
		return 0, k
	}
	return countAt(d, k), k + 3
}
