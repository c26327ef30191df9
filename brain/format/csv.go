package format

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"orgmem/proto/canon"
)

const (
	// maxColumns bounds the columns that are read of a table: what is wider is no
	// table that people read.
	maxColumns = 1024
	// looksLines of a text are looked at to tell whether it is a table, and
	// looksColumns they must have, all as many: prose has commas too.
	looksLines   = 20
	looksColumns = 3
	// looksCell is what a cell holds at most in a text that is not called CSV.
	looksCell = 80
	// maxSeparators bounds the columns of a row, those included that are not read, since
	// each takes memory until the row's end. Commas in a cell count: no text has as many.
	maxSeparators = 1 << 18
	// rowMemory is what a row takes at most, while it is read.
	rowMemory = maxSeparators*64 + 2*maxToken
)

// separators of the columns, the likeliest first.
const separators = ",;\t|"

// separatorOf finds what separates the columns of a text: what divides its first
// lines into equally many, the most. least is how many must be.
func separatorOf(raw []byte, least int) (separator rune, ok bool) {
	head := raw[:min(len(raw), sampleBytes)]
	if cut := bytes.LastIndexByte(head, '\n'); len(head) < len(raw) && cut > 0 {
		head = head[:cut]
	}
	most := least - 1
	for _, s := range separators {
		records := csv.NewReader(bytes.NewReader(head))
		records.Comma, records.ReuseRecord = s, true
		n, lines := 0, 0
		for ; lines < looksLines; lines++ {
			record, err := records.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil { // among others csv.ErrFieldCount
				n = 0
				break
			}
			n = len(record)
		}
		if n > most && lines > 1 {
			separator, most, ok = s, n, true
		}
	}
	return separator, ok
}

// separatorSaid is what a first line for Excel says that separates the columns, and
// what follows it.
func separatorSaid(raw []byte) (separator rune, rest []byte, ok bool) {
	first, rest, _ := bytes.Cut(raw, []byte("\n"))
	said, ok := bytes.CutPrefix(bytes.Trim(first, "\""), []byte("sep="))
	if !ok || len(said) != 1 || !strings.Contains(separators, string(said)) {
		return 0, raw, false
	}
	return rune(said[0]), rest, true
}

// looksCSV reports whether a text is a table, whatever it is called: each of its
// first lines has as many short cells as the first, whose cells are names.
func looksCSV(raw []byte) bool {
	separator, ok := separatorOf(raw, looksColumns)
	if !ok {
		return false
	}
	records := csv.NewReader(bytes.NewReader(raw[:min(len(raw), sampleBytes)]))
	records.Comma = separator
	first, err := records.Read()
	if err != nil || !isHeader(first) {
		return false
	}
	second, err := records.Read()
	if err != nil {
		return false
	}
	for _, cell := range append(first, second...) {
		if len(cell) > looksCell || strings.HasSuffix(cell, ".") {
			return false
		}
	}
	return true
}

var (
	errLongRow = errorf("holds a row of more than %d MiB", maxToken>>20)
	errWideRow = errorf("holds a row of more than %d columns", maxSeparators)
)

// columns counts the columns of a row while it is read.
type columns struct {
	allowance
	separator []byte
	seen      int // in this row
}

// Read implements io.Reader.
func (c *columns) Read(p []byte) (int, error) {
	n, err := c.allowance.Read(p)
	if c.seen += bytes.Count(p[:n], c.separator); c.seen > maxSeparators {
		return 0, errWideRow
	}
	return n, err
}

// csv reads a table.
func (r *reader) csv(name string, raw []byte) (Document, error) {
	separator, raw, ok := separatorSaid(raw)
	if !ok {
		separator, ok = separatorOf(raw, 2)
	}
	if !ok {
		separator = rune(separators[0])
	}
	if err := r.Hold(min(64*len(raw), rowMemory)); err != nil {
		return Document{}, err
	}
	in := &columns{allowance: allowance{rest: raw, allowed: maxToken, spent: errLongRow}, separator: []byte(string(separator))}
	records := csv.NewReader(in)
	records.Comma, records.LazyQuotes, records.FieldsPerRecord, records.ReuseRecord = separator, true, -1, true
	sheet := sheet{markup: &markup{reader: r}}
	at := int64(0)
	for {
		record, err := records.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && errors.Is(err, ErrFile) {
			return Document{}, err
		}
		if err != nil {
			line := 0
			if p, ok := errors.AsType[*csv.ParseError](err); ok {
				line = p.StartLine
			}
			return Document{}, errorf("is no well-formed CSV at line %d", line)
		}
		if err := r.Step(tableWork*int(records.InputOffset()-at) + cellWork*len(record)); err != nil {
			return Document{}, err
		}
		at, in.allowed, in.seen = records.InputOffset(), maxToken, 0
		if sheet.add(record); sheet.err != nil {
			return Document{}, sheet.err
		}
	}
	sheet.end()
	content, err := sheet.said("is a table without a cell to read")
	if err != nil {
		return Document{}, err
	}
	return Document{Title: baseTitle(name), Content: content}, nil
}

// sheet writes a table as lines of "column: value; column: value": a chunk from its
// middle then says what its numbers are, which rows under a header far above do not.
type sheet struct {
	*markup
	header []string
	first  []string // the first row, until it is known whether it is a header
	rows   int
}

// add adds a row; cells stays the caller's.
func (s *sheet) add(cells []string) {
	cells = cells[:min(len(cells), maxColumns)]
	if s.tooWide(cells) {
		return
	}
	if filled(cells) == 0 {
		return
	}
	s.rows++
	if s.rows == 1 {
		for _, c := range cells {
			s.first = append(s.first, strings.Clone(flat(c)))
		}
		return
	}
	if filled(s.first) == 1 && filled(cells) > 1 { // a title above the table
		s.begin(false)
		for _, c := range cells {
			s.first = append(s.first, strings.Clone(flat(c)))
		}
		return
	}
	s.begin(true)
	s.line(cells)
}

// filled is how many cells of a row say something.
func filled(row []string) (n int) {
	for _, c := range row {
		if !canon.Blank(c) {
			n++
		}
	}
	return n
}

// begin decides what the first row is. Alone, it is no header.
func (s *sheet) begin(more bool) {
	if s.first == nil {
		return
	}
	first := s.first
	s.first = nil
	if more && isHeader(first) {
		s.header = first
		return
	}
	s.line(first)
}

// end writes what is left.
func (s *sheet) end() { s.begin(false) }

func (s *sheet) line(cells []string) {
	var parts []string
	for i, c := range cells {
		if c = flat(c); c == "" {
			continue
		}
		if i < len(s.header) && s.header[i] != "" {
			c = s.header[i] + ": " + c
		}
		parts = append(parts, c)
	}
	if len(parts) > 0 {
		s.block("table")
		s.write(plain(strings.Join(parts, "; ")))
	}
}

// isHeader reports whether a row names columns: words, each once.
func isHeader(row []string) bool {
	seen := map[string]bool{}
	for i, c := range row {
		c = flat(c)
		if c == "" {
			if i == 0 { // the corner of a table with names on two sides
				continue
			}
			return false
		}
		if _, err := strconv.ParseFloat(strings.TrimSuffix(c, "%"), 64); err == nil || seen[c] || utf8.RuneCountInString(c) > looksCell {
			return false
		}
		seen[c] = true
	}
	return len(seen) > 0
}

// cellWork is what a cell costs beside its letters.
const cellWork = 16
