package insight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/claim"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
)

const (
	// leastBack is on how many days a thing has to come up to come back, and
	// leastRegular to be regular; leastSaid where the text itself says that it does.
	leastBack    = 3
	leastRegular = 3
	leastSaid    = 2
	// weekdayShare is which share of the days of what is regular is one day of the week,
	// and weekdayBase the share of all notes on that day from which on nothing is shown:
	// where all is written on Mondays, all is regular.
	weekdayShare, weekdayBase = 0.85, 0.45
	// everyday is the share of all days beyond which a thing is what the notes are about.
	everyday = 0.6
	// leastTheme is on how many days a thing comes up that is shown for that alone, on
	// themeShare of all at least, leastPair a thing of two words, and maxThemes how many
	// such are shown: of them a reader knows most already.
	leastTheme, leastPair, maxThemes = 6, 4, 2
	themeShare                       = 0.18
	// undated is over how few days all notes may be spread for each of them to be an
	// occasion of its own: they were brought in without their times.
	undated = 2
	// near is how many words may stand between the two words of a thing.
	near = 3
	// maxTerms bounds the things of one note that are counted.
	maxTerms = 400
)

// term is a word, or two that stand beside each other, by their stems.
type term struct{ a, b string }

// seen is where a term stands.
type seen struct {
	line     int // among all
	from, to int // words
}

// mark is how clearly a sentence says that something comes back: 2 by itself ("the third
// time"), 1 with what it stands beside ("again").
func (l *line) mark() int {
	best := 0
	if l.asks || len(l.words) > maxSaid {
		return 0
	}
	for i := range l.words {
		switch f := l.form(i); {
		case f == "keep" || f == "keeps" || f == "kept" || f == "keeping":
			if repeats[l.form(i+1)] && !wishes[l.form(i-1)] {
				best = 2
			}
		case ordinals[f] && (l.form(i+1) == "time" || l.form(i+1) == "one" || l.form(i+1) == "request" ||
			l.form(i+1) == "reminder" || l.form(i+1) == "complaint" || l.form(i+1) == "failure" || l.form(i+1) == "this"),
			ordinals[f] && l.any(i+1, i+4, text.Set("month week year autumn spring summer winter")):
			best = 2
		case l.saysAny(i, oftens) != "":
			best = 2
		case f == "again" && !(l.broken(i) && i+1 < len(l.words) && l.broken(i+1)) && !mended[l.form(i-1)] &&
			!greetings[l.form(i+1)] && !l.any(i-4, i, greetings):
			best = max(best, 1)
		case l.says(i, "once more"), l.says(i, "the same as"), f == "twice", f == "repeatedly", f == "constantly":
			best = max(best, 1)
		}
	}
	return best
}

var oftens = phrasesOf("again and again", "time and again", "yet again", "every time", "each time", "another one",
	"over and over", "once again")

var (
	// repeats are what things and people keep doing that is a nuisance, or a wish.
	repeats = text.Set(`asking breaking failing crashing coming losing dropping jamming leaking forgetting stopping getting
happening falling freezing ringing calling complaining wanting changing returning blinking overheating disappearing
waking coughing arriving missing running tripping slipping`)
	// wishes make a "keep" an encouragement.
	wishes = text.Set("i we you to let 's just please and will must should can 'll would us")
	// greetings stand around an "again" of courtesy.
	greetings = text.Set("thanks thank see meet hope soon remind welcome hello hi sorry congrats")
)

// mended words stand in front of an "again" that tells of an end.
var mended = text.Set("back open opens works work working fine running runs up green normal well better ok okay " +
	"complete " +
	"whole free happy friends")

var ordinals = text.Set("third fourth fifth sixth seventh eighth ninth tenth 3rd 4th 5th 6th 7th")

// recurrences are what comes up again and again: with a word of its own that it does, or
// on one day of the week.
func (g *gatherer) recurrences() []Candidate {
	at := map[term][]seen{}
	names := map[string]int{} // how often a stem is written as a name inside of a sentence
	uses := map[string]int{}
	for i := range g.lines {
		l := &g.lines[i]
		counted := 0
		for k := range l.words {
			w := &l.words[k]
			if k > 0 && w.Kind == claim.Content {
				uses[stemOf(w)]++
				if w.Name && !inner(g.notes[l.note].Text[w.Start:w.End]) {
					names[stemOf(w)]++
				}
			}
			if !topical(w) || counted > maxTerms {
				continue
			}
			a := stemOf(w)
			at[term{a, ""}] = append(at[term{a, ""}], seen{i, k, k + 1})
			counted++
			for j := k + 1; j < len(l.words) && j <= k+near && !l.broken(j); j++ {
				if x := &l.words[j]; topical(x) && stemOf(x) != a {
					t := term{min(a, stemOf(x)), max(a, stemOf(x))}
					at[t] = append(at[t], seen{i, k, j + 1})
					counted++
				}
			}
		}
	}
	days, sources := map[int64]bool{}, map[int64]bool{}
	w := when{occasion: func(n *temporal.Note) int64 { return floorDay(n.AtMs) }, dated: true}
	for i := range g.notes {
		sources[int64(g.notes[i].Source)] = true
		if d := floorDay(g.notes[i].AtMs); !days[d] {
			days[d] = true
			w.byWeekday[weekdayOf(d)]++
		}
	}
	w.all = len(days)
	if len(days) <= undated {
		w = when{occasion: func(n *temporal.Note) int64 { return int64(n.Source) }, all: len(sources)}
	}
	isName := func(s string) bool { return names[s]*2 > uses[s] || g.people[s] }
	var found []Candidate
	for _, t := range slices.SortedFunc(keys(at), func(x, y term) int {
		return cmp.Or(cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	}) {
		places := at[t]
		if len(places) < leastSaid {
			continue
		}
		if t.b == "" && (isName(t.a) || vague[t.a]) || isName(t.a) && isName(t.b) {
			continue
		}
		if c, ok := g.recurrence(t, places, &w, isName); ok {
			found = append(found, c)
		}
	}
	// Of two words that mostly stand together the pair tells more.
	found = slices.DeleteFunc(found, func(c Candidate) bool {
		return len(c.About) == 1 && slices.ContainsFunc(found, func(o Candidate) bool {
			return len(o.About) == 2 && slices.Contains(o.About, c.About[0]) && 2*o.Grounds.Days >= c.Grounds.Days &&
				(o.comesBack() || !c.comesBack())
		})
	})
	slices.SortStableFunc(found, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Grounds.Form, a.Grounds.Form), slices.Compare(a.About, b.About))
	})
	// One finding for what stands in the same notes.
	var out []Candidate
	themes := 0
	for _, c := range found {
		if !c.comesBack() {
			if themes++; themes > maxThemes {
				continue
			}
		}
		if !slices.ContainsFunc(out, func(o Candidate) bool {
			n := 0
			for _, k := range c.Notes {
				if slices.Contains(o.Notes, k) {
					n++
				}
			}
			return 2*n >= len(c.Notes) || shared(asSet(o.About), asSet(c.About)) > 0 && 3*n >= len(c.Notes)
		}) {
			out = append(out, c)
		}
	}
	return out
}

// vague are the stems of words that say too little to stand for a thing alone.
var vague = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`call work talk chat plan list note idea place people man woman side word name number
line point case problem question answer change person kind sort form team group issue hour minute phone mail email
message file page job offer price order visit letter help hand head money`) {
		m[claim.Stem(w)] = true
	}
	return m
}()

// comesBack tells whether the text says so, or the calendar; else it only comes up often.
func (c *Candidate) comesBack() bool { return c.Grounds.Marked > 0 || c.Grounds.Regular }

func keys(m map[term][]seen) func(func(term) bool) {
	return func(yield func(term) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// topical tells whether a word can be what notes come back to.
func topical(w *word) bool {
	if w.Kind != claim.Content || len(w.Form) < 3 || empty[w.Form] || courtesies[w.Form] ||
		w.Form[0] >= '0' && w.Form[0] <= '9' {
		return false
	}
	switch classOf(w.Form).Part() {
	case tagger.Adverb, tagger.Function, tagger.Calendar, tagger.Numeral, tagger.Honorific, tagger.Expression, tagger.Unit:
		return false
	default:
		return true
	}
}

// courtesies are what people say to each other on every occasion.
var courtesies = text.Set(`congrats congratulations congratulation cheers hello hi hey bye goodbye welcome wow awesome
	amazing lovely hug hugs haha lol yay hooray sorry wishes greetings regards morning`)

// inner tells whether a word has a capital inside, as code has.
func inner(s string) bool {
	for i, c := range s {
		if i > 0 && unicode.IsUpper(c) {
			return true
		}
	}
	return false
}

// nominal tells whether a word can be a thing.
func nominal(form string) bool {
	switch classOf(form).Part() {
	case tagger.Verb, tagger.Past, tagger.Adjective, tagger.Adverb, tagger.Function:
		return false
	case tagger.Gerund:
		return events[form]
	default:
		return true
	}
}

// events are gerunds that are things.
var events = text.Set("meeting training briefing hearing booking planning building reading wedding painting outing " +
	"cleaning swimming singing running recording screening parking")

// when is what makes one occasion: a day, or a note where the days are not known.
type when struct {
	occasion  func(*temporal.Note) int64
	dated     bool
	all       int    // occasions
	byWeekday [7]int // the days, where these are the occasions
}

func (g *gatherer) recurrence(t term, places []seen, w *when, isName func(string) bool) (c Candidate, ok bool) {
	on := map[int64]bool{}
	var week [7]int
	marked := 0
	strong := false
	things, names, both, heads, alone, code := 0, 0, 0, 0, 0, false
	var notes []int
	for _, p := range places {
		l := &g.lines[p.line]
		first, second := nominal(l.form(p.from)), nominal(l.form(p.to-1))
		if first || second {
			things++
		}
		if first && second {
			both++
		}
		if g.named(l, p.from) || l.place == 0 && p.from < 2 {
			names++
		}
		code = code || t.b == "" && inner(l.between(p.from, p.to))
		if l.place == 0 && p.from < 3 {
			heads++
			if p.to == len(l.words) || l.broken(p.to) {
				alone++
			}
		}
		if d := w.occasion(l.of); !on[d] {
			on[d] = true
			week[weekdayOf(d)]++
		}
		if !slices.Contains(notes, l.note) {
			notes = append(notes, l.note)
			m := l.back
			if l.place+1 < len(g.of[l.note]) { // "That was the fourth one."
				if next := &g.of[l.note][l.place+1]; next.back == 2 || next.back == 1 && len(next.stems(0, len(next.words))) <= 2 {
					m = max(m, next.back)
				}
			}
			if m > 0 {
				marked++
			}
			strong = strong || m == 2
		}
	}
	if 3*things < 2*len(places) || t.b == "" && 2*names < len(places) {
		return c, false
	}
	days := len(on)
	day := 0
	for d := range week {
		if week[d] > week[day] {
			day = d
		}
	}
	pair := t.b != ""
	// What is regular heads its notes: "Staff meeting. …"
	regular := w.dated && days >= leastRegular && float64(week[day]) >= weekdayShare*float64(days) &&
		float64(w.byWeekday[day]) <= weekdayBase*float64(w.all) &&
		3*heads >= 2*len(notes) && (days > leastRegular || week[day] == days && alone >= days)
	sure := pair && !vague[t.a] && !vague[t.b] // corner cases in three places are three things
	back := days >= leastBack && (marked >= 2 || marked >= 1 && (sure || days > leastBack && 2*heads >= len(notes))) ||
		days >= leastSaid && strong && marked >= 2
	back = back && 4*marked >= days
	theme := !regular && !back && !g.conversation && !g.long &&
		(pair && days >= leastPair || days >= leastTheme && float64(days) >= themeShare*float64(w.all))
	if float64(days) > everyday*float64(w.all) && !regular && marked < 3 {
		back, theme = false, false
	}
	if !regular && !back && !theme {
		return c, false
	}
	if theme {
		return g.recurring(t, places, notes, "Comes up often: "+strings.TrimRight(g.surface(places), ".!"), w, Grounds{
			Form: 0.5 + 0.01*float64(min(days, 9)), Named: pair, Concrete: 1, Days: days, Marked: 0,
		}), true
	}
	form := 0.3 + 0.06*float64(min(days, 7)) + 0.07*float64(min(marked, 3))
	if strong {
		form += 0.05
	}
	if pair || code {
		form += 0.12
	}
	form += 0.02*float64(both)/float64(len(places)) + 0.01*float64(things)/float64(len(places))
	if regular {
		form += 0.1
	}
	if isName(t.a) || isName(t.b) {
		form -= 0.05
	}
	name := g.surface(places)
	title := "Keeps coming back: " + strings.TrimRight(name, ".!")
	if regular && 2*marked <= days {
		title = sentence(name) + ", " + rhythm(on, day)
	}
	return g.recurring(t, places, notes, title, w, Grounds{
		Form: min(form, 0.95), Named: pair, Concrete: 1, Words: len(strings.Fields(name)), Days: days, Marked: marked,
		Regular: regular,
	}), true
}

// recurring makes a candidate of what comes up in notes.
func (g *gatherer) recurring(t term, places []seen, notes []int, title string, w *when, grounds Grounds) Candidate {
	first, last := &g.lines[places[0].line], &g.lines[places[len(places)-1].line]
	detail := fmt.Sprintf("In %d notes: %s", grounds.Days, quote(said(first.of, first.span)))
	if w.dated {
		detail = fmt.Sprintf("On %d days from %s to %s: %s", grounds.Days, dayOf(first.of.AtMs), dayOf(last.of.AtMs),
			quote(said(first.of, first.span)))
	}
	if last.note != first.note {
		detail += " … " + quote(said(last.of, last.span))
	}
	stems := []string{t.a}
	if t.b != "" {
		stems = append(stems, t.b)
	}
	notes = slices.Clone(notes)
	slices.Reverse(notes) // the newest first
	if len(notes) > MaxNodes {
		notes = append(notes[:MaxNodes-1:MaxNodes-1], first.note)
	}
	return Candidate{
		Kind: KindRecurrence, Title: text.Truncate(title, maxName), Detail: detail, About: stems, AtMS: last.of.AtMs,
		Notes: notes, Grounds: grounds,
	}
}

// named tells whether word i stands as the name of a thing does: behind an article or such,
// at the head of a clause, or in front of what is said of it.
func (g *gatherer) named(l *line, i int) bool {
	f := l.form(i)
	for _, end := range []string{"ly", "able", "ible", "ful", "ous"} {
		if strings.HasSuffix(f, end) {
			return false
		}
	}
	before, behind := l.form(i-1), l.form(i+1)
	return l.broken(i) || determiners[before] || before == "a" || before == "an" || before == "no" ||
		before == "another" || before == "of" || before == "with" || before == "for" || before == "on" ||
		behind == "is" || behind == "was" || behind == "are" || behind == "were" || behind == "has" ||
		behind == "again" || behind == "of"
}

// surface is how a thing is called most often, the shortest of these.
func (g *gatherer) surface(places []seen) string {
	counts := map[string]int{}
	for _, p := range places {
		l := &g.lines[p.line]
		counts[strings.ToLower(plain(l.between(p.from, p.to)))]++
	}
	best := ""
	for _, p := range places {
		l := &g.lines[p.line]
		from, to := p.from, p.to
		for l.gap(to) == "-" {
			to++
		}
		for l.gap(from) == "-" {
			from--
		}
		s := plain(l.between(from, to))
		if best == "" || cmp.Or(cmp.Compare(counts[strings.ToLower(s)], counts[strings.ToLower(best)]),
			cmp.Compare(len(best), len(s))) > 0 {
			best = s
		}
	}
	return best
}

var weekdayNames = strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

// rhythm says how often: every Monday, every second Monday, mostly on Mondays.
func rhythm(on map[int64]bool, day int) string {
	var days []int64
	for d := range on {
		if weekdayOf(d) == day {
			days = append(days, d)
		}
	}
	slices.Sort(days)
	gaps := map[int64]int{}
	for i := 1; i < len(days); i++ {
		gaps[days[i]-days[i-1]]++
	}
	most := 2 * (len(days) - 1)
	switch {
	case len(days) == len(on) && 3*gaps[7] >= most:
		return "every " + weekdayNames[day]
	case len(days) == len(on) && 3*gaps[14] >= most:
		return "every second " + weekdayNames[day]
	}
	return "mostly on " + weekdayNames[day] + "s"
}

// floorDay is the day of a time, counted from 1970.
func floorDay(ms int64) int64 {
	d := ms / dayMS
	if ms%dayMS < 0 {
		d--
	}
	return d
}

// weekdayOf is the day of the week of a day, Monday 0.
func weekdayOf(day int64) int { return int(((day+3)%7 + 7) % 7) }
