package extract

import (
	"strings"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/text"
)

// named reads what is a date by the document's: today, next Tuesday, last month,
// Q3, on Friday.
func (d *dater) named(w string) (period, bool) {
	today, ok := d.today()
	if !ok {
		return d.quarter(w, 0)
	}
	next := d.low(d.i + 1)
	take := func(n int, p period) (period, bool) {
		d.i += n
		return p, true
	}
	switch w {
	case "today", "tonight", "tonite":
		p, _ := take(1, dayPeriod(today))
		d.time()
		return p, true
	case "yesterday", "yday":
		return take(1, dayPeriod(today-1))
	case "tomorrow", "tmrw", "tmr", "2moro", "2morrow", "tomoz":
		p, _ := take(1, dayPeriod(today+1))
		d.time()
		return p, true
	case "last", "past", "previous":
		return d.shifted(next, today, -1)
	case "next", "coming", "upcoming":
		return d.shifted(next, today, 1)
	case "this", "current":
		return d.shifted(next, today, 0)
	case "the":
		if next == "day" && (d.low(d.i+2) == "before" || d.low(d.i+2) == "after") {
			switch d.low(d.i + 3) {
			case "yesterday":
				return take(4, dayPeriod(today-2))
			case "tomorrow":
				return take(4, dayPeriod(today+2))
			}
		}
	case "end":
		// "by the end of the month" is its last day.
		if next == "of" {
			k := d.i + 2
			if d.low(k) == "the" || d.low(k) == "this" {
				k++
			}
			var p period
			switch d.low(k) {
			case "day":
				p = dayPeriod(today)
			case "week":
				p = weekPeriod(today)
				p.until -= 2 // Friday
			case "month":
				y, m, _ := calendar.Civil(today)
				p = monthPeriod(y, m)
			case "quarter":
				y, m, _ := calendar.Civil(today)
				p = quarterPeriod(y, (m+2)/3)
			case "year":
				y, _, _ := calendar.Civil(today)
				p = yearPeriod(y)
			default: // the end of May, of Q3, of next month
				of := *d
				of.i = k
				p, ok := of.date()
				if !ok || p.until-p.from < 2 || of.minute >= 0 {
					return period{}, false
				}
				if p.grain == Week {
					p.until -= 2
				}
				d.i, d.dated = of.i, d.dated || !of.relative
				return dayPeriod(p.until - 1), true
			}
			d.i = k + 1
			return dayPeriod(p.until - 1), true
		}
	case "weekend":
		if d.low(d.i-1) == "the" {
			switch d.low(d.i - 2) {
			case "over", "at", "on", "for", "by", "until", "before", "after", "since", "during":
				saturday := weekPeriod(today).from + 5
				if saturday > today && d.tense(d.i, Day) == bygone {
					saturday -= 7
				}
				return take(1, period{saturday, saturday + 2, Day})
			}
		}
	case "eod":
		return take(1, dayPeriod(today))
	case "eow":
		return take(1, dayPeriod(weekPeriod(today).until-3))
	}
	if n := weekdays[w]; n > 0 && (len(w) > 4 || d.low(d.i-1) == "on") {
		if before := d.low(d.i - 1); namedDays[before] || before == "a" || before == "every" || before == "each" ||
			before == "most" || d.low(d.i-2) == "every" {
			return period{}, false // Good Friday is in spring, and every Friday is no single day
		}
		return d.weekday(n-1, today)
	}
	return d.quarter(w, today)
}

// namedDays stand before a weekday that is a feast or a sale.
var namedDays = text.Set(`good easter holy palm ash whit maundy shrove black cyber giving super bloody boxing`)

// weekday is the last such day where it was, else the next one.
func (d *dater) weekday(n, today int) (period, bool) {
	ahead := calendar.FloorMod(n-calendar.Weekday(today), 7)
	days := today + ahead
	if ahead > 0 && d.tense(d.i, Day) == bygone {
		days -= 7
	}
	d.guessed = true
	d.i++
	d.time()
	return dayPeriod(days), true
}

// elapsed is a unit of time that ends today: "the past week", said on a Sunday, is that of this Sunday.
func elapsed(unit string, today int) (period, bool) {
	y, m, day := calendar.Civil(today)
	back := func(y, m int, g Grain) (period, bool) {
		first := calendar.Days(y, m, 1)
		y, m, _ = calendar.Civil(first)
		return period{first + min(day, calendar.MonthDays(y, m)), today + 1, g}, true
	}
	switch unit {
	case "week":
		return period{today - 6, today + 1, Week}, true
	case "month":
		return back(y, m-1, Month)
	case "quarter":
		return back(y, m-3, Quarter)
	case "year":
		return back(y-1, m, Year)
	case "decade":
		return back(y-10, m, Decade)
	}
	return period{}, false
}

// shifted is the unit of time before, around or after the document's day.
func (d *dater) shifted(unit string, today, by int) (period, bool) {
	if d.low(d.i) == "past" {
		if p, ok := elapsed(unit, today); ok {
			d.i += 2
			return p, true
		}
	}
	y, m, _ := calendar.Civil(today)
	var p period
	switch unit {
	case "week":
		p = weekPeriod(today + 7*by)
	case "month":
		p = monthPeriod(y, m+by)
	case "quarter":
		q := (m+2)/3 + by
		p = quarterPeriod(y+calendar.FloorDiv(q-1, 4), calendar.FloorMod(q-1, 4)+1)
	case "year":
		of := *d
		if of.i += 3; of.low(of.i-1) == "'s" || of.low(of.i-1) == "’s" {
			if p, ok := of.date(); ok && of.i > d.i+3 && p.until-p.from < 100 { // last year's Christmas
				*d = of
				return p, true
			}
		}
		p = yearPeriod(y + by)
	case "decade":
		p = period{calendar.Days(y/10*10+10*by, 1, 1), calendar.Days(y/10*10+10*by+10, 1, 1), Decade}
	case "weekend":
		saturday := weekPeriod(today+7*by).from + 5
		p = period{saturday, saturday + 2, Day}
	case "night", "evening":
		if by != -1 {
			return period{}, false
		}
		p = dayPeriod(today - 1)
		if m := clock(d.low(d.i - 1)); m >= 0 && m < smallHours {
			p = dayPeriod(today) // 02:15 last night
		}
	case "morning", "afternoon":
		if by != 0 {
			return period{}, false
		}
		p = dayPeriod(today)
	default:
		if n := weekdays[unit]; n > 0 {
			monday := weekPeriod(today).from
			switch {
			case by == 0:
				p = dayPeriod(monday + n - 1)
			case by < 0: // the last one before today
				p = dayPeriod(today - 1 - calendar.FloorMod(calendar.Weekday(today)-n, 7))
			default: // of next week: "next Tuesday" said on Monday is not tomorrow
				p = dayPeriod(monday + 7 + n - 1)
			}
			break
		}
		if n := months[unit]; n > 0 && len(unit) > 3 {
			switch {
			case by < 0 && n >= m:
				y--
			case by > 0 && n <= m:
				y++
			}
			p = monthPeriod(y, n)
			break
		}
		return period{}, false
	}
	d.i += 2
	return p, true
}

// quarter reads Q3, Q3 2024 and "third quarter of 2024".
func (d *dater) quarter(w string, today int) (period, bool) {
	q, n := 0, 1
	if len(w) == 2 && w[0] == 'q' && w[1] >= '1' && w[1] <= '4' {
		q = int(w[1] - '0')
	} else if o := ordinals[w]; o > 0 && d.low(d.i+1) == "quarter" && w != "last" {
		q, n = o, 2
	}
	if q == 0 {
		return period{}, false
	}
	if year, end := d.yearAt(d.i + n); year != 0 {
		d.i, d.dated = end, true
		return quarterPeriod(year, q), true
	}
	if today == 0 {
		return period{}, false
	}
	year, _, _ := calendar.Civil(today)
	year = d.year(d.i, today, year, func(y int) (int, int) {
		p := quarterPeriod(y, q)
		return p.from, p.until
	}, Quarter)
	d.i += n
	return quarterPeriod(year, q), true
}

// counted reads "3 days ago", "two weeks from now", "in a month", at the number;
// and "in" is left outside of the span.
func (d *dater) counted(w string) (period, bool) {
	today, ok := d.today()
	if !ok {
		return period{}, false
	}
	n, ok := number(w)
	if !ok {
		n = numerals[w]
	}
	i := d.i + 1
	if n == 0 || n > 999 {
		return period{}, false
	}
	if w == "a" && (d.low(i) == "couple" || d.low(i) == "few") {
		n = numerals[d.low(i)]
		i++
		d.guessed = true
	}
	if d.low(i) == "of" {
		i++
	}
	unit := strings.TrimSuffix(d.low(i), "s")
	sign := 0
	switch after := d.low(i + 1); {
	case after == "ago":
		sign = -1
		i += 2
	case after == "from" && (d.low(i+2) == "now" || d.low(i+2) == "today"):
		sign = 1
		i += 3
	case d.low(d.i-1) == "in" || d.low(d.i-1) == "within":
		if d.tense(d.i, Day) == bygone {
			return period{}, false // it took so long
		}
		sign = 1
		i++
	case after == "earlier" || after == "later":
		return period{}, false // of another time than the document's
	}
	if sign == 0 {
		return period{}, false
	}
	if unit == "year" && n == 1 && d.low(d.i-1) == "half" {
		unit, n = "month", 6
	}
	y, m, day := calendar.Civil(today)
	var p period
	switch unit {
	case "day":
		p = dayPeriod(today + sign*n)
	case "week":
		p = period{today + sign*7*n, today + sign*7*n + 1, Week}
	case "month":
		first := calendar.Days(y, m+sign*n, 1)
		fy, fm, _ := calendar.Civil(first)
		p = period{first + min(day, calendar.MonthDays(fy, fm)) - 1, first + min(day, calendar.MonthDays(fy, fm)), Month}
	case "year":
		p = yearPeriod(y + sign*n)
	case "hour", "minute":
		p = dayPeriod(today)
	default:
		return period{}, false
	}
	d.i, d.relative = i, true
	return p, true
}
