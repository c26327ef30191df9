package temporal

import (
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// maxLines is how many lines above a sentence are looked at for what it stands under.
const maxLines = 200

// outlined is a line of a text as an outline has it.
type outlined struct {
	indent int    // in columns
	item   bool   // of a list
	head   bool   // a heading
	label  bool   // it ends with a colon: what follows is of it
	text   string // without its marks
}

// tabColumns is how far a tab indents.
const tabColumns = 4

// readLine reads one line.
func readLine(s string) outlined {
	var l outlined
	for len(s) > 0 && (s[0] == ' ' || s[0] == '\t') {
		l.indent++
		if s[0] == '\t' {
			l.indent += tabColumns - 1
		}
		s = s[1:]
	}
	s = strings.TrimSpace(s)
	if rest := strings.TrimLeft(s, "#"); rest != s && len(s)-len(rest) <= 6 && strings.HasPrefix(rest, " ") {
		l.head, s = true, strings.TrimRight(rest, "# ")
	} else if n := marker(s); n > 0 {
		l.item, s = true, s[n:]
	} else if len(s) > 4 && strings.HasPrefix(s, "**") && strings.Index(s[2:], "**") == len(s)-4 {
		l.head = true // a line in bold type
	}
	l.text = strings.TrimSpace(s)
	l.label = strings.HasSuffix(strings.TrimRight(l.text, "*_ "), ":")
	return l
}

// marker is how long the mark of a list item is, with the box of a task behind it; 0 if the line is no item.
func marker(s string) int {
	n := 0
	switch {
	case strings.HasPrefix(s, "- "), strings.HasPrefix(s, "* "), strings.HasPrefix(s, "+ "):
		n = 2
	case strings.HasPrefix(s, "• "), strings.HasPrefix(s, "– "):
		n = len("• ")
	default:
		for n < len(s) && n < 3 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n+1 >= len(s) || s[n] != '.' && s[n] != ')' || s[n+1] != ' ' {
			return 0
		}
		n += 2
	}
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		if strings.HasPrefix(s[n:], box) {
			return n + len(box)
		}
	}
	return n
}

// above are what a place of the note stands under, as far as it may say what that is about: the item of a list above
// its own, or the line with a colon above the list; and the heading. The document's text before the passage counts.
func (n *Note) above(at int) (over, heading string) {
	s, end := n.Text, at
	if n.Above != "" {
		s, end = n.Above+n.Text, at+len(n.Above)
	}
	begin := strings.LastIndexByte(s[:end], '\n') + 1
	stop := begin + strings.IndexByte(s[begin:]+"\n", '\n')
	own := readLine(s[begin:stop])
	inList := own.item
	if inList && readLine(s[begin:end]).text != "" { // it is not the item's first sentence
		over = labelOf(own.text)
	}
	for range maxLines {
		if begin == 0 {
			break
		}
		before := strings.LastIndexByte(s[:begin-1], '\n') + 1
		l := readLine(s[before : begin-1])
		begin = before
		switch {
		case l.text == "":
			if !inList && own.indent == 0 {
				own.indent = -1 // a paragraph: what is above is of others
			}
		case l.head:
			return over, l.text
		case over != "" || own.indent < 0:
		case !inList && l.item: // the item that the line goes on
			own, inList, over = outlined{indent: l.indent, item: true}, true, labelOf(l.text)
		case l.item && l.indent < own.indent:
			if own.indent = l.indent; !empty(l.text) {
				over = l.text
			}
		case inList && !l.item && l.indent <= own.indent:
			if l.label && !empty(l.text) {
				over = l.text
			}
			own.indent = -1
		}
	}
	return over, ""
}

// maxLabel is how many words the label of an item has at most: "Boat shed: Lena saw it. The roof comes next week."
const maxLabel = 4

// labelOf is the label with which an item begins; empty where it has none.
func labelOf(item string) string {
	label, _, ok := strings.Cut(item, ": ")
	if dash, _, found := strings.Cut(item, " - "); !ok || found && len(dash) < len(label) {
		label, ok = dash, found
	}
	if !ok || len(strings.Fields(label)) > maxLabel {
		return ""
	}
	return label
}

// sections are words of which headings consist that say nothing of what stands below them.
var sections = text.Set(`agenda announcements announcement minutes notes note present attendees attending apologies
	links link next steps step action actions items item todo to do tasks task update updates status misc miscellaneous
	other
	others aob any business open questions question q a qa discussion discussions topics topic decisions decision summary
	overview introduction intro general information info background details plan plans dates date schedule timeline
	calendar events event news upcoming today tomorrow yesterday this last week month year the and of for or in new old
	current done doing later log report reports reminder reminders appointments deadlines deadline important misc.`)

// empty tells whether a heading or an item says nothing of what stands below it: it is one of a template, a day, or an
// occasion with its day, whose minutes these are.
func empty(s string) bool {
	said, occasion, dated := false, false, false
	for _, w := range words(s) {
		number := strings.IndexFunc(w, unicode.IsLetter) < 0
		occasion, dated = occasion || occasions[w], dated || number || dayWords[w]
		said = said || !number && !sections[w] && !dayWords[w] && !occasions[w]
	}
	return !said || occasion && dated
}

var dayWords = text.Set(`monday tuesday wednesday thursday friday saturday sunday january february march april may june
	july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri
	sat sun`)

// opening are words with which a sentence begins that does not say of what it tells: "Postponed to March 3", "Will
// start next week", "Next one is on Monday".
var opening = text.Set(`it they this that these those may might will would could should can must shall is are was were
	has have had be been postponed deferred moved delayed cancelled canceled rescheduled closed released done scheduled
	expected planned starts ends closes opens started ended opened due starting ending closing opening launched shipped
	landed merged finished completed fixed approved accepted rejected confirmed booked ordered paid sent leave left push
	pushed wait waiting schedule defer postpone move close next first second third final another pending still now only
	probably hopefully maybe`)

// bare tells whether a sentence does not say of what it tells, behind a date at its head: it begins with a small
// letter, or with a word that leans on what stands above.
func (n *Note) bare(said text.Span, d Date) bool {
	s := n.Text[said.Start:said.End]
	s = strings.TrimLeft(s, " \t*•-–—>#+")
	if at := said.End - len(s); d.Span.Start <= at && d.Span.End > at && d.Span.End < said.End {
		s = strings.TrimLeft(n.Text[d.Span.End:said.End], " ,:-–—")
	}
	first, _, _ := strings.Cut(s, " ")
	if first == "" {
		return false
	}
	w := words(first)
	if len(w) == 1 && opening[w[0]] {
		return true
	}
	for i, c := range first {
		if i == 0 && !unicode.IsLower(c) || i > 0 && !unicode.IsLower(c) && !strings.ContainsRune("’',.:;-", c) {
			return false
		}
	}
	return true
}

// subject is what stands above a sentence and says of what it tells; empty where nothing does, or where the sentence,
// which is bare or not, says it itself.
func (n *Note) subject(c *claim.Claim, said text.Span, bare bool) string {
	over, heading := n.above(c.Span.Start)
	if over == "" && !empty(heading) && bare {
		over = heading
	}
	if over = unmarked(over); over == "" {
		return ""
	}
	has := map[string]bool{}
	for _, w := range words(n.Text[said.Start:said.End]) {
		has[claim.Stem(w)] = true
	}
	if !slices.ContainsFunc(words(over), func(w string) bool { return !sections[w] && !has[claim.Stem(w)] }) {
		return ""
	}
	return strings.TrimRight(over, " .,:;-–—!?")
}
