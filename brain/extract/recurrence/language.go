package recurrence

import (
	"strconv"
	"strings"
)

// kind says what a word can be; a word may be several things.
type kind uint32

const (
	every    kind = 1 << iota // begins "every Monday", "tous les mois"
	other                     // every other
	numeral                   // two
	ordinal                   // second; -1 is the last
	weekday                   // Monday
	weekdays                  // Mondays, montags: comes again by its form
	month                     // May
	unit                      // week
	adverb                    // weekly
	working                   // weekday: Monday to Friday
	weekend                   // Saturday and Sunday
	yearly                    // summer, Christmas: once a year
	count                     // twice
	times                     // behind a number: three times
	per                       // twice a week
	of                        // the first of the month
	on                        // what may stand between fragments
	at                        // in front of a clock
	beside                    // in front of a clock that something is before or after
	from                      // in front of a range
	to                        // inside of one
	and                       // between two of a list
	except                    // every day except Friday
	part                      // morning
	hour                      // o'clock, Uhr
	clock                     // noon
	edge                      // the end of each month
	negation                  // never on Sundays
	binding                   // since, until, next: what follows is a date of its own
	plural                    // with part, working and weekend: mornings
	dayWord                   // day 15, el día 15
	needed                    // it takes a capital: May, Sun
)

// The units, in the order of their lengths.
const (
	Hour  = "hour"
	Day   = "day"
	Week  = "week"
	Month = "month"
	Year  = "year"
)

// length is a number of units.
type length struct {
	unit string
	n    int
}

// word is what is known of one.
type word struct {
	is     kind
	n      int // of a numeral, an ordinal, a count; the minute of a clock; 12 of an afternoon
	day    int // 1 is Monday
	month  int
	length length
}

// language are the words of one. A phrase of several words is one entry.
type language struct {
	words map[string]word
	long  map[string]bool // the first words of phrases
	// counted has an "every" that stands in front of numbers only ("alle zwei Wochen"; "alle" by itself is "all"): 1. One
	// that may stand alone and means every other ("om de week") has a 2.
	counted          map[string]int
	english, romance bool
}

// languages are those whose words are known, English first.
var languages = []*language{
	englishWords.build(), german, frenchWords.build(), spanishWords.build(), italianWords.build(),
	portugueseWords.build(), dutchWords.build(),
}

var german = germanWords.build()

// tables are the words of a language. In a list of lists "|" parts the lists, and a word with "_" is a phrase. Large
// because it has a field for each kind of word, which is all that it is.
type tables struct {
	every, counted, skipping, other, numbers, ordinals, last, days, plurals, abbreviated, months string
	units, adverbs, working, workings, weekend, weekends, yearly                                 string
	counts, times, per, of, on, at, beside, from, to, and, except                                string
	parts, afternoons, partsPlural, hours, noon, midnight, edges, ends                           string
	negations, bindings, dayWords                                                                string
	english, romance, compounds                                                                  bool
}

// of builds a language.
func (t *tables) build() *language {
	l := &language{
		words: map[string]word{}, long: map[string]bool{}, counted: map[string]int{},
		english: t.english, romance: t.romance,
	}
	add := func(words string, is kind, set func(*word)) {
		for w := range strings.FieldsSeq(words) {
			w = strings.ReplaceAll(w, "_", " ")
			if first, _, ok := strings.Cut(w, " "); ok {
				l.long[first] = true
			}
			x := l.words[w]
			x.is |= is
			if set != nil {
				set(&x)
			}
			l.words[w] = x
		}
	}
	numbered := func(lists string, is kind, set func(w *word, n int)) {
		if lists == "" {
			return
		}
		for i, words := range strings.Split(lists, "|") {
			add(words, is, func(w *word) { set(w, i+1) })
		}
	}
	n := func(w *word, n int) { w.n = n }
	day := func(w *word, n int) { w.day = n }
	numbered(t.numbers, numeral, n)
	numbered(t.ordinals, ordinal, n)
	add(t.last, ordinal, func(w *word) { w.n = -1 })
	numbered(t.months, month, func(w *word, n int) { w.month = n })
	if t.english {
		add("jan feb mar march apr may jun jul aug sep sept oct nov dec", needed, nil)
	}
	numbered(t.days, weekday, day)
	numbered(t.abbreviated, weekday|needed, day)
	numbered(t.plurals, weekdays, day)
	if t.compounds {
		t.compose(l, day)
	}
	lengths := func(lists string, is kind) {
		for i, words := range strings.Split(lists, "|") {
			add(words, is, func(w *word) { w.length = unitLengths[i] })
		}
	}
	lengths(t.units, unit)
	lengths(t.adverbs, adverb)
	add(t.counted, every, nil)
	for w := range strings.FieldsSeq(t.counted) {
		l.counted[strings.ReplaceAll(w, "_", " ")] = 1
	}
	add(t.skipping, every, nil)
	for w := range strings.FieldsSeq(t.skipping) {
		l.counted[strings.ReplaceAll(w, "_", " ")] = 2
	}
	numbered(t.counts, count, n)
	add(t.afternoons, part, func(w *word) { w.n = noonMinute / minutesPerHour })
	add(t.noon, clock, func(w *word) { w.n = noonMinute })
	add(t.midnight, clock, func(w *word) { w.n = 0 })
	add(t.ends, edge, func(w *word) { w.n = -1 })
	for _, x := range []struct {
		words string
		is    kind
	}{
		{t.every, every},
		{t.other, other},
		{t.working, working},
		{t.workings, working | plural},
		{t.weekend, weekend},
		{t.weekends, weekend | plural},
		{t.yearly, yearly},
		{t.times, times},
		{t.per, per},
		{t.of, of},
		{t.on, on},
		{t.at, at},
		{t.beside, beside},
		{t.from, from},
		{t.to, to},
		{t.and, and},
		{t.except, except},
		{t.parts, part},
		{t.partsPlural, part | plural},
		{t.hours, hour},
		{t.edges, edge},
		{t.negations, negation},
		{t.bindings, binding},
		{t.dayWords, dayWord},
	} {
		add(x.words, x.is, nil)
	}
	return l
}

// compose adds the weekdays that are written together with a time of the day: Montagabend, maandagavond. What is said
// of several has an ending.
func (t *tables) compose(l *language, day func(*word, int)) {
	for i, words := range strings.Split(t.days, "|") {
		for d := range strings.FieldsSeq(words) {
			for p := range strings.FieldsSeq(t.parts + " " + t.afternoons) {
				x := l.words[d+p]
				x.is |= weekday
				day(&x, i+1)
				l.words[d+p] = x
				for _, end := range []string{"s", "en"} {
					x.is = weekdays
					l.words[d+p+end] = x
				}
			}
		}
	}
}

// unitLengths are those of the lists of units and adverbs, in their order.
var unitLengths = [...]length{
	{Hour, 1}, {Day, 1}, {Week, 1}, {Week, 2}, {Month, 1}, {Month, 3}, {Month, 6}, {Year, 1}, {Year, 2},
}

const (
	minutesPerHour = 60
	noonMinute     = 12 * minutesPerHour
	minutesPerDay  = 24 * minutesPerHour
	maxMonthDay    = 31
	// maxTimes is the most of "n times a day": a larger one is a measure, of breaths or of beats.
	maxTimes = 24
	// maxInterval is the largest n of "every n-th": a larger one is a number of something else.
	maxInterval = 100
)

// ordinalNumber reads 15th, 1st, 1er, 2e and 3ª.
func ordinalNumber(s string) (int, bool) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == 0 || end > 2 {
		return 0, false
	}
	switch s[end:] {
	case "st", "nd", "rd", "th", "er", "ère", "e", "ème", "º", "ª", "°", "o", "a", "ste", "de":
	default:
		return 0, false
	}
	n, err := strconv.Atoi(s[:end])
	return n, err == nil && n > 0 && n <= maxMonthDay
}
