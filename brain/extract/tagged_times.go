package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/tagger"
	reading "orgmem/brain/reader"
	"orgmem/brain/text"
)

const (
	// leastTime is how likely the likeliest word of a date must be a time's, and leastTold how likely it must be that
	// one of the words of its time has a tense: versions, shares and numbers look like times, and have none.
	leastTime = 0.5
	leastTold = 0.6
	// sureTime is from where on a time is one that the calendar is to make something of, though it is written in a way
	// that means something else as often.
	sureTime = 0.5
	// sureTense is from where on the reader's tense counts more than that of the verbs; below it the nearest day is
	// likelier than the reader's.
	sureTense = 0.9
	// citedTense is how likely the tense of a time in quotation marks must be: five in six are an example, a title or
	// what somebody else wrote.
	citedTense = 0.8
	// sureRecurring is from where on a time is one that comes again and again.
	sureRecurring = 0.5
)

// timeAt is the reader's time that a token belongs to.
func (r *reader) timeAt(i int) (reading.Span, bool) {
	for _, s := range r.tagged.in(r.tokens[i].Start, r.tokens[i].End) {
		if s.Type == reading.Time {
			return s, true
		}
	}
	return reading.Span{}, false
}

// saidTense is the tense that the reader gives to the time at token i; untold where it is not sure.
func (r *reader) saidTense(i int) tense { return r.likelyTense(i, sureTense) }

// likelyTense is the reader's tense, if it is at least so likely.
func (r *reader) likelyTense(i int, least float64) tense {
	if s, ok := r.timeAt(i); ok && s.TenseP >= least {
		return tenseOf(s)
	}
	return untold
}

// tenseOf is the reader's tense of a time in words of the clause's.
func tenseOf(s reading.Span) tense {
	switch s.Tense {
	case reading.Past:
		return bygone
	case reading.Present:
		return present
	case reading.Future:
		return coming
	default:
		return untold
	}
}

// surelyTime tells whether the reader is sure that the token at i belongs to a time.
func (r *reader) surelyTime(i int) bool {
	s, ok := r.timeAt(i)
	return ok && s.P >= sureTime && s.Told >= leastTold
}

// dateless tells whether the tokens [from, to) are no date: the reader takes them for no time, or for one that comes
// again and again. A date that gives its year does not recur.
func (r *reader) dateless(from, to int, relative bool) bool {
	quoted := quoted(r, from)
	if street(r, to) {
		return true
	}
	if r.tagged.Tagged == nil {
		return quoted
	}
	if nearDay(r, from, to) {
		return quoted // which the reader does not know, and which can be nothing else
	}
	start, end := r.tokens[from].Start, r.tokens[to-1].End
	if _, time := r.tagged.likeliest(start, end); time < leastTime {
		return true
	}
	never := false
	for _, s := range r.tagged.in(start, end) {
		if s.Type == reading.Time {
			if never = s.Told < leastTold; !never {
				break
			}
		}
	}
	if never && (relative || !tabled(r, start, end)) {
		return true
	}
	if quoted && r.likelyTense(from, citedTense) == untold && relative {
		return true
	}
	if fiscal(r, from, to) {
		return true // whose year that is, is not known
	}
	return relative && slices.ContainsFunc(r.tagged.in(start, end), func(s reading.Span) bool {
		return s.Type == reading.Time && recurs(s)
	})
}

// fiscal tells whether the tokens [from, to) are of a year that is not the calendar's: FY24, FY24/25 Q2, Q1 of FY2018,
// 2019/20.
func fiscal(r *reader, from, to int) bool {
	year := func(i int) bool {
		return i >= 0 && i < len(r.lows) && (strings.HasPrefix(r.lows[i], "fy") || r.lows[i] == "fiscal")
	}
	for i := from; i < to; i++ {
		if year(i) {
			return true
		}
	}
	digits := func(i int) bool { return i >= 0 && i < len(r.tokens) && r.tokens[i].Kind == tagger.Number }
	if to < len(r.lows) && r.lows[to] == "/" && digits(to-1) && digits(to+1) && len(r.lows[to+1]) == 2 &&
		len(r.lows[to-1]) == 4 {
		return true
	}
	if to+2 < len(r.lows) && r.lows[to] == "of" && year(to+2) { // H2 of last fiscal year
		return true
	}
	return year(from-1) || year(to) || to < len(r.lows) && r.lows[to] == "of" && year(to+1) ||
		from > 2 && digits(from-1) && r.lows[from-2] == "/" && year(from-3)
}

// street tells whether the token at i makes an address of what stands before it: 12 May Street.
func street(r *reader, i int) bool {
	return i < len(r.tokens) && !r.tokens[i].First && r.capital(i) && streets[r.lows[i]]
}

var streets = text.Set(`street road avenue ave lane drive square place close crescent terrace court st rd hill gardens`)

// quoted tells whether token i stands in quotation marks: what is cited there is no date mostly.
func quoted(r *reader, i int) bool {
	at := r.tokens[i].Start
	from, to := max(0, at-maxQuoted), min(len(r.text), at+maxQuoted)
	whole := from == 0 // what stands before it in its line is seen
	if n := strings.LastIndexByte(r.text[from:at], '\n'); n >= 0 {
		from, whole = from+n+1, true
	}
	before, behind := r.text[from:at], r.text[at:to]
	if n := strings.IndexByte(behind, '\n'); n >= 0 {
		behind = behind[:n]
	}
	if strings.LastIndex(before, "“") > strings.LastIndex(before, "”") {
		return strings.Contains(behind, "”")
	}
	return whole && strings.Count(before, `"`)%2 == 1 && strings.Contains(behind, `"`)
}

// maxQuoted is how many bytes before and behind a date quotation marks are looked for.
const maxQuoted = 300

func recurs(s reading.Span) bool { return s.Tense == reading.Recurring && s.TenseP >= sureRecurring }
