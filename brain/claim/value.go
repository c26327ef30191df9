package claim

import (
	"math"
	"slices"
	"strings"
)

// ValueKind is what a value measures or names. Only values of one kind can differ.
type ValueKind uint8

// The kinds of values.
const (
	NoValue   ValueKind = iota
	Count               // how many: 5,000 requests
	Money               // an amount in a currency
	Percent             // a share
	Measure             // a weight, volume, length, temperature, size in bytes, or a dose in one of these
	Duration            // how long
	Frequency           // how often
	Clock               // a time of day
	Weekday             // one or more days of the week
	Date                // a day, month or year, as far as it is said
	Named               // a person, place, organization or product
)

// Value is a quantity, a time or a name, in a form in which what is worded in two ways is the same: "two weeks" and "14
// days", "10k" and "10,000", "noon" and "12:00".
type Value struct {
	Kind ValueKind
	// First and Last are the places of its first and last word among those it was read from.
	First, Last int

	unit      string  // in what it is counted, in its basic form; "" where that is not said
	low, high float64 // the number, or both ends of a range
	bound     int8    // 1: no less than it, −1: no more
	about     bool    // more or less
	calendar  bool    // a duration in months or years, which have no length to the day
	half      bool    // a time of day that may be before or after noon
	days      uint8   // of the week, a bit each, Monday the lowest
	date      date
	name      []string // the stems of its words
}

// date is a day as far as it is said: 0 is left open. The months are a range, for quarters and seasons.
type date struct{ year, from, to, day int }

// Relation is how two values stand to each other.
type Relation uint8

// The relations of values.
const (
	// Incomparable values may both hold: they are of two kinds, in two units, or the one is a bound that the other keeps.
	Incomparable Relation = iota
	// Same values say the same.
	Same
	// Within: the one says the same less precisely, "May" and "3 May".
	Within
	// Apart: no one thing has both.
	Apart
)

// sharp is by which part two numbers may differ and be the same, blurred the same between months and days, and vague
// where one is given only about.
const sharp, blurred, vague = 1e-6, 0.02, 0.15

// Against tells how two values stand to each other. It is symmetric.
func (v *Value) Against(w *Value) Relation {
	if v.Kind != w.Kind || v.Kind == NoValue {
		return Incomparable
	}
	switch v.Kind {
	case Weekday:
		return sets(v.days == w.days, v.days&w.days == v.days || v.days&w.days == w.days)
	case Date:
		return v.date.against(w.date)
	case Named:
		return sets(len(v.name) == len(w.name) && subset(v.name, w.name), subset(v.name, w.name) || subset(w.name, v.name))
	case Clock:
		switch {
		case (v.low == v.high) != (w.low == w.high):
			return Incomparable // a time and a span
		case v.half || w.half:
			return sets(math.Mod(v.low-w.low, noon) == 0 && math.Mod(v.high-w.high, noon) == 0, false)
		}
		return sets(v.low == w.low && v.high == w.high, false)
	case NoValue, Count, Money, Percent, Measure, Duration, Frequency:
	}
	return v.amounts(w)
}

func sets(same, within bool) Relation {
	switch {
	case same:
		return Same
	case within:
		return Within
	}
	return Apart
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// amounts compares two numbers in one unit.
func (v *Value) amounts(w *Value) Relation {
	if v.unit != w.unit && (v.Kind != Count || v.unit != "" && w.unit != "") {
		return Incomparable
	}
	tolerance := sharp
	if v.calendar != w.calendar {
		tolerance = blurred
	}
	if v.about || w.about {
		tolerance = vague
	}
	switch {
	case near(v.low, w.low, tolerance) && near(v.high, w.high, tolerance):
		return Same
	case v.bound != w.bound:
		return Incomparable
	case v.low >= w.low && v.high <= w.high || w.low >= v.low && w.high <= v.high:
		return Within
	}
	return Apart
}

func near(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

func (d date) against(e date) Relation {
	common, more, less := false, false, false
	for _, part := range [][2]int{{d.year, e.year}, {d.day, e.day}} {
		switch {
		case part[0] != 0 && part[1] != 0 && part[0] != part[1]:
			return Apart
		case part[0] != 0 && part[1] != 0:
			common = true
		case part[0] != 0:
			more = true
		case part[1] != 0:
			less = true
		}
	}
	switch {
	case d.from != 0 && e.from != 0 && (d.to < e.from || e.to < d.from):
		return Apart
	case d.from != 0 && e.from != 0:
		common = true
		more, less = more || d.to-d.from < e.to-e.from, less || d.to-d.from > e.to-e.from
	case d.from != 0:
		more = true
	case e.from != 0:
		less = true
	}
	switch {
	case !common:
		return Incomparable // "May" and "the 14th"
	case more || less:
		return Within
	}
	return Same
}

// Values reads the values among the words of a claim on s, in order.
func Values(words []Word, s string) (values []Value) {
	r := valueReader{words: words, s: s}
	for i := 0; i < len(words); i++ {
		v, n := r.valueAt(i)
		if n == 0 {
			continue
		}
		v.First, v.Last = i, i+n-1
		values = append(values, v)
		i += n - 1
	}
	return values
}

// valueReader reads values off words. Its methods give how many words the value has that begins at the i-th, 0 for
// none.
type valueReader struct {
	words []Word
	s     string
}

func (r *valueReader) valueAt(i int) (Value, int) {
	w := &r.words[i]
	if w.Link != 0 {
		return Value{}, 0 // an address says where something is, and not how much it is
	}
	if f := w.Form[0]; w.Kind != Number && w.Kind != Time && (f < '0' || f > '9') && !starters[w.Form] {
		return r.named(i)
	}
	if r.entry(i) {
		return r.named(i)
	}
	v, n := r.timed(i)
	if n == 0 {
		v, n = r.weekday(i)
	}
	if n == 0 {
		v, n = r.frequency(i)
	}
	if n == 0 {
		v, n = r.named(i)
	}
	if n == 0 {
		v, n = r.amount(i)
	}
	return v, n
}

// timed reads a date or a time of day.
func (r *valueReader) timed(i int) (Value, int) {
	if v, n := r.date(i); n > 0 {
		return v, n
	}
	return r.clock(i)
}

// form is the i-th word in lower case, "" beyond the last.
func (r *valueReader) form(i int) string {
	if i < 0 || i >= len(r.words) {
		return ""
	}
	return r.words[i].Form
}

// gap is what stands between the i-th word and the next; behind the last what follows it at once.
func (r *valueReader) gap(i int) string {
	if i < 0 || i >= len(r.words) {
		return ""
	}
	from := int(r.words[i].End)
	if i+1 < len(r.words) {
		return r.s[from:r.words[i+1].Start]
	}
	return r.s[from:min(len(r.s), from+len(" €"))]
}

// joined tells whether nothing but a space or a hyphen stands behind the i-th word.
func (r *valueReader) joined(i int) bool {
	g := r.gap(i)
	return i+1 < len(r.words) && (strings.Trim(g, " ") == "" || g == "-")
}

// named reads a name: words that are written as names, one beside the other, and the number that belongs to them, as in
// "Hall 3" and "version 2"; and #42, which is the name of an entry of a list, and no amount.
func (r *valueReader) named(i int) (v Value, n int) {
	v.Kind = Named
	if r.entry(i) {
		v.name = []string{"#" + r.words[i].Stem}
		return v, 1
	}
	for ; i+n < len(r.words) && (r.isName(i+n) || n == 0 && numbered[r.form(i)]); n++ {
		if n > 0 && !r.joined(i+n-1) && r.gap(i+n-1) != ". " {
			break
		}
		v.name = append(v.name, r.words[i+n].Stem)
	}
	if n > 0 && r.labels(i+n) {
		v.name = append(v.name, r.words[i+n].Stem)
		return v, n + 1
	}
	if n == 1 && !r.isName(i) {
		return v, 0
	}
	return v, n
}

// entry tells whether the i-th word is a number behind #.
func (r *valueReader) entry(i int) bool {
	w := &r.words[i]
	return w.Kind == Number && w.Form[0] <= '9' && w.Start > 0 && r.s[w.Start-1] == '#'
}

// labels tells whether the number at the i-th word belongs to the name in front of it: it is no time and no amount of
// anything with a unit.
func (r *valueReader) labels(i int) bool {
	if i >= len(r.words) || r.words[i].Kind != Number || r.words[i].Form[0] > '9' || r.gap(i-1) != " " {
		return false
	}
	v, n := r.timed(i)
	if n == 0 {
		v, n = r.amount(i)
	}
	return n > 0 && v.Kind == Count
}

// isName tells whether the i-th word is written as a name, or begins the sentence in front of one that is, or of "is".
func (r *valueReader) isName(i int) bool {
	w := &r.words[i]
	if w.Kind != Content || w.Link != 0 {
		return false
	}
	return w.Name || i == 0 && isCapital(r.s[w.Start:]) && len(r.words) > 1 && r.joined(0) &&
		(r.words[1].Name || copulas[r.form(1)] || r.labels(1))
}
