package insight

import (
	"slices"
	"strings"

	"orgmem/brain/claim"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// duty is a way to say that somebody is responsible.
type duty struct {
	phrase string
	form   float64
	// named: what follows has an article, or is a plural: "runs the bar", "handles
	// invoices", but not "runs well".
	named bool
}

// duties are by the first word of each.
var duties = func() map[string][]duty {
	var all []duty
	for _, be := range []string{"is", "are", "am", "'s", "was made", "became", "becomes", "will be"} {
		for _, now := range []string{"", " now"} {
			all = append(all, duty{be + now + " responsible for", 0.95, false}, duty{be + now + " in charge of", 0.95, false},
				duty{be + now + " accountable for", 0.9, false})
		}
	}
	for _, v := range []string{
		"takes care of", "take care of", "looks after", "look after", "took over", "takes over", "has taken over",
		"have taken over", "is taking over", "deals with", "sees to",
	} {
		all = append(all, duty{v, 0.85, false})
	}
	for _, v := range []string{
		"handles", "handle", "manages", "owns", "own", "oversees", "supervises", "coordinates", "organises", "organizes",
		"maintains", "heads", "leads",
	} {
		all = append(all, duty{v, 0.8, true})
	}
	for _, v := range []string{"runs", "run", "does", "do", "keeps", "stands in for"} {
		all = append(all, duty{v, 0.7, true})
	}
	by := map[string][]duty{}
	for _, d := range all {
		first, _, _ := strings.Cut(d.phrase, " ")
		by[first] = append(by[first], d)
	}
	return by
}()

var (
	determiners = text.Set("the all our my his her their every any both this these")
	// lasting says that it is so for good: then any work that somebody does is a duty.
	lasting = phrasesOf(
		"from now on", "from today", "as of", "from next week", "from next month", "starting today", "starting next",
		"always", "every week", "every month",
		"every day", "each week", "for good", "from this week", "from this month",
	)
	// works are what people do for others.
	works = text.Set(`sends writes pays orders books cooks cleans drives brings answers checks prepares signs covers
		teaches
hosts waters feeds locks prints packs posts publishes reviews approves calls collects counts plans buys sells washes
does makes keeps runs moderates updates files mows shops tests deploys releases schedules edits translates draws designs
picks records repairs send write pay order book cook clean drive bring answer check prepare sign cover teach host water
feed lock print pack post publish review approve call collect count plan buy sell wash do make keep run moderate update
file shop test deploy release schedule edit translate draw design pick record repair`)
	roles = text.Set(`owner lead leader manager warden treasurer secretary chair chairman chairwoman chairperson captain
coordinator coach deputy head representative maintainer contact editor cook caretaker secretary moderator supervisor
mentor tutor designer successor substitute auditor delegate officer spokesman spokeswoman spokesperson steward librarian
director trainer accountant bookkeeper guardian keyholder administrator admin planner organiser organizer cashier
referee quartermaster`)
)

// responsibilities are who is responsible for what.
func (g *gatherer) responsibilities() (out []Candidate) {
	for i := range g.lines {
		l := &g.lines[i]
		if l.asks || len(l.words) > maxSaid {
			continue
		}
		found := len(out)
		for k := range l.words {
			if c, ok := g.dutyAt(l, k); ok {
				out = append(out, c)
			}
		}
		if len(out) == found {
			out = append(out, g.division(l)...)
		}
		if len(out) == found {
			for k := range l.words {
				if c, ok := g.roleAt(l, k); ok {
					out = append(out, c)
				} else if c, ok := g.liesWith(l, k); ok {
					out = append(out, c)
				}
			}
		}
		if len(out) == found {
			if c, ok := g.ownerOf(l); ok {
				out = append(out, c)
			}
		}
	}
	return g.latestDuty(out)
}

// dutyAt reads who does what at word i, a verb.
func (g *gatherer) dutyAt(l *line, i int) (c Candidate, ok bool) {
	if l.words[i].Not {
		return c, false
	}
	for _, d := range duties[l.form(i)] {
		if !l.says(i, d.phrase) {
			continue
		}
		who, from, is := g.subject(l, i)
		n := strings.Count(d.phrase, " ") + 1
		if is == nobody || is == speaker && (d.phrase == "run" || d.phrase == "own" || d.phrase == "handle") &&
			!determiners[l.form(i+n)] {
			return c, false
		}
		if is == speaker && d.form < 0.8 && !l.holdsAny(0, len(l.words), lasting) { // "we do all kinds of things"
			return c, false
		}
		if is == group && d.form < 0.8 {
			return c, false
		}
		if (d.phrase == "does" || d.phrase == "do" || d.phrase == "keeps" || d.phrase == "runs") &&
			!determiners[l.form(i+n)] {
			return c, false
		}
		to := l.object(i + n)
		if d.named && !l.thing(i+n, to) {
			return c, false
		}
		return g.duty(l, who, is, from, i+n, to, d.form)
	}
	if works[l.form(i)] {
		who, from, is := g.subject(l, i)
		if is == nobody || is == group || !l.lasts(from, i) {
			return c, false
		}
		to := l.object(i + 1)
		if to == i+1 || !l.thing(i+1, to) {
			return c, false
		}
		return g.duty(l, who, is, from, i, to, 0.7)
	}
	return c, false
}

// lasts tells whether what the subject at word from does, at word i, is said to be so for good: in its own clause, or
// behind or before all that is said of it. "While I write" only says when.
func (l *line) lasts(from, i int) bool {
	head := l.clauseFrom(from)
	if subordinate[l.form(from-1)] && l.form(from-1) != "so" && l.form(from-1) != "as" && l.form(from-1) != "since" {
		return false
	}
	if l.holdsAny(head, l.clauseTo(i), lasting) || l.saysAny(0, lasting) != "" && l.form(0) != "always" {
		return true
	}
	for k := i + 1; k < len(l.words) && !l.subjectAt(k); k++ {
		if l.saysAny(k, lasting) != "" {
			return true
		}
	}
	return false
}

// object is where what begins at word i ends.
func (l *line) object(i int) int {
	to := i
	for to < len(l.words) && to-i < 12 {
		f := l.form(to)
		if to > i && (l.broken(to) && !l.listed(to) || subordinate[f] || f == "please" || f == "he" || f == "she" ||
			f == "i" || f == "we" || f == "they" ||
			(f == "from" || f == "as" || f == "starting" || f == "until" || f == "for") && l.phraseOfTime(to) ||
			(f == "and" || f == "or") && (l.subjectAt(to+1) ||
				verbal(l.form(to+1)) && !l.words[to+1].capital && classOf(l.form(to+1)).Part() == tagger.Verb)) {
			break
		}
		to++
	}
	for to > i && (trailing[l.form(to-1)] || l.words[to-1].Kind == claim.Time) {
		to--
	}
	return to
}

// listed tells whether the comma in front of word i only parts a list that "and" ends.
func (l *line) listed(i int) bool {
	if l.gap(i) != ", " || l.subjectAt(i) {
		return false
	}
	for k := i; k < len(l.words) && k < i+4; k++ {
		if k > i && l.broken(k) {
			return false
		}
		if l.form(k) == "and" {
			return !l.subjectAt(k + 1)
		}
	}
	return false
}

// phraseOfTime tells whether what begins at word i only says when, or for whom.
func (l *line) phraseOfTime(i int) bool {
	if l.says(i, "for us") || l.says(i, "for now") || l.says(i, "for these") || l.says(i, "for good") ||
		l.says(i, "for the moment") {
		return true
	}
	return l.form(i) != "for" && (l.says(i+1, "now") || l.says(i+1, "today") || l.says(i+1, "of") || l.says(i+1, "next") ||
		l.says(i+1, "this") || l.form(i) == "until" ||
		i+1 < len(l.words) && l.words[i+1].Kind == claim.Time)
}

var trailing = text.Set("now too also again today instead only please on of the in at for and by from us once " +
	"this next " +
	"last week")

// thing tells whether words name something: with an article, a name, a plural, or of
// two words.
func (l *line) thing(from, to int) bool {
	if from >= to {
		return false
	}
	if determiners[l.form(from)] && to > from+1 {
		return len(l.stems(from, to)) > 0
	}
	last := &l.words[to-1]
	p := classOf(last.Form).Part()
	return len(l.stems(from, to)) > 0 && p != tagger.Adverb && p != tagger.Verb &&
		(last.Name || p == tagger.Plural || strings.HasSuffix(last.Form, "s") || len(l.stems(from, to)) > 1)
}

// duty makes a candidate of who (words from subject on) does what [what, to).
func (g *gatherer) duty(l *line, who string, is sort, subject, what, to int, form float64) (c Candidate, ok bool) {
	stems := l.stems(what, to)
	if len(stems) == 0 || to-what > 12 {
		return c, false
	}
	if f := l.form(what); f == "it" || f == "that" || f == "him" || f == "her" && to-what == 1 || f == "them" ||
		f == "himself" {
		return c, false
	}
	title := sentence(l.between(subject, to))
	if is == speaker && who != "" {
		title = who + ": " + plain(l.between(subject, to))
	}
	if is == speaker {
		form -= 0.1
	}
	n := l.of
	return Candidate{
		Kind: KindResponsibility, Title: text.Truncate(title, maxName),
		Detail: quote(said(n, l.span)) + " (" + dayOf(n.AtMs) + ")", Who: who,
		About: keysOf(stems), AtMS: n.AtMs, Notes: []int{l.note},
		Grounds: Grounds{Form: form, Named: who != "" || is == speaker, Concrete: len(stems), Words: to - subject, Days: 1},
	}, true
}

// division reads how two part their work: "Amir has the importer, I take the search".
func (g *gatherer) division(l *line) (out []Candidate) {
	whos := map[int]bool{}
	for i := range l.words {
		f := l.form(i)
		if !(works[f] || f == "has" || f == "have" || f == "takes" || f == "take") || l.words[i].Not ||
			!determiners[l.form(i+1)] {
			continue
		}
		who, from, is := g.subject(l, i)
		if is != person && is != speaker || from > 0 && !l.broken(from) && !conjunctions[l.form(from-1)] ||
			from != i-1 && is == speaker {
			continue
		}
		if c, ok := g.duty(l, who, is, from, i+1, l.object(i+1), 0.75); ok {
			out, whos[from] = append(out, c), true
		}
	}
	if len(whos) < 2 {
		return nil
	}
	return out
}

// roleAt reads "Kwame is now the fire warden for the first floor" and "Our contact is
// Henrik Dahl" at the form of be.
func (g *gatherer) roleAt(l *line, i int) (c Candidate, ok bool) {
	if f := l.form(i); f != "is" && f != "are" && f != "becomes" && f != "'s" && f != "am" || l.words[i].Not {
		return c, false
	}
	k := i + 1
	for adverbs[l.form(k)] || l.form(k) == "from" && l.form(k+1) == "now" {
		k++
	}
	if articles[l.form(k)] || l.form(k) == "a" || l.form(k) == "an" {
		role := -1
		for j := k + 1; j < len(l.words) && j < k+5 && !l.broken(j); j++ {
			if roles[l.form(j)] || j > k+1 && classOf(l.form(j)).Part() == tagger.Actor {
				role = j
				break
			}
			if subordinate[l.form(j)] || l.form(j) == "of" || l.form(j) == "for" {
				break
			}
		}
		who, from, is := g.subject(l, i)
		if role < 0 || is == nobody || is == group {
			return c, false
		}
		to := role + 1
		// "the lead designer"
		for to < len(l.words) && !l.broken(to) && (roles[l.form(to)] || classOf(l.form(to)).Part() == tagger.Actor) {
			to++
		}
		if f := l.form(to); f == "of" || f == "for" || f == "on" || f == "in" || f == "at" {
			to = l.object(to + 1)
		} else if (l.form(k) == "a" || l.form(k) == "an") && !l.holdsAny(0, len(l.words), lasting) {
			return c, false // "Anna is a teacher": what she is, not for what
		}
		return g.duty(l, who, is, from, k+1, to, 0.75)
	}
	// "The new cook is Tamsin Reed."
	if k < len(l.words) && l.words[k].capital && g.personal(l, k) {
		from := l.clauseFrom(i)
		if !articles[l.form(from)] && l.form(from) != "the" {
			return c, false
		}
		role := false
		for j := from + 1; j < i; j++ {
			role = role || roles[l.form(j)] || classOf(l.form(j)).Part() == tagger.Actor
		}
		to := k + 1
		for to < len(l.words) && l.words[to].capital && l.gap(to) == " " {
			to++
		}
		if !role || i-from > 8 {
			return c, false
		}
		who := l.between(k, to)
		c, ok = g.duty(l, who, person, from, from+1, to, 0.75)
		c.About = keysOf(l.stems(from, i))
		return c, ok
	}
	return c, false
}

// liesWith reads "Boat repairs lie with Gerald", "the invoices are Petra's job" and "the
// bar is run by Piet" at the verb.
func (g *gatherer) liesWith(l *line, i int) (c Candidate, ok bool) {
	by := 0
	switch f := l.form(i); {
	case (f == "lie" || f == "lies" || f == "rests" || f == "rest") && l.form(i+1) == "with":
		by = i + 2
	case (f == "is" || f == "are") && (l.form(i+2) == "by" || l.form(i+3) == "by") &&
		l.any(i+1, i+3, text.Set("run owned led managed handled maintained organised organized covered looked")):
		by = i + 3
		if l.form(i+3) == "by" {
			by++
		}
	case (f == "is" || f == "are") && l.form(i+2) == "'s" &&
		text.Set("job task responsibility duty business department baby")[l.form(i+3)]:
		by = i + 1
	default:
		return c, false
	}
	if by >= len(l.words) || !(l.words[by].capital && g.personal(l, by) || g.people[l.form(by)]) || l.words[i].Not {
		return c, false
	}
	to := by + 1
	for to < len(l.words) && l.words[to].capital && l.gap(to) == " " {
		to++
	}
	from := l.clauseFrom(i)
	if text.Set("it this that he she they")[l.form(from)] {
		return c, false
	}
	who := l.between(by, to)
	if l.form(to) == "'s" {
		to += 2
	}
	c, ok = g.duty(l, who, person, from, from, to, 0.85)
	c.About = keysOf(l.stems(from, i))
	return c, ok && len(c.About) > 0
}

// ownerOf reads a fact that names an owner: "Owner: Dana" under a title, "the owner of Atlas is Dana".
func (g *gatherer) ownerOf(l *line) (c Candidate, ok bool) {
	f := &l.of.Claims[l.place].Fact
	if f.Key == 0 || len(f.Words) == 0 || len(f.Words) > 4 {
		return c, false
	}
	words := strings.Fields(strings.ToLower(f.Attribute))
	if !slices.ContainsFunc(words, func(w string) bool {
		return roles[w] || text.Set("responsible assignee on-call responsibility")[w]
	}) {
		return c, false
	}
	for i := range l.words {
		if l.words[i].Start == f.Words[0].Start {
			if !l.words[i].capital || !g.personal(l, i) {
				return c, false
			}
			stems := map[string]bool{}
			for w := range strings.FieldsSeq(f.Attribute + " " + f.Subject) {
				stems[claim.Stem(strings.Trim(w, "().,"))] = true
			}
			title := sentence(f.Attribute) + " of " + plain(f.Subject) + ": " + plain(f.Value)
			return Candidate{
				Kind: KindResponsibility, Title: text.Truncate(title, maxName),
				Detail: quote(said(l.of, l.span)) + " (" + dayOf(l.of.AtMs) + ")", Who: f.Value,
				About: keysOf(stems), AtMS: l.of.AtMs, Notes: []int{l.note},
				Grounds: Grounds{Form: 0.85, Named: true, Concrete: len(stems), Words: len(words) + 3, Days: 1},
			}, true
		}
	}
	return c, false
}

// latestDuty keeps of what was said of one duty the last, and what was said of it again
// as evidence.
func (g *gatherer) latestDuty(all []Candidate) (out []Candidate) {
	for _, c := range all {
		k := slices.IndexFunc(out, func(o Candidate) bool { return sameAbout(o.About, c.About) })
		if k < 0 {
			out = append(out, c)
			continue
		}
		if strings.EqualFold(out[k].Who, c.Who) && c.AtMS > out[k].AtMS && !slices.Contains(c.Notes, out[k].Notes[0]) {
			c.Notes = append(c.Notes, out[k].Notes...)
			c.Grounds.Days += out[k].Grounds.Days
		}
		out[k] = c
	}
	return out
}

// sameAbout tells whether two are about one thing: all of the stems of the shorter, and
// at least two thirds of the longer.
func sameAbout(a, b []string) bool {
	n := shared(asSet(a), asSet(b))
	return n > 0 && n == min(len(a), len(b)) && 3*n >= 2*max(len(a), len(b))
}
