package recurrence

import (
	"slices"
	"strings"

	"orgmem/brain/text"
)

// parser reads the items of one sentence in one language.
type parser struct {
	lang  *language
	items []item
}

// strength is how surely a fragment says that something recurs.
type strength int

const (
	weak   strength = iota // not by itself: "on Wednesday", "at 10"
	medium                 // where a reader says so, or with a day or a time: "weekly"
	strong
)

// fragment is a part of a recurrence that stands for itself, up to an item.
type fragment struct {
	rule
	strength strength
	end      int
	list     bool // of weekdays that are several by their form: Wednesdays
	dated    bool // a day of a month with its name
}

// phrase is a recurrence between two items.
type phrase struct {
	fragment
	start  int
	before int // where the fragments end before that with the months; 0: it is the first, or there is none
}

// maxFragments bounds the fragments of one recurrence.
const maxFragments = 8

func (p *parser) is(k int, of kind) bool { return k >= 0 && k < len(p.items) && p.items[k].is&of != 0 }

func (p *parser) low(k int) string {
	if k < 0 || k >= len(p.items) {
		return ""
	}
	return p.items[k].low
}

// phraseAt reads the recurrence that begins at item k, if one does.
func (p *parser) phraseAt(k int) (phrase, bool) {
	f, ok := p.fragment(k)
	if !ok || p.partOfDate(&f, k) {
		return phrase{}, false
	}
	out := phrase{fragment: f, start: k}
	adjective := f.strength == medium && !f.clocked
	for n := 1; n < maxFragments; n++ {
		next, comma := p.connected(out.end)
		g, ok := p.fragment(next)
		if !ok && adjective && n == 1 {
			if next = p.behindNoun(out.end); next > 0 {
				if g, ok = p.fragment(next); ok && (g.dated || len(g.monthDays) > 0 || g.part && !g.clocked) {
					ok = false
				}
			}
		}
		if !ok || comma && !out.goesOn(&g) || !out.follows(&g) {
			break
		}
		before := out.end
		if out.ofMonth() && g.ofMonth() || !out.rule.join(&g.rule) {
			break
		}
		if len(g.months) > 0 {
			out.before = before
		}
		out.end, out.list = g.end, out.list || g.list
		switch {
		case g.strength == strong, g.ofMonth() && len(out.nth) > 0,
			out.whole && g.clocked && g.rule.end >= 0, // Monday to Friday, 9 to 5
			out.strength == medium && g.strength == weak && !g.part, g.strength == medium && out.strength == weak:
			out.strength = strong
		}
	}
	return out, true
}

// partOfDate tells whether what stands before a fragment at item k makes it a part of something else: since Monday, two
// Wednesdays, the third weekend, 14 June.
func (p *parser) partOfDate(f *fragment, k int) bool {
	switch {
	case f.list && p.counted(k-1), f.strength != strong && p.bound(k):
		return true
	case f.whole && p.is(k-1, from) && shifted(p, k-1):
		return true // moved from Mondays to Thursdays
	case f.strength != weak:
		return false
	}
	return p.is(k-1, except) || len(f.weekdays) > 0 && f.nth == nil && p.is(k-1, ordinal) ||
		len(f.months) > 0 && p.dayBefore(k)
}

// maxShifted is how many items before "from" the verb stands that moves something.
const maxShifted = 6

// shifted tells whether something is moved from what stands behind item k.
func shifted(p *parser, k int) bool {
	for i := k - 1; i >= 0 && i >= k-maxShifted; i-- {
		if shifts[p.low(i)] {
			return true
		}
	}
	return false
}

var shifts = text.Set("move moves moved moving shift shifted switch switched change changed rescheduled swapped " +
	"verlegt verschoben wechselt déplacé déplacée trasladado cambiado spostato mudou verplaatst")

// follows tells whether a fragment may be a part of what is before it: what the month is of needs a day before it.
func (f *fragment) follows(g *fragment) bool {
	return !g.ofMonth() || len(f.nth) > 0 || len(f.monthDays) > 0
}

// goesOn tells whether a fragment may be a part of what is before it where a comma parts them.
func (f *fragment) goesOn(g *fragment) bool {
	switch {
	case f.strength == weak && len(f.months)+len(f.monthDays)+len(f.nth) > 0:
		return false // on 3 May, Wednesdays
	case f.strength == weak && f.clocked && g.list && (f.rule.end >= 0 || len(f.at) == 0):
		return false // 8 to 18, Sundays 10 to 16
	case f.length.unit == Month && len(g.monthDays) > 0 && !g.dated: // monthly, around the 5th
		return true
	case f.length.unit == Year && len(g.months) > 0 && !g.dated: // once a year, in May
		return true
	}
	return g.list || g.clocked || g.strength == strong
}

// ofMonth tells whether the fragment is "of the month" alone.
func (f *fragment) ofMonth() bool {
	return f.strength == weak && f.length.unit != "" && len(f.monthDays)+len(f.nth)+len(f.weekdays) == 0
}

// bound tells whether what stands before item k makes it a date of its own: since Monday.
func (p *parser) bound(k int) bool {
	if k == 0 {
		return false
	}
	return p.is(k-1, binding) || p.is(k-1, on) && p.is(k-2, binding)
}

// counted tells whether item k counts what is behind it: two Wednesdays.
func (p *parser) counted(k int) bool {
	return k >= 0 && (p.is(k, numeral) || p.items[k].number >= 0 || p.is(k, binding) || p.low(k) == "of" ||
		p.is(k, weekday))
}

// dayBefore tells whether the month at item k is that of a day: of 14 June.
func (p *parser) dayBefore(k int) bool {
	for i := k - 1; i >= 0 && i >= k-2; i-- {
		if p.items[i].number > 0 || p.is(i, ordinal) {
			return true
		}
		if !p.is(i, of|on) && p.low(i) != "." {
			return false
		}
	}
	return false
}

// maxConnectors is how many small words stand between two fragments.
const maxConnectors = 3

// connected goes over the small words from item k on.
func (p *parser) connected(k int) (next int, comma bool) {
	for n := 0; n < maxConnectors && k < len(p.items); n++ {
		if _, ok := p.fragment(k); ok {
			return k, comma
		}
		switch x := &p.items[k]; {
		case x.low == "," || x.low == "(" || x.low == "–" || x.low == "—" || x.low == "-" || x.low == ":":
			comma = true
		case x.is&(on|of|at) == 0 && !(x.mark && (x.low == "'" || x.low == "’")) && x.low != "s":
			return k, comma
		}
		k++
	}
	return k, comma
}

// maxNoun is how many words stand between "weekly" and its day: the weekly team meeting on Thursday.
const maxNoun = 3

// behindNoun goes over the words that an adjective belongs to; 0: none.
func (p *parser) behindNoun(k int) int {
	for n := 0; n < maxNoun && k < len(p.items) && p.items[k].plain() && !p.items[k].functional(); n++ {
		k++
		if p.is(k, on|at) || p.is(k, every) {
			next, comma := p.connected(k)
			if comma {
				return 0
			}
			return next
		}
	}
	return 0
}

// fragment reads one at item k.
func (p *parser) fragment(k int) (fragment, bool) {
	if k < 0 || k >= len(p.items) || !p.items[k].begins() {
		return fragment{}, false
	}
	for _, read := range []func(*parser, int) (fragment, bool){
		(*parser).timesPer, (*parser).every, (*parser).adverb, (*parser).ending, (*parser).nthDay, (*parser).days,
		(*parser).dated, (*parser).clocks, (*parser).dayPart, (*parser).monthOf,
	} {
		if f, ok := read(p, k); ok {
			if !f.clocked {
				f.rule.end = -1
			}
			return f, true
		}
	}
	return fragment{}, false
}

// every reads "every two weeks", "every first Monday", "jeden 15."
func (p *parser) every(start int) (f fragment, ok bool) {
	if !p.is(start, every) {
		return f, false
	}
	f.strength = strong
	k, n := start+1, 1
	needed := p.lang.counted[p.low(start)] == 1
	if skips := p.lang.counted[p.low(start)] == 2; skips {
		n = 2
	}
	var ordinals []int32
	switch {
	case p.is(k, other):
		n, k = 2, k+1
	case p.numberBefore(k):
		n, k, needed = p.number(k), k+1, false
		if p.low(k) == "-" {
			k++
		}
	default:
		ordinals, k = p.ordinals(k)
	}
	if needed || n < 1 || n > maxInterval || k >= len(p.items) {
		return f, false
	}
	f.end = k + 1
	x := &p.items[k]
	switch {
	case len(ordinals) > 0:
		return p.everyNth(f, ordinals, k)
	case x.is&working != 0, x.is&weekend != 0:
		f.weekdays, f.whole = workdays(x.is), true
		if n > 1 {
			f.length = length{Week, n}
		}
	case x.is&(weekday|weekdays) != 0:
		f.weekdays, f.whole, f.end, _ = p.dayList(k)
		if n > 1 {
			f.length = length{Week, n}
		}
	case x.is&unit != 0:
		if p.possessive(k) || idle[p.low(k+1)] {
			return f, false // every week's numbers; every minute counts
		}
		if next := k + 2; p.low(k+1) == "of" { // each week of delay
			for p.is(next, on) {
				next++
			}
			if !p.is(next, unit|month) {
				return f, false
			}
		}
		f.length = length{x.length.unit, x.length.n * n}
	case x.is&month != 0 && n == 1:
		f.months, f.monthsAt, f.end = p.monthList(k)
		if d := p.dayNumber(f.end); d > 0 && p.lang.english {
			f.monthDays, f.end = []int32{d}, f.end+1
		}
	case x.number > 0 && x.number <= maxMonthDay && n == 1: // jeden 3. Mai
		d := int32(x.number)
		if k = p.behindDay(k); !p.is(k, month) {
			return f, false
		}
		f.monthDays, f.months, f.monthsAt, f.end = []int32{d}, []int32{int32(p.items[k].month)}, p.at(k, k), k+1
	case x.is&dayWord != 0:
		return f, false
	case x.is&yearly != 0:
		f.length = length{Year, n}
	case x.is&part != 0, x.is&clock != 0:
		f.length, f.part, f.afternoon = length{Day, n}, true, x.n > 0 && x.is&part != 0
		if x.is&clock != 0 {
			f.at, f.clocked, f.part, f.rule.end = []int32{int32(x.n)}, true, false, -1
		}
	default:
		return f, false
	}
	return f, true
}

// possessive tells whether item k owns what is behind it: every week's numbers.
func (p *parser) possessive(k int) bool { return k+1 < len(p.items) && p.items[k+1].suffix }

// idle are what no time does that comes again.
var idle = map[string]bool{"counts": true, "counted": true, "matters": true, "count": true, "life": true}

// everyNth goes on with what stands at item k behind "every first", "every 3rd".
func (p *parser) everyNth(f fragment, nth []int32, k int) (fragment, bool) {
	one := len(nth) == 1 && nth[0] > 1
	x := &p.items[k]
	behind, named := p.ofUnit(k + 1)
	switch {
	case x.is&weekday != 0:
		f.weekdays, f.whole, f.end, _ = p.dayList(k)
		if _, of := p.ofUnit(f.end); one && !of {
			f.length = length{Week, int(nth[0])}
		} else {
			f.nth = nth
		}
	case x.is&unit != 0 && named && x.length.unit == Day:
		f.monthDays, f.length, f.end = nth, length{Month, 1}, behind
		if p.items[behind-1].length.unit != Month {
			return f, false
		}
	case x.is&unit != 0 && one && !p.possessive(k):
		f.length = length{x.length.unit, x.length.n * int(nth[0])}
	case x.is&unit != 0 && named: // every first week of the month
		f.length, f.end = p.items[behind-1].length, behind
	case x.is&weekend != 0 && one:
		f.weekdays, f.whole = workdays(x.is), true
		f.length = length{Week, int(nth[0])}
	case x.is&month != 0 || x.is&of != 0 && p.is(k+1, month): // every 3rd of May
		if x.is&month == 0 {
			k++
		}
		f.monthDays, f.months, f.monthsAt, f.end = nth, []int32{int32(p.items[k].month)}, p.at(k, k), k+1
	case x.is&part != 0 && one:
		f.length, f.part, f.afternoon = length{Day, int(nth[0])}, true, x.n > 0
	default:
		end, of := p.ofUnit(k)
		numeric := p.items[k-1].ordinal
		if of && p.items[end-1].length.unit == Month {
			f.monthDays, f.length, f.end = nth, length{Month, 1}, end
		} else if numeric && x.mark {
			f.monthDays, f.length, f.end = nth, length{Month, 1}, k
		} else {
			return f, false
		}
	}
	return f, true
}

// workdays are those from Monday to Friday, or of the weekend.
func workdays(of kind) []int32 {
	if of&working != 0 {
		return []int32{1, 2, 3, 4, 5}
	}
	return []int32{6, 7}
}

// number is the number at item k; 0: none.
func (p *parser) number(k int) int {
	switch {
	case k < 0 || k >= len(p.items):
		return 0
	case p.items[k].number >= 0 && !p.items[k].ordinal:
		return p.items[k].number
	case p.is(k, numeral):
		return p.items[k].n
	}
	return 0
}

// numberBefore tells whether item k counts units of time.
func (p *parser) numberBefore(k int) bool {
	if p.number(k) == 0 {
		return false
	}
	if p.low(k+1) == "-" {
		k++
	}
	return p.is(k+1, unit|weekday|weekdays|weekend|yearly|part) && !p.is(k+1, month)
}

// ordinals reads "first", "1st and 15th" at item k.
func (p *parser) ordinals(k int) (of []int32, end int) {
	for end = k; end < len(p.items); {
		x := &p.items[end]
		switch {
		case x.is&ordinal != 0:
			of = append(of, int32(x.n))
		case x.ordinal, len(of) > 0 && x.number > 0 && x.number <= maxMonthDay && p.low(end+1) == ".":
			of = append(of, int32(x.number))
		case x.number > 0 && x.number <= maxMonthDay && p.low(end+1) == "." && !p.lang.english:
			of = append(of, int32(x.number))
		default:
			return of, end
		}
		if end++; p.low(end) == "." && x.number > 0 && end+1 < len(p.items) {
			end++
		}
		next := end
		if p.low(next) == "," || p.is(next, and) {
			next++
			for p.is(next, on) && !p.is(next, ordinal) {
				next++
			}
			if p.is(next, ordinal) || next < len(p.items) && (p.items[next].ordinal || p.items[next].number > 0 &&
				p.low(next+1) == ".") {
				end = next
				continue
			}
		}
		return of, end
	}
	return of, end
}

// ofUnit reads "of the month", "of each quarter", "des Monats" at item k, and is behind it.
func (p *parser) ofUnit(k int) (end int, ok bool) {
	if !p.is(k, of) && !p.is(k, every) { // jedes Monats
		return k, false
	}
	if p.is(k, of) {
		k++
	}
	article := p.is(k, on)
	if article || p.is(k, every) {
		k++
	} else if p.lang.english {
		return k, false
	}
	if !p.is(k, unit) || p.possessive(k) {
		return k, false
	}
	u := p.items[k].length.unit
	return k + 1, u == Month || u == Year
}

// adverb reads weekly, monatlich.
func (p *parser) adverb(k int) (f fragment, ok bool) {
	x := &p.items[k]
	if x.is&adverb == 0 || x.capital && !x.first || p.low(k-1) == "-" || p.low(k+1) == "-" {
		return f, false
	}
	f.length, f.strength, f.end = x.length, medium, k+1
	if f.doubtful = doubtful[x.low]; f.doubtful {
		return f, true
	}
	behindVerb := k > 0 && !p.items[k-1].mark && !p.is(k-1, on|every|of|per|and|at) && !owning[p.low(k-1)]
	nounless := k+1 == len(p.items) || closes[p.low(k+1)] && p.number(k+2) == 0 || p.items[k+1].functional() ||
		joining[p.low(k+1)]
	if behindVerb && nounless && p.lang.adverbial(x.low) {
		f.strength = strong // filters are changed monthly
	}
	return f, true
}

// doubtful are every two as often as twice in one, where no day tells.
var doubtful = text.Set("biweekly bi-weekly")

// adverbial tells whether an adverb tells of a verb where no noun is behind it.
func (l *language) adverbial(w string) bool {
	if l.english {
		return w != "annual" && w != "biennial"
	}
	return !l.romance || strings.HasSuffix(w, "ment") || strings.HasSuffix(w, "mente")
}

// joining are words that begin another clause.
var joining = text.Set("because when while since except")

// owning are words before a noun.
var owning = text.Set("our my your his her its their this that no another")

// closes are the marks behind which a clause is over.
var closes = map[string]bool{".": true, ",": true, ";": true, "!": true, ")": true}

// timesPer reads "twice a week", "3 times per day", "once every two weeks".
func (p *parser) timesPer(k int) (f fragment, ok bool) {
	n := 0
	switch x := &p.items[k]; {
	case x.is&count != 0:
		n, k = x.n, k+1
	case p.number(k) > 0 && p.is(k+1, times):
		n, k = p.number(k), k+2
	case len(x.low) > 1 && x.low[len(x.low)-1] == 'x' && x.low[0] >= '1' && x.low[0] <= '9' && len(x.low) == 2:
		n, k = int(x.low[0]-'0'), k+1
	default:
		return f, false
	}
	if p.low(k) == "-" {
		k++
	}
	f.strength = strong
	switch {
	case p.is(k, every) && !p.is(k, per), p.is(k, every) && p.is(k+1, numeral|other):
		if f, ok = p.every(k); !ok || f.length.unit == "" || f.part {
			return f, false
		}
	case p.is(k, adverb):
		f.length, f.end = p.items[k].length, k+1
	case p.is(k, per):
		k++
		if p.is(k, on) && !p.is(k, unit) {
			k++
		}
		if !p.is(k, unit) || passing[p.low(k+1)] || p.possessive(k) {
			return f, false
		}
		f.length, f.end = p.items[k].length, k+1
	default:
		return f, false
	}
	f.times = n
	return f, n <= maxTimes
}

// passing are words behind which "once a year" is a time that goes by.
var passing = map[string]bool{
	"has": true, "have": true, "had": true, "passes": true, "passed": true, "is": true, "was": true, "ago": true,
	"goes": true, "ends": true, "old": true, "earlier": true, "later": true,
}

// ending reads "the end of each month", "Anfang jedes Quartals".
func (p *parser) ending(k int) (f fragment, ok bool) {
	if !p.is(k, edge) {
		return f, false
	}
	n := p.items[k].n
	if k++; p.is(k, of) && !p.is(k, every) {
		k++
	}
	if !p.is(k, every) || !p.is(k+1, unit) {
		return f, false
	}
	if f, ok = p.every(k); !ok {
		return f, false
	}
	if n == -1 && f.length == (length{Month, 1}) {
		f.monthDays = []int32{-1}
	}
	return f, true
}

// nthDay reads "first Monday", "1st and 15th", "last day", "3. Mai", "1st of May".
func (p *parser) nthDay(start int) (f fragment, ok bool) {
	nth, k := p.ordinals(start)
	numeric := len(nth) > 0 && p.items[start].number > 0
	if len(nth) == 0 {
		k = start
		if p.is(k, dayWord) && !p.is(k+1, unit) { // el día 15
			k++
		}
		d := p.dayNumber(k)
		if d == 0 {
			return f, false
		}
		nth, numeric = []int32{d}, true
		k = p.behindDay(k)
		if p.is(k, month) || p.is(k, of) && p.is(k+1, month) {
			return p.dayOfMonth(f, nth, k)
		}
		if _, of := p.ofUnit(k); !of {
			return f, false
		}
	}
	switch {
	case k >= len(p.items):
	case p.is(k, month), p.is(k, of) && p.is(k+1, month):
		return p.dayOfMonth(f, nth, k)
	case p.is(k, weekday) && !p.is(k, weekdays):
		f.nth, f.end = nth, k+1
		f.weekdays, f.whole, f.end, _ = p.dayList(k)
		if slices.ContainsFunc(nth, func(n int32) bool { return n > 5 }) {
			return f, false
		}
		return f, true
	case p.is(k, unit) && p.items[k].length == length{Day, 1}:
		if _, of := p.ofUnit(k + 1); !of {
			return f, false
		}
		f.monthDays, f.end = nth, k+1
		return f, true
	case p.is(k, unit) && p.items[k].length == length{Week, 1}: // the first week of each month
		end, of := p.ofUnit(k + 1)
		if !of || !p.is(k+1, every) && !p.is(k+2, every) {
			return f, false
		}
		f.length, f.strength, f.end = p.items[end-1].length, strong, end
		return f, true
	}
	if _, of := p.ofUnit(k); !of && (!numeric || !p.items[start].ordinal) {
		return f, false
	}
	f.monthDays, f.end = nth, k
	return f, true
}

// dayNumber is the day of a month at item k; 0: none.
func (p *parser) dayNumber(k int) int32 {
	if k < len(p.items) && p.items[k].number > 0 && p.items[k].number <= maxMonthDay {
		return int32(p.items[k].number)
	}
	return 0
}

// behindDay is behind the number of a day at item k, and its point.
func (p *parser) behindDay(k int) int {
	if k++; p.low(k) == "." && k+1 < len(p.items) {
		k++
	}
	return k
}

// dayOfMonth goes on at a month, or what it is of.
func (p *parser) dayOfMonth(f fragment, days []int32, k int) (fragment, bool) {
	if !p.is(k, month) {
		k++
	}
	f.monthDays, f.months, f.monthsAt, f.end, f.dated = days, []int32{int32(p.items[k].month)}, p.at(k, k), k+1, true
	return f, true
}

// at are the places of items in the text.
func (p *parser) at(from, last int) [2]int { return [2]int{p.items[from].start, p.items[last].end} }

// days reads weekdays: those that come again by their form, and others as a part of what does.
func (p *parser) days(k int) (f fragment, ok bool) {
	x := &p.items[k]
	if x.is&(working|weekend) != 0 {
		f.weekdays, f.whole = workdays(x.is), true
		f.end, f.list = k+1, x.is&plural != 0
		if !f.list && p.is(k+1, part) && p.is(k+1, plural) {
			f.list = true
		}
	} else if x.is&(weekday|weekdays) != 0 {
		f.weekdays, f.whole, f.end, f.list = p.dayList(k)
	} else {
		return f, false
	}
	next := f.end
	if f.list && p.dayNumber(next) > 0 && (p.items[next].ordinal || p.is(next+1, month)) {
		return fragment{}, false // Sundays 8th, 15th and 22nd
	}
	if p.low(f.end) == "sur" && p.number(f.end+1) > 1 && p.number(f.end+1) <= maxInterval { // un mardi sur deux
		f.length, f.list, f.end = length{Week, p.number(f.end + 1)}, false, f.end+2
		f.strength = strong
	}
	if f.list {
		f.strength = strong
	}
	return f, true
}

// dayList reads "Monday, Wednesday and Friday", "Monday to Friday"; several tells that its form does.
func (p *parser) dayList(k int) (days []int32, whole bool, end int, several bool) {
	isDay := func(k int) bool { return p.is(k, weekday|weekdays) }
	add := func(k int) {
		days = append(days, int32(p.items[k].day))
		several = several || p.is(k, weekdays)
		end = k + 1
	}
	add(k)
	if next := end; p.is(next, to) || p.low(next) == "-" || p.low(next) == "–" {
		if next++; p.is(next, on) && !isDay(next) {
			next++
		}
		if isDay(next) {
			first := days[0]
			add(next)
			for days = days[:1]; days[len(days)-1] != int32(p.items[next].day) && len(days) < 7; {
				days = append(days, (first+int32(len(days))-1)%7+1)
			}
			whole = len(days) > 2
			return sorted(days), whole, end, several || p.partsBehind(end)
		}
	}
	for len(days) < 7 {
		next := end
		for n := 0; n < 3 && (p.low(next) == "," || p.low(next) == "/" || p.low(next) == "&" || p.low(next) == "+" ||
			p.is(next, and) || next > end && p.is(next, on) && !isDay(next)); n++ {
			next++
		}
		if next == end || !isDay(next) {
			break
		}
		add(next)
	}
	return days, false, end, several || p.partsBehind(end)
}

// partsBehind tells whether several times of the day stand at item k: Monday mornings.
func (p *parser) partsBehind(k int) bool { return p.is(k, part) && p.is(k, plural) }

// dated reads "May 3", "May and October", "April to October".
func (p *parser) dated(k int) (f fragment, ok bool) {
	if !p.is(k, month) {
		return f, false
	}
	f.months, f.monthsAt, f.end = p.monthList(k)
	if d := p.dayNumber(f.end); d > 0 && p.lang.english && len(f.months) == 1 {
		f.monthDays, f.end, f.dated = []int32{d}, f.end+1, true
	}
	return f, true
}

// monthList reads months at item k.
func (p *parser) monthList(k int) (months []int32, at [2]int, end int) {
	first := k
	months, end = []int32{int32(p.items[k].month)}, k+1
	if next := end; (p.is(next, to) || p.low(next) == "-" || p.low(next) == "–") && p.is(next+1, month) {
		last := int32(p.items[next+1].month)
		for len(months) < 12 && months[len(months)-1] != last {
			months = append(months, months[len(months)-1]%12+1)
		}
		end = next + 2
		return sorted(months), p.at(first, end-1), end
	}
	for len(months) < 12 {
		next := end
		for n := 0; n < 2 && (p.low(next) == "," || p.is(next, and)); n++ {
			next++
		}
		if next > end && p.is(next, on) && p.is(next+1, month) {
			next++
		}
		if next == end || !p.is(next, month) || p.dayNumber(next+1) > 0 {
			break
		}
		months = append(months, int32(p.items[next].month))
		end = next + 1
	}
	return sorted(months), p.at(first, end-1), end
}

// dayPart reads "morning", "at night".
func (p *parser) dayPart(k int) (f fragment, ok bool) {
	if !p.is(k, part) {
		return f, false
	}
	f.part, f.afternoon, f.end = true, p.items[k].n > 0, k+1
	return f, true
}

// monthOf reads "of the month".
func (p *parser) monthOf(k int) (f fragment, ok bool) {
	if p.is(k, every) {
		return f, false
	}
	end, ok := p.ofUnit(k)
	if !ok || p.is(end-2, every) {
		return f, false
	}
	f.length, f.end = p.items[end-1].length, end
	return f, true
}
