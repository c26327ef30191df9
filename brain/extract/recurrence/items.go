package recurrence

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// item is a word, number or mark of a sentence, or a phrase that the language has as one.
type item struct {
	word
	low        string
	start, end int
	number     int  // -1: not a number
	ordinal    bool // 15th
	mark       bool
	first      bool // of its sentence
	capital    bool
	suffix     bool // 's, n't
}

// itemsOf takes a sentence apart, before any language is known.
func itemsOf(dst []item, tokens []tagger.Token, s string) []item {
	for _, t := range tokens {
		x := item{
			start: t.Start, end: t.End, number: -1, mark: t.Kind == tagger.Mark, first: t.First,
			suffix: t.Kind == tagger.Suffix,
		}
		if t.Kind == tagger.Handle || t.Kind == tagger.Hashtag || t.Kind == tagger.Link {
			x.mark = true
		}
		dst = appendParts(dst, x, s)
	}
	return dst
}

// appendParts appends an item, cut where a language may have two words: "9-11", "l'année", "Monday-Friday". What a
// language has as one word stays.
func appendParts(dst []item, x item, s string) []item {
	w := s[x.start:x.end]
	x.low = strings.ToLower(w)
	if !x.mark && !x.suffix && !knownWord[x.low] {
		if i := strings.IndexAny(x.low, "-'‐‑’"); i > 0 && len(x.low) == len(w) {
			_, n := utf8.DecodeRuneInString(w[i:])
			if i+n < len(w) {
				head, rest := x, x
				head.end = x.start + i
				rest.start, rest.first = head.end+n, false
				dst = appendParts(dst, head, s)
				if w[i] == '-' || n == len("‐") && !strings.HasPrefix(w[i:], "’") {
					dst = append(dst, item{start: head.end, end: rest.start, low: "-", number: -1, mark: true})
				}
				return appendParts(dst, rest, s)
			}
		}
	}
	first, _ := utf8.DecodeRuneInString(w)
	x.capital = unicode.IsUpper(first)
	if n, err := strconv.Atoi(w); err == nil && w[0] != '-' && w[0] != '+' {
		x.number = n
	} else if n, ok := ordinalNumber(x.low); ok {
		x.number, x.ordinal = n, true
	}
	return append(dst, x)
}

// maxPhrase is how many items a phrase has at most.
const maxPhrase = 4

// under gives the items of a sentence as a language knows them, its phrases as one item each.
func (l *language) under(dst, raw []item) []item {
	for i := 0; i < len(raw); {
		x, n := raw[i], 1
		if l.long[x.low] {
			parts := []string{x.low}
			for k := i + 1; k < len(raw) && k < i+maxPhrase; k++ {
				parts = append(parts, raw[k].low)
				joined := strings.Join(parts, " ")
				if w, ok := l.words[joined]; ok {
					x.word, x.low, x.end, n = w, joined, raw[k].end, k-i+1
				}
			}
		}
		if n == 1 {
			x.word = l.words[x.low]
			if x.is&needed != 0 && !x.capital {
				x.is &^= weekday | month
			}
		}
		dst = append(dst, x)
		i += n
	}
	return dst
}

// knownWord holds the words of all languages that have a mark inside.
var knownWord = func() map[string]bool {
	m := map[string]bool{}
	for _, l := range languages {
		for w := range l.words {
			if strings.ContainsAny(w, "-'’") {
				m[w] = true
			}
		}
	}
	return m
}()

// triggers are the words without which nothing is said to recur, each with the set of its languages, by place.
var triggers = func() map[string]uint8 {
	m := map[string]uint8{}
	for i, l := range languages {
		for w, x := range l.words {
			if x.is&(every|weekday|weekdays|adverb|count|times|plural) != 0 || x.is&unit != 0 && x.length.unit == Month {
				first, _, _ := strings.Cut(w, " ")
				m[first] |= 1 << i
			}
		}
	}
	return m
}()

// triggered are the languages that may say in a sentence that something recurs.
func triggered(raw []item) (set uint8) {
	for i := range raw {
		set |= triggers[raw[i].low]
		if strings.HasSuffix(raw[i].low, "x") && raw[i].low[0] <= '9' {
			set |= 1
		}
	}
	return set
}

// plain tells whether an item is a word that the language has nothing to say of.
func (x *item) plain() bool { return !x.mark && x.is == 0 && x.number < 0 }

// begins tells whether a fragment may begin with an item.
func (x *item) begins() bool {
	return x.is != 0 || x.number >= 0 || x.low[0] >= '0' && x.low[0] <= '9' || x.low == "half" || x.low == "quarter"
}

// functional tells whether an item is a small word of any language.
func (x *item) functional() bool { return text.FunctionWord(x.low) != 0 }
