package recurrence

import (
	"strconv"
	"strings"
)

// firstHour is from where on an hour of a clock of twelve is in the morning unless the text says otherwise. Those
// before it are told of the afternoon as often.
const firstHour = 7

// clocks reads "at 10", "from 9 to 11", "10:30", "um 8 und 20 Uhr".
func (p *parser) clocks(k int) (f fragment, ok bool) {
	introduced, between, apart := p.is(k-1, adverb|weekday|weekdays|unit), false, false
	if p.is(k, at|from|beside) {
		introduced, between, apart = true, p.is(k, from), p.is(k, beside)
		k++
	} else if introduced && !strings.Contains(p.low(k), ".") {
		introduced = false // daily 9.15, but not Monday 3
	}
	first, next, told, ok := p.time(k, introduced, between)
	if !ok {
		return f, false
	}
	f.clocked, f.rule.end, f.at, f.end = true, -1, []int32{first}, next
	if apart {
		f.at = nil // only its words are told
		return f, true
	}
	if link := next; p.is(link, to) || p.low(link) == "-" || p.low(link) == "–" || between && p.is(link, and) {
		if link++; p.is(link, at) {
			link++
		}
		if last, end, toldLast, ok := p.time(link, true, false); ok {
			if toldLast && !told && last >= noonMinute && first < last-noonMinute && first+noonMinute < last &&
				p.lang.english && strings.HasSuffix(p.low(end-1), "m") {
				first += noonMinute // from 2 to 4 pm
			}
			f.at, f.rule.end, f.end = []int32{first}, last, end
			p.doubt(&f, told || toldLast)
			return f, true
		}
	}
	if between {
		return fragment{}, false
	}
	for link := next; p.is(link, and) || p.low(link) == ","; { // at 8 and at 20
		if link++; p.is(link, at) {
			link++
		}
		n, end, more, ok := p.time(link, introduced && p.is(link-1, and|at), false)
		if !ok || len(f.at) > maxInterval {
			break
		}
		f.at, f.end, link = append(f.at, n), end, end
		told = told || more
	}
	p.doubt(&f, told)
	return f, true
}

// doubt leaves out times that have two readings: the words have them.
func (p *parser) doubt(f *fragment, told bool) {
	if told || !p.lang.english || p.is(f.end, part) || p.is(f.end, on) && p.is(f.end+1, part) ||
		p.is(f.end, on) && p.is(f.end+1, on) && p.is(f.end+2, part) {
		return
	}
	for _, at := range f.at {
		if at >= minutesPerHour && at < firstHour*minutesPerHour {
			f.at, f.rule.end = nil, -1
			return
		}
	}
}

// time reads a time of the day at item k. A number alone is one where something introduces it; in a range the unit may
// stand behind the other end. told: it has one reading.
func (p *parser) time(k int, introduced, first bool) (minute int32, end int, told, ok bool) {
	if k >= len(p.items) {
		return 0, k, false, false
	}
	x := &p.items[k]
	switch {
	case x.is&clock != 0:
		return int32(x.n), k + 1, true, true
	case p.lang.english && (x.low == "half" || x.low == "quarter") && p.low(k+1) == "past":
		h := p.number(k + 2)
		if h == 0 || h > 12 {
			return 0, k, false, false
		}
		past := 30
		if x.low == "quarter" {
			past = 15
		}
		return int32(h*minutesPerHour + past), k + 3, false, true
	}
	h, m, spelled, ok := hourIn(x)
	if !ok {
		if h = p.number(k); h == 0 || x.ordinal {
			return 0, k, false, false
		}
	}
	end = k + 1
	suffix := halfOf(x.low)
	if suffix == "" {
		if suffix = halfOf(p.low(end)); suffix != "" && !p.items[end].first {
			if end++; p.low(end) == "." && end < len(p.items)-1 && strings.HasPrefix(p.low(end-1), "a.") {
				end++
			}
		}
	}
	named := p.is(end, hour)
	if named {
		if end++; p.number(end) > 0 && p.number(end) < minutesPerHour && m == 0 && p.items[end].number > 0 {
			m, end = p.items[end].number, end+1 // 18 h 30
		}
	}
	if h > 24 || m >= minutesPerHour || h == 24 && m > 0 {
		return 0, k, false, false
	}
	switch suffix {
	case "am", "pm":
		if h > 12 || h == 0 {
			return 0, k, false, false
		}
		h %= 12
		if suffix == "pm" {
			h += 12
		}
	}
	sure := suffix != "" || spelled || named
	if !sure && !introduced && !(p.low(end) == "-" || p.low(end) == "–" || p.is(end, to)) {
		return 0, k, false, false
	}
	if !sure && !introduced { // 9 to 11: only where a clock follows for certain
		if _, _, told, ok := p.time(end+1, true, false); !ok || !told && h > p.number(end+1) {
			return 0, k, false, false
		}
	}
	if !sure && !p.endsTime(end, first) {
		return 0, k, false, false
	}
	told = suffix != "" || named && !p.lang.english || spelled && (h == 0 || h > 12 || x.low[0] == '0')
	return int32(h%24*minutesPerHour + m), end, told, true
}

// endsTime tells whether what stands at item k leaves a number before it the time of the day: at 10 we meet, and not
// at 10 percent. first: it is to be the begin of a range.
func (p *parser) endsTime(k int, first bool) bool {
	if k >= len(p.items) || p.items[k].is&(unit|month|times|numeral|working|weekend|edge) == 0 && p.items[k].is != 0 {
		return true
	}
	x := &p.items[k]
	if x.mark {
		return !measures[x.low] && (!first || x.low == "-" || x.low == "–")
	}
	// The words in front of a clock are those of a clock in other languages, where a noun does not begin with a capital.
	return x.number < 0 && x.is == 0 && (x.functional() || !p.lang.english && !x.capital)
}

// measures are marks behind a number that is no hour.
var measures = map[string]bool{"%": true, "€": true, "$": true, "£": true, "°": true, "/": true}

// hourIn reads 10:30, 9.15, 18h30, 10am; spelled: in a way that only a clock is.
func hourIn(x *item) (h, m int, spelled, ok bool) {
	s := x.low
	if s == "" || s[0] < '0' || s[0] > '9' || x.ordinal {
		return 0, 0, false, false
	}
	end := 1
	if end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	h, _ = strconv.Atoi(s[:end])
	rest := s[end:]
	if rest == "" {
		return h, 0, false, true
	}
	sign, minutes := rest[0], strings.TrimSuffix(strings.TrimSuffix(rest[1:], "am"), "pm")
	switch {
	case rest == "am", rest == "pm", rest == "a.m", rest == "p.m", rest == "a.m.", rest == "p.m.":
		return h, 0, false, true
	case rest == "h", rest == "u":
		return h, 0, true, true
	case sign == ':' || sign == 'h' || sign == '.':
		if m, err := strconv.Atoi(minutes); err == nil && len(minutes) == 2 && m < minutesPerHour {
			return h, m, sign != '.', true
		}
	}
	return 0, 0, false, false
}

// halfOf is the half of the day that a word names, or ends with.
func halfOf(w string) string {
	digits := len(w) > 2 && w[0] >= '0' && w[0] <= '9'
	switch {
	case w == "am", w == "a.m.", w == "a.m", digits && (strings.HasSuffix(w, "am") || strings.HasSuffix(w, "a.m.")):
		return "am"
	case w == "pm", w == "p.m.", w == "p.m", digits && (strings.HasSuffix(w, "pm") || strings.HasSuffix(w, "p.m.")):
		return "pm"
	}
	return ""
}
