package act

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/locale"
	"orgmem/brain/text"
)

// Kind says what a sentence does.
type Kind uint8

// The kinds of acts.
const (
	// Promise: somebody says that they will do a thing.
	Promise Kind = iota
	// Duty: somebody is responsible for a thing.
	Duty
	// Change: a thing is otherwise than it was.
	Change
	// Preference and Belief are what somebody likes, and what they hold.
	Preference
	Belief
)

// Act is what a sentence does.
type Act struct {
	Kind Kind
	// Who does it; empty: its speaker, or nobody who is named.
	Who text.Span
	// Thing is what it is about.
	Thing text.Span
	// Polarity is 1 for what is liked or held and -1 for what is not.
	Polarity int
}

// Known tells whether sentences of a language are read.
func Known(code string) bool { return spaced()[code] != nil || joined[code] != nil }

// Codes are the languages that are read, in order, but for those that are known by their script.
func Codes() []string { return []string{"de", "es", "fr", "it", "nl", "pl", "pt"} }

// Names tells whether a word, in lower case, may name something in a language: words that hold sentences
// together, or say what they do, name nothing.
func Names(code, word string) bool {
	l := spaced()[code]
	return l == nil || !text.FunctionWord(word).Has(l.lang) && !l.known[word]
}

// Read gives what a sentence does: at most one act of a kind.
func Read(code, said string) []Act {
	if j := joined[code]; j != nil {
		return j.read(said)
	}
	l := spaced()[code]
	if l == nil {
		return nil
	}
	s := sentenceOf(l, said)
	if len(s.tokens) == 0 || len(s.tokens) > maxTokens || s.asks() {
		return nil
	}
	var out []Act
	add := func(k Kind, patterns [][]item, polarity int) bool {
		for _, p := range patterns {
			if m, ok := s.find(p); ok && s.stands(k, &m) {
				out = append(out, s.act(k, &m, polarity))
				return true
			}
		}
		return false
	}
	if !add(Preference, l.dislikes, -1) {
		add(Preference, l.likes, 1)
	}
	add(Belief, l.beliefs, 1)
	if s.open() {
		return out
	}
	if !add(Duty, l.duties, 0) {
		add(Promise, l.promises, 0)
	}
	if a, ok := s.change(); ok {
		out = append(out, a)
	}
	return out
}

func sentenceOf(l *language, said string) *sentence {
	return &sentence{language: l, text: said, tokens: locale.Tokens(said)}
}

// asks tells whether a sentence is a question.
func (s *sentence) asks() bool {
	switch s.tokens[len(s.tokens)-1].Text {
	case "?", "؟":
		return true
	}
	return s.asking[s.tokens[0].Text] && !strings.HasSuffix(strings.TrimSpace(s.text), ".")
}

// Open tells whether a sentence leaves open whether what it says will be: "perhaps", "if", "would".
func Open(code, said string) bool {
	return tells(code, said, true, func(j *expressions) *regexp.Regexp { return j.open }, (*sentence).open)
}

// tells asks of a sentence what an expression or the words of its language say; unknown is the answer where the
// language is not read.
func tells(
	code, said string, unknown bool, by func(*expressions) *regexp.Regexp, words func(*sentence) bool,
) bool {
	if j := joined[code]; j != nil {
		return by(j).MatchString(said)
	}
	l := spaced()[code]
	if l == nil {
		return unknown
	}
	return words(sentenceOf(l, said))
}

func (s *sentence) open() bool {
	for _, p := range s.hedging {
		if _, ok := s.find(p); ok {
			return true
		}
	}
	for i := range s.tokens {
		w := s.tokens[i].Text
		if s.hedges[w] || s.reports[w] {
			return true
		}
		for _, e := range s.conditional {
			if len(w) >= len(e)+leastEnding && strings.HasSuffix(w, e) && !s.names(i) {
				return true
			}
		}
	}
	return false
}

// names tells whether a token is written as a name, within a sentence.
func (s *sentence) names(i int) bool { return i > 0 && s.tokens[i].Capital }

// Binds tells whether a sentence says that something has to be: "must", "is due".
func Binds(code, said string) bool {
	return tells(code, said, false, func(j *expressions) *regexp.Regexp { return j.binds }, func(s *sentence) bool {
		return s.has(0, len(s.tokens), s.must)
	})
}

// Self tells whether the speaker of a sentence is who acts in it: "I", "we", or a verb that says so.
func Self(code, said string) bool {
	return tells(code, said, false, func(j *expressions) *regexp.Regexp { return j.self }, (*sentence).self)
}

func (s *sentence) self() bool {
	for i := range s.tokens {
		if s.selves[s.tokens[i].Text] {
			return true
		}
		for _, p := range s.firstPerson {
			m := match{from: i}
			if s.fits(p, i, &m) {
				return true
			}
		}
	}
	return false
}

// Idle tells whether a sentence tells nothing that is to be done or kept in mind: the weather, a greeting, what
// somebody only thinks or feels.
func Idle(code, said string) bool {
	return tells(code, said, true, func(j *expressions) *regexp.Regexp { return j.idle }, func(s *sentence) bool {
		return slices.ContainsFunc(s.tokens, func(t locale.Token) bool {
			return s.idle[t.Text] || s.not[t.Text] || s.holding[t.Text]
		})
	})
}

// Ended tells whether a sentence says that something is done.
func Ended(code, said string) bool {
	return tells(code, said, false, func(j *expressions) *regexp.Regexp { return j.done }, func(s *sentence) bool {
		return s.has(0, len(s.tokens), s.done) && !s.has(0, len(s.tokens), s.not)
	})
}

// Addressed tells whether a question is of the other and not of a thing.
func Addressed(code, said string) bool {
	return tells(code, said, true, func(j *expressions) *regexp.Regexp { return j.addressed }, func(s *sentence) bool {
		return s.has(0, len(s.tokens), s.addressed)
	})
}

// stands tells whether what a pattern has found is meant.
func (s *sentence) stands(k Kind, m *match) bool {
	all := len(s.tokens)
	switch k {
	case Promise:
		return !m.denied && !slices.ContainsFunc(s.tokens, func(t locale.Token) bool {
			return s.habits[t.Text] || s.idle[t.Text] || s.musings[t.Text] || s.not[t.Text]
		})
	case Duty:
		return !s.has(m.from, m.to, s.not) && !s.has(m.from, m.to, s.past) && !s.numbers(m.thing[0], m.thing[1])
	case Preference:
		// "I love it when you laugh" is of the two, and not of a thing.
		return !s.has(0, all, s.past) && !s.open() && !whenever[s.tokens[m.thing[0]].Text]
	case Belief:
		return !s.opensWithPronoun(m.thing[0], m.thing[1]) && !s.has(m.thing[0], m.thing[1], s.idle) &&
			s.content(m.thing[0], m.thing[1]) > 2 && !s.coming(m.thing[0], m.thing[1])
	default:
		return true
	}
}

var whenever = text.Set("quand cuando quando wenn als che que")

// numbers tells whether one stands in [from, to): who has so many of a thing is not responsible for it.
func (s *sentence) numbers(from, to int) bool {
	return slices.ContainsFunc(s.tokens[from:to], func(t locale.Token) bool { return t.Number })
}

// opensWithPronoun tells whether what is held is of something that was said before: "I think it is fine".
func (s *sentence) opensWithPronoun(from, to int) bool {
	for i := from; i < to; i++ {
		w := s.tokens[i].Text
		if s.pronouns[w] {
			return true
		}
		if s.content(i, i+1) > 0 {
			return false
		}
	}
	return false
}

// coming tells whether what is held is only expected.
func (s *sentence) coming(from, to int) bool {
	for i := from; i < to; i++ {
		w := s.tokens[i].Text
		if s.expected[w] {
			return true
		}
		for _, e := range s.future {
			if len(w) >= len(e)+leastEnding && strings.HasSuffix(w, e) {
				return true
			}
		}
	}
	return false
}

// act is what was found, without what only turns it around.
func (s *sentence) act(k Kind, m *match, polarity int) Act {
	from, to := m.thing[0], m.thing[1]
	for k == Preference && from < to && (s.not[s.tokens[from].Text] || s.very[s.tokens[from].Text]) {
		m.denied = m.denied || s.not[s.tokens[from].Text]
		from++
	}
	for k == Preference && to > from && s.not[s.tokens[to-1].Text] {
		m.denied = true
		to--
	}
	if m.denied {
		polarity = -polarity
	}
	return Act{Kind: k, Who: s.span(m.who[0], m.who[1]), Thing: s.span(from, to), Polarity: polarity}
}

func (s *sentence) span(from, to int) text.Span {
	for to > from && s.tokens[to-1].Text == "." {
		to--
	}
	if from >= to {
		return text.Span{}
	}
	return text.Span{Start: s.tokens[from].Start, End: s.tokens[to-1].End}
}

// leastContent is how many characters a word has that says what something is about.
const leastContent = 3

// content counts the words of [from, to) that say what something is about.
func (s *sentence) content(from, to int) (n int) {
	for i := from; i < to; i++ {
		if s.meaning(i) {
			n++
		}
	}
	return n
}

func (s *sentence) meaning(i int) bool {
	w := s.tokens[i].Text
	r, _ := utf8.DecodeRuneInString(w)
	return unicode.IsLetter(r) && utf8.RuneCountInString(w) >= leastContent && !text.FunctionWord(w).Has(s.lang) &&
		!s.pronouns[w] && !s.not[w] && !s.small[w]
}

// isWho tells whether the tokens [from, to) name somebody: a name, or a role with its article.
func (s *sentence) isWho(from, to int) bool {
	capital := !s.cased
	for i := from; i < to; i++ {
		w := s.tokens[i].Text
		if s.tokens[i].Number || s.selves[w] || s.pronouns[w] || s.asking[w] || s.not[w] || s.mark(i) && w != "." {
			return false
		}
		capital = capital || s.tokens[i].Capital && s.meaning(i) && !locale.TimeWord(w)
	}
	return capital || from < to && s.articles[s.tokens[from].Text] && s.content(from, to) > 0
}

// Keys are the words that say what a sentence is about, each by what its forms share.
func Keys(code, said string) (keys []string) {
	l := spaced()[code]
	switch {
	case joined[code] != nil:
		return pairs(said)
	case l == nil:
		return nil
	}
	s := sentenceOf(l, said)
	for i := range s.tokens {
		w := s.tokens[i].Text
		if s.meaning(i) && !locale.TimeWord(w) && !l.must[w] && !l.done[w] && !l.moved[w] && !l.very[w] {
			keys = append(keys, stem(w))
		}
	}
	return keys
}

// stemRunes is how many characters words of one form share: endings are what the languages inflect by.
const stemRunes = 6

func stem(w string) string {
	n := 0
	for i := range w {
		if n++; n > stemRunes {
			return w[:i]
		}
	}
	return w
}
