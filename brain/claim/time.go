package claim

import (
	"strconv"
	"strings"
)

// A time of day is in minutes.
const hour, noon = 60.0, 12 * 60.0

const daysOfWeek = 7

// weekday reads days of the week: "Monday", "Tuesdays and Thursdays", "Monday to Friday", "weekdays".
func (r *valueReader) weekday(i int) (v Value, n int) {
	v = Value{Kind: Weekday, days: r.dayAt(i)}
	if v.days == 0 {
		return v, 0
	}
	n = 1
	for k := i + 1; k < len(r.words); k++ {
		if days := r.dayAt(k); days != 0 { // "Monday, Wednesday", "Mon-Fri"
			if strings.ContainsAny(r.gap(k-1), "-–") {
				days = through(v.days, days)
			}
			v.days, n = v.days|days, k-i+1
			continue
		}
		to, days := r.form(k), r.dayAt(k+1)
		if days == 0 || to != "and" && to != "or" && to != "to" && to != "through" && to != "till" {
			break
		}
		if to != "and" && to != "or" {
			days = through(v.days, days)
		}
		v.days |= days
		k++
		n = k - i + 1
	}
	return v, n
}

// dayAt is the day or days that the i-th word names, 0 where it names none.
func (r *valueReader) dayAt(i int) uint8 {
	form := r.form(i)
	if days, ok := weekdays[strings.TrimSuffix(form, "s")]; ok {
		return days
	}
	if days, ok := shortDays[form]; ok && isCapital(r.s[r.words[i].Start:]) && i > 0 {
		return days
	}
	return 0
}

// through are all days from the last of some to the first of others.
func through(from, to uint8) (days uint8) {
	k := 0
	for from>>k > 1 {
		k++
	}
	for range daysOfWeek {
		days |= 1 << k
		if to&(1<<k) != 0 {
			return days
		}
		k = (k + 1) % daysOfWeek
	}
	return days
}

// clock reads a time of day, or a span of two that are written as one word.
func (r *valueReader) clock(i int) (v Value, n int) {
	form := r.form(i)
	if from, to, ok := strings.Cut(form, "-"); ok && strings.Contains(form, ":") {
		a, okA := r.hourOf(from)
		b, okB := r.hourOf(to)
		if okA && okB && a != b {
			return Value{Kind: Clock, low: a, high: b}, 1
		}
		return v, 0
	}
	at, half, n := r.timeAt(i)
	if n == 0 {
		return v, 0
	}
	switch suffix := r.form(i + n); {
	case suffix == "o'clock":
		n++
	case suffix == "o" && r.form(i+n+1) == "clock":
		n += 2
	case suffix == "am", suffix == "pm":
		at, half, n = afternoon(at, suffix), false, n+1
	case (suffix == "a" || suffix == "p") && r.form(i+n+1) == "m":
		at, half, n = afternoon(at, suffix+"m"), false, n+2
	}
	return Value{Kind: Clock, low: at, high: at, half: half}, n
}

// timeAt reads a time of day without what says whether it is before noon or after; half: the words leave that open.
func (r *valueReader) timeAt(i int) (at float64, half bool, n int) {
	form := r.form(i)
	switch form {
	case "noon", "midday":
		return noon, false, 1
	case "midnight":
		return 0, false, 1
	case "half", "quarter":
		past := r.form(i + 1)
		at, ok := r.hourOf(r.form(i + 2))
		if !ok || past != "past" && past != "to" {
			return 0, false, 0
		}
		minutes := hour / 2
		if form == "quarter" {
			minutes /= 2
		}
		if past == "to" {
			minutes = -minutes
		}
		return at + minutes, true, 3
	}
	digits, suffix := cutNumber(form)
	at, ok := r.hourOf(digits)
	half = at <= noon && digits[0] != '0'
	colon := strings.Contains(digits, ":")
	next := r.form(i + 1)
	switch {
	case !ok:
		return 0, false, 0
	case suffix == "am", suffix == "pm":
		return afternoon(at, suffix), false, 1
	case suffix != "":
		return 0, false, 0
	case next == "am", next == "pm", next == "o'clock", r.form(i+2) == "m" && (next == "a" || next == "p"),
		next == "o" && r.form(i+2) == "clock", colon, clockWords[r.form(i-1)] && !r.counts(i+1):
		return at, half, 1
	}
	return 0, false, 0
}

// counts tells whether the i-th word is what a number in front of it counts.
func (r *valueReader) counts(i int) bool {
	return i < len(r.words) && r.joined(i-1) && (r.words[i].Kind == Content || r.form(i) == "per") ||
		strings.HasPrefix(strings.TrimLeft(r.gap(i-1), " "), "%")
}

// afternoon says of a time on which half of the day it is.
func afternoon(at float64, half string) float64 {
	switch {
	case half == "pm" && at < noon:
		return at + noon
	case half == "am" && at >= noon:
		return at - noon
	}
	return at
}

// hourOf reads a time in minutes: "9", "9:30", "nine".
func (r *valueReader) hourOf(form string) (float64, bool) {
	if n, ok := numerals[form]; ok && n > 0 && n <= noon/hour {
		return n * hour, true
	}
	if form == "one" {
		return hour, true
	}
	h, m, minutes := strings.Cut(strings.ReplaceAll(form, ".", ":"), ":")
	at, err := strconv.Atoi(h)
	if err != nil || at > 24 || len(h) > 2 {
		return 0, false
	}
	if !minutes {
		return float64(at) * hour, true
	}
	past, err := strconv.Atoi(m)
	if err != nil || past >= int(hour) || len(m) != 2 {
		return 0, false
	}
	return float64(at)*hour + float64(past), true
}

// cutNumber cuts what is written behind a number in one word with it: "10k", "5mg", "14-day", "3rd".
func cutNumber(form string) (digits, suffix string) {
	i := 0
	for i < len(form) && (form[i] >= '0' && form[i] <= '9' || i > 0 && strings.IndexByte(".,:", form[i]) >= 0) {
		i++
	}
	if i == 0 {
		return form, ""
	}
	return form[:i], strings.TrimLeft(form[i:], "-_")
}

// date reads a date, as far as it is said.
func (r *valueReader) date(i int) (v Value, n int) {
	v.Kind = Date
	d := &v.date
	if d.written(r.form(i)) {
		return v, 1
	}
	n = r.days(d, i)
	if n > 0 {
		k := i + n
		if r.form(k) == "of" {
			k++
		}
		if !r.months(d, k) {
			if r.ordinal(i) && r.form(i-1) == "the" && !r.counts(i+n) {
				return v, n // the 14th
			}
			return v, 0
		}
		n = k - i + 1
	} else if r.months(d, i) {
		n = 1
		k := i + 1
		if r.form(k) == "the" {
			k++
		}
		if m := r.days(d, k); m > 0 && r.clockBehind(k) {
			d.day = 0
		} else if m > 0 {
			n = k - i + m
		}
	}
	if year := r.year(i + n); year != 0 && (n > 0 || yearsAfter[r.form(i-1)]) {
		d.year = year
		n++
	}
	return v, n
}

// clockBehind tells whether the number at the i-th word is a time of day: "in May 9:00", "May 3 pm".
func (r *valueReader) clockBehind(i int) bool {
	return r.form(i+1) == "am" || r.form(i+1) == "pm" || strings.Contains(r.form(i), ":")
}

// written reads a date in digits: 2024-05-03, 2024-05, 3.5.2024. Which part of 3/5/2024 is the month nobody knows.
func (d *date) written(form string) bool {
	parts := strings.Split(form, "-")
	if len(parts) == 1 {
		if parts = strings.Split(form, "."); len(parts) == 3 {
			parts[0], parts[2] = parts[2], parts[0]
		} else {
			return false
		}
	}
	if len(parts) < 2 || len(parts) > 3 || len(parts[0]) != len("2024") {
		return false
	}
	var numbers [3]int
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil {
			return false
		}
		numbers[i] = n
	}
	if numbers[1] < 1 || numbers[1] > 12 || numbers[2] > 31 {
		return false
	}
	*d = date{numbers[0], numbers[1], numbers[1], numbers[2]}
	return true
}

// days reads the day of a month.
func (r *valueReader) days(d *date, i int) int {
	form := r.form(i)
	if day, ok := ordinals[form]; ok {
		d.day = day
		return 1
	}
	digits, suffix := cutNumber(form)
	day, err := strconv.Atoi(digits)
	if err != nil || day < 1 || day > 31 || suffix != "" && !ordinalEnds[suffix] {
		return 0
	}
	d.day = day
	return 1
}

func (r *valueReader) ordinal(i int) bool {
	_, suffix := cutNumber(r.form(i))
	return ordinalEnds[suffix]
}

// months reads a month, quarter or season.
func (r *valueReader) months(d *date, i int) bool {
	form := r.form(i)
	span, ok := months[form]
	if !ok || form == "may" && r.words[i].Kind != Time && d.day == 0 ||
		form == "mar" && !isCapital(r.s[r.words[i].Start:]) {
		return false
	}
	d.from, d.to = span[0], span[1]
	return true
}

// year reads a year, 0 where there is none.
func (r *valueReader) year(i int) int {
	form := r.form(i)
	if len(form) != len("2024") {
		return 0
	}
	year, err := strconv.Atoi(form)
	if err != nil || year < 1900 || year > 2099 {
		return 0
	}
	return year
}
