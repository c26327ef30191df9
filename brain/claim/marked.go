package claim

import (
	"regexp"
	"slices"
	"sort"
	"strings"

	"orgmem/brain/text"
)

const (
	// maxCodeBytes is how long code within a sentence may be; what is longer are two marks that have nothing to do with
	// each other.
	maxCodeBytes = 200
	fence        = "```"
)

// marked are the places of a text where no sentence is spoken, in order.
type marked struct{ code, links []text.Span }

// markedIn finds the code and the addresses of a text.
func markedIn(s string) (m marked) {
	if strings.Contains(s, fence) || strings.Contains(s, "~~~") {
		m.code = fencesOf(s)
	}
	if strings.IndexByte(s, '`') >= 0 {
		m.code = append(m.code, spansOf(s, m.code)...)
		slices.SortFunc(m.code, func(a, b text.Span) int { return a.Start - b.Start })
	}
	m.links = addressesOf(s)
	return m
}

// fencesOf are the blocks of code, from the mark that opens one to that which closes it, or to the end of the text. A
// text may be a piece of a longer one, and begin within a block: then marks that name a language, which only open one,
// stand where others would close.
func fencesOf(s string) (blocks []text.Span) {
	var at []int
	var named [2]bool // at marks with an even place, and at those with an odd one
	for i := 0; i < len(s); {
		n := strings.IndexAny(s[i:], "`~")
		if n < 0 {
			break
		}
		i += n
		n = len(s[i:]) - len(strings.TrimLeft(s[i:], s[i:i+1]))
		if n >= len(fence) && (s[i] == '`' || startsLine(s, i)) {
			if startsLine(s, i) && letterAt(s, i+n) {
				named[len(at)%2] = true
			}
			at = append(at, i)
		}
		i += n
	}
	if named[1] && !named[0] {
		at = append([]int{0}, at...)
	}
	for k := 0; k < len(at); k += 2 {
		end := len(s)
		if k+1 < len(at) {
			end = at[k+1] + len(fence)
		}
		blocks = append(blocks, text.Span{Start: at[k], End: end})
	}
	return blocks
}

// startsLine tells whether nothing but space stands in front of i on its line.
func startsLine(s string, i int) bool {
	before := strings.TrimRight(s[:i], " \t")
	return before == "" || before[len(before)-1] == '\n'
}

// spansOf are what stands in `code` and “code“ outside of blocks. A mark with a space behind it opens nothing.
func spansOf(s string, blocks []text.Span) (spans []text.Span) {
	for i := 0; i < len(s); {
		n := strings.IndexByte(s[i:], '`')
		if n < 0 {
			break
		}
		i += n
		if k := spanAt(blocks, i); k >= 0 {
			i = blocks[k].End
			continue
		}
		mark := s[i : len(s)-len(strings.TrimLeft(s[i:], "`"))]
		from := i + len(mark)
		i = from
		if from == len(s) || isSpace(s[from]) {
			continue
		}
		most := min(len(s), from+maxCodeBytes)
		if k := sort.Search(len(blocks), func(k int) bool { return blocks[k].Start >= from }); k < len(blocks) {
			most = min(most, blocks[k].Start)
		}
		to := strings.Index(s[from:most], mark)
		if to <= 0 || isSpace(s[from+to-1]) || strings.Contains(s[from:from+to], "\n\n") {
			continue
		}
		spans = append(spans, text.Span{Start: from, End: from + to})
		i = from + to + len(mark)
	}
	return spans
}

// address begins as an address does: with the name of a scheme and ://, or with www.
var address = regexp.MustCompile(`(?:\b[A-Za-z][A-Za-z0-9+.-]{0,15}://|\bwww\.)[^\s<>|"` + "`" + `]+`)

// addressesOf are the addresses of a text, without the marks of the sentence around them.
func addressesOf(s string) (links []text.Span) {
	if !strings.Contains(s, "://") && !strings.Contains(s, "www.") {
		return nil
	}
	for _, at := range address.FindAllStringIndex(s, -1) {
		a := s[at[0]:at[1]]
		if k := strings.Index(a, "]("); k > 0 { // [https://…](https://…)
			links = append(links, text.Span{Start: at[0], End: at[0] + k})
			at[0], a = at[0]+k+len("]("), a[k+len("]("):]
		}
		for a != "" && strings.IndexByte(".,;:!?'*_)]}", a[len(a)-1]) >= 0 &&
			(a[len(a)-1] != ')' || strings.Count(a, "(") < strings.Count(a, ")")) { // else the bracket is part of it
			a = a[:len(a)-1]
		}
		links = append(links, text.Span{Start: at[0], End: at[0] + len(a)})
	}
	return links
}

// spanAt is the place of the one among some spans in order that holds i, -1 where none does.
func spanAt(spans []text.Span, i int) int {
	k := sort.Search(len(spans), func(k int) bool { return spans[k].End > i })
	if k == len(spans) || spans[k].Start > i {
		return -1
	}
	return k
}

// mark says of words where they stand. What an address spells is neither a number nor a negation, and what stands in
// code negates nothing.
func (m *marked) mark(words []Word) {
	if len(m.code) == 0 && len(m.links) == 0 {
		return
	}
	for i := range words {
		w := &words[i]
		if k := spanAt(m.links, int(w.Start)); k >= 0 {
			w.Link = int32(k) + 1
			w.Kind, w.Name = Content, false
		}
		if spanAt(m.code, int(w.Start)) >= 0 {
			w.Code = true
			if w.Kind == Negation {
				w.Kind = Content
			}
		}
	}
}

// shows tells whether words are nothing but code.
func shows(words []Word) bool {
	return !slices.ContainsFunc(words, func(w Word) bool { return !w.Code })
}

// points tells whether words are nothing but addresses behind a label, or without one.
func points(words []Word, s string) bool {
	n := slices.IndexFunc(words, func(w Word) bool { return w.Link != 0 })
	if n < 0 || n > maxAttributeWords || slices.ContainsFunc(words[n:], func(w Word) bool { return w.Link == 0 }) {
		return false
	}
	return n == 0 || strings.Contains(s[words[n-1].End:words[n].Start], ":")
}
