package conflict

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// maxCandidates bounds the pairs of statements of two passages that a reader is asked about: all of two short notes,
// since what is at odds need not share words.
const maxCandidates = 40

// MostRead is how many candidates a reader is asked about in a cycle with so many new passages: reading one costs about
// as much as comparing a hundred, some 5 ms. A small memory is read more closely, since there it costs nobody anything.
func MostRead(fresh int) int {
	return leastRead + max(fresh/passagesARead, min(fresh/closeARead, closelyRead))
}

const (
	leastRead, passagesARead = 60, 40
	// closeARead is how many new passages there are to a candidate beside these in a small memory, and closelyRead how
	// many candidates such are at most.
	closeARead, closelyRead = 4, 340
)

// Candidate is two statements of two passages that may be at odds: a rule says so, or none knows enough to say. Who has
// a reader of language asks it, and lets [Candidate.Decide] make a finding of the answer.
type Candidate struct {
	// TextA and TextB are the two statements, and LeadA and LeadB what their passages say before them.
	TextA, TextB string
	LeadA, LeadB string
	// Promise orders candidates where not all can be read: how near the two passages are, and how
	// much the statements share. It is between 0 and 2, and more where a rule has found something.
	Promise float64

	finding Finding
	ruled   bool    // a rule has found it
	abroad  string  // the language that both statements are in, where that is not English
	least   float64 // the logit from which on they are at odds
	// clash is the one value in which they differ, where that is all in which they differ.
	clash clash
	// fromA and fromB are since when the passages hold, in Unix milliseconds, 0 where that is not known.
	fromA, fromB int64
}

// Turn has the two statements change places.
func (c *Candidate) Turn() {
	c.TextA, c.TextB = c.TextB, c.TextA
	c.LeadA, c.LeadB = c.LeadB, c.LeadA
	c.finding.A, c.finding.B = c.finding.B, c.finding.A
	c.clash.a, c.clash.b = c.clash.b, c.clash.a
	c.fromA, c.fromB = c.fromB, c.fromA
}

// twoTimes tells whether the passages are known to hold since two times.
func (c *Candidate) twoTimes() bool { return c.fromA != 0 && c.fromB != 0 && c.fromA != c.fromB }

// ruledPromise is what the word of a rule adds to a promise.
const ruledPromise = 2

// Candidates appends to dst the pairs of statements of two passages that a reader should be asked about, those that
// promise most first.
func (j *Judge) Candidates(dst []Candidate, a, b *Passage, near Near) []Candidate {
	near.pairs = len(a.prepare()) * len(b.prepare())
	from := len(dst)
	for x := range a.profiles {
		for y := range b.profiles {
			if c, ok := j.candidate(a, b, &a.profiles[x], &b.profiles[y], near); ok {
				dst = append(dst, c)
			}
		}
	}
	slices.SortStableFunc(dst[from:], func(c, d Candidate) int { return cmp.Compare(d.Promise, c.Promise) })
	return dst[:min(len(dst), from+maxCandidates)]
}

func (j *Judge) candidate(a, b *Passage, x, y *profile, near Near) (c Candidate, ok bool) {
	c.TextA = a.Text[x.claim.Span.Start:x.claim.Span.End]
	c.TextB = b.Text[y.claim.Span.Start:y.claim.Span.End]
	if x.heading || y.heading || x.bare == y.bare || x.repeats(y) || y.repeats(x) ||
		elsewhere(a, b, x, y, &near) {
		return c, false
	}
	c.finding, c.ruled = j.claims(a, b, x, y, near)
	if codes := x.langs.Common(y.langs); len(codes) > 0 {
		c.abroad = codes[0]
		if !c.ruled && eachTime(codes, c.TextA, c.TextB) {
			return c, false
		}
	}
	if (x.claim.Points || y.claim.Points) && !c.ruled {
		return c, false
	}
	long := max(len(x.claim.Words), len(y.claim.Words)) > longStatement
	if c.least = c.leastOf(long, x.anyone() || y.anyone(), near); c.least-clashLogit > surest {
		return c, false
	}
	align(&j.al, x, y)
	if !c.ruled {
		x.readValues(a.Text)
		y.readValues(b.Text)
		s := structureOf(x, y, &j.al)
		c.clash = clashOf(a.Text, b.Text, x, y, &j.al, &s)
		switch {
		case c.clash.kind != claim.NoValue:
			c.least -= clashLogit
		case turnsOfOne(a, b):
			c.least += turnLogit
		case s.doubtful(x, y):
			c.least += doubtLogit
		}
		if c.least > surest {
			return c, false
		}
	}
	c.LeadA, c.LeadB = a.Text[:x.claim.Span.Start], b.Text[:y.claim.Span.Start]
	shared := float64(2*j.al.same) / float64(len(x.words)+len(y.words))
	c.Promise, c.fromA, c.fromB = near.Cosine+shared, a.FromMs, b.FromMs
	if c.ruled {
		c.Promise += ruledPromise
	} else {
		c.finding = Finding{Kind: c.clash.of(), A: x.claim.Span, B: y.claim.Span}
		if c.finding.Kind == "" {
			c.finding.Kind = kindOf(x, y, &j.al)
		}
	}
	return c, true
}

// heads tells whether a statement is a heading, which says nothing: the days in the headings of two meetings are not at
// odds.
func heads(s string) bool {
	title := strings.TrimLeft(s, "#")
	return len(title) < len(s) && strings.HasPrefix(title, " ")
}

// repeats tells whether a statement has another in it, word by word, and denies nothing beside it: "As I said, the lift
// is out of order." Or the other only names what this one says something of: "The lift" and "The lift: no news".
func (p *profile) repeats(of *profile) bool {
	from := strings.Index(p.bare, of.bare)
	if from < 0 || of.bare == "" {
		return false
	}
	before, behind := p.bare[:from], p.bare[from+len(of.bare):]
	if before == "" && strings.HasPrefix(behind, ": ") {
		return true
	}
	if last := of.bare[len(of.bare)-1]; behind != "" && last >= '0' && last <= '9' { // "the fee is 5 thousand"
		return false
	}
	for w := range strings.FieldsFuncSeq(before+" "+behind, func(c rune) bool { return !unicode.IsLetter(c) }) {
		if denying[w] {
			return false
		}
	}
	behind = strings.TrimLeft(behind, `.,;:!?)'"`)
	return p.nots == of.nots && (before == "" || strings.ContainsAny(before[len(before)-1:], ` ('"`)) &&
		(behind == "" || behind[0] == ' ')
}

// denying are words beside a statement with which it is not said once more, but denied or doubted.
var denying = text.Set(`false untrue wrong incorrect mistaken denied denies deny doubt doubts doubted unlikely
	impossible myth rumour rumor lie lies nonsense falsch faux falso
	onwaar`)

// bare is a statement in lower case, without spaces that do not count, emphasis, and the marks before a line and behind
// it. What stands within, as in 1.5 mg and C#, counts.
func bare(s string) string {
	s = strings.ToLower(quotes.Replace(s))
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "*", " ")), " ")
	s = strings.TrimLeft(strings.TrimPrefix(s, "- "), "#>• ")
	return strings.TrimRight(s, " .,;:!")
}

// quotes gives quotation marks and apostrophes one form.
var quotes = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`)

// leastOf is the logit from which on the reader's word is taken, as far as the structure of the statements changes
// nothing.
func (c *Candidate) leastOf(long, scene bool, near Near) float64 {
	switch {
	case c.ruled && c.abroad != "": // the reader knows little of other languages, and the rule asks for the same words
		return math.Inf(-1)
	case !c.ruled && long:
		return near.toRead(readLogit + longLogit)
	case !c.ruled && scene:
		return near.toRead(readLogit + strangerLogit)
	case !c.ruled:
		return near.toRead(readLogit)
	case long && near.Of <= smallPartition:
		return math.Inf(-1)
	case c.finding.Kind == Semantic && near.Of > smallPartition:
		return ruledLogit + opposedLogit
	case c.finding.Kind == Negation && scene:
		return sceneLogit
	case c.finding.Kind == Negation:
		return deniedLogit
	}
	return ruledLogit
}

const (
	// readLogit is from which logit of the reader's probability on two statements are reported in a small partition,
	// ruledLogit the same where a rule has found them, deniedLogit where the one denies the other, and sceneLogit where
	// that is said of what is another thing each time ("a man …"), of which rules know more. They were set on pairs that
	// the reader was not trained on.
	readLogit   = 0.5
	ruledLogit  = 0.0
	deniedLogit = 0.0
	sceneLogit  = -2.0
	// strangerLogit is by how much more is demanded of statements of what is another thing each time.
	strangerLogit = 0.75
	// opposedLogit is by how much more is demanded of opposite conclusions in a large partition, which chance finds.
	opposedLogit = 1.5
	// clashLogit is by how much less is demanded of two statements that differ in nothing but one value, doubtLogit by
	// how much more of those whose structure speaks against it.
	clashLogit = 1.25
	doubtLogit = 0.75
	// turnLogit is by how much more is demanded of two turns of one conversation, which are near each other because the
	// one answers the other.
	turnLogit = 1.5
	// longStatement is how many words nearly all statements have that the reader has learned from. Of longer ones, as in
	// articles, it is asked to be surer by longLogit, and overrules a rule only where there is enough for chance.
	longStatement = 20
	longLogit     = 1.5
	// surest is a logit that the reader gives hardly any pair, so that who needs more is not asked about: what no rule has
	// found from some 2,800 passages on, where nothing but a value differs from 6,000, and from 15,000 on even where it
	// stands out of its surroundings. There the reader only overrules.
	surest = 4.0
	// clearGrowth takes the place of growth for what stands out of its surroundings: rules need nothing more there, and
	// the reader reports too much so.
	clearGrowth = growth / 2
	// updateSeverity is the most that a contradiction of two times is said to weigh.
	updateSeverity = 0.5
)

// leastLogit raises a demand for what makes chance likelier: a large partition, and long passages, of whose many
// statements some look opposed while what is near are the passages.
func (n *Near) leastLogit(least float64) float64 {
	return n.among(least, 0) + growth*math.Log(float64(max(n.pairs, fewPairs))/fewPairs)
}

// among raises a demand for a large partition only, as is enough for the reader: that two notes have many statements
// does not make it err more often (measured on notes of up to nine sentences). clear is by how much it grows for what
// stands out of its surroundings.
func (n *Near) among(least, clear float64) float64 {
	by := growth
	if n.Clear >= leastClear {
		by = clear
	}
	return least + by*math.Log(float64(max(n.Of, smallPartition))/smallPartition)
}

// toRead raises a demand for what no rule has found: in a large partition, and among the hundreds of pairs of
// statements of two long passages, of which one or another looks opposed.
func (n *Near) toRead(least float64) float64 {
	return n.among(least, clearGrowth) + growth*math.Log(float64(max(n.pairs, manyPairs))/manyPairs)
}

// manyPairs is how many pairs of statements two notes of six sentences have.
const manyPairs = 40

// Decide makes a finding of how likely a reader holds it that the two statements contradict each other; ok is false if
// it is not sure enough.
func (c *Candidate) Decide(probability float64) (f Finding, ok bool) {
	if math.Log(probability/(1-probability)) < c.least {
		return f, false
	}
	f = c.finding
	if !c.ruled { // few candidates come to be reported
		f.Explanation = c.explain()
	}
	f.Severity = max(f.Severity, probability)
	if c.twoTimes() {
		f.Severity = min(f.Severity, updateSeverity) // one of them is out of date, and nobody is wrong
	}
	return f, true
}

// Unread is what the rules say of a candidate that no reader was asked about.
func (c *Candidate) Unread() (Finding, bool) { return c.finding, c.ruled }

// kindOf names in what two statements differ that are known to be at odds: by what only one of them has.
func kindOf(x, y *profile, al *alignment) Kind {
	i, _, _ := opposites(x, y, al)
	both := x.lone(al.to[:]) & y.lone(al.back[:])
	switch {
	case (x.nots > 0) != (y.nots > 0):
		return Negation
	case i >= 0:
		return Antonym
	case both&loneTime != 0:
		return Temporal
	case both&(loneNumber|loneName) != 0:
		return Value
	}
	return Semantic
}

// What a statement has that the other has not, as bits.
const (
	loneTime = 1 << iota
	loneNumber
	loneName
)

func (p *profile) lone(to []int8) (has uint8) {
	for i := range p.words {
		w := p.words[i].word
		switch {
		case to[i] >= 0:
		case w.Kind == claim.Time:
			has |= loneTime
		case w.Kind == claim.Number:
			has |= loneNumber
		case w.Name:
			has |= loneName
		}
	}
	return has
}
