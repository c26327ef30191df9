package locale

import (
	"math"
	"slices"
	"strings"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/text"
)

// Grain is the precision of a date.
type Grain uint8

// The grains.
const (
	Day Grain = iota
	Week
	Month
	Year
)

// Open ends of a period, in days.
const (
	Always = math.MinInt32
	Ever   = math.MaxInt32
)

// The years that a date may lie in, as in package extract.
const minYear, maxYear = 1000, 2999

// century is the one of years in two figures.
const century = 2000

// Date is a date of a sentence. The days are counted from 1970 on; Until is exclusive. Minute is that of the day, -1
// where none is given. Relative: it was resolved by today; Guessed: it has another reading.
type Date struct {
	Start, End        int // byte offsets
	From, Until       int
	Grain             Grain
	Minute            int
	Relative, Guessed bool
}

// Dates reads the dates of a sentence that another language than English writes. known says whether today is.
func (l Languages) Dates(sentence string, today int, known bool) (out []Date) {
	if l.eastern {
		out = easternDates(sentence, today, known)
	}
	if !l.mayDate(sentence) {
		return out
	}
	tokens := tokensOf(sentence)
	for i := 0; i < len(tokens); {
		best, end := Date{}, 0
		for k, w := range languages {
			r := reader{words: w, tokens: tokens, i: i, today: today, known: known, sure: l.has(k)}
			if d, ok := r.date(); ok && r.i > end {
				best, end = d, r.i
			}
		}
		if end == 0 {
			i++
			continue
		}
		best.End = tokens[end-1].end
		out = append(out, best)
		i = end
	}
	if l.eastern {
		out = apart(out)
	}
	return out
}

// apart are dates of two scripts in their order, without those that reach into another.
func apart(dates []Date) []Date {
	slices.SortStableFunc(dates, func(a, b Date) int { return a.Start - b.Start })
	end := 0
	return slices.DeleteFunc(dates, func(d Date) bool {
		if d.Start < end {
			return true
		}
		end = d.End
		return false
	})
}

// reader reads one date of one language from token i on.
type reader struct {
	*words
	tokens []token
	i      int
	today  int
	known  bool // today is
	sure   bool // the text is in the language
}

// phrase finds the longest phrase at token i that is in m, and how many tokens it has.
func (r *reader) phrase(m map[string]int, i int) (v, n int) {
	if i < 0 || i >= len(r.tokens) || r.tokens[i].n >= 0 {
		return 0, 0
	}
	first := r.tokens[i].text
	if most := min(r.long[first], len(r.tokens)-i); most > 1 {
		var p strings.Builder
		p.WriteString(first)
		for k := 1; k < most; k++ {
			p.WriteString(" " + r.tokens[i+k].text)
			if x := m[p.String()]; x > 0 {
				v, n = x, k+1
			}
		}
	}
	if n == 0 {
		if v = m[first]; v > 0 {
			n = 1
		}
	}
	return v, n
}

// word is [reader.phrase] for a set.
func (r *reader) word(m map[string]bool, i int) (n int) {
	if i < 0 || i >= len(r.tokens) || r.tokens[i].n >= 0 {
		return 0
	}
	p := r.tokens[i].text
	if m[p] {
		n = 1
	}
	for k := 1; k < min(r.long[r.tokens[i].text], len(r.tokens)-i); k++ {
		if p += " " + r.tokens[i+k].text; m[p] {
			n = k + 1
		}
	}
	return n
}

// wordBefore is how many tokens in front of the i-th are in a set.
func (r *reader) wordBefore(m map[string]bool, i int) int {
	for n := min(maxPhrase, i); n > 0; n-- {
		if k := r.word(m, i-n); k == n {
			return n
		}
	}
	return 0
}

func (r *reader) at(i int) string {
	if i < 0 || i >= len(r.tokens) {
		return ""
	}
	return r.tokens[i].text
}

func (r *reader) number(i int) int {
	if i < 0 || i >= len(r.tokens) {
		return -1
	}
	return r.tokens[i].n
}

// date reads a date with what stands before and behind it: since, until, the end of a range, the time of the day.
func (r *reader) date() (d Date, ok bool) {
	from := r.i
	if w := r.at(from); !r.sure && r.number(from) < 0 && r.month[w] == 0 && r.day[w] == 0 {
		return d, false
	}
	minute, clocked := -1, 0
	if r.sure {
		minute, clocked = r.clock(r.i, false)
	}
	if clocked > 0 { // um 10 Uhr am Montag
		k := r.i + clocked
		if r.at(k) == "," {
			k++
		}
		k += max(r.word(r.on, k), 0)
		next := *r
		next.i = k
		if d, ok = next.period(); ok && d.Grain == Day && d.Until-d.From == 1 && r.surelyClock(from, clocked) {
			d.Start, d.Minute = r.tokens[from].start, minute
			r.i = next.i
			return d, true
		}
		if !r.surelyClock(from, clocked) {
			return d, false
		}
	}
	lead := r.leads()
	if d, ok = r.period(); !ok && lead != noLead { // vor zwei Wochen
		r.i, lead = from, noLead
		d, ok = r.period()
	}
	if !ok {
		return d, false
	}
	d.Start, d.Minute = r.tokens[from].start, -1
	if r.sure && d.Grain == Day && d.Until-d.From == 1 {
		k := r.i
		if r.at(k) == "," {
			k++
		}
		if minute, n := r.clock(k, true); n > 0 {
			d.Minute, r.i = minute, k+n
		}
	}
	if n := r.word(r.to, r.i); n > 0 && lead != untilLead {
		next := *r
		next.i += n
		for r.word(r.art, next.i) > 0 {
			next.i++
		}
		if e, also := next.period(); also && e.Grain == d.Grain && e.Until > d.Until {
			d.Until, d.Relative, d.Minute = e.Until, d.Relative || e.Relative, -1
			r.i = next.i
			return d, true
		}
	}
	if n := r.word(r.untilBehind, r.i); n > 0 && lead == noLead {
		lead, r.i = untilLead, r.i+n
	}
	return d.bounded(lead), true
}

// bounded is a date behind a word that leaves one of its ends open. What is a range already stays one.
func (d Date) bounded(lead int) Date {
	switch lead {
	case sinceLead:
		if d.Grain != Day || d.Until-d.From == 1 {
			d.Until = Ever
		}
	case untilLead:
		if d.Relative && d.Grain != Day { // until it begins
			d.Until = d.From + 1
		}
		d.From = Always
	case beforeLead:
		d.Until, d.Minute = d.From, -1
		d.From = Always
	}
	return d
}

const (
	noLead = iota
	sinceLead
	untilLead
	beforeLead
)

// leads reads "since", "until" or "before" at the i-th token, and moves behind it and an article.
func (r *reader) leads() int {
	lead := noLead
	if !r.sure {
		return lead
	}
	n := r.word(r.since, r.i)
	if n > 0 {
		lead = sinceLead
	}
	if m := r.word(r.until, r.i); m > n {
		n, lead = m, untilLead
	}
	if m := r.word(r.tooLate, r.i); m > n {
		n, lead = m, beforeLead
	}
	if n == 0 {
		return lead
	}
	r.i += n
	for _, skipped := range []map[string]bool{r.on, r.art, r.on} { // bis zum, avant le, hasta el día, قبل يوم
		if k := r.word(skipped, r.i); k > 0 && r.word(r.ends, r.i) == 0 && r.word(r.begins, r.i) == 0 {
			r.i += k
		}
	}
	return lead
}

// period reads a date from token i on and moves behind it.
func (r *reader) period() (d Date, ok bool) {
	if r.i >= len(r.tokens) {
		return d, false
	}
	d.Start, d.Minute = r.tokens[r.i].start, -1
	try := r.i
	for _, read := range []func(*reader) (Date, bool){
		(*reader).betweenDays, (*reader).dayMonth, (*reader).figures, (*reader).edge, (*reader).monthYear, (*reader).inYear,
		(*reader).shifted, (*reader).moved, (*reader).ago, (*reader).weekday,
	} {
		if p, ok := read(r); ok {
			p.Start, p.Minute = d.Start, -1
			return p, true
		}
		r.i = try
	}
	return d, false
}

// months reads the name of a month at token i.
func (r *reader) months(i int) (m, n int) {
	if m, n = r.phrase(r.month, i); n == 0 && r.sure {
		if m, n = r.phrase(r.short, i); n > 0 && r.at(i+n) == "." {
			n++
		}
	}
	return m, n
}

// dayMonth reads "3. Mai 2026", "Montag, 3. Mai", "3 de mayo de 2026", "vom 3. bis 5. Mai", "1er mai".
func (r *reader) dayMonth() (d Date, ok bool) {
	x, end := r.dayOfMonth(r.i)
	if end == 0 {
		return d, false
	}
	if x.year == 0 {
		if !r.known {
			return d, false
		}
		x.year, d.Relative = r.nearest(x.month, x.day), true
	}
	if x.last > calendar.MonthDays(x.year, x.month) {
		return d, false
	}
	d.From, d.Until = calendar.Days(x.year, x.month, x.day), calendar.Days(x.year, x.month, x.last)+1
	r.i = end
	return d, true
}

// written is a day, or some days of one month, as it is written: a year of 0 is left open.
type written struct{ year, month, day, last int }

// dayOfMonth reads a day and its month from token i on, and where they end: 0, there are none.
func (r *reader) dayOfMonth(i int) (x written, end int) {
	if _, n := r.phrase(r.day, i); n > 0 {
		i += n
		for r.at(i) == "," || r.at(i) == "." || r.word(r.art, i) > 0 || r.at(i) == "dem" || r.at(i) == "den" {
			i++
		}
	}
	x.day = r.number(i)
	if x.day < 1 || x.day > 31 {
		return x, 0
	}
	i = r.behindDay(i + 1)
	x.last = x.day
	if n := r.word(r.to, i); n > 0 || r.at(i) == "-" || r.at(i) == "–" {
		k := i + max(n, 1)
		if _, day := r.phrase(r.day, k); day > 0 { // du lundi 8 au vendredi 12 juin
			k += day
		}
		if r.word(r.art, k) > 0 {
			k++
		}
		if last := r.number(k); last > x.day && last <= 31 {
			x.last, i = last, r.behindDay(k+1)
		}
	}
	of := r.word(r.of, i)
	m, n := r.months(i + of)
	if n == 0 || len(r.of) > 0 && of == 0 && !r.sure || !r.sure && r.tokens[i+of].capital && r.code != "de" {
		return x, 0 // 2 mayo; Room 5 Octobre
	}
	if r.english(i+of) && of == 0 && !r.sure {
		return x, 0 // 3 April is English's own
	}
	i += of + n
	x.month = m
	x.year, n = r.year(i)
	return x, i + n
}

// english tells whether the word at token i is a month's name in English, too.
func (r *reader) english(i int) bool { return inEnglish[r.at(i)] }

// behindDay skips what makes a number an ordinal.
func (r *reader) behindDay(i int) int {
	switch r.at(i) {
	case ".", "º", "°", "er", "e":
		return i + 1
	}
	return i
}

// year reads a year at token i, and how many tokens it has: 0, none.
func (r *reader) year(i int) (year, n int) {
	k := i
	if r.at(k) == "," {
		k++
	}
	k += r.word(r.of, k)
	if y := r.number(k); y >= minYear && y <= maxYear && len(r.at(k)) == 4 {
		if k++; r.code == "pl" && (r.at(k) == "r" || r.at(k) == "roku") {
			if k++; r.at(k) == "." && k+1 < len(r.tokens) {
				k++
			}
		}
		return y, k - i
	}
	return 0, 0
}

// nearest is the year in which a day lies nearest to today, or on the side that a verb tells.
func (r *reader) nearest(m, day int) int { return nearestYear(r.today, m, day, r.side()) }

// nearestYear is the year in which a day lies nearest to today, on one side of it where side is -1 (past) or 1.
func nearestYear(today, m, day, side int) int {
	year, _, _ := calendar.Civil(today)
	best := year
	for _, y := range []int{year - 1, year, year + 1} {
		at := calendar.Days(y, m, min(day, calendar.MonthDays(y, m)))
		if side < 0 && at > today || side > 0 && at < today {
			continue
		}
		of := calendar.Days(best, m, min(day, calendar.MonthDays(best, m)))
		if side < 0 && of > today || side > 0 && of < today || distance(at, today) < distance(of, today) {
			best = y
		}
	}
	return best
}

func distance(a, b int) int { return max(a-b, b-a) }

// figures reads 03.05.2026, 03.05., 3/5/2026 and 3-5-2026, day first as everywhere but in English.
func (r *reader) figures() (d Date, ok bool) {
	mark := r.at(r.i + 1)
	day, m := r.number(r.i), r.number(r.i+2)
	if !r.sure || mark != "." && mark != "/" && mark != "-" || day < 1 || day > 31 || m < 1 || m > 12 ||
		!r.tight(r.i, r.i+2) || len(r.at(r.i)) > 2 || len(r.at(r.i+2)) > 2 {
		return d, false
	}
	if y := r.figureYear(mark); y > 0 {
		if day > calendar.MonthDays(y, m) || r.at(r.i+5) == mark && r.number(r.i+6) >= 0 {
			return d, false
		}
		d.From = calendar.Days(y, m, day)
		d.Until = d.From + 1
		r.i += 5
		return d, true
	}
	if mark != "." || r.at(r.i+3) != "." || !r.known || r.number(r.i+4) >= 0 && r.tight(r.i+3, r.i+4) {
		return d, false
	}
	y := r.nearest(m, day)
	if day > calendar.MonthDays(y, m) {
		return d, false
	}
	d.From, d.Relative = calendar.Days(y, m, day), true
	d.Until = d.From + 1
	if r.i += 3; r.i+1 < len(r.tokens) {
		r.i++ // the last dot ends a sentence or the date
	}
	return d, true
}

// figureYear is the year of the day in figures at token i, 0 where it has none; of two figures where day and month have
// two as well ("14.07.26"), or a word stands before it that makes it a time.
func (r *reader) figureYear(mark string) int {
	y := r.number(r.i + 4)
	switch {
	case r.at(r.i+3) != mark || !r.tight(r.i+2, r.i+4):
	case len(r.at(r.i+4)) == 4 && y >= minYear && y <= maxYear:
		return y
	case len(r.at(r.i+4)) == 2 && (len(r.at(r.i)) == 2 && len(r.at(r.i+2)) == 2 || r.wordBefore(r.on, r.i) > 0):
		return y + century
	}
	return 0
}

// tight tells whether the tokens from one to another stand without space between.
func (r *reader) tight(from, to int) bool {
	for i := from; i < to; i++ {
		if i+1 >= len(r.tokens) || r.tokens[i].end != r.tokens[i+1].start {
			return false
		}
	}
	return true
}

// monthYear reads "Mai 2026", "mayo de 2026", and "im Mai" behind a word that makes it a time.
func (r *reader) monthYear() (d Date, ok bool) {
	m, n := r.months(r.i)
	if n == 0 {
		return d, false
	}
	year, k := r.year(r.i + n)
	switch {
	case k > 0 && (r.english(r.i) || r.tokens[r.i].capital && r.code != "de") && !r.sure:
		return d, false
	case k == 0 && (!r.sure || !r.known || r.wordBefore(r.on, r.i) == 0 && r.wordBefore(r.since, r.i) == 0 &&
		r.wordBefore(r.until, r.i) == 0 && r.word(r.onBehind, r.i+n) == 0):
		return d, false
	case k == 0:
		year, d.Relative = r.nearest(m, 15), true
	}
	d.From, d.Until, d.Grain = calendar.Days(year, m, 1), calendar.Days(year, m+1, 1), Month
	r.i += n + k
	return d, true
}

// shifted reads yesterday, today, tomorrow.
func (r *reader) shifted() (d Date, ok bool) {
	v, n := r.phrase(r.shift, r.i)
	if n == 0 || !r.sure || !r.known || n == 1 && r.morning(r.i) {
		return d, false
	}
	by := v - 3
	if r.code == "hi" && r.side() < 0 {
		by = -by // कल is a day from today, on the side of the verb, and परसों two
	}
	d.From = r.today + by
	d.Until, d.Relative = d.From+1, true
	r.i += n
	return d, true
}

// morning tells whether a word that means tomorrow means the morning at token i.
func (r *reader) morning(i int) bool {
	switch r.at(i) {
	case "morgen":
		switch r.at(i - 1) {
		case "guten", "goede", "am", "jeden", "elke", "den", "de", "dem", "diesem", "s", "der", "vom", "bis", "ab":
			return r.at(i-1) != "ab" && r.at(i-1) != "bis"
		}
	case "mañana":
		switch r.at(i - 1) {
		case "la", "una", "cada", "buena", "de", "las", "esta":
			return true
		}
	case "hier":
		return r.code != "fr"
	}
	return false
}

// moved reads "nächsten Montag", "letzte Woche", "lundi prochain", "el mes que viene".
func (r *reader) moved() (d Date, ok bool) {
	if !r.sure || !r.known {
		return d, false
	}
	by, n := r.phrase(r.before, r.i)
	i := r.i + n
	if r.at(i) == "," {
		return d, false
	}
	day, k := r.phrase(r.day, i)
	unit := 0
	if k == 0 {
		if unit, k = r.phrase(r.unit, i); k == 0 || unit == 1 {
			return d, false
		}
	}
	i += k
	if n == 0 {
		if by, n = r.phrase(r.behind, i); n == 0 {
			return d, false
		}
		i += n
	}
	d.Relative = true
	by -= 2
	monday := r.today - calendar.Weekday(r.today)
	y, m, _ := calendar.Civil(r.today)
	switch {
	case day > 0 && by == 0:
		d.From = monday + day - 1
	case day > 0 && by < 0:
		d.From = r.today - 1 - calendar.FloorMod(calendar.Weekday(r.today)-day, 7)
	case day > 0: // the next one, the one of next week where that is tomorrow
		d.From = monday + 7 + day - 1
	case unit == 2:
		d.From, d.Grain = monday+7*by, Week
		d.Until = d.From + 7
	case unit == 3:
		d.From, d.Until, d.Grain = calendar.Days(y, m+by, 1), calendar.Days(y, m+by+1, 1), Month
	case unit == 4:
		d.From, d.Until, d.Grain = calendar.Days(y+by, 1, 1), calendar.Days(y+by+1, 1, 1), Year
	}
	if day > 0 {
		d.Until = d.From + 1
	}
	r.i = i
	return d, true
}

// ago reads "vor zwei Wochen", "il y a 3 jours", "due settimane fa", "in 3 Tagen", "dentro de un mes".
func (r *reader) ago() (d Date, ok bool) {
	if !r.sure || !r.known {
		return d, false
	}
	sign, i := 0, r.i
	if n := r.word(r.agoBefore, i); n > 0 {
		sign, i = -1, i+n
	} else if n := r.word(r.in, i); n > 0 {
		sign, i = 1, i+n
	}
	count, n := r.number(i), 1
	dual, two := r.phrase(r.duals, i)
	switch {
	case two > 0:
		count, n = 2, 0
	case count < 0:
		if count, n = r.phrase(r.words.number, i); n == 0 {
			if _, k := r.phrase(r.unit, i); k == 0 || sign >= 0 && r.word(r.agoBehind, i+k) == 0 {
				return d, false
			}
			count, n = 1, 0 // tydzień temu
		}
	}
	if count < 1 || count > maxApart {
		return d, false
	}
	i += n
	unit, k := r.phrase(r.unit, i)
	if two > 0 {
		unit, k = dual, two
	}
	if k == 0 {
		return d, false
	}
	i += k
	if n := r.word(r.agoBehind, i); n > 0 {
		sign, i = -1, i+n
	} else if n := r.word(r.inBehind, i); n > 0 {
		sign, i = 1, i+n
	}
	if sign == 0 || sign > 0 && r.side() < 0 { // it took so long
		return d, false
	}
	d.Relative = true
	d.shiftBy(unit, sign*count, r.today)
	r.i = i
	return d, true
}

// maxApart is how many units of time a date may lie from today.
const maxApart = 999

// shiftBy sets a date that is so many days (1), weeks, months or years (4) from today.
func (d *Date) shiftBy(unit, count, today int) {
	y, m, day := calendar.Civil(today)
	switch unit {
	case 1:
		d.From = today + count
	case 2:
		d.From, d.Grain = today+7*count, Week
	case 3:
		first := calendar.Days(y, m+count, 1)
		fy, fm, _ := calendar.Civil(first)
		d.From, d.Grain = first+min(day, calendar.MonthDays(fy, fm))-1, Month
	case 4:
		d.From, d.Until, d.Grain = calendar.Days(y+count, 1, 1), calendar.Days(y+count+1, 1, 1), Year
		return
	}
	d.Until = d.From + 1
}

// weekday reads a day of the week by itself behind a word that makes it a time: the next one, or the last where a verb
// says that it was.
func (r *reader) weekday() (d Date, ok bool) {
	day, n := r.phrase(r.day, r.i)
	if n == 0 || !r.sure || !r.known || everyWords[r.at(r.i-1)] || r.anyWeek(n) {
		return d, false
	}
	if r.at(r.i) != "na" && !r.bare(n) && r.wordBefore(r.on, r.i) == 0 && r.wordBefore(r.until, r.i) == 0 &&
		r.wordBefore(r.tooLate, r.i) == 0 {
		return d, false
	}
	ahead := calendar.FloorMod(day-1-calendar.Weekday(r.today), 7)
	if ahead == 0 && (r.wordBefore(r.until, r.i) > 0 || r.wordBefore(r.tooLate, r.i) > 0 ||
		r.word(r.untilBehind, r.i+n) > 0) {
		ahead = 7 // who means today says so
	}
	d.From, d.Relative, d.Guessed = r.today+ahead, true, true
	if ahead > 0 && r.side() < 0 {
		d.From -= 7
	}
	d.Until = d.From + 1
	r.i += n
	return d, true
}

// bare tells whether the day of the week of n tokens at token i is a time by itself: everywhere, or where the sentence
// begins with it and goes on with a verb, or no article and no name stands before it.
func (r *reader) bare(n int) bool {
	switch r.code {
	case "hi", "it", "ar", "fr":
		return true
	case "de", "nl", "pt":
		if behind := r.i + n; r.i == 0 {
			return behind < len(r.tokens) && letter(r.at(behind)) && !r.tokens[behind].capital
		}
		before, rules := r.at(r.i-1), rulesOf[r.code]
		return letter(before) && !r.tokens[r.i-1].capital && !rules.dropped[before] && !rules.definite[before]
	}
	return false
}

// anyWeek tells whether the day of n tokens at token i is one of every week: an article stands before it where none
// would stand before the next one ("le lundi", "il lunedì"), or it is one end of days that are open ("von Montag bis
// Freitag").
func (r *reader) anyWeek(n int) bool {
	before, behind := r.at(r.i-1), r.i+n
	switch {
	case r.code == "fr" && before == "le", r.code == "it" && (before == "il" || before == "la"):
		return true
	}
	if k := r.word(r.to, behind); k > 0 || r.at(behind) == "-" || r.at(behind) == "–" {
		if _, day := r.phrase(r.day, behind+max(k, 1)); day > 0 {
			return true
		}
	}
	if r.at(behind) == ":" || r.at(behind) == "s" {
		return r.i == 0
	}
	i := r.i
	if n := r.wordBefore(r.to, i); n > 0 {
		i -= n
	} else if before == "-" || before == "–" {
		i--
	} else {
		return false
	}
	for k := 1; k <= maxPhrase && k <= i; k++ {
		if _, n := r.phrase(r.day, i-k); n == k {
			return true
		}
	}
	return false
}

// everyWords stand before a day that comes again and again.
var everyWords = text.Set(`jeden jede jedes jedem chaque cada todo todos ogni toda todas elke iedere każdy każdą każdego
	हर كل`)
