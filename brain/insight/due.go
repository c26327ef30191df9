package insight

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"orgmem/brain/claim"
	"orgmem/brain/extract"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
)

const (
	// longest is how long a period may be that something is due in: "in spring" is no
	// day to put into a calendar.
	longest = 10 * dayMS
	// promised is how long a promise without a day stays one: who has not kept it, nor
	// said it again, has dropped it.
	promised = 60 * dayMS
)

var (
	// binding words say that it has to be by then, occasions that it is then.
	binding = phrasesOf("due", "deadline", "must", "need", "needs", "have to", "has to", "expires", "expire", "ends",
		"end on", "runs out", "run out", "at the latest", "will", "shall", "up for renewal", "want our answer",
		"wants our answer", "wants to have", "answer by", "says", "deliver")
	occasions = phrasesOf(
		"is on", "are on", "is planned", "are planned", "planned for", "is set", "set for", "announced", "scheduled",
		"takes place", "comes", "come on", "arrives", "starts", "start on", "begins", "booked",
		"appointment", "moved to", "moves to", "postponed to", "goes out", "go out", "slot on", "launch", "opens", "closes",
		"delivered", "here on", "visit", "be on", "moved", "moves", "in on", "put in",
		"look at", "looks at", "meets", "meet on", "flies", "leaves", "is back",
	)
	// untilDue is with what something is due that is to be done until a day.
	untilDue = phrasesOf("must", "need", "needs", "have to", "has to", "have until", "has until", "want our answer",
		"accept", "accepts", "open until", "possible until")
	// loose words leave it open whether it will be.
	loose = phrasesOf("maybe", "perhaps", "might", "could", "if", "would", "i guess", "probably", "hope", "hopefully",
		"i think", "some day", "either", "whether", "until then", "or not")
	// finished words say that something is done.
	finished = text.Set(`done sent finished delivered paid signed completed fixed called cancelled canceled here over
		arrived
came settled handed submitted published released launched shipped repaired returned installed renewed out happened
accepted agreed booked ready`)
	// partly says that it is not quite.
	partly = text.Set("half almost nearly partly percent not tomorrow next will still except missing first")
)

// dues are what is to be done, or will be, on a day that is named, and what was promised
// without one. changes are those that were found: they tell of new days.
func (g *gatherer) dues(changes []Candidate) []Candidate {
	var out []Candidate
	for i := range g.lines {
		l := &g.lines[i]
		if l.asks {
			continue
		}
		dated := false
		for _, d := range l.datesAhead() {
			if c, ok := g.due(l, d); ok {
				if dated = true; !g.done(l, &c) {
					out = append(out, c)
				}
			}
		}
		if dated {
			continue
		}
		if c, ok := g.commitment(l); ok && !g.done(l, &c) {
			out = append(out, c)
		}
	}
	return g.latestDue(out, changes)
}

// ahead is a date of a sentence that lies ahead of it, and which words it stands in.
type ahead struct {
	temporal.Date
	from, to int
}

// datesAhead are those that lie ahead; of a move only the day that something is moved to.
func (l *line) datesAhead() (all []ahead) {
	for _, x := range l.of.Dates {
		if x.Span.Start < l.span.Start || x.Span.End > l.span.End || x.UntilMs == math.MaxInt64 || x.UntilMs <= l.of.AtMs ||
			x.FromMs != math.MinInt64 && x.FromMs+dayMS <= l.of.AtMs {
			continue
		}
		f, t := -1, 0
		for i := range l.words {
			if int(l.words[i].Start) >= x.Span.Start && int(l.words[i].End) <= x.Span.End {
				if f < 0 {
					f = i
				}
				t = i + 1
			}
		}
		if f < 0 {
			continue
		}
		moved := l.any(0, f, moves) && l.any(f, t, text.Set("to until")) && x.FromMs != math.MinInt64 // from a day to another
		if x.FromMs != math.MinInt64 && x.UntilMs-x.FromMs > longest && !moved {
			continue
		}
		all = append(all, ahead{x, f, t})
	}
	if len(all) > 1 && l.any(0, len(l.words), moves) || len(all) > maxDates {
		all = all[len(all)-1:]
	}
	return all
}

// maxDates bounds the days that one sentence names for things to be due: one of more is a
// calendar.
const maxDates = 3

// due reads what a sentence says of a day ahead.
func (g *gatherer) due(l *line, d ahead) (c Candidate, ok bool) {
	from, to := d.from, d.to
	if len(l.words) > maxSaid {
		return c, false
	}
	start := g.head(l, from)
	end := to
	for end < len(l.words) && !l.broken(end) && !subordinate[l.form(end)] && !(l.form(end) == "and" && l.clauseAt(end+1)) {
		end++
	}
	n := l.of
	lead := from - 1 // "by Friday, 27 November", "by the end of"
	for lead > 0 && (weekday(l.form(lead)) || l.form(lead) == "the") {
		lead--
	}
	by := l.form(lead) == "by" || l.form(lead) == "before" ||
		d.FromMs == math.MinInt64 && l.form(from) != "until" && l.form(from) != "till"
	if l.holdsAny(0, len(l.words), loose) {
		return c, false
	}
	form := l.dueForm(start, from, end, by)
	if form == 0 {
		return c, false
	}
	for i := start; i < from; i++ {
		if l.words[i].Not && !by {
			return c, false
		}
	}
	if l.any(start, from, text.Set("was were")) && !l.any(start, len(l.words), moves) {
		return c, false
	}
	stems := l.stems(start, from)
	for s := range l.stems(to, end) {
		stems[s] = true
	}
	title := l.between(start, end)
	if k := l.movedAt(start, from); k > start { // the change says itself that it has moved
		title = l.between(start, k) + ": " + whenOf(d.Date)
	}
	detailSpan := l.span
	first := l.form(start)
	if len(stems) == 0 || first == "it" || first == "they" || first == "he" || first == "she" || first == "this" ||
		first == "that" || first == "comes" || first == "and" || possessives[first] || helpers[first] {
		// What is spoken of stands in front.
		from0 := 0
		if start == 0 && l.place > 0 {
			prev := &g.of[l.note][l.place-1]
			if prev.asks {
				return c, false
			}
			detailSpan.Start = prev.span.Start
			for s := range prev.stems(0, len(prev.words)) {
				stems[s] = true
			}
			title = n.Text[prev.span.Start:prev.span.End] + " " + title
		} else {
			for s := range l.stems(from0, start) {
				stems[s] = true
			}
			title = l.between(from0, end)
		}
	}
	if len(stems) == 0 {
		return c, false
	}
	who := ""
	for k := start; k <= from; k++ {
		if k > start && (helpers[l.form(k)] || verbal(l.form(k))) {
			if name, _, is := g.subject(l, k); is == person || is == speaker || is == group {
				who = name
				break
			}
		}
	}
	long := d.FromMs != math.MinInt64 && d.UntilMs-d.FromMs > dayMS
	detail := "On " + whenOf(d.Date)
	switch {
	case by || form >= 0.8 && !long:
		detail = "By " + dayOf(d.UntilMs-1)
	case long:
		detail = sentence("in " + whenOf(d.Date))
	}
	if who != "" {
		detail += ", " + who
	}
	return Candidate{
		Kind: KindDue, Title: text.Truncate(sentence(title), maxName),
		Detail: detail + ": " + quote(said(n, detailSpan)) + " (" + dayOf(n.AtMs) + ")", Who: who,
		About: keysOf(stems), AtMS: n.AtMs, UntilMS: d.UntilMs, Notes: []int{l.note},
		Grounds: Grounds{Form: form, Named: true, Concrete: len(stems), Words: end - start, Days: 1},
	}, true
}

// dueForm returns how plainly the clause [start, end) says that something is due on the day
// that stands at from, 0 when it does not; by: the day is a deadline.
func (l *line) dueForm(start, from, end int, by bool) float64 {
	clause := func(all phrases) bool { return l.holdsAny(start, end, all) }
	switch {
	case l.form(from) == "until" || l.form(from) == "till": // "is on leave until", which is not due
		if !clause(untilDue) {
			return 0
		}
		return 0.8
	case by && clause(binding):
		return 0.95
	case by:
		return 0.85
	case clause(binding):
		return 0.8
	case clause(occasions):
		return 0.7
	case l.holdsAny(0, len(l.words), binding), l.holdsAny(0, len(l.words), occasions):
		return 0.6
	case len(l.words) <= 8 && !l.any(0, len(l.words), passed):
		return 0.5
	default:
		return 0
	}
}

var (
	// musings are what people say they will do and mean nothing by.
	musings = text.Set(`be have see think know like want need remember try hope wait stay bear guess miss love feel keep
		get go
come stop start believe understand consider wonder live die survive manage cross sleep rest enjoy let pursue continue
become find tell ask talk`)
	idioms = phrasesOf("in mind", "that bridge", "fingers crossed", "in touch", "an eye", "you know", "in memory",
		"good memory", "my best", "our best", "it a go", "it a try", "a look", "you posted", "up the good")
	tasks = []string{"todo", "to do", "action item", "action", "next step", "follow-up", "follow up"}
	// things stand for what was said elsewhere: nothing can be kept of "I will fix it".
	things = text.Set("it that this them those these something anything everything so")
)

// commitment reads that a person will do a thing, without a day.
func (g *gatherer) commitment(l *line) (c Candidate, ok bool) {
	if l.holdsAny(0, len(l.words), loose) || l.holdsAny(0, len(l.words), idioms) {
		return c, false
	}
	for i := range l.words {
		verb := -1
		switch {
		case l.form(i) == "will" || l.form(i) == "shall":
			verb = i + 1
		case l.form(i) == "going" && l.form(i+1) == "to":
			verb = i + 2
		}
		for verb > 0 && adverbs[l.form(verb)] {
			verb++
		}
		if verb < 1 || verb >= len(l.words) || l.words[verb].Not || l.words[verb].Kind == claim.Negation ||
			l.form(verb) == "not" || musings[l.form(verb)] || !l.action(verb) {
			continue
		}
		at := i
		for at > 0 && (l.form(at-1) == "am" || l.form(at-1) == "is" || l.form(at-1) == "are") {
			at--
		}
		who, from, is := g.subject(l, at)
		if is == nobody || is == group || l.form(from) == "we" && who == "" && !l.thing(verb+1, l.object(verb+1)) {
			continue
		}
		to := l.object(verb + 1)
		if to == verb+1 || things[l.form(verb+1)] && to == verb+2 {
			continue
		}
		object := l.stems(verb+1, to)
		if len(object) == 0 || !l.concrete(verb+1, to) {
			continue
		}
		object[stemOf(&l.words[verb])] = true
		n := l.of
		title := sentence(l.between(from, to))
		if is == speaker && who != "" {
			title = who + ": " + plain(l.between(from, to))
		}
		return Candidate{
			Kind: KindCommitment, Title: text.Truncate(title, maxName),
			Detail: "No date is named: " + quote(said(n, l.span)) + " (" + dayOf(n.AtMs) + ")", Who: who,
			About: keysOf(object), AtMS: n.AtMs, UntilMS: n.AtMs + promised, Notes: []int{l.note},
			Grounds: Grounds{
				Form: 0.75, Named: who != "" || is == speaker, Concrete: len(object) - 1, Words: to - from, Days: 1,
			},
		}, true
	}
	s := strings.ToLower(plain(l.of.Text[l.span.Start:l.span.End]))
	s = strings.TrimLeft(s, "-*[] ")
	for _, t := range tasks {
		rest, found := strings.CutPrefix(s, t)
		stems := l.stems(strings.Count(t, " ")+1, len(l.words))
		if !found || !strings.HasPrefix(strings.TrimLeft(rest, " "), ":") || len(stems) < 2 {
			continue
		}
		n := l.of
		return Candidate{
			Kind: KindCommitment, Title: text.Truncate(sentence(l.between(strings.Count(t, " ")+1, len(l.words))), maxName),
			Detail: "No date is named: " + quote(said(n, l.span)) + " (" + dayOf(n.AtMs) + ")",
			Who:    n.Speaker, About: keysOf(stems), AtMS: n.AtMs, UntilMS: n.AtMs + promised, Notes: []int{l.note},
			Grounds: Grounds{Form: 0.85, Named: true, Concrete: len(stems), Words: len(l.words), Days: 1},
		}, true
	}
	return c, false
}

// action tells whether word i can be a verb that does something.
func (l *line) action(i int) bool {
	w := &l.words[i]
	return len(w.Form) > 1 && !helpers[w.Form] && !adverbs[w.Form] && !w.Name
}

// concrete tells whether words name a thing: one with an article or a name among them.
func (l *line) concrete(from, to int) bool {
	for i := from; i < to; i++ {
		if (determiners[l.form(i)] || l.form(i) == "a" || l.form(i) == "an") && i+1 < to && len(l.stems(i+1, to)) > 0 ||
			l.words[i].Name {
			return true
		}
	}
	return len(l.stems(from, to)) > 1
}

// done tells whether something later says that it is.
func (g *gatherer) done(l *line, c *Candidate) bool {
	about := asSet(c.About)
	for i := g.index(l) + 1; i < len(g.lines); i++ {
		o := &g.lines[i]
		if o.asks || o.note == l.note {
			continue
		}
		k := shared(about, g.stems[i])
		if k == 0 {
			continue
		}
		all := len(o.words)
		if o.any(0, all, partly) || o.negated() {
			continue
		}
		ended := o.any(0, all, finished)
		same := false // "rotated" of "rotate", "called" of "call"
		for w := range o.words {
			x := &o.words[w]
			same = same || about[stemOf(x)] && (strings.HasSuffix(x.Form, "ed") || irregular[x.Form] != "") &&
				x.Form != stemOf(x)
		}
		if k >= 2 && (ended || same) || k >= 1 && len(about) <= 2 && all <= 10 && (ended || same) {
			return true
		}
		// A promise without a day is kept, or overtaken, when its things come up in what
		// was done since.
		if c.Kind == KindCommitment && (k >= 2 || k >= 1 && len(about) <= 3 && all <= 12) &&
			!o.any(0, all, text.Set("will should must")) {
			return true
		}
	}
	return false
}

// movedAt is where the verb of a change begins among the words [from, to). It is -1 where no
// such verb stands, and where the verb moves something else than what stands in front of it.
func (l *line) movedAt(from, to int) int {
	for i := from + 1; i < to; i++ {
		if !moves[l.form(i)] || len(l.stems(i+1, to)) > 0 && l.form(i+1) != "from" && l.form(i+1) != "to" {
			continue
		}
		for i > from+1 && (helpers[l.form(i-1)] || adverbs[l.form(i-1)] || l.form(i-1) == "been" || l.form(i-1) == "being") {
			i--
		}
		return i
	}
	return -1
}

var possessives = text.Set("their his her its our my your")

// clauseAt tells whether a clause, and no more of a list, begins at word i.
func (l *line) clauseAt(i int) bool {
	return l.subjectAt(i) || i < len(l.words) && l.words[i].Kind != claim.Number &&
		(verbal(l.form(i)) || verbal(l.form(i+1)) || helpers[l.form(i+2)])
}

func (l *line) negated() bool {
	for i := range l.words {
		if l.words[i].Form == "not" {
			return true
		}
	}
	return false
}

// latestDue keeps of what is due the latest that was said of it: the same thing on the
// same day once, and not on a day that a change has taken it from.
func (g *gatherer) latestDue(all, changes []Candidate) (out []Candidate) {
	for _, c := range all {
		about := asSet(c.About)
		if c.Kind == KindDue {
			moved := slices.ContainsFunc(changes, func(x Candidate) bool {
				return x.AtMS > c.AtMS && shared(about, asSet(x.About)) >= min(2, len(x.About)) &&
					slices.Contains(x.Notes, c.Notes[0])
			})
			if moved {
				continue
			}
		}
		k := slices.IndexFunc(out, func(o Candidate) bool {
			n := shared(about, asSet(o.About))
			return n > 0 && (o.UntilMS == c.UntilMS && c.Kind == o.Kind && 3*n >= min(len(about), len(o.About)) ||
				n == min(len(about), len(o.About)) && n > 1)
		})
		if k < 0 {
			out = append(out, c)
			continue
		}
		o := &out[k]
		if o.UntilMS != c.UntilMS || c.Grounds.Form > o.Grounds.Form { // said anew, for another day, or better
			if o.UntilMS == c.UntilMS && o.Notes[0] != c.Notes[0] {
				c.Notes = append(c.Notes, o.Notes...)
			}
			out[k] = c
		} else if !slices.Contains(o.Notes, c.Notes[0]) {
			o.Notes = append(o.Notes, c.Notes[0])
		}
	}
	slices.SortStableFunc(out, func(a, b Candidate) int { return cmp.Compare(a.UntilMS, b.UntilMS) })
	return out
}

var monthNames = strings.Fields("January February March April May June July August September October November December")

// whenOf is what a text names, as a person reads it: a day, a week, a month, or its first and last day.
func whenOf(d temporal.Date) string {
	last := dayOf(d.UntilMs - 1)
	if d.FromMs == math.MinInt64 {
		return last
	}
	y, m, _ := extract.DayOf(d.FromMs)
	switch temporal.Precision(d.FromMs, d.UntilMs) {
	case temporal.Week:
		return "the week of " + dayOf(d.FromMs)
	case temporal.Month:
		return fmt.Sprintf("%s %d", monthNames[m-1], y)
	}
	if d.UntilMs-d.FromMs > dayMS {
		return "the days from " + dayOf(d.FromMs) + " to " + last
	}
	return last
}

// dayOf is a day as a person reads it.
func dayOf(ms int64) string {
	y, m, d := extract.DayOf(ms)
	return fmt.Sprintf("%d %s %d", d, monthNames[m-1], y)
}
