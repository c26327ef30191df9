package temporal

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

const (
	// maxTitle bounds a moment's title, in characters: one line on a screen, as text.OneLine has it.
	maxTitle = 120
	// maxSubject bounds what is put before it, of what it tells, and leastSubject is how much of that is put there
	// before any sentence.
	maxSubject, leastSubject = 56, 24
	// leastRest is how much may stand behind the date there.
	leastRest = 10
	// leastHead is how much of a long sentence's beginning stands before what is left out.
	leastHead = 40
)

const ellipsis = "…"

// titleOf is what a moment is called: the sentence that tells of the date, behind what it stands under where that says
// of what. Where it is too long, what is left out is not the date.
func (n *Note) titleOf(c *claim.Claim, said text.Span, d Date) string {
	s := n.Text[said.Start:said.End]
	date := ""
	if d.Span.Start >= said.Start && d.Span.End <= said.End {
		date = n.Text[d.Span.Start:d.Span.End]
	}
	count := 0 // the date may be said twice
	if date != "" {
		count = strings.Count(n.Text[said.Start:d.Span.Start], date)
	}
	line := strings.TrimRight(unmarked(aside(s, d.Span.End-said.Start)), " ,:;–-")
	bare := n.bare(said, d)
	if over := n.subject(c, said, bare); over != "" {
		room := maxTitle - len(": ") - utf8.RuneCountInString(line)
		over = ending(over, min(maxSubject, max(leastSubject, room)))
		if bare || utf8.RuneCountInString(over) <= room { // else the sentence is worth more
			count += strings.Count(over, date)
			line = over + ": " + line
		}
	}
	return around(line, unmarked(date), count)
}

var (
	linked   = regexp.MustCompile(`!?\[([^\]\n]*)\]\(([^()\s]|\([^()\s]*\))*(?:\s+"[^"\n]*")?\)`)
	angled   = regexp.MustCompile(`<(https?://[^<>\s]*)>`)
	trailing = regexp.MustCompile(`\s*\[[^\[\]]*\]\s*$`)
)

// aside leaves out what stands in brackets behind a sentence, if the date, which ends at an offset, is before it: what
// a picture shows, or a note of who wrote it down.
func aside(s string, end int) string {
	if at := trailing.FindStringIndex(s); at != nil && at[0] >= end && at[0] > 0 {
		return s[:at[0]]
	}
	return s
}

// unmarked is a line without the marks of a list, a heading and Markdown, with single spaces.
func unmarked(s string) string {
	s = strings.TrimSpace(s)
	for {
		rest := strings.TrimLeft(s, "#>")
		rest = strings.TrimLeft(rest, " \t")
		if n := marker(rest); n > 0 && (rest[0] < '0' || rest[0] > '9') {
			rest = rest[n:]
		}
		if rest = strings.TrimLeft(rest, " \t—–"); rest == s || strings.HasPrefix(s, "#") && len(rest) == len(s)-1 {
			break // #12 is a name
		}
		s = rest
	}
	s = angled.ReplaceAllString(linked.ReplaceAllString(s, "$1"), "$1")
	s = strings.NewReplacer("**", "", "`", "").Replace(s)
	return strings.Join(strings.Fields(s), " ")
}

// around is a line of at most maxTitle characters that ends between words, with the date in it, which stands behind so
// many others of its words.
func around(line, date string, others int) string {
	if utf8.RuneCountInString(line) <= maxTitle {
		return line
	}
	from, end := 0, 0
	for i := 0; date != "" && i <= others; i++ {
		k := strings.Index(line[end:], date)
		if k < 0 {
			break
		}
		from, end = end+k, end+k+len(date)
	}
	head := ending(line, maxTitle)
	begin := ending(line[:from], leastHead)
	if end <= len(head)-len(ellipsis) || !strings.HasSuffix(begin, ellipsis) {
		return head
	}
	room := maxTitle - utf8.RuneCountInString(begin) - 1
	tail := beginning(line[len(begin)-len(ellipsis):end], room-leastRest)
	return begin + " " + tail + ending(line[end:], room-utf8.RuneCountInString(tail))
}

// ending is the beginning of a line, of at most so many characters, that ends between words, with an ellipsis for
// what is left out.
func ending(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	short := text.TruncateRunes(s, most-1)
	last, _ := utf8.DecodeLastRuneInString(short)
	if at := strings.LastIndexFunc(short, unicode.IsSpace); at >= 0 && !text.Spaceless(last) && s[len(short)] != ' ' {
		short = short[:at]
	} else {
		short = text.Truncate(s, len(short)) // between two characters
	}
	return strings.TrimRight(short, " ,;:–-") + ellipsis
}

// beginning is the end of a line, of at most so many characters, that begins between words.
func beginning(s string, most int) string {
	for over := utf8.RuneCountInString(s) - most; over > 0; {
		_, n := utf8.DecodeRuneInString(s)
		s, over = s[n:], over-1
		if over == 0 {
			if at := strings.IndexFunc(s, unicode.IsSpace); at >= 0 && at < len(s)/2 {
				s = s[at+1:]
			}
		}
	}
	return strings.TrimSpace(s)
}
