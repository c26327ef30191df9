package portrait

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/text"
)

const (
	// maxSaid bounds the statements of a kind that a portrait quotes.
	maxSaid = 3
	// maxQuote bounds a quoted statement in bytes: a longer one is left out, since what is cut may mean something else.
	maxQuote = 200
	// maxStatements bounds the statements that are compared with each other, of each kind: the latest.
	maxStatements = 200
)

// Statement is something that the graph keeps as said.
type Statement struct {
	Kind    string // [Preference] or [Belief]
	Speaker string // empty: who wrote the texts
	Said    string // the sentence
	Object  string // what of it is liked, or believed; empty: all of it
	// Polarity is negative for dislikes and what is not believed.
	Polarity   int
	Confidence float64
	AtMS       int64 // when it was said last
	Node       string
	Texts      []string // of the person that say it, the latest first
}

// thought is what was said once or in several ways: the last way, and all the texts.
type thought struct {
	last   *Statement
	words  []string
	denied bool
	nodes  []string // of the statements
	texts  []string
	sure   float64
}

// said quotes what the person has said repeatedly, and what they have said for sure.
func (m *Memory) said(kind string) (lines []Line) {
	var again, once []*thought
	for _, t := range m.thoughts(kind) {
		if len(t.texts) > 1 {
			again = append(again, t)
		} else {
			once = append(once, t)
		}
	}
	slices.SortStableFunc(again, func(a, b *thought) int {
		return cmp.Or(cmp.Compare(len(b.texts), len(a.texts)), cmp.Compare(b.sure, a.sure))
	})
	for _, t := range again[:min(len(again), maxSaid)] {
		lines = append(lines, Line{
			Kind: kind, Text: fmt.Sprintf("Says: %s (in %d messages)", quote(sentence(t.last)), len(t.texts)),
			Nodes: distinct(slices.Concat(t.nodes[:1], t.texts, t.nodes[1:])), Quotes: []string{sentence(t.last)},
		})
	}
	slices.SortStableFunc(once, func(a, b *thought) int { return cmp.Compare(b.sure, a.sure) })
	line := Line{Kind: kind}
	var parts, of []string
	for _, t := range once {
		if len(lines)+len(parts) == maxSaid {
			break
		}
		if slices.Contains(of, t.texts[0]) { // one message is one voice
			continue
		}
		of = append(of, t.texts[0])
		parts = append(parts, quote(sentence(t.last)))
		line.Quotes = append(line.Quotes, sentence(t.last))
		line.Nodes = append(append(line.Nodes, t.nodes[0]), t.texts[0])
	}
	if len(parts) > 1 {
		line.Text, line.Nodes = "Says: "+strings.Join(parts, " "), distinct(line.Nodes)
		lines = append(lines, line)
	}
	return lines
}

// sentence is a statement on one line.
func sentence(s *Statement) string { return strings.Join(strings.Fields(s.Said), " ") }

// thoughts puts together what was said of one thing, what was said last first. Where the person said otherwise
// since, only the later counts.
func (m *Memory) thoughts(kind string) (all []*thought) {
	var own []*Statement
	for i := range m.Statements {
		s := &m.Statements[i]
		if s.Kind == kind && len(s.Texts) > 0 && len(s.Said) <= maxQuote && strings.TrimSpace(s.Said) != "" &&
			(s.Speaker == "" || same(s.Speaker, m.Owner)) {
			own = append(own, s)
		}
	}
	slices.SortStableFunc(own, func(a, b *Statement) int {
		return cmp.Or(cmp.Compare(b.AtMS, a.AtMS), cmp.Compare(a.Node, b.Node))
	})
next:
	for _, s := range own[:min(len(own), maxStatements)] {
		words, denied := wordsOf(cmp.Or(s.Object, s.Said))
		denied = denied != (s.Polarity < 0)
		for _, t := range all {
			if !about(words, t.words) {
				continue
			}
			if denied == t.denied && inOrder(words, t.words) {
				t.nodes = append(t.nodes, s.Node)
				for _, x := range s.Texts {
					if !slices.Contains(t.texts, x) {
						t.texts = append(t.texts, x)
					}
				}
				t.sure = max(t.sure, s.Confidence)
			}
			continue next
		}
		all = append(all, &thought{
			last: s, words: words, denied: denied, nodes: []string{s.Node}, texts: slices.Clone(s.Texts), sure: s.Confidence,
		})
	}
	return all
}

// wordsOf are the words of a sentence that say what it is about, in order, and whether it denies that.
func wordsOf(s string) (words []string, denied bool) {
	var all []string
	for w := range strings.FieldsFuncSeq(strings.ToLower(strings.ReplaceAll(s, "’", "'")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}) {
		if w = strings.Trim(w, "'"); w == "" {
			continue
		}
		if w == "not" || w == "never" || w == "no" || strings.HasSuffix(w, "n't") {
			denied = !denied
			continue
		}
		all = append(all, w)
		if !text.FunctionWord(w).Has(text.English) {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		words = all
	}
	return words, denied
}

// about tells whether two sentences have the words of one thing: all of the shorter, which is more than half of the
// longer.
func about(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || 2*len(a) <= len(b) {
		return false
	}
	for _, w := range a {
		if !slices.Contains(b, w) {
			return false
		}
	}
	return true
}

// inOrder tells whether the words of the shorter stand in the longer in their order.
func inOrder(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, w := range b {
		if len(a) > 0 && a[0] == w {
			a = a[1:]
		}
	}
	return len(a) == 0
}
