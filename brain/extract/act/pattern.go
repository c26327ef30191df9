package act

import (
	"regexp"
	"slices"
	"strings"

	"orgmem/brain/extract/locale"
)

// A pattern is a row of items that stand side by side in a sentence:
//
//	word|other   one of these words
//	-ing|-ings   a word with one of these endings, pre- one with this beginning
//	?word        a word that may stand there
//	!            a word of denial that may stand there, and turns the act around
//	~            up to three other words
//	^ and $      the sentence, or the part behind a comma, begins or ends there
//	<who>        somebody, in at most [maxWho] words
//	<thing>      what it is about, up to the end of the clause; <deed> has a verb behind it
//	<rest>       the same up to the end of the sentence
type item struct {
	kind                kind
	words               map[string]bool
	endings, beginnings []string
	optional            bool
	capture             string
	least               int // content words of a capture
	most                int // words of it
	overCommas          bool
}

type kind uint8

const (
	literal kind = iota
	denial
	gap
	begin
	end
	captured
)

const (
	// maxTokens bounds a sentence that is read: a longer one argues.
	maxTokens = 48
	maxWho    = 5
	maxThing  = 24
	maxGap    = 3
	// leastEnding is how many bytes stand before an ending.
	leastEnding = 2
)

// continued ends a line of a pattern that goes on in the next.
var continued = regexp.MustCompile(`\\\n\s*`)

// compile reads patterns, one a line.
func compile(lines string) (all [][]item) {
	lines = continued.ReplaceAllString(lines, "")
	for line := range strings.Lines(lines) {
		var p []item
		for f := range strings.FieldsSeq(line) {
			p = append(p, itemOf(f))
		}
		if len(p) > 0 {
			all = append(all, p)
		}
	}
	return all
}

func itemOf(f string) item {
	switch f {
	case "!":
		return item{kind: denial, optional: true}
	case "~":
		return item{kind: gap, most: maxGap}
	case "^":
		return item{kind: begin}
	case "$":
		return item{kind: end}
	case "<who>":
		return item{kind: captured, capture: "who", most: maxWho}
	case "<thing>":
		return item{kind: captured, capture: "thing", least: 1, most: maxThing}
	case "<deed>":
		return item{kind: captured, capture: "thing", least: 2, most: maxThing}
	case "<rest>":
		return item{kind: captured, capture: "thing", least: 2, most: maxThing, overCommas: true}
	}
	x := item{words: map[string]bool{}}
	f, x.optional = strings.CutPrefix(f, "?")
	for w := range strings.SplitSeq(f, "|") {
		w = strings.TrimPrefix(w, "?")
		ending, isEnding := strings.CutPrefix(w, "-")
		beginning, isBeginning := strings.CutSuffix(w, "-")
		switch {
		case isEnding:
			x.endings = append(x.endings, ending)
		case isBeginning:
			x.beginnings = append(x.beginnings, beginning)
		default:
			x.words[w] = true
		}
	}
	return x
}

// takes tells whether a literal item takes a word.
func (x *item) takes(w string) bool {
	if x.words[w] {
		return true
	}
	for _, e := range x.endings {
		if len(w) >= len(e)+leastEnding && strings.HasSuffix(w, e) {
			return true
		}
	}
	for _, b := range x.beginnings {
		if len(w) >= len(b)+leastEnding && strings.HasPrefix(w, b) {
			return true
		}
	}
	return false
}

// sentence is what patterns are matched with.
type sentence struct {
	*language

	text   string
	tokens []locale.Token
}

// match is what a pattern has found.
type match struct {
	denied   bool
	from, to int // tokens
	who      [2]int
	thing    [2]int
}

// find gives the first place in which a pattern fits.
func (s *sentence) find(p []item) (m match, ok bool) {
	for i := range s.tokens {
		m = match{from: i}
		if s.fits(p, i, &m) {
			return m, true
		}
	}
	return m, false
}

// fits matches the items from token i on.
func (s *sentence) fits(p []item, i int, m *match) bool {
	if len(p) == 0 {
		m.to = i
		return true
	}
	x := &p[0]
	switch x.kind {
	case begin:
		return s.begins(i) && s.fits(p[1:], i, m)
	case end:
		return s.ends(i) && s.fits(p[1:], i, m)
	case gap:
		for k := i; k <= min(i+x.most, len(s.tokens)); k++ {
			if try := *m; s.fits(p[1:], k, &try) {
				*m = try
				return true
			}
			if k < len(s.tokens) && s.mark(k) {
				return false
			}
		}
		return false
	case captured:
		return s.captures(p, i, m)
	case denial:
		if i < len(s.tokens) && s.not[s.tokens[i].Text] {
			if try := *m; s.fits(p[1:], i+1, &try) {
				try.denied = true
				*m = try
				return true
			}
		}
		return s.fits(p[1:], i, m)
	default:
		if i < len(s.tokens) && x.takes(s.tokens[i].Text) {
			if try := *m; s.fits(p[1:], i+1, &try) {
				*m = try
				return true
			}
		}
		return x.optional && s.fits(p[1:], i, m)
	}
}

// captures takes as few tokens as the rest of the pattern leaves; at the end of a pattern as many as there are.
func (s *sentence) captures(p []item, i int, m *match) bool {
	x := &p[0]
	limit := i
	for limit < len(s.tokens) && limit < i+x.most && (!s.mark(limit) || x.overCommas && s.tokens[limit].Text == ",") {
		limit++
	}
	from := i + 1
	if len(p) == 1 {
		from = limit
	}
	for k := from; k <= limit; k++ {
		if x.capture == "who" && !s.isWho(i, k) || x.least > 0 && s.content(i, k) < x.least {
			continue
		}
		try := *m
		if x.capture == "who" {
			try.who = [2]int{i, k}
		} else {
			try.thing = [2]int{i, k}
		}
		if s.fits(p[1:], k, &try) {
			*m = try
			return true
		}
	}
	return false
}

// mark tells whether a clause ends before token i.
func (s *sentence) mark(i int) bool {
	switch s.tokens[i].Text {
	case ",", ";", ":", "!", "?", "(", ")", "–", "—", "…", "،", "؛", "؟", "।", "\"", "“", "”", "„", "«", "»":
		return true
	case ".":
		return i+1 == len(s.tokens) || i > 0 && !s.tokens[i-1].Number && s.tokens[i+1].Capital && len(s.tokens[i-1].Text) > 3
	}
	return false
}

func (s *sentence) begins(i int) bool {
	for i > 0 && s.openers[s.tokens[i-1].Text] {
		i--
	}
	return i == 0 || s.mark(i-1)
}

func (s *sentence) ends(i int) bool { return i == len(s.tokens) || s.mark(i) }

// has tells whether one of the words stands in the tokens [from, to).
func (s *sentence) has(from, to int, words map[string]bool) bool {
	return slices.ContainsFunc(s.tokens[from:to], func(t locale.Token) bool { return words[t.Text] })
}
