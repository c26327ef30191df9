package answer

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

var (
	// bullet and number are what Markdown and lists put before a line.
	bullet  = regexp.MustCompile(`^\s*(?:#{1,6}\s|>|[-*+•–]\s|\[[ xX]\]\s)\s*`)
	number  = regexp.MustCompile(`^\s*\d{1,3}[.)]\s+`)
	heading = regexp.MustCompile(`^\s*#{1,6}\s`)
	item    = regexp.MustCompile(`^\s*(?:[-*+•–]|\d{1,3}[.)])\s`)
	image   = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	// link is a link of Markdown, whose address may have brackets within and a title behind it.
	link = regexp.MustCompile(`\[([^\]]+)\]\(((?:[^()\s]|\([^()\s]*\))+)(?:\s+"[^"]*")?\)`)
	// address is one that stands for itself: its marks are no emphasis, and no end of a sentence.
	address = regexp.MustCompile(`\b(?:https?://|www\.)[^\s<>|]*[^\s<>|.,;:!?)\]}"'*_` + "`" + `]`)
	// tag matches tags of HTML, and not an address in angle brackets.
	tag = regexp.MustCompile(`(?i)</?(?:a|b|blockquote|br|code|dd|div|dl|dt|em|h[1-6]|hr|i|img|kbd|li|mark|ol|p|pre|s|` +
		`small|span|strong|sub|sup|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>]*)?/?>`)
	// marked is emphasis: what stands between two equal marks that no space parts from it.
	marks  = `(\*\*\*|___|\*\*|__|\*|_|~~)`
	marked = regexp.MustCompile(`(^|[^\pL\pN_*])` + marks + `([^\s*_~](?:[^*~]*?[^\s*_~])?)` + marks + `($|[^\pL\pN_*])`)
)

// plain is a sentence as one would say it: without the marks of lists, headings, tables and Markdown, in one line, and
// with an end.
func plain(s string) string {
	s = unlisted(s)
	s = link.ReplaceAllString(image.ReplaceAllString(s, "$1"), "$1")
	s = tag.ReplaceAllString(s, " ")
	s, addresses := hidden(s)
	for range 3 { // one within another
		s = marked.ReplaceAllStringFunc(s, unmark)
	}
	s = strings.ReplaceAll(s, "`", "")
	if strings.Count(s, "|") > 1 {
		s = row(s)
	}
	s = strings.TrimRight(strings.Join(strings.Fields(s), " "), ",;:–-| ")
	for _, a := range addresses {
		s = strings.Replace(s, stand, a, 1)
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	switch {
	case s == "":
	case unicode.In(last, unicode.Han, unicode.Hiragana, unicode.Katakana):
		s += "。"
	case text.Spaceless(last): // Thai and its like end a sentence with nothing
	case unicode.IsLetter(last), unicode.IsNumber(last), unicode.Is(unicode.Sc, last), last == '%', last == ')':
		s += "."
	}
	return s
}

// unlisted is a line without what Markdown and lists put before it. The day of a date is no number of a list.
func unlisted(s string) string {
	for {
		n := len(bullet.FindString(s))
		if n == 0 && !startsWithDay.MatchString(s) {
			n = len(number.FindString(s))
		}
		if n == 0 {
			return strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		s = s[n:]
	}
}

// stand stands for an address while marks are taken out; it is a character that means nothing.
const stand = "\uE000"

// hidden puts stand into the place of each address.
func hidden(s string) (out string, addresses []string) {
	if strings.Contains(s, stand) {
		return s, nil
	}
	out = address.ReplaceAllStringFunc(s, func(a string) string {
		addresses = append(addresses, a)
		return stand
	})
	return out, addresses
}

func unmark(s string) string {
	m := marked.FindStringSubmatch(s)
	if m[2] != m[4] || m[2] == "__" && !strings.ContainsFunc(m[3], unicode.IsSpace) { // __init__ is a name
		return s
	}
	return m[1] + m[3] + m[5]
}

// row tells the cells of a row of a table.
func row(s string) string {
	var cells []string
	for cell := range strings.SplitSeq(s, "|") {
		if cell = strings.TrimSpace(cell); strings.Trim(cell, ":-") != "" {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, ", ")
}

// leaning are words that a sentence begins with which is not understood without the one before.
var leaning = func() map[string]bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(`he she it they this that these those his her its their him them both
er sie es dies diese dieser dieses sein seine ihr ihre il elle ils elles cela ça ceci él ella ellos ellas esto eso este
esta lui lei loro esso essa questo questa ele ela eles elas isso isto este esta hij zij ze dit deze`) {
		words[w] = true
	}
	return words
}()

// maxBetween is how far before a sentence the one stands, at most, without which it is not understood.
const maxBetween = 2

// fewWords is how many words a line of a list has, at most, that says little without what stands over the list.
const fewWords = 5

// said are the sentences of a passage that tell what stands at a span, as one would say them: those that hold it, and
// the one before where they would not be understood without. alone is without that one. Courtesies and the marks of a
// chat are left out: nothing is said where the span is in nothing else.
func said(passage string, at text.Span) (whole, alone string) {
	all := sentences(passage)
	first := slices.IndexFunc(all, func(s text.Span) bool { return s.End > at.Start })
	if first < 0 {
		return "", ""
	}
	last := first
	for last+1 < len(all) && all[last+1].Start < at.End && last == first { // an answer in two sentences, at most
		last++
	}
	sentence := func(i int) string { return passage[all[i].Start:all[i].End] }
	var told []string
	for i := first; i <= last; i++ {
		if s := plain(spoken(passage, all[i], at)); s != "" {
			told = append(told, s)
		}
	}
	if len(told) == 0 {
		return "", ""
	}
	alone = strings.Join(told, " ")
	if topic, _ := topicOf(passage, all[first].Start); topic != "" {
		alone = topic + ": " + alone
		return alone, alone
	}
	if over := overList(sentence, first); over != "" && len(strings.Fields(alone)) <= fewWords {
		return over + ": " + alone, alone
	}
	if !leans(alone) {
		return alone, alone
	}
	for i := first - 1; i >= max(0, first-maxBetween) && !heading.MatchString(sentence(i)); i-- {
		if s := plain(spoken(passage, all[i], at)); s != "" { // a courtesy in between says nothing
			return s + " " + alone, alone
		}
	}
	return alone, alone
}

// overList is the line that a list item stands under.
func overList(sentence func(int) string, i int) string {
	for ; i > 0; i-- {
		before := sentence(i - 1)
		if heading.MatchString(before) || strings.HasSuffix(strings.TrimSpace(before), ":") {
			return strings.TrimRight(plain(before), ".")
		}
		if !item.MatchString(before) {
			return ""
		}
	}
	return ""
}
