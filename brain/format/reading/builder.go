package reading

import (
	"bytes"
	"strings"
	"unicode"

	"orgmem/proto/canon"
)

// Builder writes a document as Markdown, the form in which structure reaches the
// chunks. It counts what it writes, since a few bytes of a hostile file may ask for
// any number.
type Builder struct {
	*Reader
	Out  strings.Builder
	Tail string // what ends the last block: the next begins behind a blank line
	Err  error
}

// Write writes text as it is. What goes wrong stays in Err, and ends the writing.
func (m *Builder) Write(parts ...string) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if m.Err == nil {
		m.Err = m.Keep(n)
	}
	if m.Err == nil {
		m.Err = m.Room(&m.Out, n)
	}
	if m.Err != nil {
		return
	}
	for _, p := range parts {
		m.Out.WriteString(p)
	}
}

// Room makes room for n more bytes of a text that is being written.
func (r *Reader) Room(out *strings.Builder, n int) error {
	before := out.Cap()
	if out.Len()+n <= before {
		return nil
	}
	if err := r.Hold(2*before + n); err != nil { // what Grow makes
		return err
	}
	out.Grow(n)
	r.Settle(r.Held() - before)
	return nil
}

// Growing is room for a buffer that is used again and again.
func (r *Reader) Growing(out *bytes.Buffer, n int) error {
	before := out.Cap()
	if out.Available() >= n {
		return nil
	}
	if err := r.Hold(2*before + n); err != nil {
		return err
	}
	out.Grow(n)
	r.Settle(r.Held() - (2*before + n) + max(0, out.Cap()-before))
	return nil
}

// TooLong refuses a text that is longer than all that may be kept of the file, before
// it is put together.
func (r *Reader) TooLong(n int) error {
	if n > r.Bytes {
		return TooLargef("holds more than %d bytes of text; split it", r.Bytes)
	}
	return nil
}

// Block begins a block behind the one before it: after a blank line, or, for rows
// and items of one table or list, on the next line.
func (m *Builder) Block(tail string) {
	switch {
	case m.Out.Len() == 0:
	case m.Tail == tail && tail != "":
		m.Write("\n")
	default:
		m.Write("\n\n")
	}
	m.Tail = tail
}

// Flat makes one line of a text.
func Flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// Heading writes a heading of a level from 1 to 6.
func (m *Builder) Heading(level int, text string) {
	if text = Flat(text); text == "" {
		return
	}
	m.Block("")
	m.Write(strings.Repeat("#", min(max(level, 1), 6)), " ", text)
}

// Paragraph writes running text, whose line ends stand.
func (m *Builder) Paragraph(text string) {
	if text = strings.TrimFunc(text, unicode.IsSpace); text == "" {
		return
	}
	m.Block("")
	m.Write(Plain(text))
}

// Plain keeps lines of running text from being read as headings or fences.
func Plain(text string) string {
	if !strings.ContainsAny(text, "#`~") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if words := strings.TrimLeft(line, " \t"); strings.HasPrefix(words, "#") || strings.HasPrefix(words, "```") ||
			strings.HasPrefix(words, "~~~") {
			b.WriteByte('\\')
		}
		b.WriteString(line)
	}
	return b.String()
}

// maxListDepth is how deep lists are shown; deeper items stand at that depth.
const maxListDepth = 8

// Item writes an item of a list; mark is "-", or a number with its point.
func (m *Builder) Item(depth int, mark, text string) {
	if text = Flat(text); text == "" {
		return
	}
	m.Block("list")
	m.Write(strings.Repeat("  ", min(max(depth, 0), maxListDepth)), mark, " ", text)
}

// TooWide reports a row that is not written: few bytes of a workbook may ask for
// one text in each of its cells.
func (m *Builder) TooWide(cells []string) bool {
	n := 0
	for _, c := range cells {
		n += len(c)
	}
	if m.Err == nil && n > MaxToken {
		m.Err = Errorf("holds a row of more than %d MiB", MaxToken>>20)
	}
	return m.Err != nil
}

// Row writes a row of a table. Bars in cells are escaped.
func (m *Builder) Row(cells []string) {
	if m.TooWide(cells) {
		return
	}
	used := 0
	for i, c := range cells {
		if cells[i] = strings.ReplaceAll(Flat(c), "|", `\|`); cells[i] != "" {
			used++
		}
	}
	switch {
	case used == 0:
		return
	case len(cells) == 1:
		m.Paragraph(cells[0])
		return
	}
	m.Block("table")
	m.Write("| ", strings.Join(cells, " | "), " |")
}

// Code writes a block whose spaces stand.
func (m *Builder) Code(text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) == "" {
		return
	}
	fence := "```"
	if strings.Contains(text, fence) {
		fence = "~~~"
	}
	m.Block("")
	m.Write(fence, "\n", text, "\n", fence)
}

// Done ends the document.
func (m *Builder) Done() (string, error) {
	if m.Err != nil {
		return "", m.Err
	}
	return m.Out.String(), nil
}

// DoneVisible ends a document that must show something; silent completes the sentence "the
// file …" where it does not.
func (m *Builder) DoneVisible(silent string) (string, error) {
	content, err := m.Done()
	if err == nil && canon.Blank(content) {
		err = Errorf("%s", silent)
	}
	return content, err
}
