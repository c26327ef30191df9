package grounding

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// leastShare is the part of a sentence's words that passages must hold to say it: of
// up to seven all, of eight or more one in eight may be another. More freedom lets
// more pass that nobody said: docs/brain.md has the figures.
const leastShare = 0.87

// maxWords is the longest sentence that is looked at: package claim reads little more.
const maxWords = 100

// Share is the part of a query's words, by weight, that a text holds: 0 to 1. Function
// words are none, unless there is nothing else.
func Share(a *text.Analyzer, query, s string) float64 {
	p := a.Passage("", s)
	var all, held float64
	for _, q := range a.Query(query, p.Langs) {
		all += float64(q.Weight)
		if slices.ContainsFunc(q.Alts, func(t text.Term) bool {
			_, ok := slices.BinarySearchFunc(p.Terms, t, func(f text.TermFreq, t text.Term) int {
				return cmp.Compare(f.Term, t)
			})
			return ok
		}) {
			held += float64(q.Weight)
		}
	}
	if all == 0 {
		return 0
	}
	return held / all
}

// Checker compares sentences with passages. The zero value is ready to use; it is for
// one goroutine at a time.
type Checker struct {
	words  text.Analyzer
	reader claim.Reader
}

// polarity says how a word stands in passages: stated, denied, or both.
type polarity uint8

const (
	stated polarity = 1 << iota
	denied
)

// Holds reports whether passages, of which each may be a title, say a sentence.
func (c *Checker) Holds(sentence string, passages ...string) bool {
	all := strings.Join(passages, "\n\n")
	sentence, ok := prose(sentence, all)
	if !ok {
		return false
	}
	known := map[string]polarity{}
	for _, p := range passages {
		for _, said := range c.reader.Read(claim.Source{Text: p}) {
			for _, w := range said.Words {
				is := stated
				if w.Not {
					is = denied
				}
				known[w.Stem] |= is
				known[w.Form] |= is
			}
		}
	}
	var words []claim.Word
	var content []string // by a text's words, in whatever language; quantities are compared by their value
	for _, said := range c.reader.Read(claim.Source{Text: sentence}) {
		words = append(words, said.Words...)
		for _, w := range said.Words {
			if w.Kind == claim.Content {
				content = append(content, sentence[w.Start:w.End])
			}
		}
	}
	return len(content) > 0 && len(words) <= maxWords && agrees(words, sentence, known) &&
		Share(&c.words, strings.Join(content, " "), all) >= leastShare
}

// agrees reports whether what must not be made up stands in the passages, and whether
// a sentence denies what they deny, and states what they state.
func agrees(words []claim.Word, sentence string, known map[string]polarity) bool {
	denies, backed, turned := false, false, false
	for _, w := range words {
		is := known[w.Stem] | known[w.Form]
		switch w.Kind {
		case claim.Negation:
			denies = true
		case claim.Number, claim.Time:
			if is == 0 {
				return false
			}
		case claim.Content:
			first, _ := utf8.DecodeRuneInString(sentence[w.Start:])
			if is == 0 && (w.Name || unicode.IsUpper(first) || unicode.IsDigit(first)) {
				return false
			}
			backed = backed || w.Not && is&denied != 0
			turned = turned || !w.Not && is == denied
		case claim.Function:
		}
	}
	if denies {
		return backed
	}
	return !turned
}

// prose is a sentence without what looks like an address or markup, all of which must
// stand in the passages as it is: a client may show the one as a link, and the other as
// anything.
func prose(sentence, passages string) (rest string, ok bool) {
	var words []string
	for field := range strings.FieldsSeq(sentence) {
		lower := strings.ToLower(field)
		if !slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(lower, mark) }) {
			words = append(words, field)
		} else if !strings.Contains(passages, strings.TrimRight(field, ".,;:!?)")) {
			return "", false
		}
	}
	return strings.Join(words, " "), true
}

// marks are of addresses, links and markup.
var marks = []string{"://", "](", "<", "`", "@", "www.", "javascript:", "data:"}
