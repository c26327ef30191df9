package markup

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"orgmem/brain/format/reading"
)

// head is what a page says of itself.
type head struct {
	title   string
	lang    string
	at      string // when it was published
	inTitle bool
}

// open reads an element that says something of the page.
func (h *head) open(t html.Token) {
	switch t.DataAtom {
	case atom.Html:
		h.lang = reading.Flat(attr(t, "lang"))
	case atom.Meta:
		if attr(t, "property") == "article:published_time" || attr(t, "itemprop") == "datePublished" {
			h.at = reading.Instant(attr(t, "content"))
		}
	case atom.Title:
		h.inTitle = h.title == "" && t.Type == html.StartTagToken
	default: // nothing else does
	}
}

// addTitle adds to the title, up to its bound.
func (h *head) addTitle(s string) { h.title += s[:min(len(s), max(0, reading.MaxFront-len(h.title)))] }

// lists are the lists that are open, one in the other.
type lists struct {
	open   []list
	deeper int    // lists that lie too deep
	mark   string // of the open item; "": none
}

type list struct {
	ordered bool
	n       int
}

func (l *lists) begin(ordered bool) {
	l.mark = ""
	if len(l.open) == maxHTMLDepth {
		l.deeper++
		return
	}
	l.open = append(l.open, list{ordered: ordered})
}

// item begins an item of the innermost list.
func (l *lists) item() {
	l.mark = "-"
	if n := len(l.open); n > 0 && l.open[n-1].ordered {
		l.open[n-1].n++
		l.mark = strconv.Itoa(l.open[n-1].n) + "."
	}
}

func (l *lists) end() {
	l.mark = ""
	if l.deeper > 0 {
		l.deeper--
		return
	}
	if n := len(l.open); n > 0 {
		l.open = l.open[:n-1]
	}
}

// skipped is an element that is passed over, with all that is in it.
type skipped struct {
	until atom.Atom // nothing is read until its end; 0: all is
	deep  int       // elements of that name within it
}

// opens says whether an element that begins is passed over.
func (s *skipped) opens(t html.Token) bool {
	tag, begins := t.DataAtom, t.Type == html.StartTagToken
	switch {
	case s.until != 0:
		if tag == s.until && begins {
			s.deep++
		}
		return true
	case begins && tag != 0 && (slices.Contains(unread, tag) || slices.Contains(closed, tag) && hidden(t)):
		s.until, s.deep = tag, 1
		return true
	}
	return false
}

// shuts says whether what is passed over ends with an element.
func (s *skipped) shuts(tag atom.Atom) bool {
	if tag != s.until {
		return false
	}
	if s.deep--; s.deep > 0 {
		return false
	}
	s.until = 0
	return true
}

// unread are elements whose content nobody reads.
var unread = []atom.Atom{
	atom.Script, atom.Style, atom.Template, atom.Svg, atom.Math, atom.Iframe, atom.Object, atom.Noscript, atom.Select,
	atom.Textarea, atom.Canvas, atom.Audio, atom.Video, atom.Nav,
}

// closed are elements that always have an end: what is hidden in one of them can be
// passed over without losing what follows.
var closed = []atom.Atom{atom.Div, atom.Span, atom.Section, atom.Table, atom.Ul, atom.Footer, atom.Aside}

// furniture are the parts of a page of a wiki's export that are on every page.
var furniture = []string{"breadcrumb-section", "footer", "likes-and-labels-container"}

func attr(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// hidden reports whether an element is not shown.
func hidden(t html.Token) bool {
	for _, a := range t.Attr {
		switch a.Key {
		case "hidden":
			return true
		case "style":
			if strings.Contains(strings.ReplaceAll(strings.ToLower(a.Val), " ", ""), "display:none") {
				return true
			}
		case "id":
			if slices.Contains(furniture, a.Val) {
				return true
			}
		}
	}
	return false
}
