package claim

import (
	"math"
	"strconv"
	"strings"
)

// unit is what amounts are counted in: of which kind, what its basic form is, and how many of these it has.
type unit struct {
	kind  ValueKind
	basic string
	size  float64
	// calendar: it has no length to the day.
	calendar bool
}

// amount reads a number with what it counts.
func (r *valueReader) amount(i int) (v Value, n int) {
	low, high, n := r.numbers(i)
	if n == 0 {
		return v, 0
	}
	v = Value{Kind: Count, low: low, high: high}
	u, more := r.unitBehind(i, n)
	n += more
	v.Kind, v.unit, v.calendar = u.kind, u.basic, u.calendar
	v.low, v.high = low*u.size, high*u.size
	if u.basic == fahrenheit {
		v.low, v.high, v.unit = celsius(v.low), celsius(v.high), "°"
	}
	if u.kind == Duration && r.form(i+n) == "and" && r.form(i+n+1) == "a" && r.form(i+n+2) == "half" {
		v.low, v.high, n = v.low+u.size/2, v.high+u.size/2, n+3
	}
	if period, m := r.per(i + n); m > 0 && u.kind != Duration && u.kind != Percent { // 300 requests a minute
		if u.basic == "time" {
			return Value{Kind: Frequency, low: low / period.size, high: high / period.size, calendar: period.calendar}, n + m
		}
		v.low, v.high, v.unit, n = v.low/period.size, v.high/period.size, v.unit+"/", n+m
	}
	v.bound, v.about = r.bound(i)
	return v, n
}

// numbers reads a number or a range of two.
func (r *valueReader) numbers(i int) (low, high float64, n int) {
	if digits, other, ok := strings.Cut(r.form(i), "-"); ok { // 2-3
		a, errA := strconv.ParseFloat(digits, 64)
		b, errB := strconv.ParseFloat(other, 64)
		if errA == nil && errB == nil && a < b {
			return a, b, 1
		}
	}
	if low, n = r.number(i); n == 0 {
		return 0, 0, 0
	}
	k := i + n
	if g := strings.TrimSpace(r.gap(k - 1)); g != "–" && g != "-" {
		if to := r.form(k); to != "to" && to != "or" || !r.joined(k-1) {
			return low, low, n
		}
		k++
	}
	if high, m := r.number(k); m > 0 && high > low {
		return low, high, k - i + m
	}
	return low, low, n
}

// number reads one number: in digits, in words, with what it is a multiple of ("10k", "1.2 million"), "a", "half a".
func (r *valueReader) number(i int) (x float64, n int) {
	form := r.form(i)
	if i >= len(r.words) {
		return 0, 0
	}
	switch form {
	case "half":
		if f := r.form(i + 1); f == "a" || f == "an" {
			return 0.5, 2
		}
		return 0, 0
	case "a", "an", "one":
		if f := r.form(i + 1); !isLength(f) && scales[f] == 0 {
			if form == "one" && i+1 < len(r.words) && r.words[i+1].Kind == Content && r.joined(i) {
				return 1, 1
			}
			return 0, 0
		}
		x, n = 1, 1
	case "dozen":
		return 12, 1
	default:
		if form[0] >= '0' && form[0] <= '9' {
			var scaled bool
			if x, n, scaled = r.digits(i); n == 0 || scaled {
				return x, n
			}
		} else if r.words[i].Kind == Number {
			x, n = numerals[form], 1
		} else {
			return 0, 0
		}
	}
	return r.multiples(x, i, n)
}

// digits reads a number in digits; done: nothing can follow it.
func (r *valueReader) digits(i int) (x float64, n int, done bool) {
	digits, suffix := cutNumber(r.form(i))
	if point := strings.Index(digits, "."); r.words[i].Kind == Time || point >= 0 && point < strings.Index(digits, ",") {
		return 0, 0, true // as 1.250,00 is written elsewhere
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	size, scaled := scales[suffix]
	switch {
	case err != nil, suffix != "" && !scaled && units[suffix].size == 0:
		return 0, 0, true
	case scaled:
		return x * size, 1, true
	case len(digits) < len("1000") && r.form(i+1) == "000" && r.gap(i) == " ":
		return x * 1000, 2, true
	}
	return x, 1, suffix != ""
}

// multiples reads on: "twenty five", "two hundred and ten", "1.2 million".
func (r *valueReader) multiples(x float64, i, n int) (float64, int) {
	total := 0.0
	for i+n < len(r.words) && r.joined(i+n-1) {
		form, k := r.form(i+n), n
		if form == "and" && math.Mod(x, 100) == 0 && x > 0 {
			form, k = r.form(i+n+1), n+1
		}
		size, next := scales[form], numerals[form]
		switch {
		case size >= 1000:
			total, x = total+x*size, 0
		case size > 0 && k == n:
			x *= size
		case next > 0 && next < 100 && r.form(i+n-1) != "" && fits(x, next) && spelled(r.form(i+k-1)):
			x += next
		default:
			return total + x, n
		}
		n = k + 1
	}
	return total + x, n
}

// fits tells whether a spelled number may follow another as a part of it: "twenty five", "hundred five".
func fits(x, next float64) bool {
	return x >= 20 && math.Mod(x, 10) == 0 && next < 10 || math.Mod(x, 100) == 0 && x > 0
}

func spelled(form string) bool {
	_, ok := numerals[form]
	return ok || form == "and"
}

// unitBehind is what n words of a number from the i-th on count, and how many words say it behind them.
func (r *valueReader) unitBehind(i, n int) (u unit, more int) {
	last := i + n - 1
	if _, suffix := cutNumber(r.form(last)); suffix != "" && units[suffix].size != 0 {
		return units[suffix], 0
	}
	behind := strings.TrimLeft(r.s[r.words[last].End:], " ")
	before := strings.TrimRight(r.s[:r.words[i].Start], " ")
	for _, s := range signs {
		if s.kind == Money && strings.HasSuffix(before, s.sign) {
			return s.unit, 0
		}
	}
	for _, s := range signs {
		if u := s.unit; strings.HasPrefix(behind, s.sign) {
			if u.basic == "°" && strings.HasPrefix(r.form(last+1), "f") && len(r.form(last+1)) == 1 {
				u.basic, more = fahrenheit, 1
			} else if u.basic == "°" && r.form(last+1) == "c" {
				more = 1
			}
			return u, more
		}
	}
	if u := units[r.form(i-1)]; u.kind == Money && r.joined(i-1) {
		return u, 0
	}
	if last+1 >= len(r.words) || !r.joined(last) {
		return unit{kind: Count, size: 1}, 0
	}
	form := r.form(last + 1)
	if form == "per" && r.form(last+2) == "cent" {
		return unit{kind: Percent, size: 1}, 2
	}
	if u := units[form]; u.size != 0 {
		return u, 1
	}
	if r.words[last+1].Kind == Content && !r.words[last+1].Name {
		return unit{kind: Count, basic: r.words[last+1].Stem, size: 1}, 1
	}
	return unit{kind: Count, size: 1}, 0
}

// per reads the period behind an amount: "a minute", "per day", "/min".
func (r *valueReader) per(i int) (u unit, n int) {
	if f := r.form(i); f == "a" || f == "an" || f == "per" || f == "each" || f == "every" {
		if u := units[r.form(i+1)]; u.kind == Duration {
			return u, 2
		}
	}
	if u := units[r.form(i)]; u.kind == Duration && strings.HasSuffix(strings.TrimRight(r.gap(i-1), " "), "/") {
		return u, 1
	}
	return u, 0
}

// bound reads what is said in front of a number of how exact it is.
func (r *valueReader) bound(i int) (bound int8, about bool) {
	two := r.form(i-2) + " " + r.form(i-1)
	switch {
	case leastWords[r.form(i-1)], leastWords[two]:
		return 1, false
	case mostWords[r.form(i-1)], mostWords[two]:
		return -1, false
	}
	return 0, aboutWords[r.form(i-1)] || strings.HasSuffix(r.gap(i-1), "~")
}

// frequency reads how often something is, as times in a second.
func (r *valueReader) frequency(i int) (v Value, n int) {
	v.Kind = Frequency
	form := r.form(i)
	if times := adverbs[form]; times != 0 { // twice a week
		if u, m := r.per(i + 1); m > 0 {
			v.low, v.calendar, n = times/u.size, u.calendar, 1+m
		}
	} else if u, ok := regular[form]; ok { // weekly
		v.low, v.calendar, n = 1/(u.size*units[u.basic].size), units[u.basic].calendar, 1
	} else if form == "every" || form == "each" {
		x, m := 1.0, 0
		switch r.form(i + 1) {
		case "other", "second":
			x, m = 2, 1
		default:
			if f, k := r.number(i + 1); k > 0 {
				x, m = f, k
			}
		}
		if u := units[r.form(i+1+m)]; u.kind == Duration {
			v.low, v.calendar, n = 1/(x*u.size), u.calendar, 2+m
		}
	}
	v.high = v.low
	return v, n
}

// isLength tells whether a word names a length of time.
func isLength(form string) bool { return units[form].kind == Duration }

const fahrenheit = "°F"

func celsius(f float64) float64 { return (f - 32) / 1.8 }
