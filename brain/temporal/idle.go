package temporal

import (
	"math"
	"slices"
	"strings"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// surroundings are the words of a sentence around a date, in small letters and without marks.
type surroundings struct {
	before, after []string // of the date's own clause
	head          []string // of the sentence, before the date
}

// around reads what stands around a date.
func (n *Note) around(c *claim.Claim, d Date) surroundings {
	start, end := max(d.Span.Start, c.Span.Start), min(d.Span.End, c.Span.End)
	var s surroundings
	for _, part := range clauses(n.Text[c.Span.Start:start]) {
		s.before = words(part)
		s.head = append(s.head, s.before...)
	}
	s.before = append(s.before, prepositionOf(n.Text[start:end])...)
	s.after = words(clauses(n.Text[end:c.Span.End])[0])
	return s
}

// prepositionOf is the word in front that belongs to a date: "until", "since".
func prepositionOf(date string) []string {
	if w := words(date); len(w) > 1 && (pointers[w[0]] || w[0] == "since" || w[0] == "before") {
		return w[:1]
	}
	return nil
}

// clauses cuts a text where marks end a clause.
func clauses(s string) []string {
	var out []string
	from := 0
	for i, r := range s {
		switch r {
		case '-':
			if i == 0 || s[i-1] != ' ' || !strings.HasPrefix(s[i:], "- ") {
				continue
			}
		case ',', ';', ':', '(', ')', '–', '—', '!', '?':
		default:
			continue
		}
		out = append(out, s[from:i])
		from = i + len(string(r))
	}
	return append(out, s[from:])
}

// words are those of a text, in small letters.
func words(s string) []string {
	out := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(s, "’", "'")), func(r rune) bool {
		return r <= ' ' || strings.ContainsRune("*•.,;:!?()[]{}<>\"“”#|", r)
	})
	kept := out[:0]
	for _, w := range out {
		if w != "-" && w != "–" && w != "—" {
			kept = append(kept, w)
		}
	}
	return kept
}

// idle tells whether a sentence says of a date that nothing happens then, puts off to it what it does not name, or does
// not know.
func (n *Note) idle(c *claim.Claim, d Date) bool {
	s := n.around(c, d)
	if d.FromMs <= n.AtMs && s.silent() {
		return true
	}
	loose := vague(n.Text[d.Span.Start:d.Span.End])
	if d.UntilMs > n.AtMs && s.wished(loose) {
		return true
	}
	if !loose {
		return false
	}
	return s.putOff() || s.skipped() || s.unsure()
}

// vague tells whether a date is a week or longer, or the next time that people meet. What is put off to a day is told:
// somebody chose it.
func vague(date string) bool {
	for _, w := range words(date) {
		if periods[w] {
			return true
		}
	}
	return false
}

var (
	periods = text.Set("week month quarter year weeks months meeting time sprint")
	// reports are what minutes say that there is none of.
	reports = text.Set(`update updates news report progress change changes question questions movement announcement
		announcements feedback`)
	denials = text.Set("no nothing none not n't without")
)

const (
	// maxWho is how many words may stand before the "no" with which a clause begins: of whom.
	maxWho = 1
	// maxDenied is how many words may stand between it and the update.
	maxDenied = 3
)

// silent tells whether the date's clause says that there is nothing to tell: no update, nothing to report.
func (s *surroundings) silent() bool {
	all := append(append([]string{}, s.before...), s.after...)
	for i, w := range all[:min(len(all), maxWho+1)] {
		if !denials[w] {
			continue
		}
		for _, x := range all[i+1 : min(len(all), i+1+maxDenied)] {
			if reports[x] {
				return true
			}
		}
	}
	switch strings.Join(s.before, " ") {
	case "not", "not since":
		return true
	}
	return false
}

var (
	// defers put off by themselves; moves do with "it until" behind them.
	defers = text.Set(`defer defers deferred deferring postpone postpones postponed postponing skip skips skipped punt
		punted reconvene`)
	moves = text.Set(`push pushed leave left keep hold held table tabled wait move moved delay delayed park parked
		pending`)
	// unnamed may stand between such a verb and its date, and name nothing.
	unnamed = text.Set(`it this that them these those on the agenda again back out off over further discussion decision
		one`)
	pointers = text.Set("to for until till til")
	beings   = text.Set("is was are were been be being has have had")
	pronouns = text.Set("it this that they these those we i everything")
)

// putOff tells whether what is put off to the date is not named.
func (s *surroundings) putOff() bool {
	at := len(s.before) - 1
	pointed, pronoun := false, false
	for at >= 0 && (pointers[s.before[at]] || unnamed[s.before[at]]) {
		pointed = pointed || pointers[s.before[at]]
		pronoun = pronoun || unnamed[s.before[at]]
		at--
	}
	if at < 0 || !defers[s.before[at]] && !(moves[s.before[at]] && pointed) {
		return false
	}
	for i, w := range s.before[:at] {
		if beings[w] && i > 0 { // the launch was postponed
			return pronouns[s.before[i-1]]
		}
	}
	return pointed || pronoun || at == 0
}

// joints stand behind a verb that has no object.
var joints = text.Set("as since because for until till to this again if so while and")

// skipped tells whether a sentence, behind what it is about, begins with "skip" or "defer" and names nothing.
func (s *surroundings) skipped() bool {
	for i, w := range s.head {
		if defers[w] && i == 0 {
			return len(s.head) == 1 || joints[s.head[1]]
		}
	}
	return len(s.before) > 1 && defers[s.before[0]] && joints[s.before[1]]
}

var (
	tentative = text.Set("maybe perhaps possibly probably hopefully")
	doubts    = text.Set("question questions unclear unsure clear sure wonder wondering know ask asked asks of depends")
)

// unsure tells whether the clause asks, or says maybe, without a verb that would say what.
func (s *surroundings) unsure() bool {
	for i, w := range s.before {
		if w == "whether" && (i == 0 || doubts[s.before[i-1]]) {
			return true
		}
	}
	if len(s.after) > 1 && s.after[0] == "if" {
		switch s.after[1] {
		case "necessary", "needed", "required":
			return true
		}
	}
	k := len(s.before) - 1
	return k >= 0 && tentative[s.before[k]] && len(s.after) == 0 && (k == 0 || denials[s.before[0]])
}

var (
	// hopes are verbs of which it is unsure that it comes, and wishers what hopes by them.
	hopes   = text.Set("hope hopes hoping hoped wish wishes wishing")
	hopers  = text.Set("to i we you he she they it that the this there everybody everyone all")
	deadend = text.Set("by until till til before")
	willing = text.Set("like love want prefer")
)

// wished tells whether the clause only hopes for what it says of the date: "I hope to see you on Friday", and of one
// that is a week or longer also "may be able to" and "would like to". Who hopes to be done by a day has chosen it.
func (s *surroundings) wished(loose bool) bool {
	w := s.before
	if k := len(w) - 1; !loose && k >= 0 && deadend[w[k]] {
		return false
	}
	for i := range w {
		next, behind := "", ""
		if i+1 < len(w) {
			next = w[i+1]
		}
		if i+2 < len(w) {
			behind = w[i+2]
		}
		switch {
		case hopes[w[i]] && hopers[next]:
			return true
		case !loose:
		case w[i] == "hopefully", w[i] == "may" && next == "be" && behind == "able", w[i] == "might",
			(w[i] == "would" || strings.HasSuffix(w[i], "'d")) && willing[next] && behind == "to":
			return true
		}
	}
	return false
}

// occasions are what a note may be the minutes of.
var occasions = text.Set(`meeting call session workshop standup retro retrospective sync seminar lecture rehearsal
	training class conference event party`)

// called off, in words.
var calledOff = text.Set("cancelled canceled called-off")

// cancelled tells whether the date is of an occasion at the head of its note which the note says did not take place.
func (n *Note) cancelled(c *claim.Claim) bool {
	if c != &n.Claims[0] {
		return false
	}
	head := text.Set(strings.Join(words(n.Text[c.Span.Start:c.Span.End]), " "))
	for i := 1; i < len(n.Claims); i++ {
		other := &n.Claims[i]
		said := strings.ReplaceAll(n.Text[other.Span.Start:other.Span.End], "called off", "called-off")
		for _, part := range clauses(said) {
			w := words(part)
			for k := range w {
				if calledOff[w[k]] && n.calls(w[:k], head) {
					return true
				}
			}
		}
	}
	return false
}

// maxCalled is how many words may stand before the occasion that is cancelled: "the in-person meeting".
const maxCalled = 4

// calls tells whether words name the occasion of a heading, and no other one: "last month's meeting".
func (n *Note) calls(w []string, head map[string]bool) bool {
	for len(w) > 0 && beings[w[len(w)-1]] {
		w = w[:len(w)-1]
	}
	if len(w) == 0 || len(w) > maxCalled || !occasions[w[len(w)-1]] || !head[w[len(w)-1]] {
		return false
	}
	for _, x := range w {
		if x == "last" || x == "next" || x == "other" || x == "previous" || x == "tomorrow's" || x == "yesterday's" {
			return false
		}
	}
	return true
}

// ages: what comes "from the 1950s" is as old as that, and nothing happened then; a century is no moment at all.
const century = 99 * 365 * 24 * 3600 * 1000

// age tells whether a date says how old something is.
func (n *Note) age(d Date) bool {
	if d.FromMs == math.MinInt64 || d.UntilMs == math.MaxInt64 {
		return false
	}
	if d.UntilMs-d.FromMs >= century {
		return true
	}
	before := words(n.Text[max(0, d.Span.Start-16):d.Span.Start])
	k := len(before)
	return d.UntilMs-d.FromMs >= century/10 && k > 1 && before[k-1] == "the" && before[k-2] == "from"
}

var (
	// hollow are words that say that something was, and not what.
	hollow = text.Set(`something thing things happen happens happened happening guess what exciting wonderful crazy cool
		amazing great big funny weird strange awesome nice interesting terrible bad sad good news took take place took-place
		occurred occur was is were will be been it this that so really very super just anyway hey well oh wow also and but a
		an the there i we have had got some did does do to in on at by before after until since going`)
	// forward are words that announce what comes.
	forward = text.Set("something thing things guess what news")
)

// told is the span that says what happened at a date: the sentence, with the one beside it where it says nothing
// itself. It is empty where nothing does.
func (n *Note) told(c *claim.Claim, d Date) text.Span {
	ahead := false
	rest := n.Text[c.Span.Start:d.Span.Start] + " " + n.Text[min(d.Span.End, c.Span.End):c.Span.End]
	for _, w := range words(rest) {
		if !hollow[w] {
			return n.leaning(c, d)
		}
		ahead = ahead || forward[w]
	}
	for i := range n.Claims {
		if &n.Claims[i] != c {
			continue
		}
		switch {
		case ahead:
			if i+1 < len(n.Claims) && !n.Claims[i+1].Asks && n.adjoins(c.Span.End, n.Claims[i+1].Span.Start) {
				return text.Span{Start: c.Span.Start, End: n.Claims[i+1].Span.End}
			}
			return text.Span{}
		case i > 0 && n.adjoins(n.Claims[i-1].Span.End, c.Span.Start):
			return text.Span{Start: n.Claims[i-1].Span.Start, End: c.Span.End}
		}
	}
	return c.Span
}

// leans are words that mean somebody or something of the sentence before, where one begins with them.
var leans = text.Set(`it it's it'll they they're they'll this that that's that'll these those he he's he'll she she's
	she'll`)

// leastLeaned is how many words the sentence before has at least, so that it says what is meant.
const leastLeaned = 4

// leaning is the span of a sentence that says what happened, with the one before it on its line where it begins with a
// word that means something of that.
func (n *Note) leaning(c *claim.Claim, d Date) text.Span {
	first := words(n.Text[c.Span.Start:c.Span.End])
	i := slices.IndexFunc(n.Claims, func(x claim.Claim) bool { return x.Span == c.Span })
	if i < 1 || len(first) == 0 || !leans[first[0]] || d.Span.Start <= c.Span.Start {
		return c.Span
	}
	before := &n.Claims[i-1]
	if before.Asks || len(before.Words) < leastLeaned || !n.adjoins(before.Span.End, c.Span.Start) {
		return c.Span
	}
	return text.Span{Start: before.Span.Start, End: c.Span.End}
}

// adjoins tells whether one sentence follows another on its line.
func (n *Note) adjoins(end, start int) bool {
	return end <= start && !strings.Contains(n.Text[end:start], "\n")
}
