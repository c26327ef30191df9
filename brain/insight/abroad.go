package insight

import (
	"math"
	"slices"
	"strings"

	"orgmem/brain/extract/act"
	"orgmem/brain/extract/locale"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
)

// leastNotes is how many notes are surely in a language for another to be taken for one of it that only may be.
const leastNotes = 3

// languagesOf are the languages of notes that are in another one than English; "" are those that are in it, or in none
// that is read.
func languagesOf(notes []temporal.Note) []string {
	codes, sure := make([]string, len(notes)), map[string]int{}
	for i := range notes {
		if code := locale.Sure(notes[i].Text); act.Known(code) {
			codes[i] = code
			sure[code]++
		}
	}
	most := 0
	for _, n := range sure {
		most = max(most, n)
	}
	if most < leastNotes {
		return codes // no other note is taken for one of these languages
	}
	usual := ""
	for _, code := range act.Codes() {
		if sure[code] > sure[usual] && sure[code] >= leastNotes {
			usual = code
		}
	}
	for i := range notes {
		if codes[i] != "" {
			continue
		}
		if usual != "" && len(act.Read(usual, notes[i].Text)) > 0 {
			codes[i] = usual // too short to tell its language: "Vou limpar a calha"
			continue
		}
		for _, code := range locale.Of(notes[i].Text).Codes() {
			if sure[code] >= leastNotes && sure[code] > sure[codes[i]] && act.Known(code) {
				codes[i] = code
			}
		}
	}
	return codes
}

const (
	// maxDue is how many words a sentence has at most of which a day ahead is told without a word that binds to it.
	maxDue = 16
	// The forms are how surely a wording means it, as in the rules for English.
	boundForm, saidForm, plainForm, promiseForm = 0.9, 0.8, 0.65, 0.75
)

// abroad are the candidates of notes in other languages than English.
func abroad(g *gatherer) (out []Candidate) {
	var changes, dues []Candidate
	ended := endedIn(g)
	for i := range g.foreign {
		l := &g.foreign[i]
		if l.asks {
			continue
		}
		said := l.said()
		dated := false
		if !act.Open(l.code, said) {
			for _, d := range l.ahead() {
				if c, ok := dueAbroad(l, said, d); ok {
					if dated = true; !doneAbroad(ended, l, &c) {
						dues = append(dues, c)
					}
				}
			}
		}
		for _, a := range act.Read(l.code, said) {
			c, ok := candidateOf(l, said, &a)
			switch {
			case !ok || c.Kind == KindCommitment && (dated || doneAbroad(ended, l, &c)):
			case c.Kind == KindCommitment:
				dues = append(dues, c)
			case c.Kind == KindChange:
				changes = append(changes, c)
			default:
				out = append(out, c)
			}
		}
	}
	return slices.Concat(latestOf(out), latestOf(changes), g.latestDue(dues, changes))
}

// latestOf keeps of what was said of one thing the last.
func latestOf(all []Candidate) (out []Candidate) {
	at := map[string]int{}
	for _, c := range all {
		about := strings.Join(c.About, " ")
		if k, ok := at[about]; ok {
			out[k] = c
			continue
		}
		at[about] = len(out)
		out = append(out, c)
	}
	return out
}

// ahead are the dates of a sentence that lie ahead of it; of several in a move the last.
func (l *line) ahead() (all []temporal.Date) {
	for _, x := range l.of.Dates {
		if x.Span.Start < l.span.Start || x.Span.End > l.span.End || x.UntilMs == math.MaxInt64 || x.UntilMs <= l.of.AtMs ||
			x.FromMs != math.MinInt64 && (x.FromMs+dayMS <= l.of.AtMs || x.UntilMs-x.FromMs > longest) {
			continue
		}
		all = append(all, x)
	}
	if len(all) > 1 {
		all = all[len(all)-1:]
	}
	return all
}

// dueAbroad reads what a sentence says of a day ahead.
func dueAbroad(l *line, said string, d temporal.Date) (c Candidate, ok bool) {
	by := d.FromMs == math.MinInt64
	binds := act.Binds(l.code, said)
	today := !by && floorDay(d.FromMs) <= floorDay(l.of.AtMs)
	size := len(locale.Tokens(said))
	if size > maxSaid || act.Idle(l.code, said) || today && !binds || size > maxDue && !binds && !by {
		return c, false
	}
	form := plainForm
	switch {
	case by && binds:
		form = boundForm
	case by || binds:
		form = saidForm
	}
	who := ""
	if act.Self(l.code, said) {
		who = l.of.Speaker
	}
	words := wordsFor(l.code)
	when := words.day(d.UntilMs - 1)
	how := words.on
	switch {
	case by || binds:
		how = words.by
	case d.UntilMs-d.FromMs > dayMS:
		when = words.day(d.FromMs) + " – " + when
	}
	detail := fill(how, when)
	if who != "" {
		detail += ", " + who
	}
	about := aboutOf(l.code, said)
	return Candidate{
		Kind: KindDue, Title: text.Truncate(sentence(said), maxName),
		Detail: detail + ": " + words.quoted(said, l.of.AtMs), Who: who, About: about, AtMS: l.of.AtMs, UntilMS: d.UntilMs,
		Notes:   []int{l.note},
		Grounds: Grounds{Form: form, Named: true, Concrete: len(about), Words: min(size, maxDue), Days: 1},
	}, len(about) > 0
}

// candidateOf makes one of an act.
func candidateOf(l *line, said string, a *act.Act) (c Candidate, ok bool) {
	words, about := wordsFor(l.code), aboutOf(l.code, said[a.Thing.Start:a.Thing.End])
	c = Candidate{
		Title: text.Truncate(sentence(said), maxName), Detail: words.quoted(said, l.of.AtMs),
		Who: plain(said[a.Who.Start:a.Who.End]), About: about, AtMS: l.of.AtMs, Notes: []int{l.note},
		Grounds: Grounds{Form: promiseForm, Named: true, Concrete: len(about), Words: maxDue, Days: 1},
	}
	switch a.Kind {
	case act.Promise:
		c.Kind, c.UntilMS = KindCommitment, l.of.AtMs+promised
		c.Detail = words.noDate + ": " + c.Detail
		if c.Who = l.of.Speaker; c.Who != "" {
			c.Title = text.Truncate(c.Who+": "+plain(strings.TrimRight(said, ".!。")), maxName)
		}
	case act.Duty:
		c.Kind = KindResponsibility
		if c.Who == "" {
			c.Who = l.of.Speaker
			c.Title = text.Truncate(c.Who+": "+plain(strings.TrimRight(said, ".!。")), maxName)
		}
	case act.Change:
		c.Kind = KindChange
	default:
		return c, false
	}
	return c, len(about) > 0 && len(locale.Tokens(said)) <= maxSaid && !(a.Kind == act.Duty && c.Who == "")
}

// aboutOf are the keys of what a text is about, in order, each once.
func aboutOf(code, said string) []string {
	keys := act.Keys(code, said)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// ending is a line of another language than English that says that something is done.
type ending struct {
	note  int
	code  string
	about map[string]bool
}

// endedIn are those lines. Each is read once: every promise is looked for in all of them.
func endedIn(g *gatherer) (all []ending) {
	for i := range g.foreign {
		if l := &g.foreign[i]; !l.asks && act.Ended(l.code, l.said()) {
			all = append(all, ending{l.note, l.code, asSet(act.Keys(l.code, l.said()))})
		}
	}
	return all
}

// doneAbroad tells whether a later note of the language says that a thing is done.
func doneAbroad(ended []ending, l *line, c *Candidate) bool {
	about := asSet(c.About)
	return slices.ContainsFunc(ended, func(e ending) bool {
		if e.note <= l.note || e.code != l.code {
			return false
		}
		n := shared(about, e.about)
		return n > 0 && (n > 1 || len(about) <= 2)
	})
}

// said is the text of a line.
func (l *line) said() string { return l.of.Text[l.span.Start:l.span.End] }

// questionAbroad is one of another language than English that nobody answered.
func questionAbroad(q temporal.Question, l *line) (c Candidate, ok bool) {
	asked := plain(l.said())
	about := aboutOf(l.code, asked)
	if act.Addressed(l.code, asked) || act.Open(l.code, asked) || len(about) == 0 || len(asked) > maxQuote {
		return c, false
	}
	words := wordsFor(l.code)
	return Candidate{
		Kind: KindQuestion, Title: fill(words.question, text.Truncate(asked, maxName)), About: about,
		Detail: fill(words.asked, words.day(l.of.AtMs)), AtMS: l.of.AtMs, Notes: []int{l.note},
		Grounds: Grounds{Form: q.Confidence, Concrete: max(2, len(about)), Words: len(about), Days: 1},
	}, true
}
