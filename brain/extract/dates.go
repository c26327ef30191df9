package extract

import (
	"math"
	"strings"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

var months = names("january february march april may june july august september october november december", 3)

var weekdays = names("monday tuesday wednesday thursday friday saturday sunday", 3)

// names numbers words from 1, with their abbreviations of n letters.
func names(words string, n int) map[string]int {
	m := map[string]int{"sept": 0, "tues": 0, "thur": 0, "thurs": 0}
	for i, w := range strings.Fields(words) {
		m[w], m[w[:n]], m[w[:n]+"."] = i+1, i+1, i+1
		for _, long := range []string{"sept", "tues", "thur", "thurs"} {
			if strings.HasPrefix(w, long) {
				m[long] = i + 1
			}
		}
	}
	return m
}

// numerals are small numbers as words.
var numerals = func() map[string]int {
	m := map[string]int{"a": 1, "an": 1, "couple": 2, "few": 3}
	for i, w := range strings.Fields("one two three four five six seven eight nine ten eleven twelve") {
		m[w] = i + 1
	}
	return m
}()

var ordinals = map[string]int{
	"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "last": 4,
}

// dates finds the dates of one sentence, which are its tokens [from, to) of the
// block.
func (r *reader) dates(from, to int) {
	first := len(r.out.Dates)
	abroad := r.abroad(from, to)
	french := r.code == "fr" && r.lows[from] == "mon" // which is no Monday
	for i := from; i < to && len(r.out.Dates) < MaxDates; {
		if len(abroad) > 0 && r.tokens[i].End > abroad[0].Span.Start {
			x := abroad[0]
			abroad = abroad[1:]
			r.out.Dates = append(r.out.Dates, x)
			for i < to && r.tokens[i].Start < x.Span.End {
				i++
			}
			continue
		}
		d := dater{r: r, i: i, to: to}
		p, ok := d.date()
		if ok && len(abroad) > 0 && r.tokens[d.i-1].End > abroad[0].Span.Start {
			i++ // what it reads reaches into a date that is written in another language
			continue
		}
		if !ok || french && i == from {
			i++
			continue
		}
		if r.dateless(i, d.i, d.relative) {
			i = d.i
			continue
		}
		if q, ok := r.ofYear(&d, p, i, first); ok {
			p = q
			r.out.Dates = r.out.Dates[:len(r.out.Dates)-1]
		}
		named := p.from
		p, start := d.bounded(p, i, from)
		out := Date{
			Span:   Span{Start: r.tokens[start].Start, End: r.tokens[d.i-1].End},
			FromMs: ms(p.from), UntilMs: ms(p.until), Grain: p.grain, Relative: d.relative, Confidence: 0.95,
		}
		if d.relative {
			out.Confidence = 0.85
		}
		if d.guessed {
			out.Confidence = 0.6
		}
		if d.minute >= 0 {
			at := ms(named) + int64(d.minute)*msPerMinute
			out.Grain = Minute
			switch {
			case p.until == ever:
				out.FromMs = at
			case p.from == always && p.until == named: // before it
				out.UntilMs = at
			case p.from == always:
				out.UntilMs = at + msPerMinute
			default:
				out.FromMs, out.UntilMs = at, at+msPerMinute
			}
		}
		r.out.Dates = append(r.out.Dates, out)
		i = d.i
	}
}

// ofYear is a date without its year, at tokens [i, d.i), in the year that the date before it in the sentence is: "last
// year we were done by 20 September". The dates of the sentence are those from first on.
func (r *reader) ofYear(d *dater, p period, i, first int) (period, bool) {
	n := len(r.out.Dates)
	if n <= first || !d.relative || d.dated || p.from == always || p.until == ever || !r.surelyTime(i) ||
		p.grain != Day && p.grain != Month || !withMonth(d, i) {
		return p, false
	}
	x := r.out.Dates[n-1]
	if x.Grain != Year || !x.Relative || x.FromMs == math.MinInt64 || x.UntilMs == math.MaxInt64 {
		return p, false
	}
	for k := i - 1; k >= 0 && r.tokens[k].Start >= x.Span.End; k-- {
		switch w := r.lows[k]; w {
		case "and", "but", ";", "then", ":", "(", ")":
			return p, false
		}
	}
	of, _, _ := calendar.Civil(int(dayIndex(x.FromMs)))
	_, m, day := calendar.Civil(p.from)
	if r.saidTense(i) == coming && p.from >= int(dayIndex(r.atMs)) && x.UntilMs <= r.atMs {
		return p, false
	}
	moved := calendar.Days(of, m, min(day, calendar.MonthDays(of, m)))
	d.dated = true
	if p.grain == Month && p.until-p.from > 27 {
		return monthPeriod(of, m), true
	}
	return period{moved, moved + p.until - p.from, p.grain}, true
}

// open ends of a period, in days.
const (
	always = math.MinInt64 / msPerDay
	ever   = math.MaxInt64 / msPerDay
)

func ms(days int) int64 {
	switch days {
	case always:
		return math.MinInt64
	case ever:
		return math.MaxInt64
	}
	return int64(days) * msPerDay
}

// dater reads one date from token i on.
type dater struct {
	r        *reader
	i, to    int
	relative bool // resolved against the document's time
	dated    bool // by a year of its own
	guessed  bool // more than one reading
	minute   int  // of the day, -1 where none is given
}

// low is the token at i, in lower case and without a slip that is mended; empty behind the end.
func (d *dater) low(i int) string {
	if i >= d.to || i < 0 {
		return ""
	}
	return d.r.lows[i]
}

// today is the document's day.
func (d *dater) today() (int, bool) {
	if d.r.atMs == 0 {
		return 0, false
	}
	return int(dayIndex(d.r.atMs)), true
}

// dayIndex is the day of a time in Unix milliseconds.
func dayIndex(ms int64) int64 {
	q := ms / msPerDay
	if ms%msPerDay < 0 {
		q--
	}
	return q
}

// bounded looks at what stands before and behind a period: "since March" has no
// end, "until March" and "before March" no beginning, "from March 3 to March 7" both.
// Who is away until 9 February is away on that day, too, and what is due until then may
// be done on it: only "before" leaves it out. It returns where the date begins, and
// moves d.i behind it.
func (d *dater) bounded(p period, i, from int) (period, int) {
	if next := d.low(d.i); next == "to" || untils[next] || next == "through" || next == "-" || next == "–" ||
		next == "and" && d.low(i-1) == "between" {
		second := *d
		second.relative = false
		second.i++
		if _, ok := dayNumber(d.low(second.i + 1)); ok && d.low(second.i) == "the" {
			second.i++ // to the 5th of June
		}
		behind := weekdays[d.low(second.i)] > 0
		q, ok := second.date()
		if ok && d.relative && !d.dated && !second.relative && p.grain == Day && q.grain == Day && withMonth(d, i) {
			p = p.toYear(q)
		}
		if ok && q.until <= p.from && d.relative && second.relative && q.grain == p.grain {
			q = q.next(behind) // from 28 April to 3 May, told on the 1st
		}
		if later := p.next(behind); ok && d.relative && second.relative && later.from > p.from && later.from <= q.from {
			p = later // moved from 4 November, which was, to 11 November, which will be: a week and not a year
		}
		for ok && d.relative && second.relative && p.grain == Day && p.until-p.from == 1 && !behind && !withMonth(d, i) {
			later, of := p.nextMonth(), p.from // from the 17th to the 19th: of one month
			if later.from <= of || later.from > q.from {
				break
			}
			p = later
		}
		if ok && q.until > p.from {
			if next == "to" && movedFrom(d, i) {
				return p, i // and the day that it was moved to is a date of its own
			}
			second.relative = second.relative || d.relative
			*d = second
			d.minute = -1 // the days are the period, whatever the hour
			p = period{p.from, q.until, q.grain}
			return p, i
		}
	}
	return d.open(p, i, from)
}

// movedFrom tells whether something is moved from the date at token i.
func movedFrom(d *dater, i int) bool {
	for k := i - 1; k >= 0 && k >= i-maxMoved && !d.r.tokens[k+1].First; k-- {
		if shifters[d.low(k)] {
			return true
		}
	}
	return false
}

var untils = text.Set(`until till til`)

// maxMoved is how many tokens before a date the verb stands that moves something.
const maxMoved = 6

var shifters = text.Set(`move moves moved moving postpone postponed push pushed shift shifted delayed deferred
	reschedule
	rescheduled bring brought bump bumped slip slipped slips switch switched swap swapped change changed put`)

// open looks for what leaves one end of a period open. Until a May that is not told by its year, as until spring or
// next week, is until it begins.
func (d *dater) open(p period, i, from int) (period, int) {
	if d.low(d.i) == "and" && (d.low(d.i+1) == "earlier" || d.low(d.i+1) == "before") {
		d.i += 2
		return period{always, p.until, p.grain}, i
	}
	k := i - 1
	for k > from && almost[d.low(k)] {
		k--
	}
	if k == i-2 && d.low(i-1) == "after" && d.low(k) != "until" && d.low(k) != "till" {
		k++
	}
	if k < from {
		return p, i
	}
	not := k > from && d.low(k-1) == "not"
	switch d.low(k) {
	case "since":
		return period{p.from, ever, p.grain}, k
	case "until", "till", "til":
		if not { // it begins then
			return period{p.from, ever, p.grain}, k - 1
		}
		last := p.until
		if d.relative && !d.dated || inSeason(d, i) {
			last = min(last, p.from+1)
		}
		return period{always, last, p.grain}, k
	case "through":
		if d.r.surelyTime(i) {
			return period{always, p.until, p.grain}, k
		}
	case "to":
		if k > from && d.low(k-1) == "up" {
			return period{always, p.until, p.grain}, k - 1
		}
	case "before":
		if not {
			return period{p.from, ever, p.grain}, k - 1
		}
		return period{always, p.from, p.grain}, k
	case "after":
		if d.r.surelyTime(i) && d.relative && p.until-p.from > 1 {
			return period{p.until, ever, p.grain}, k
		}
	}
	return p, i
}

// almost are words between "until" and its date.
var almost = text.Set(`about around roughly approximately approx at least after and including`)

// inSeason tells whether a season is named between token i and d.i.
func inSeason(d *dater, i int) bool {
	for ; i < d.i; i++ {
		if seasons[d.low(i)] > 0 {
			return true
		}
	}
	return false
}

// date reads a period at d.i and moves behind it.
func (d *dater) date() (period, bool) {
	d.minute = -1
	if d.i >= d.to {
		return period{}, false
	}
	try := *d
	if p, ok := dayToDay(d); ok {
		return p, true
	}
	*d = try
	if p, ok := d.spoken(); ok {
		return p, true
	}
	kind := d.r.tokens[d.i].Kind
	w := d.low(d.i)
	switch {
	case kind == tagger.Number || kind == tagger.Word && w[0] >= '0' && w[0] <= '9':
		return d.numeric(w)
	case kind != tagger.Word:
		return period{}, false
	}
	if m := months[w]; m > 0 {
		return d.month(m)
	}
	if p, ok := d.named(w); ok {
		d.relative = d.relative || !d.dated
		return p, true
	}
	return d.counted(w)
}

// month reads March, March 2024, March 5, March 5th, 2024 and March 3-7.
func (d *dater) month(m int) (period, bool) {
	w := d.r.word(d.i)
	// "may" and "march" are words too, and so is "Mar" of a name.
	if w[0] >= 'a' && (m == 5 || m == 3) {
		return period{}, false
	}
	next := d.i + 1
	if day, ok := dayNumber(d.low(next)); ok {
		last, behind := lastDay(d, d.i, day, next+1) // March 3 – 7
		year, end := d.yearAt(behind)
		if year == 0 {
			if year, ok = d.yearOf(m, day); !ok {
				return period{}, false
			}
			end = behind
		}
		if max(day, last) > calendar.MonthDays(year, m) {
			return period{}, false
		}
		p := dayPeriod(calendar.Days(year, m, day))
		d.i = end
		if last > 0 {
			p.until = calendar.Days(year, m, last) + 1
		} else {
			d.time()
		}
		return p, true
	}
	if year, end := d.yearAt(next); year != 0 {
		d.i = end
		return monthPeriod(year, m), true
	}
	// A month alone is a name as often, unless a preposition says otherwise.
	switch d.low(d.i - 1) {
	case "in", "since", "until", "by", "from", "last", "this", "next", "of", "early", "late", "mid", "during", "before",
		"after", "between", "to", "and", "through":
	default:
		if m == 5 || len(w) <= 4 {
			return period{}, false
		}
	}
	today, ok := d.today()
	if !ok {
		return period{}, false
	}
	d.relative = true
	year, now, _ := calendar.Civil(today)
	switch d.low(d.i - 1) {
	case "last":
		if m >= now {
			year--
		}
	case "next":
		if m <= now {
			year++
		}
	default:
		year = d.year(d.i, today, nearest(today, m, 15), func(y int) (int, int) {
			p := monthPeriod(y, m)
			return p.from, p.until
		}, Month)
	}
	d.i++
	return monthPeriod(year, m), true
}

// yearOf is the year of a day that is given without one; the date begins at d.i.
func (d *dater) yearOf(m, day int) (int, bool) {
	today, ok := d.today()
	if !ok {
		return 0, false
	}
	d.relative = true
	return d.year(d.i, today, nearest(today, m, day), func(y int) (int, int) {
		first := calendar.Days(y, m, day)
		return first, first + 1
	}, Day), true
}

// nearest is the year in which a day lies nearest to another.
func nearest(today, m, day int) int {
	year, _, _ := calendar.Civil(today)
	best := year
	for _, y := range []int{year - 1, year + 1} {
		if abs(calendar.Days(y, m, day)-today) < abs(calendar.Days(best, m, day)-today) {
			best = y
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }

// dayNumber reads 5, 05, 5th.
func dayNumber(w string) (int, bool) {
	digits := strings.TrimRight(w, "sthndr")
	if len(w)-len(digits) != 0 && len(w)-len(digits) != 2 {
		return 0, false
	}
	n, ok := number(digits)
	return n, ok && n >= 1 && n <= 31 && len(digits) <= 2
}

// number reads up to four digits.
func number(w string) (int, bool) {
	if w == "" || len(w) > 4 {
		return 0, false
	}
	n := 0
	for i := range len(w) {
		if w[i] < '0' || w[i] > '9' {
			return 0, false
		}
		n = 10*n + int(w[i]-'0')
	}
	return n, true
}

// yearAt reads a year at token i, perhaps behind a comma or "of", or "last year"; 0:
// no year.
func (d *dater) yearAt(i int) (year, end int) {
	if today, ok := d.today(); ok {
		k := i
		if d.low(k) == "of" {
			k++
		}
		if by, ok := years[d.low(k)]; ok && d.low(k+1) == "year" {
			d.relative = true
			year, _, _ = calendar.Civil(today)
			return year + by, k + 2
		}
	}
	k := i
	if d.low(k) == "," {
		k++
	}
	if n, behind := yearsAgo(d, k); n > 0 { // 1 August, two years ago
		if today, ok := d.today(); ok && d.within(k, i-1) {
			d.relative = true
			year, _, _ = calendar.Civil(today)
			return year - n, behind
		}
	}
	if w := d.low(i); w == "," || w == "of" {
		i++
	}
	if n, ok := number(d.low(i)); ok && n >= minYear && n <= maxYear {
		return n, i + 1
	}
	return 0, i
}

var years = map[string]int{"last": -1, "this": 0, "next": 1}

// numeric reads 2024-03-05, 2024-03, 5 March 2024, 2024, 1990s and 13/05/2024.
func (d *dater) numeric(w string) (period, bool) {
	i := d.i
	if p, ok := isoDate(w); ok {
		d.i++
		d.time()
		return p, true
	}
	if len(w) > 10 && (w[10] == 't') { // 2024-03-05T10:00:00Z, one token or cut at the colons
		if p, ok := isoDate(w[:10]); ok && p.grain == Day {
			d.minute = clock(w[11:])
			d.i++
			return p, true
		}
	}
	if p, n, ok := d.slashed(i); ok {
		d.i += n
		return p, true
	}
	if day, ok := dayNumber(w); ok {
		next := i + 1
		if d.low(next) == "of" {
			next++
		}
		if m := months[d.low(next)]; m > 0 && next < d.to {
			year, end := d.yearAt(next + 1)
			if year == 0 {
				if year, ok = d.yearOf(m, day); !ok {
					return period{}, false
				}
				end = next + 1
			}
			if day <= calendar.MonthDays(year, m) {
				d.i = end
				d.time()
				return dayPeriod(calendar.Days(year, m, day)), true
			}
		}
	}
	if p, ok := d.counted(w); ok {
		return p, true
	}
	if decade, ok := strings.CutSuffix(w, "s"); ok {
		if n, ok := number(decade); ok && n >= minYear && n <= maxYear && n%10 == 0 {
			d.i++
			if n%100 == 0 && n < 2000 { // the 1900s
				return period{calendar.Days(n, 1, 1), calendar.Days(n+100, 1, 1), Century}, true
			}
			return period{calendar.Days(n, 1, 1), calendar.Days(n+10, 1, 1), Decade}, true
		}
	}
	if n, ok := number(w); ok && len(w) == 4 && n >= 1500 && n <= 2100 && d.yearish(i) {
		d.i++
		return yearPeriod(n), true
	}
	return period{}, false
}

// yearish tells whether a number of four digits is used as a year.
func (d *dater) yearish(i int) bool {
	switch d.low(i - 1) {
	case "in", "since", "until", "till", "by", "from", "during", "of", "early", "late", "mid", "before", "after",
		"between", "and", "to", "year", "(", "-", "–", "circa", "around", "for":
		switch d.low(i + 1) {
		case "%", "years", "people", "users", "dollars", "times", "days", "km", "m":
			return false
		}
		return true
	}
	return d.low(i+1) == ")" && d.low(i-1) == "("
}

// isoDate reads 2024-03-05, 2024/03/05 and 2024-03.
func isoDate(w string) (period, bool) {
	if len(w) != 10 && len(w) != 7 || w[4] != '-' && w[4] != '/' {
		return period{}, false
	}
	year, ok := number(w[:4])
	month, ok2 := number(w[5:7])
	if !ok || !ok2 || year < minYear || year > maxYear || month < 1 || month > 12 {
		return period{}, false
	}
	if len(w) == 7 {
		return monthPeriod(year, month), w[4] == '-'
	}
	day, ok := number(w[8:])
	if !ok || w[7] != w[4] || day < 1 || day > calendar.MonthDays(year, month) {
		return period{}, false
	}
	return dayPeriod(calendar.Days(year, month, day)), true
}

// slashed reads 13/05/2024, 05/13/2024, 13.05.2024 and 2024/03/05, which lie in
// tokens of their own. Where day and month cannot be told apart, it is no date:
// half of the world writes the other order.
func (d *dater) slashed(i int) (period, int, bool) {
	w, n := d.low(i), 1
	parts := strings.Split(w, ".")
	if len(parts) != 3 {
		if d.low(i+1) != "/" || d.low(i+3) != "/" {
			return period{}, 0, false
		}
		parts, n = []string{w, d.low(i + 2), d.low(i + 4)}, 5
	}
	a, okA := number(parts[0])
	b, okB := number(parts[1])
	c, okC := number(parts[2])
	if !okA || !okB || !okC {
		return period{}, 0, false
	}
	year, month, day := c, b, a
	switch {
	case len(parts[0]) == 4:
		if n == 1 && (len(parts[1]) != 2 || len(parts[2]) != 2) {
			return period{}, 0, false // version 2025.10.3
		}
		year, month, day = a, b, c
	case len(parts[2]) != 4:
		return period{}, 0, false
	case n == 1: // dots: the day stands first
	case a <= 12 && b > 12:
		month, day = a, b
	case a <= 12 && b <= 12 && a != b:
		return period{}, 0, false
	}
	if year < minYear || year > maxYear || month < 1 || month > 12 || day < 1 || day > calendar.MonthDays(year, month) {
		return period{}, 0, false
	}
	return dayPeriod(calendar.Days(year, month, day)), n, true
}

// time reads "at 10:30", "10:30", "T10:30" behind a day.
func (d *dater) time() {
	i := d.i
	if w := d.low(i); w == "at" || w == "," {
		i++
	}
	if m := clock(d.low(i)); m >= 0 {
		switch d.low(i + 1) {
		case "pm":
			if m < 12*60 {
				m += 12 * 60
			}
			i++
		case "am":
			i++
		}
		d.minute, d.i = m, i+1
	}
}

// clock reads 10:30 and 10:30:15z, in minutes; -1: w is no time of day.
func clock(w string) int {
	h, rest, ok := strings.Cut(w, ":")
	hour, ok2 := number(h)
	if !ok || !ok2 || len(rest) < 2 || hour > 23 {
		return -1
	}
	minute, ok := number(rest[:2])
	if !ok || minute > 59 || len(rest) > 2 && rest[2] != ':' && rest[2] != 'z' {
		return -1
	}
	return hour*60 + minute
}
