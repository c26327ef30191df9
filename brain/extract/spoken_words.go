package extract

import (
	"strings"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/extract/clause"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
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
	k := article(d)
	this := d.low(k) == "this"
	if this {
		k++
	}
	n := spokenDay(d.low(k))
	if before := d.low(k - 1); before == "a" || before == "an" || before == "next" && k == d.i {
		return period{}, false // All Saints' falls on a Wednesday
	}
	if n == 0 || d.low(k-1) == "every" || d.low(k-1) == "each" || namedDays[d.low(k-1)] ||
		d.r.tokens[k].Kind != tagger.Word {
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
		p, ok := of.date()
		if !ok && of.i < at { // Saturday the 21st of September
			of.i = at
			p, ok = of.date()
		}
		if ok && p.until-p.from == 1 && calendar.Weekday(p.from) == n-1 {
			*d = of
			return p, true
		}
	}
	if day, ok := dayNumber(d.low(at)); ok && at == k+1 && d.within(at, k) && d.r.tokens[at].Kind == tagger.Number &&
		!clockBehind(d, at+1) { // Thursday 27
		if p, ok := weekdayOfMonth(d, k, n, day, today); ok {
			d.i, d.relative = at+1, true
			return p, true
		}
	}
	at = k + 1
	if dayParts[d.low(at)] {
		at++
	}
	switch which := d.low(at); {
	case which == "week" && d.within(at, k):
		d.i = at + 1
		d.relative = true
		return dayPeriod(today + calendar.FloorMod(n-1-calendar.Weekday(today), 7) + 7), true
	case which == "next" && d.low(at+1) == "week":
		d.i, d.relative = at+2, true
		return dayPeriod(weekPeriod(today).from + 7 + n - 1), true
	case (which == "this" || which == "last") && d.low(at+1) == "week":
		monday := weekPeriod(today).from
		if which == "last" {
			monday -= 7
		}
		d.i, d.relative = at+2, true
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
			p.until = p.from + calendar.FloorMod(m-n, 7) + 1
			d.i += 2
			d.time()
		}
	}
	return p, ok
}

// dayParts are parts of a day, as they are named behind a weekday.
var dayParts = text.Set(`morning afternoon evening night lunchtime noon eod cob nite am pm a.m. p.m.`)

// clockBehind tells whether the number before token k is one of hours.
func clockBehind(d *dater, k int) bool {
	switch d.low(k) {
	case "am", "pm", "a.m.", "p.m.", "o'clock", "h", "-", "–", ":", "to", "till", "until", "/", "%":
		return true
	}
	return false
}

// weekdayOfMonth is the day of a month near today that is the nth weekday.
func weekdayOfMonth(d *dater, k, n, day, today int) (period, bool) {
	year, month, _ := calendar.Civil(today)
	var all []period
	for m := month - 3; m <= month+3; m++ {
		p := dayPeriod(calendar.Days(year, m, 1) + day - 1)
		if _, _, dom := calendar.Civil(p.from); dom == day && calendar.Weekday(p.from) == n-1 {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return period{}, false
	}
	return d.pick(k, today, all), true
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
		return period{calendar.Days(y, m, a), calendar.Days(y, m, b) + 1, Day}
	}), true
}

// twoNumbers reads the numbers of 30/09, 25.11 and 4/5/2026, whose year is 0 where there is none; end is behind them.
func twoNumbers(d *dater) (a, b, year, end int, ok bool) {
	w := d.low(d.i)
	day, month, dotted := strings.Cut(strings.TrimSuffix(w, "."), ".")
	if dotted && (d.low(d.i-1) == "at" || dayParts[d.low(d.i+1)] || d.low(d.i+1) == "this" || d.low(d.i+1) == "last") {
		return 0, 0, 0, 0, false // 3.05 this morning
	}
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
	a, b, year, end, ok := twoNumbers(d)
	if !ok {
		return period{}, false
	}
	first := d.i
	var readings []period
	read := func(day, month int) {
		if month > 12 || day > calendar.MonthDays(2024, month) {
			return
		}
		of := func(y int) period { return dayPeriod(calendar.Days(y, month, day)) }
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
		switch order := dayOrder(d.r); {
		case order > 0:
		case order < 0, distance(readings[1], today) < distance(p, today):
			p = readings[1]
		}
	}
	d.i = end
	d.time()
	return p, true
}

// dayOrder tells whether other dates of the block say the day first (1) or the month (-1), 0 where none does.
func dayOrder(r *reader) int {
	for i := 0; i+2 < len(r.tokens); i++ {
		if r.lows[i+1] != "/" {
			continue
		}
		a, okA := dayNumber(r.lows[i])
		b, okB := dayNumber(r.lows[i+2])
		if okA && okB && max(a, b) > 12 && min(a, b) <= 12 && r.surelyTime(i) {
			if a > 12 {
				return 1
			}
			return -1
		}
	}
	return 0
}

// span reads "H2", "week 34", "two years ago" to the day, "the week after next".
func (d *dater) span(today int) (period, bool) {
	w := d.low(d.i)
	if w == "h1" || w == "h2" {
		first := 1 + 6*int(w[1]-'1')
		start := d.i
		d.i++
		return d.chosen(start, today, func(y int) period {
			return period{calendar.Days(y, first, 1), calendar.Days(y, first+6, 1), Quarter}
		}), true
	}
	k := article(d)
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
				p := weekPeriod(calendar.Days(y, 1, 4) + 7*(n-1))
				return p
			}), true
		}
	}
	return period{}, false
}

// anniversary reads "a year ago", "in two years", "a fortnight ago": as long from today, to the day.
func (d *dater) anniversary(today int) (period, bool) {
	n := countAt(d, d.i)
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
	case after == "from" && (d.low(k+2) == "now" || d.low(k+2) == "today" || d.low(k+2) == "yesterday"):
		sign = 1
	}
	if n == 0 || n > 200 || sign == 0 {
		return period{}, false
	}
	year, month, day := calendar.Civil(today)
	var p period
	switch strings.TrimSuffix(d.low(k), "s") {
	case "fortnight":
		p = period{today + 14*sign*n, today + 14*sign*n + 1, Week}
	case "quarter":
		first := calendar.Days(year, month+3*sign*n, 1)
		p = period{first + min(day, 28) - 1, first + min(day, 28), Month}
	case "week":
		by, known := map[string]int{"yesterday": -1, "tomorrow": 1, "today": 0}[d.low(k+2)]
		if !known || sign > 0 {
			return period{}, false
		}
		d.i, d.relative = k+3, true
		return dayPeriod(today - 7*n + by), true
	case "year":
		if d.low(d.i-1) == "half" {
			return period{}, false
		}
		year += sign * n
		if m := months[d.low(k+3)]; sign < 0 && d.low(k+2) == "in" && m > 0 { // four years ago in May
			d.i, d.relative = k+4, true
			return monthPeriod(year, m), true
		}
		at := calendar.Days(year, month, min(day, calendar.MonthDays(year, month)))
		p = period{at, at + 1, Year}
	default:
		first := seasons[strings.TrimSuffix(d.low(k), "s")]
		if first == 0 || sign > 0 {
			return period{}, false
		}
		p = period{calendar.Days(year-n, first, 1), calendar.Days(year-n, first+3, 1), Quarter} // two summers ago
	}
	d.i, d.relative = k+1, true
	switch d.low(d.i) {
	case "ago":
		d.i++
	case "from":
		if d.low(d.i+1) == "yesterday" {
			p.from, p.until = p.from-1, p.until-1
		}
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
	year, month, _ := calendar.Civil(today)
	d.relative = true
	take := func(n int, p period) (period, bool) {
		d.i += n
		d.time()
		return p, true
	}
	switch {
	case w == "this" && (next == "evening" || next == "night" || next == "noon" || next == "lunchtime"):
		return take(2, dayPeriod(today))
	case w == "this" && (next == "am" || next == "pm"):
		return take(2, dayPeriod(today))
	case w == "this" && next == "time" && (d.low(d.i+2) == "next" || d.low(d.i+2) == "last"):
		if p, ok := sameTime(d, today); ok {
			return p, true
		}
	case w == "between" && next == "christmas" && d.low(d.i+2) == "and" && d.low(d.i+3) == "new" &&
		strings.HasPrefix(d.low(d.i+4), "year"), w == "between" && next == "the" && d.low(d.i+2) == "years":
		start, first := d.i, 27
		if d.i += 3; next == "christmas" {
			first, d.i = 26, d.i+2
		}
		return d.chosen(start, today, func(y int) period {
			return period{calendar.Days(y, 12, first), calendar.Days(y+1, 1, 1), Day}
		}), true
	case w == "last" && (next == "evening" || next == "nite"):
		return take(2, dayPeriod(today-1))
	case w == "this" && next == "coming" && d.low(d.i+2) == "weekend":
		saturday := today + calendar.FloorMod(5-calendar.Weekday(today), 7)
		return take(3, period{saturday, saturday + 2, Day})
	case w == "this" && next == "coming" && spokenDay(d.low(d.i+2)) > 0:
		return take(3, dayPeriod(today+1+calendar.FloorMod(spokenDay(d.low(d.i+2))-2-calendar.Weekday(today), 7)))
	case (w == "today" || w == "tomorrow") && (next == "week" || next == "fortnight"):
		return take(2, dayPeriod(today+strings.Count(w, "tomorrow")+7*(1+strings.Count(next, "fortnight"))))
	case w == "today" && countAt(d, d.i+1) > 0 && strings.HasPrefix(d.low(d.i+2), "week"):
		return take(3, dayPeriod(today+7*countAt(d, d.i+1)))
	case w == "all" && next == "week":
		return take(2, weekPeriod(today))
	case w == "year" && next == "end", w == "year-end":
		return take(2-strings.Count(w, "-"), dayPeriod(calendar.Days(year, 12, 31)))
	case w == "month" && next == "end", w == "month-end":
		return take(2-strings.Count(w, "-"), dayPeriod(calendar.Days(year, month+1, 1)-1))
	case w == "weekend" && next == "of": // the weekend of the 28th
		of := *d
		of.i += 2
		if p, ok := of.date(); ok && p.until-p.from == 1 {
			saturday := weekPeriod(p.from).from + 5
			*d = of
			return period{saturday, saturday + 2, Day}, true
		}
	case (w == "mid" || w == "midweek" || w == "mid-week") && (next == "week" || w != "mid"):
		return take(1+strings.Count(w+next, "midweek")-strings.Count(w, "midweek"), dayPeriod(weekPeriod(today).from+2))
	case w == "weekend" && d.low(d.i-1) != "last" && d.low(d.i-1) != "next" && (!d.within(d.i-1, d.i) ||
		clause.Determines(d.low(d.i-1)) || clause.Relates(d.low(d.i-1))): // Ascension weekend is another
		saturday := weekPeriod(today).from + 5
		if saturday > today && d.tense(d.i, Day) == bygone {
			saturday -= 7
		}
		return take(1, period{saturday, saturday + 2, Day})
	case w == "the" && next == "last" && d.low(d.i+2) == "day" && d.low(d.i+3) != "of":
		return period{}, false
	}
	return d.spokenYear(w, next)
}

// spokenYear reads "'91", "the 70s", "the eighties", "2027: 3 March" and a year alone.
func (d *dater) spokenYear(w, next string) (period, bool) {
	if (w == "'" || w == "’") && d.r.tokens[d.i].End == d.r.tokens[min(d.i+1, d.to-1)].Start {
		if n, ok := number(next); ok && len(next) == 2 { // '91
			d.i, d.relative, d.dated = d.i+2, false, true
			return yearPeriod(century(n)), true
		}
	}
	if k := article(d); len(d.low(k)) == 3 && strings.HasSuffix(d.low(k), "0s") {
		if n, ok := number(d.low(k)[:2]); ok && k > d.i { // the 70s
			first := 1900 + n
			if n < 20 {
				first += 100
			}
			d.i, d.relative, d.dated = k+1, false, true
			return period{calendar.Days(first, 1, 1), calendar.Days(first+10, 1, 1), Decade}, true
		}
	}
	if k := article(d); decades[d.low(k)] > 0 {
		first := decades[d.low(k)]
		d.i, d.relative, d.dated = k+1, false, true
		return period{calendar.Days(first, 1, 1), calendar.Days(first+10, 1, 1), Decade}, true
	}
	if n, ok := number(w); ok && len(w) == 4 && next == ":" && d.within(d.i+2, d.i) { // 2027: 3 March, 7 April
		of := *d
		of.i += 2
		if p, ok := of.date(); ok && of.relative && p.until-p.from <= 31 && p.from != always && p.until != ever {
			year, _, _ := calendar.Civil(p.from)
			for ; year < n && n <= maxYear; year++ {
				p = p.next(false)
			}
			*d = of
			return p, year == n
		}
	}
	if n, ok := number(w); ok && len(w) == 4 && n >= minYear && n <= maxYear && d.r.tokens[d.i].Kind == tagger.Number &&
		next != "/" {
		d.relative = false
		d.dated = true
		d.i++
		return yearPeriod(n), true
	}
	return period{}, false
}

// century is the year that two digits stand for.
func century(n int) int {
	if n < 50 {
		return 2000 + n
	}
	return 1900 + n
}

// sameTime reads "this time next year" and "this time last week".
func sameTime(d *dater, today int) (period, bool) {
	by := years[d.low(d.i+2)]
	year, month, day := calendar.Civil(today)
	var p period
	switch d.low(d.i + 3) {
	case "year":
		p = dayPeriod(calendar.Days(year+by, month, min(day, calendar.MonthDays(year+by, month))))
	case "month":
		first := calendar.Days(year, month+by, 1)
		year, month, _ = calendar.Civil(first)
		p = dayPeriod(first + min(day, calendar.MonthDays(year, month)) - 1)
	case "week":
		p = dayPeriod(today + 7*by)
	default:
		return period{}, false
	}
	d.i += 4
	return p, true
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
	day, ok := dayNumber(d.low(at))
	if n := spokenOrdinals[d.low(at)]; n > 0 { // May the fourth
		day, ok = n, true
	}
	if ok {
		if at == d.i+1 && spokenOrdinals[d.low(at)] == 0 && d.r.word(d.i)[0] < 'a' {
			return period{}, false // which the calendar reads
		}
		d.i = at + 1
		p := d.chosen(start, today, func(y int) period { return monthDay(y, m, day) })
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
