package format

import (
	"bytes"
	"strings"
	"unicode"

	"orgmem/proto/canon"
)

// markup writes a document as Markdown, the form in which structure reaches the
// chunks. It counts what it writes, since a few bytes of a hostile file may ask for
// any number.
type markup struct {
	*reader
	out  strings.Builder
	tail string // what ends the last block: the next begins behind a blank line
	err  error
}

func (m *markup) write(parts ...string) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if m.err == nil {
		m.err = m.keep(n)
	}
	if m.err == nil {
		m.err = m.room(&m.out, n)
	}
	if m.err != nil {
		return
	}
	for _, p := range parts {
		m.out.WriteString(p)
	}
}

// room makes room for n more bytes of a text that is being written.
func (r *reader) room(out *strings.Builder, n int) error {
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

// growing is room for a buffer that is used again and again.
func (r *reader) growing(out *bytes.Buffer, n int) error {
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

// tooLong refuses a text that is longer than all that may be kept of the file, before
// it is put together.
func (r *reader) tooLong(n int) error {
	if n > r.Bytes {
		return tooLargef("holds more than %d bytes of text; split it", r.Bytes)
	}
	return nil
}

// block begins a block behind the one before it: after a blank line, or, for rows
// and items of one table or list, on the next line.
func (m *markup) block(tail string) {
	switch {
	case m.out.Len() == 0:
	case m.tail == tail && tail != "":
		m.write("\n")
	default:
		m.write("\n\n")
	}
	m.tail = tail
}

// flat makes one line of a text.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func (m *markup) heading(level int, text string) {
	if text = flat(text); text == "" {
		return
	}
	m.block("")
	m.write(strings.Repeat("#", min(max(level, 1), 6)), " ", text)
}

// paragraph writes running text, whose line ends stand.
func (m *markup) paragraph(text string) {
	if text = strings.TrimFunc(text, unicode.IsSpace); text == "" {
		return
	}
	m.block("")
	m.write(plain(text))
}

// plain keeps lines of running text from being read as headings or fences.
func plain(text string) string {
	if !strings.ContainsAny(text, "#`~") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if words := strings.TrimLeft(line, " \t"); strings.HasPrefix(words, "#") || strings.HasPrefix(words, "```") || strings.HasPrefix(words, "~~~") {
			b.WriteByte('\\')
		}
		b.WriteString(line)
	}
	return b.String()
}

// maxListDepth is how deep lists are shown; deeper items stand at that depth.
const maxListDepth = 8

// item writes an item of a list; mark is "-", or a number with its point.
func (m *markup) item(depth int, mark, text string) {
	if text = flat(text); text == "" {
		return
	}
	m.block("list")
	m.write(strings.Repeat("  ", min(max(depth, 0), maxListDepth)), mark, " ", text)
}

// tooWide reports a row that is not written: few bytes of a workbook may ask for
// one text in each of its cells.
func (m *markup) tooWide(cells []string) bool {
	n := 0
	for _, c := range cells {
		n += len(c)
	}
	if m.err == nil && n > maxToken {
		m.err = errorf("holds a row of more than %d MiB", maxToken>>20)
	}
	return m.err != nil
}

// row writes a row of a table. Bars in cells are escaped.
func (m *markup) row(cells []string) {
	if m.tooWide(cells) {
		return
	}
	used := 0
	for i, c := range cells {
		if cells[i] = strings.ReplaceAll(flat(c), "|", `\|`); cells[i] != "" {
			used++
		}
	}
	switch {
	case used == 0:
		return
	case len(cells) == 1:
		m.paragraph(cells[0])
		return
	}
	m.block("table")
	m.write("| ", strings.Join(cells, " | "), " |")
}

// code writes a block whose spaces stand.
func (m *markup) code(text string) {
	if text = strings.Trim(text, "\n"); strings.TrimSpace(text) == "" {
		return
	}
	fence := "```"
	if strings.Contains(text, fence) {
		fence = "~~~"
	}
	m.block("")
	m.write(fence, "\n", text, "\n", fence)
}

// done ends the document.
func (m *markup) done() (string, error) {
	if m.err != nil {
		return "", m.err
	}
	return m.out.String(), nil
}

// said ends a document that must show something; silent completes the sentence "the
// file …" where it does not.
func (m *markup) said(silent string) (string, error) {
	content, err := m.done()
	if err == nil && canon.Blank(content) {
		err = errorf("%s", silent)
	}
	return content, err
}
