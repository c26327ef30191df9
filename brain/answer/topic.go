package answer

import "strings"

// A document of lists says what an item is about in the line that it stands under: "Benchmarking", and below "nothing
// for us to decide".

const (
	// deep is how far an item is indented, at least, that stands below another: a list may be indented as a whole.
	deep = 4
	// maxTopicWords is how many words of what an item stands under an answer shows, at most.
	maxTopicWords = 12
)

// line is a line of a passage, [from, to), with how far it is indented.
type line struct {
	from, to, indent int
	item             bool
}

func lineAt(s string, at int) line {
	l := line{from: strings.LastIndexByte(s[:at], '\n') + 1, to: len(s)}
	if n := strings.IndexByte(s[l.from:], '\n'); n >= 0 {
		l.to = l.from + n
	}
	for _, r := range s[l.from:l.to] {
		switch r {
		case ' ':
			l.indent++
			continue
		case '\t':
			l.indent += 4
			continue
		}
		break
	}
	l.item = item.MatchString(s[l.from:l.to])
	return l
}

// topicOf is the nearest item that the item at a place of a passage stands under, as an answer shows it, or "". nested
// tells whether it is an item below another, though that may stand in no passage that is known.
func topicOf(passage string, at int) (topic string, nested bool) {
	own := lineAt(passage, at)
	for !own.item && own.indent > 0 && own.from > 0 { // a line that goes on
		own = lineAt(passage, own.from-1)
	}
	if !own.item {
		return "", false
	}
	for l := own; l.from > 0 && own.indent > 0; {
		l = lineAt(passage, l.from-1)
		if heading.MatchString(passage[l.from:l.to]) || !l.item && l.indent < own.indent && introduces(passage, l) {
			return "", false
		}
		if l.item && l.indent < own.indent {
			topic = topicIn(passage[l.from:l.to])
			break
		}
	}
	return topic, own.indent >= deep && strings.TrimSpace(passage[:own.from]) != ""
}

// topicIn is what an item says, cut to what an answer shows of it.
func topicIn(item string) string {
	topic := strings.TrimRight(plain(item), ".: ")
	if begin, n := FirstWords(topic, maxTopicWords); n >= maxTopicWords && len(begin) < len(topic) {
		topic = begin + ellipsis
	}
	return topic
}

// introduces tells whether a line that is no item is what the list below it is about, and not the rest of what stands
// in the passage before.
func introduces(passage string, l line) bool {
	said := strings.TrimSpace(passage[l.from:l.to])
	return said != "" && (l.from > 0 || strings.HasSuffix(said, ":"))
}

// heads tells whether the line at a place of a passage is what others stand under: a heading, or an item with items
// below it.
func heads(passage string, at int) bool {
	own := lineAt(passage, at)
	if heading.MatchString(passage[own.from:own.to]) {
		return true
	}
	if !own.item || own.to == len(passage) {
		return false
	}
	next := lineAt(passage, own.to+1)
	for !next.item && next.indent > own.indent && next.to < len(passage) { // it goes on in the next line
		next = lineAt(passage, next.to+1)
	}
	return next.item && next.indent > own.indent && len(wordsOf(passage[next.from:next.to])) > 0
}
