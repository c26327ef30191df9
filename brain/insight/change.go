package insight

import (
	"cmp"
	"slices"
	"strings"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

var (
	// moves are verbs of change with where to.
	moves = text.Set(`moved moves move postponed rescheduled changed changes raised lowered increased reduced cut renamed
shifted delayed extended switched switches switch pushed dropped slipped slips rises rose risen rise falls fell drops
grows grew goes went shrinks migrated migrate migrates brought put`)
	// infinitives are what is to be done, or nouns, unless somebody does it.
	infinitives = text.Set("move switch migrate rise changes")
	// drifts are what goes up and down by itself.
	drifts = text.Set("rises rose risen falls fell drops dropped grows grew shrinks")
	// quantities are those that take a value behind "by", "up" or "down", too.
	quantities = text.Set("raised lowered increased reduced cut rises rose risen falls fell drops dropped grows grew " +
		"goes " +
		"went shrinks extended delayed slipped slips moved postponed")
	// unsure words take a change back: it is wished for, or feared.
	unsure = text.Set("should could would might may maybe perhaps if whether want wants wish suggest suggests suggested " +
		"propose proposes proposed thinking think hopefully almost")
	// passed are forms of be that say what was.
	passed = text.Set("was were used cost")
)

// value tells what sort of value stands in [from, to): a number, a time, a name, or only
// words.
func (l *line) value(from, to int) (number, when, named bool) {
	for i := max(from, 0); i < min(to, len(l.words)); i++ {
		w := &l.words[i]
		number = number || w.Kind == claim.Number || w.Form[0] >= '0' && w.Form[0] <= '9'
		when = when || w.Kind == claim.Time || weekday(w.Form) || w.Form == "may" && w.capital
		named = named || w.Name && w.Kind == claim.Content
	}
	return number, when, named
}

var days = text.Set(`monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays
	fridays
	saturdays sundays`)

func weekday(form string) bool { return days[form] }

// changes are what was otherwise before.
func (g *gatherer) changes() []Candidate {
	var out []Candidate
	for i := range g.lines {
		l := &g.lines[i]
		if l.asks || len(l.words) > maxSaid || l.holds(0, len(l.words), "could you") || l.holds(0, len(l.words), "can you") {
			continue
		}
		c, ok := g.moved(l)
		if !ok {
			c, ok = g.insteadOf(l)
		}
		if !ok {
			c, ok = g.wasAndIs(l)
		}
		if ok {
			out = append(out, c)
		}
	}
	out = append(out, g.factChanges()...)
	return g.latestChange(out)
}

// change makes a candidate of the words [from, to) of a sentence, about the stems.
func (g *gatherer) change(l *line, from, to int, about map[string]bool, form float64) Candidate {
	n := l.of
	number, when, named := l.value(from, to)
	return Candidate{
		Kind: KindChange, Title: text.Truncate(sentence(g.told(l, from, to)), maxName),
		Detail: quote(said(n, l.span)) + " (" + dayOf(n.AtMs) + ")",
		About:  keysOf(about), AtMS: n.AtMs, Notes: []int{l.note},
		Grounds: Grounds{Form: form, Named: number || when || named, Concrete: len(about), Words: to - from, Days: 1},
	}
}

// moved reads "the delivery has been moved to 4 December", "the fee goes from 120 to 135
// pounds", "rent goes up by 4 percent", "we switched from Jenkins to Actions".
func (g *gatherer) moved(l *line) (c Candidate, ok bool) {
	for i := range l.words {
		f := l.form(i)
		if !moves[f] || i == 0 || l.words[i].Not || l.form(i-1) == "to" {
			continue
		}
		from := g.head(l, i)
		if l.any(from, i, unsure) {
			continue
		}
		subject := i
		for subject > from && (helpers[l.form(subject-1)] || adverbs[l.form(subject-1)] || l.form(subject-1) == "been" ||
			l.form(subject-1) == "be" || l.form(subject-1) == "being") {
			subject--
		}
		if subject == from {
			continue
		}
		// "proposal: move the meeting", "changes to the plan"
		if plain := l.form(i - 1); infinitives[f] && plain != "we" && plain != "i" && plain != "they" {
			continue
		}
		end := l.clauseTo(i)
		to, source := l.destination(i, end)
		if to < 0 {
			continue
		}
		if l.holds(to, end, "by") { // "moves the printer to the cellar by 12 June" is to be done
			continue
		}
		number, when, named := l.value(to, end)
		by := l.form(subject - 1)
		own := by == "i" || by == "we" || by == "you"
		who, _, is := g.subject(l, subject)
		active := subject == i // "the dentist moved the appointment to"
		form := 0.85
		about := map[string]bool{}
		switch {
		case drifts[f] && !source && (l.form(to-1) == "to" || !number): // "the temperature fell to 3 degrees"
			continue
		case f == "goes" || f == "went" || f == "put" || f == "brought":
			if !source && l.form(to-1) == "to" || !number && !when {
				continue
			}
		case own || active && is != nobody && who != "":
			// What is moved stands behind: of an appointment only a new time is a change.
			thing := l.stems(i+1, to)
			switch {
			case own && source && len(thing) > 0 && (number || when || named):
			case own && (f == "switched" || f == "migrated" || f == "switch" || f == "moved" || f == "move" ||
				f == "changed") && source:
			case own && (f == "switched" || f == "migrated"):
				form = 0.75
			case (when || number) && (len(thing) > 0 && !own):
			case !own && source:
			case !own && (f == "moved" || f == "moves") && len(thing) == 0 && named:
				form = 0.65
			default:
				continue
			}
		case !number && !when && !named && !source:
			continue
		}
		if f == "put" && l.form(i+1) != "back" && l.form(i+1) != "off" || f == "brought" && l.form(i+1) != "forward" ||
			f == "dropped" && own {
			continue
		}
		for s := range l.stems(from, i) {
			about[s] = true
		}
		for s := range l.stems(i+1, to) {
			about[s] = true
		}
		if number == when && !named && !number && len(about) == 0 {
			continue
		}
		if len(about) == 0 {
			for s := range l.stems(to, end) {
				about[s] = true
			}
		}
		if len(about) == 0 {
			continue
		}
		c := g.change(l, from, g.unto(l, end), about, form)
		g.before(&c, l, when, number)
		return c, true
	}
	return c, false
}

// destination returns where it begins what a verb of moving moves something to, -1 when its
// clause, up to end, does not say; and whether the clause says from where.
func (l *line) destination(i, end int) (to int, source bool) {
	f := l.form(i)
	to = -1
	for k := i + 1; k < end; k++ {
		switch l.form(k) {
		case "from":
			source = true
		case "to", "till", "until":
			if to < 0 && k+1 < end {
				to = k + 1
			}
		case "up", "down", "by":
			if to < 0 && quantities[f] && k+1 < end {
				if n, _, _ := l.value(k+1, end); n {
					to = k + 1
				}
			}
		}
	}
	if to < 0 && quantities[f] && i+2 < len(l.words) { // "the deadline moved two weeks"
		if n, _, _ := l.value(i+1, i+2); n && (empty[l.form(i+2)] || l.form(i+2) == "hours" || l.form(i+2) == "percent") {
			to = i + 1
		}
	}
	return to, source
}

// head is where the clause of a verb begins, without a "but" or "from now on" in front.
func (g *gatherer) head(l *line, i int) int {
	from := i
	for from > 0 && !l.broken(from) && !subordinate[l.form(from-1)] && l.form(from-1) != "that" &&
		l.form(from-1) != "so" && !(l.form(from-1) == "and" && l.subjectAt(from)) {
		from--
	}
	return from
}

// unto is the end of a clause with what hangs on it in a time: "to 4 December" and the
// year behind a comma.
func (g *gatherer) unto(l *line, end int) int {
	if end < len(l.words) && l.gap(end) == ", " && len(l.form(end)) == 4 && l.words[end].Kind == claim.Number {
		end++
	}
	return end
}

// onwards are words for a time from which on something is so.
var onwards = phrasesOf("from now on", "from today", "as of", "from next week", "from next month", "starting today",
	"starting next", "for good", "from this week", "from this month", "since today")

// insteads are what says that something has taken another's place.
var insteads = phrasesOf("instead of", "in place of", "no longer", "rather than", "not any more", "any more",
	"any longer", "than before", "used to", "is history", "are history")

// insteadOf reads "starts at 18:30 instead of 19:00", "on Wednesdays now, not on Tuesdays",
// "it used to be quarterly".
func (g *gatherer) insteadOf(l *line) (c Candidate, ok bool) {
	at, phrase := -1, ""
	for i := range l.words {
		if p := l.saysAny(i, insteads); p != "" {
			at, phrase = i, p
		}
		if at < 0 && l.form(i) == "not" && i > 0 && i+1 < len(l.words) && (l.broken(i) || l.form(i-1) == "and") &&
			!verbal(l.form(i+1)) && !verbal(l.form(i-1)) {
			at, phrase = i, "not"
		}
		if at >= 0 {
			break
		}
	}
	if at < 0 || l.any(0, at, unsure) && !l.any(0, at, text.Set("want wants")) ||
		l.any(0, at, text.Set("should could would might maybe perhaps let please prefer prefers rather")) {
		return c, false
	}
	all := len(l.words)
	now := l.any(0, all, text.Set("now nowadays")) || l.holdsAny(0, all, onwards)
	numberA, whenA, namedA := l.value(0, at)
	numberB, whenB, namedB := l.value(at+1, all)
	form := 0.8
	switch phrase {
	case "not":
		if !(now && (whenA && whenB || numberA && numberB || namedA && namedB) || whenA && whenB || numberA && numberB) {
			return c, false
		}
		form = 0.75
		if !now {
			form = 0.6
		}
	case "no longer", "any more", "any longer", "not any more":
		if phrase != "no longer" && (!now || !l.any(0, at, text.Set("not"))) || at == 0 {
			return c, false
		}
		if !now {
			form = 0.65
		}
		if !now && (all > 16 || l.any(0, all, text.Set("if when means was were that"))) { // an argument
			return c, false
		}
		if _, _, is := g.subject(l, at); is == speaker && !now {
			return c, false
		}
	case "than before":
		if !numberA {
			return c, false
		}
	case "used to":
		return g.usedTo(l, at)
	case "is history", "are history":
	default:
		if !now && !(numberA && numberB) && !(whenA && whenB) && !(namedA && namedB) || l.any(0, at, text.Set("wish")) {
			return c, false
		}
		if !now {
			form = 0.7
		}
	}
	from, to := 0, all
	for k := at; k > 0; k-- { // what stands in brackets of semicolons only
		if strings.ContainsAny(l.gap(k), ";—–\n") {
			from = k
			break
		}
	}
	about := l.stems(from, at)
	if len(about) == 0 {
		about = l.stems(from, to)
	}
	if len(about) == 0 {
		return c, false
	}
	if subordinate[l.form(from)] && from+1 < to {
		from++
	}
	for k := at + 1; k < to; k++ { // the reason is not what has changed
		if l.broken(k) && (subordinate[l.form(k)] || l.subjectAt(k) || articles[l.form(k)] ||
			strings.Contains(l.gap(k), ". ")) {
			to = k
		}
	}
	return g.change(l, from, to, about, form), true
}

// usedTo reads what used to be, with what is now in the same sentence or beside it.
func (g *gatherer) usedTo(l *line, at int) (c Candidate, ok bool) {
	if helpers[l.form(at-1)] || l.form(at-1) == "get" || l.form(at-1) == "got" { // "is used to", "get used to"
		return c, false
	}
	isNow := func(o *line, from, to int) bool {
		return o.any(from, to, text.Set("now nowadays today only")) || o.holds(from, to, "these days") ||
			o.holds(from, to, "no longer") || o.holdsAny(from, to, lasting)
	}
	if isNow(l, 0, len(l.words)) {
		about := l.stems(0, len(l.words))
		return g.change(l, 0, len(l.words), about, 0.85), len(about) > 1
	}
	siblings := g.of[l.note]
	for _, k := range []int{l.place + 1, l.place - 1} {
		if k < 0 || k >= len(siblings) || siblings[k].asks {
			continue
		}
		o := &siblings[k]
		if !isNow(o, 0, len(o.words)) {
			continue
		}
		about := o.stems(0, len(o.words))
		c = g.change(o, 0, g.head2(o), about, 0.85)
		if was := sentence(l.of.Text[l.span.Start:l.span.End]); k > l.place && len(was)+len(c.Title) < maxName {
			c.Title = was + ". " + sentence(o.between(0, g.head2(o)))
		}
		c.Detail = quote(said(o.of, text.Span{Start: min(o.span.Start, l.span.Start), End: max(o.span.End, l.span.End)})) +
			" (" + dayOf(o.of.AtMs) + ")"
		return c, len(about) > 0
	}
	return c, false
}

// head2 is the end of a sentence's first clause that says something.
func (g *gatherer) head2(l *line) int {
	for k := 4; k < len(l.words); k++ {
		if l.broken(k) && l.gap(k) != " " {
			return k
		}
	}
	return len(l.words)
}

// wasAndIs reads two clauses that stand beside each other: the one says what was, the
// other what is.
func (g *gatherer) wasAndIs(l *line) (c Candidate, ok bool) {
	now, at := g.isClause(l)
	if now < 0 {
		return c, false
	}
	siblings := g.of[l.note]
	for _, k := range []int{l.place - 1, l.place + 1} {
		if k < 0 || k >= len(siblings) || siblings[k].asks {
			continue
		}
		o := &siblings[k]
		if len(o.words) > maxSaid {
			continue
		}
		was := -1
		for i := range o.words {
			if f := o.form(i); (f == "was" || f == "were" || f == "cost") && i > 0 && !o.words[i].Not &&
				!o.any(i+1, i+3, text.Set("the a an")) {
				was = i
				break
			}
		}
		if was < 0 {
			continue
		}
		end := o.clauseTo(was)
		n1, w1, _ := o.value(was+1, end)
		n2, w2, _ := l.value(at+1, l.clauseTo(at))
		if !(n1 && n2 && w1 == w2 || w1 && w2) || o.any(was+1, was+3, text.Set("not sick")) {
			continue
		}
		first, second := o.stems(0, was), l.stems(now, at)
		pronoun := func(f string) bool { return f == "it" || f == "they" || f == "that" || f == "this" }
		meansNow := pronoun(l.form(now)) && at == now+1
		meansWas := pronoun(o.form(g.head(o, was)))
		if shared(first, second) == 0 && !meansNow && !meansWas {
			continue
		}
		from := now
		about := map[string]bool{}
		for s := range second {
			about[s] = true
		}
		if meansNow {
			for s := range first {
				about[s] = true
			}
		}
		if len(about) == 0 {
			continue
		}
		c = g.change(l, from, g.unto(l, l.clauseTo(at)), about, 0.85)
		if meansNow && k < l.place { // "It will be on 24 April" is said of what was
			c.Title = text.Truncate(sentence(o.between(g.head(o, was), was)+" "+
				l.between(at, g.unto(l, l.clauseTo(at)))), maxName)
		}
		c.Detail = quote(said(l.of, text.Span{Start: min(o.span.Start, l.span.Start), End: max(o.span.End, l.span.End)})) +
			" (" + dayOf(l.of.AtMs) + ")"
		return c, true
	}
	return c, false
}

// isClause is where a clause begins that says what is, or will be, with a number or a
// time, and where its verb stands; -1 without such a clause.
func (g *gatherer) isClause(l *line) (from, at int) {
	for i := range l.words {
		f := l.form(i)
		if !(f == "is" || f == "are" || f == "costs" || f == "will" && l.form(i+1) == "be") || i == 0 || l.words[i].Not {
			continue
		}
		if n, w, _ := l.value(i+1, l.clauseTo(i)); n || w {
			from = g.head(l, i)
			for adverbs[l.form(from)] {
				from++
			}
			if from < i {
				return from, i
			}
		}
	}
	return -1, -1
}

// factChanges are facts that were given another value later.
func (g *gatherer) factChanges() (out []Candidate) {
	type stated struct {
		l    *line
		fact *claim.Fact
		past bool
	}
	by := map[claim.Key][]stated{}
	var order []claim.Key
	for i := range g.lines {
		l := &g.lines[i]
		f := &l.of.Claims[l.place].Fact
		if f.Key == 0 || len(f.Words) == 0 {
			continue
		}
		past := false
		for k := range l.words {
			if l.words[k].Start < f.Words[0].Start && l.words[k].Form == "was" {
				past = true
			}
		}
		if by[f.Key] == nil {
			order = append(order, f.Key)
		}
		by[f.Key] = append(by[f.Key], stated{l, f, past})
	}
	for _, key := range order {
		all := by[key]
		last := all[len(all)-1]
		if last.past {
			continue
		}
		var was *stated
		for k := len(all) - 2; k >= 0; k-- {
			if all[k].fact.Same != last.fact.Same {
				was = &all[k]
				break
			}
		}
		if was == nil || was.l.note == last.l.note && !was.past {
			continue
		}
		n1, w1, m1 := last.l.value(0, len(last.l.words))
		about := map[string]bool{}
		for w := range strings.FieldsSeq(last.fact.Attribute + " " + last.fact.Subject) {
			about[claim.Stem(strings.Trim(w, "().,“”\""))] = true
		}
		what := plain(last.fact.Attribute) + " of " + plain(last.fact.Subject)
		c := Candidate{
			Kind: KindChange, Title: text.Truncate(sentence(what)+": now "+plain(last.fact.Value)+", before that "+
				plain(was.fact.Value), maxName),
			Detail: quote(said(last.l.of, last.l.span)) + " (" + dayOf(last.l.of.AtMs) + "); before that " +
				quote(said(was.l.of, was.l.span)) + " (" + dayOf(was.l.of.AtMs) + ")",
			About: keysOf(about), AtMS: last.l.of.AtMs, Notes: slices.Compact([]int{last.l.note, was.l.note}),
			Grounds: Grounds{Form: 0.9, Named: n1 || w1 || m1, Concrete: len(about), Words: 6 + len(last.fact.Words), Days: 2},
		}
		out = append(out, c)
	}
	return out
}

// before looks for what an earlier note says of the same with a value of the same sort:
// "the launch is on 16 November" in front of "the launch is postponed to 30 November".
func (g *gatherer) before(c *Candidate, l *line, when, number bool) {
	about := asSet(c.About)
	for i := g.index(l) - 1; i >= 0; i-- {
		o := &g.lines[i]
		if o.note == l.note || o.asks {
			continue
		}
		if n, w, _ := o.value(0, len(o.words)); when && !w || number && !when && !n {
			continue
		}
		if when && len(o.of.Dates) == 0 {
			continue
		}
		if k := alike(about, g.stems[i]); k < len(about) && k < 2 || k == 0 {
			continue
		}
		c.Detail += "; before that " + quote(said(o.of, o.span)) + " (" + dayOf(o.of.AtMs) + ")"
		c.Notes = append(c.Notes, o.note)
		c.Grounds.Days = 2
		return
	}
}

// soonMS is within what time a change that is reported in fewer words is the same one.
const soonMS = 7 * dayMS

// latestChange keeps of the changes of one thing the last.
func (g *gatherer) latestChange(all []Candidate) (out []Candidate) {
	slices.SortStableFunc(all, func(a, b Candidate) int { return cmp.Compare(a.AtMS, b.AtMS) })
	for _, c := range all {
		k := slices.IndexFunc(out, func(o Candidate) bool {
			n := shared(asSet(o.About), asSet(c.About))
			return o.Notes[0] == c.Notes[0] && n > 0 || sameAbout(o.About, c.About) ||
				n == min(len(o.About), len(c.About)) && c.AtMS-o.AtMS < soonMS
		})
		if k < 0 {
			out = append(out, c)
			continue
		}
		if (out[k].Notes[0] == c.Notes[0] || c.AtMS-out[k].AtMS < soonMS && len(c.About) < len(out[k].About)) &&
			out[k].Grounds.Form >= c.Grounds.Form {
			continue
		}
		out[k] = c
	}
	return out
}
