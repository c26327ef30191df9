package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a half-open range of byte offsets.
type Span struct{ Start, End int }

// Sentences yields the sentences of s in order, without the white space around
// them. They do not overlap, and what they leave out is white space. A blank
// line, a list item and a heading line end a sentence.
//
// The rules are our own rather than UAX 29's or a library's: UAX 29 ends a
// sentence after "Dr.", prose's segmenter gives no offsets and knows no script
// but Latin, and both read a chat log as one sentence. What they share: a full
// stop ends a sentence when white space follows and what follows does not begin
// with a small letter, unless an abbreviation, an initial or a list number
// stands before it.
func Sentences(s string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for sp := range lines(s) {
			if !sentencesIn(s, sp, yield) {
				return
			}
		}
	}
}

// shortLine is the length below which a line that ends without punctuation is
// taken for a unit of its own (a chat message, a verse, a signature) rather than
// for text wrapped at a margin.
const shortLine = 50

// lines yields stretches of s that no sentence crosses: paragraphs, with list
// items, table rows, headings and short lines apart.
func lines(s string) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		start, i := 0, 0
		for i < len(s) {
			end, next := lineEnd(s, i)
			if next < len(s) && !hardBreak(s, i, end, next) {
				i = next
				continue
			}
			if sp := trim(s, Span{start, end}); sp.Start < sp.End && !yield(sp) {
				return
			}
			start, i = next, next
		}
		if sp := trim(s, Span{start, len(s)}); sp.Start < sp.End {
			yield(sp)
		}
	}
}

// lineEnd gives the end of the line that holds i, and the start of the next.
func lineEnd(s string, i int) (end, next int) {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n, i + n + 1
	}
	return len(s), len(s)
}

// hardBreak tells whether the line [from, end) and the one that begins at next
// belong to different sentences whatever they say.
func hardBreak(s string, from, end, next int) bool {
	line := strings.TrimSpace(s[from:end])
	if line == "" || isHeading(line) || line[0] == '|' {
		return true
	}
	nextEnd, _ := lineEnd(s, next)
	follow := strings.TrimLeft(s[next:min(nextEnd, next+80)], " \t\r")
	if follow == "" {
		return nextEnd-next < 80 || strings.TrimSpace(s[next:nextEnd]) == ""
	}
	if startsBlock(follow) {
		return true
	}
	if len(line) >= shortLine {
		return false
	}
	r, _ := utf8.DecodeRuneInString(follow)
	return !unicode.IsLower(r)
}

// isHeading matches Markdown's # to ###### with a space.
func isHeading(line string) bool { return headingLevel(line) > 0 }

// headingLevel is 1 to 6, or 0 for a line that is no heading.
func headingLevel(line string) int {
	n := 0
	for n < len(line) && n < 7 && line[n] == '#' {
		n++
	}
	if n == 0 || n > 6 || n == len(line) || line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}

// startsBlock tells whether a line (without indent) begins a list item, quote,
// table row, heading or code fence.
func startsBlock(line string) bool {
	switch line[0] {
	case '|', '>':
		return true
	case '#':
		return isHeading(line)
	case '`', '~':
		return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
	}
	return listMarker(line) > 0
}

// listMarker is the length of "- ", "* ", "+ ", "• ", "12. " or "3) " at the
// start of a line, or 0.
func listMarker(line string) int {
	switch line[0] {
	case '-', '*', '+':
		if len(line) > 1 && (line[1] == ' ' || line[1] == '\t') {
			return 2
		}
		return 0
	}
	if strings.HasPrefix(line, "• ") {
		return len("• ")
	}
	n := 0
	for n < len(line) && n < 4 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && line[n+1] == ' ' {
		return n + 2
	}
	return 0
}

// trim takes the white space off both ends of a span.
func trim(s string, sp Span) Span {
	t := strings.TrimLeftFunc(s[sp.Start:sp.End], unicode.IsSpace)
	sp.Start = sp.End - len(t)
	t = strings.TrimRightFunc(t, unicode.IsSpace)
	sp.End = sp.Start + len(t)
	return sp
}

// sentencesIn yields the sentences of the stretch sp, which is trimmed. It
// returns false when yield did.
func sentencesIn(s string, sp Span, yield func(Span) bool) bool {
	start := sp.Start
	// A list number is no sentence.
	i := start + listMarker(s[start:sp.End])
	for i < sp.End {
		c := s[i]
		if c < utf8.RuneSelf && c != '.' && c != '!' && c != '?' {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:sp.End])
		if !terminates(r) {
			i += n
			continue
		}
		stop := i
		i = closing(s, i+n, sp.End)
		if i < sp.End && !borderAfter(s, start, stop, i, sp.End, r) {
			continue
		}
		if !yield(Span{start, i}) {
			return false
		}
		for i < sp.End {
			r, n := utf8.DecodeRuneInString(s[i:sp.End])
			if !unicode.IsSpace(r) {
				break
			}
			i += n
		}
		start = i
	}
	return start >= sp.End || yield(Span{start, sp.End})
}

// terminates tells whether r can end a sentence.
func terminates(r rune) bool {
	switch r {
	case '.', '!', '?', '…':
		return true
	}
	return r >= utf8.RuneSelf && unicode.Is(unicode.STerm, r)
}

// closing skips further terminators and closing quotes and brackets.
func closing(s string, i, end int) int {
	for i < end {
		r, n := utf8.DecodeRuneInString(s[i:end])
		switch {
		case terminates(r), r == '"', r == '\'', r == ')', r == ']', r == '}', r == '*', r == '_':
		case r >= utf8.RuneSelf && (unicode.Is(unicode.Pf, r) || unicode.Is(unicode.Pe, r) || r == '“'):
		case guillemetBehind(s[i:end], n):
			n += len("»")
		default:
			return i
		}
		i += n
	}
	return i
}

// guillemetBehind tells whether a French quotation closes behind the first n bytes of s, which are the space that sets
// its mark apart. Where a letter follows it opens one, as it does in German.
func guillemetBehind(s string, n int) bool {
	if r, _ := utf8.DecodeRuneInString(s); r != ' ' && r != noBreak && r != narrowNoBreak ||
		!strings.HasPrefix(s[n:], "»") {
		return false
	}
	return !letterFirst(s[n+len("»"):])
}

// noBreak and narrowNoBreak are the spaces of French punctuation and of grouped digits.
const noBreak, narrowNoBreak = '\u00a0', '\u202f'

func letterFirst(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// borderAfter decides whether the terminator r at stop, with its closers up to
// i, ends the sentence that began at start.
func borderAfter(s string, start, stop, i, end int, r rune) bool {
	next, n := utf8.DecodeRuneInString(s[i:end])
	if r >= utf8.RuneSelf && r != '…' {
		// 。！？ stand without a space; so do the others often enough, and
		// none of them is used within words or numbers but the wide full stop. A
		// quotation that と or って takes up goes on.
		return !(r == '．' && unicode.IsDigit(next)) && !quotedOn(s[stop:i], s[i:end])
	}
	if !unicode.IsSpace(next) {
		return scriptOf(next).spaceless() && r != '.'
	}
	// The first character that says something.
	k := i + n
	for k < end && k < i+16 {
		next, n = utf8.DecodeRuneInString(s[k:end])
		if !unicode.IsSpace(next) && !unicode.In(next, unicode.Ps, unicode.Pi) && next != '"' && next != '\'' &&
			next != '*' && next != '_' {
			break
		}
		k += n
	}
	if unicode.IsLower(next) {
		return false
	}
	if r != '.' {
		return true
	}
	if stop+1 < i && s[stop+1] == '.' {
		return true // an ellipsis before a capital
	}
	return !abbreviated(s, start, stop, k, end, next)
}

// quotedOn tells whether a Japanese sentence goes on behind the end of a quotation: 「はい。」と言った。
func quotedOn(closers, behind string) bool {
	return strings.ContainsAny(closers, "」』") && (strings.HasPrefix(behind, "と") || strings.HasPrefix(behind, "って"))
}
