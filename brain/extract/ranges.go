package extract

import (
	"strings"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// Days of one month from one to another, whose month is told once: "10th - 13th November 2019", "from the 3rd to the
// 5th of May", "March 3 to 7".

// throughs stand between the first and the last day of such a range; beside them the marks of fromTo do.
var throughs = text.Set("to through thru until till til")

// fromTo reads a mark or word that leads from one day to the last one, at token i, where the first day is at token
// first. It returns where the last day is.
func fromTo(d *dater, first, i int) (int, bool) {
	switch w := d.low(i); {
	case w == "-", w == "–", w == "—":
		return i + 1, true
	case throughs[w], w == "and" && betweens(d, first):
		i++
	default:
		return 0, false
	}
	if d.low(i) == "the" {
		i++
	}
	return i, true
}

// betweens tells whether "between" or "between the" stands before a token.
func betweens(d *dater, i int) bool {
	if w := d.low(i - 1); weekdays[w] > 0 || w == "the" {
		i--
	}
	return d.low(i-1) == "between"
}

// dayToDay reads two days before their month, at d.i, and moves behind them. What is moved from the first to the last
// has two dates: there it reads the first alone.
func dayToDay(d *dater) (period, bool) {
	k := article(d)
	if weekdays[d.low(k)] > 0 { // Monday 10th to Thursday 13th November
		k++
		if d.low(k) == "the" {
			k++
		}
	}
	first, behind, last := k, k+1, 0
	a, ok := dayNumber(d.low(k))
	if w, rest, joined := strings.Cut(strings.ReplaceAll(d.low(k), "–", "-"), "-"); joined { // 10-13 November
		b, also := dayNumber(rest)
		if a, ok = dayNumber(w); !ok || !also {
			return period{}, false
		}
		last = b
	} else if ok {
		var at int
		if at, ok = fromTo(d, k, k+1); !ok || !begins(d, k) {
			return period{}, false
		}
		if weekdays[d.low(at)] > 0 {
			at++
		}
		if d.low(at) == "the" {
			at++
		}
		if last, ok = dayNumber(d.low(at)); ok {
			behind = at + 1
		}
	}
	if !ok || last <= a {
		return period{}, false
	}
	if d.low(behind) == "of" {
		behind++
	}
	m := months[d.low(behind)]
	if m == 0 || d.r.word(behind)[0] >= 'a' && (m == 3 || m == 5) {
		return period{}, false
	}
	year, end := d.yearAt(behind + 1)
	if year == 0 {
		if year, ok = d.yearOf(m, a); !ok {
			return period{}, false
		}
		end = behind + 1
	}
	if last > calendar.MonthDays(year, m) {
		return period{}, false
	}
	if throughs[d.low(first+1)] && movedFrom(d, d.i) {
		d.i = first + 1
		return dayPeriod(calendar.Days(year, m, a)), true
	}
	d.i = end
	return period{calendar.Days(year, m, a), calendar.Days(year, m, last) + 1, Day}, true
}

// begins tells whether the number at token k may be the first of some days: "room 4 - 13 May" is a room and a day.
func begins(d *dater, k int) bool {
	next, before := d.low(k+1), d.low(k-1)
	if _, ok := ordinal(d.low(k)); before == "at" || !ok && before != "from" && untils[next] {
		return false // at 10 until 30 June
	} else if ok || next != "-" && next != "–" && next != "—" {
		return true
	}
	if d.r.tokens[k+1].Start == d.r.tokens[k].End || k == 0 || d.r.tokens[k].First ||
		d.r.tokens[k-1].Kind != tagger.Word || weekdays[d.low(k-1)] > 0 {
		return true
	}
	e, _ := d.r.model.Find(d.low(k - 1))
	switch e.Class.Part() {
	case tagger.Function, tagger.Verb, tagger.Past:
		return true
	default:
		return false
	}
}

// lastDay reads the last of some days behind their month and first day, at token i: it returns the day, or 0, and the
// end. The days of "May 3 to 5" are read so, too; those of "May 3 and 5" are two.
func lastDay(d *dater, first, day, i int) (last, end int) {
	at, ok := fromTo(d, first, i)
	if !ok {
		return 0, i
	}
	if last, ok = dayNumber(d.low(at)); !ok || last <= day || months[d.low(at+1)] > 0 ||
		d.low(at+1) == "of" && months[d.low(at+2)] > 0 || throughs[d.low(i)] && movedFrom(d, first) {
		return 0, i
	}
	switch d.low(at + 1) {
	case ":", "am", "pm", "people", "%", "days", "years", "/", ".":
		return 0, i // at 5 pm
	}
	return last, at + 1
}

// toYear is a day without a year that leads to another with one, in the year that this gives it: "30 April - 2 May
// 2019", "from December 20 to January 3, 2025".
func (p period) toYear(q period) period {
	year, _, _ := calendar.Civil(q.from)
	_, m, day := calendar.Civil(p.from)
	if moved := monthDay(year, m, day); moved.from <= q.from {
		return moved
	}
	return monthDay(year-1, m, day)
}
