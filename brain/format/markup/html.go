package markup

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"orgmem/brain/format/reading"
)

// IsHTML looks at the beginning, behind white space and comments.
func IsHTML(raw []byte) bool {
	head := bytes.ToLower(raw[:min(len(raw), 1024)])
	for {
		head = bytes.TrimLeft(head, " \t\r\n\ufeff")
		rest, ok := bytes.CutPrefix(head, []byte("<!--"))
		if !ok {
			break
		}
		_, rest, ok = bytes.Cut(rest, []byte("-->"))
		if !ok {
			return false
		}
		head = rest
	}
	if rest, ok := bytes.CutPrefix(head, []byte("<?xml")); ok {
		_, rest, _ = bytes.Cut(rest, []byte("?>"))
		head = bytes.TrimSpace(rest)
	}
	for _, begin := range []string{"<!doctype html", "<html", "<head", "<body"} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	return false
}

// HTMLCharset is what a page says that it is in.
func HTMLCharset(raw []byte) string {
	_, name, certain := charset.DetermineEncoding(raw[:min(len(raw), 1024)], "")
	if !certain && name == "windows-1252" {
		return ""
	}
	return name
}

// page is HTML on its way to Markdown. The tokens are read one after the other and
// no tree is built: its depth is the file's choice, and so would be the cost.
type page struct {
	reading.Builder
	text    strings.Builder // of the open block
	gap     bool            // white space is due before the next word
	level   int             // of the open heading; 0: none
	pre     int
	lists   lists
	tables  []Table
	deeper  int // tables that lie too deep
	skipped skipped
	xhtml   bool // it is XML: an element may end where it begins
	head    head
}

// Table is a table that is open. One that holds another arranges a page, and its
// cells are blocks.
type Table struct {
	Layout  bool
	Row     []string
	waiting int // bytes of the row
	Cell    bool
}

// maxHTMLDepth bounds the tables, and the lists, that lie in each other: deeper ones are
// read as the text that is in them.
const maxHTMLDepth = 512

// blocks are the elements before and behind which a block ends.
var blocks = []atom.Atom{
	atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details,
	atom.Dialog, atom.Div,
	atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Header,
	atom.Hr, atom.Legend,
	atom.Main, atom.P, atom.Section, atom.Summary, atom.Caption,
}

// HTML reads a page.
func HTML(r *reading.Reader, raw []byte) (reading.Document, error) {
	head := raw[:min(len(raw), 1024)]
	p := &page{
		Builder: reading.Builder{Reader: r},
		xhtml:   bytes.HasPrefix(head, []byte("<?xml")) || bytes.Contains(head, []byte("http://www.w3.org/1999/xhtml")),
	}
	if err := r.Hold(min(reading.TextMemory*len(raw), reading.TagMemory*reading.MaxTag)); err != nil {
		return reading.Document{}, err
	}
	z := html.NewTokenizer(bytes.NewReader(raw))
	opaque := false // what comes is the text of an element that no tag ends but its own
	for at := 0; ; {
		most := reading.MaxToken
		if !opaque && at+1 < len(raw) && raw[at] == '<' && raw[at+1] != '!' && raw[at+1] != '?' {
			most = reading.MaxTag
		}
		z.SetMaxBuf(most)
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		at += len(z.Raw())
		t := z.Token()
		if err := r.Step(reading.MarkupWork*len(z.Raw()) + tokenWork + attributeWork*len(t.Attr)); err != nil {
			return reading.Document{}, err
		}
		opaque = kind == html.StartTagToken && slices.Contains(opaques, t.DataAtom)
		p.token(z, t)
		if p.Err != nil {
			return reading.Document{}, p.Err
		}
	}
	if errors.Is(z.Err(), html.ErrBufferExceeded) {
		return reading.Document{}, reading.Errorf("holds HTML of more than %d MiB without an end", reading.MaxToken>>20)
	}
	p.flush()
	content, err := p.DoneVisible("is HTML without a text to read")
	if err != nil {
		return reading.Document{}, err
	}
	return reading.Document{
		Title: reading.ClipTitle(p.head.title), Content: content, OccurredAt: p.head.at,
		Metadata: reading.Noted("language", p.head.lang), Noted: true,
	}, nil
}

// opaques are the elements whose text is no markup.
var opaques = []atom.Atom{
	atom.Script, atom.Style, atom.Textarea, atom.Title, atom.Iframe, atom.Noembed, atom.Noframes, atom.Noscript,
	atom.Plaintext, atom.Xmp,
}

func (p *page) token(z *html.Tokenizer, t html.Token) {
	switch t.Type {
	case html.TextToken:
		switch {
		case p.skipped.until != 0:
		case p.head.inTitle:
			p.head.addTitle(t.Data)
		default:
			p.words(t.Data)
		}
	case html.StartTagToken:
		p.open(t)
	case html.SelfClosingTagToken:
		if !p.xhtml && t.DataAtom != atom.Svg && t.DataAtom != atom.Math { // in HTML the sign ends nothing
			t.Type = html.StartTagToken
			p.open(t)
			return
		}
		z.NextIsNotRawText() // what follows <title/> or <script/> is not its content
		p.open(t)
		if p.skipped.until == 0 {
			p.shut(t.DataAtom)
		}
	case html.EndTagToken:
		p.shut(t.DataAtom)
	default: // comments and the like
	}
}

// words adds text to the open block.
func (p *page) words(s string) {
	if p.Err = cmp.Or(p.Err, p.TooLong(p.text.Len()+len(s))); p.Err == nil {
		p.Err = p.Room(&p.text, len(s)+1)
	}
	if p.Err != nil {
		return
	}
	if p.pre > 0 {
		p.text.WriteString(s)
		return
	}
	for s != "" {
		start := strings.IndexFunc(s, func(r rune) bool { return !space(r) })
		if start != 0 {
			p.gap = true
		}
		if start < 0 {
			return
		}
		s = s[start:]
		end := strings.IndexFunc(s, space)
		if end < 0 {
			end = len(s)
		}
		if p.gap && p.text.Len() > 0 {
			p.text.WriteByte(' ')
		}
		p.gap = false
		p.text.WriteString(s[:end])
		s = s[end:]
	}
}

func space(r rune) bool {
	return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' || r == '\u00a0'
}

// taken takes the open text, whose memory is given back: what becomes of it is counted
// where it is kept.
func (p *page) taken() string {
	text := p.text.String()
	p.Release(p.text.Cap())
	p.text.Reset()
	return text
}

// flush ends the open block.
func (p *page) flush() {
	text := p.taken()
	p.gap = false
	switch {
	case p.pre > 0:
		p.Code(text)
	case p.level > 0:
		p.Heading(p.level, text)
	case p.lists.mark != "":
		p.Item(len(p.lists.open)-1, p.lists.mark, text)
		if strings.TrimSpace(text) != "" {
			p.lists.mark = "" // what follows within the item is a block
		}
	default:
		p.Paragraph(text)
	}
}

// inCell reports whether text goes into a cell.
func (p *page) inCell() bool {
	return len(p.tables) > 0 && p.tables[len(p.tables)-1].Cell && !p.tables[len(p.tables)-1].Layout
}

func (p *page) open(t html.Token) {
	if p.skipped.opens(t) {
		return
	}
	switch tag := t.DataAtom; tag {
	case atom.Html, atom.Meta, atom.Title:
		p.head.open(t)
	case atom.Br:
		if p.inCell() || p.level > 0 || p.lists.mark != "" {
			p.gap = true
		} else {
			p.text.WriteByte('\n')
		}
	case atom.Img:
		if alt := attr(t, "alt"); alt != "" {
			p.gap = true
			p.words(alt + " ")
		}
	case atom.Pre:
		if !p.inCell() {
			p.flush()
			p.pre++
		}
	case atom.Table:
		p.flushCell()
		if n := len(p.tables); n > 0 {
			outer := &p.tables[n-1]
			outer.Layout = true
			for _, c := range outer.Row {
				p.Paragraph(c)
			}
			outer.Row, outer.waiting = nil, 0
		}
		p.flush()
		if len(p.tables) == maxHTMLDepth {
			p.deeper++
			return
		}
		p.tables = append(p.tables, Table{})
	case atom.Tr:
		p.endRow()
	case atom.Td, atom.Th:
		p.flushCell()
		if n := len(p.tables); n > 0 {
			if p.tables[n-1].Layout {
				p.flush()
			} else {
				p.tables[n-1].Cell = true
			}
		}
	default:
		p.openBlock(tag)
	}
}

// openBlock begins what is a block outside of tables and a space within.
func (p *page) openBlock(tag atom.Atom) {
	level := headingOf(tag)
	switch {
	case level == 0 && tag != atom.Ul && tag != atom.Ol && tag != atom.Li && !slices.Contains(blocks, tag):
		return
	case p.inCell():
		p.gap = true
		return
	case p.pre > 0:
		return
	}
	p.flush()
	switch {
	case level > 0:
		p.level = level
	case tag == atom.Ul, tag == atom.Ol:
		p.lists.begin(tag == atom.Ol)
	case tag == atom.Li:
		p.lists.item()
	}
}

func headingOf(tag atom.Atom) int {
	return 1 + slices.Index([]atom.Atom{atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6}, tag)
}

func (p *page) shut(tag atom.Atom) {
	if p.skipped.until != 0 {
		p.gap = p.skipped.shuts(tag) || p.gap
		return
	}
	switch tag {
	case atom.Title:
		p.head.inTitle = false
	case atom.Td, atom.Th:
		p.flushCell()
	case atom.Tr:
		p.endRow()
	case atom.Table:
		p.endRow()
		if p.deeper > 0 {
			p.deeper--
			return
		}
		if n := len(p.tables); n > 0 {
			p.tables = p.tables[:n-1]
		}
		p.flush()
		p.Tail = ""
	case atom.Pre:
		if p.pre > 0 {
			p.flush()
			p.pre--
		}
	default:
		p.shutBlock(tag)
	}
}

// shutBlock ends what openBlock began.
func (p *page) shutBlock(tag atom.Atom) {
	level := headingOf(tag)
	switch {
	case p.pre > 0:
		return
	case p.inCell():
		if level > 0 || tag == atom.Li || slices.Contains(blocks, tag) {
			p.gap = true
		}
		return
	case level > 0:
		p.flush()
		p.level = 0
	case tag == atom.Ul, tag == atom.Ol:
		p.flush()
		p.lists.end()
	case tag == atom.Li:
		p.flush()
		p.lists.mark = ""
	case slices.Contains(blocks, tag):
		p.flush()
	}
}

// flushCell ends the open cell.
func (p *page) flushCell() {
	if !p.inCell() {
		return
	}
	t := &p.tables[len(p.tables)-1]
	cell := p.taken()
	if t.waiting += len(cell); t.waiting > reading.MaxToken && p.Err == nil {
		p.Err = reading.Errorf("holds a row of more than %d MiB", reading.MaxToken>>20)
	}
	if len(t.Row) < MaxColumns {
		t.Row = append(t.Row, cell)
	}
	t.Cell = false
	p.gap = false
}

// endRow ends the open row.
func (p *page) endRow() {
	n := len(p.tables)
	if n == 0 {
		return
	}
	p.flushCell()
	if t := &p.tables[n-1]; t.Layout {
		p.flush()
	} else {
		p.flush() // what stands between cells
		p.Row(t.Row)
		t.Row, t.waiting = nil, 0
	}
}
