package locale

import "orgmem/brain/extract/calendar"

// betweenDays reads "zwischen dem 20. und 24. Juli", "entre le 20 et le 24 juillet".
func (r *reader) betweenDays() (d Date, ok bool) {
	n := r.word(r.between, r.i)
	if n == 0 || !r.sure {
		return d, false
	}
	skip := func(i int) int {
		for r.word(r.art, i) > 0 || r.number(i) < 0 && r.word(r.on, i) > 0 {
			i += max(r.word(r.art, i), r.word(r.on, i))
		}
		return i
	}
	i := skip(r.i + n)
	day := r.number(i)
	if day < 1 || day > 31 {
		return d, false
	}
	first := *r
	x, end := first.dayOfMonth(i) // with a month of its own
	if i = r.behindDay(i + 1); end > 0 {
		i = end
	}
	and := r.word(r.and, i)
	if and == 0 {
		return d, false
	}
	last := *r
	last.i = skip(i + and)
	if d, ok = last.dayMonth(); !ok || d.Until-d.From != 1 {
		return d, false
	}
	y, m, until := calendar.Civil(d.From)
	if end > 0 {
		if m = x.month; x.month > m {
			y--
		}
	} else if day >= until {
		return d, false
	}
	d.From = calendar.Days(y, m, day)
	if d.From >= d.Until {
		return d, false
	}
	r.i = last.i
	return d, true
}

// edge reads "Ende Juni", "à la fin du mois", "Anfang nächster Woche", "a finales de mes": the last day of a month, or
// all of what only its beginning is said of.
func (r *reader) edge() (d Date, ok bool) {
	if !r.sure || !r.known {
		return d, false
	}
	i := r.i
	for k := 0; k < 2 && r.word(r.ends, i) == 0 && r.word(r.begins, i) == 0; k++ {
		i += max(r.word(r.on, i), r.word(r.art, i))
	}
	last := r.word(r.ends, i)
	n := max(last, r.word(r.begins, i))
	if n == 0 {
		return d, false
	}
	i += n
	for range 2 {
		n := max(r.word(r.of, i), r.word(r.art, i), r.word(r.on, i))
		if r.code == "de" && r.at(i) == "des" {
			n = 1
		}
		if n > 0 && !r.named(i) {
			i += n
		}
	}
	in := *r
	in.i = i
	switch m, n := r.months(i); {
	case n > 0:
		year, k := r.year(i + n)
		if k == 0 {
			year, d.Relative = r.nearest(m, 15), true
		}
		d.From, d.Until, d.Grain = calendar.Days(year, m, 1), calendar.Days(year, m+1, 1), Month
		in.i = i + n + k
	case r.thisMonth(i) > 0:
		y, m, _ := calendar.Civil(r.today)
		d.From, d.Until, d.Grain, d.Relative = calendar.Days(y, m, 1), calendar.Days(y, m+1, 1), Month, true
		in.i = i + r.thisMonth(i)
	default:
		if d, ok = in.moved(); !ok || d.Grain == Day || d.Grain == Year {
			return d, false
		}
	}
	if last > 0 && d.Grain == Month {
		d.From, d.Grain = d.Until-1, Day
	}
	r.i = in.i
	return d, true
}

// named tells whether a word of a month, or of a time by today's, stands at token i.
func (r *reader) named(i int) bool {
	_, month := r.months(i)
	_, moved := r.phrase(r.before, i)
	return month > 0 || moved > 0
}

// thisMonth is how many tokens "month" has at token i, where nothing says of which one it is.
func (r *reader) thisMonth(i int) int {
	if r.at(i) == "monats" {
		return 1
	}
	unit, n := r.phrase(r.unit, i)
	if _, behind := r.phrase(r.behind, i+n); unit != 3 || behind > 0 {
		return 0
	}
	return n
}

// years are those that a number without a month is taken for.
const firstYear, lastYear = 1900, 2099

// inYear reads "en 1998", "im Jahr 1998", "wurde 1998 gegründet".
func (r *reader) inYear() (d Date, ok bool) {
	y := r.number(r.i)
	if !r.sure || y < firstYear || y > lastYear || len(r.at(r.i)) != 4 {
		return d, false
	}
	before := r.at(r.i - 1)
	if !yearWords[before] && !(r.code == "de" && r.past[before]) &&
		(r.wordBefore(r.since, r.i) == 0 || r.code == "de" && before == "ab") && r.wordBefore(r.until, r.i) == 0 {
		return d, false
	}
	next := r.at(r.i + 1)
	switch rules := rulesOf[r.code]; {
	case r.number(r.i+1) >= 0, next == "%" || next == "." && r.number(r.i+2) >= 0, next == "," && r.number(r.i+2) >= 0,
		next == ":", next == "-" || next == "–" || next == "/", r.word(r.hour, r.i+1) > 0 && next != "u" && next != "h":
		return d, false
	case rules != nil && (rules.money[next] != "" || rules.length[next] > 0 || rules.scale[next] > 0):
		return d, false
	case next == "€" || next == "$" || next == "£":
		return d, false
	case r.code == "de" && r.i+1 < len(r.tokens) && r.tokens[r.i+1].capital && before != "jahr":
		return d, false // in 2000 Schritten
	}
	d.From, d.Until, d.Grain = calendar.Days(y, 1, 1), calendar.Days(y+1, 1, 1), Year
	if r.i++; r.code == "pl" && (next == "r" || next == "roku") {
		r.i++
	}
	return d, true
}

// yearWords stand before a year.
var yearWords = map[string]bool{
	"jahr": true, "jahre": true, "année": true, "en": true, "an": true, "año": true, "nel": true, "dal": true,
	"em": true, "in": true, "jaar": true, "ano": true, "anno": true, "w": true, "roku": true, "عام": true, "سنة": true,
}
