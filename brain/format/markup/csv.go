package markup

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

const (
	// MaxColumns bounds the columns that are read of a table: what is wider is no
	// table that people read.
	MaxColumns = 1024
	// looksLines of a text are looked at to tell whether it is a table, and
	// looksColumns they must have, all as many: prose has commas too.
	looksLines   = 20
	looksColumns = 3
	// LooksCell is what a cell holds at most in a text that is not called CSV.
	LooksCell = 80
	// maxSeparators bounds the columns of a row, those included that are not read, since
	// each takes memory until the row's end. Commas in a cell count: no text has as many.
	maxSeparators = 1 << 18
	// rowMemory is what a row takes at most, while it is read.
	rowMemory = maxSeparators*64 + 2*reading.MaxToken
)

// separators of the columns, the likeliest first.
const separators = ",;\t|"

// separatorOf finds what separates the columns of a text: what divides its first
// lines into equally many, the most. least is how many must be.
func separatorOf(raw []byte, least int) (separator rune, ok bool) {
	head := raw[:min(len(raw), reading.SampleBytes)]
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

// LooksCSV reports whether a text is a table, whatever it is called: each of its
// first lines has as many short cells as the first, whose cells are names.
func LooksCSV(raw []byte) bool {
	separator, ok := separatorOf(raw, looksColumns)
	if !ok {
		return false
	}
	records := csv.NewReader(bytes.NewReader(raw[:min(len(raw), reading.SampleBytes)]))
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
		if len(cell) > LooksCell || strings.HasSuffix(cell, ".") {
			return false
		}
	}
	return true
}

var (
	errLongRow = reading.Errorf("holds a row of more than %d MiB", reading.MaxToken>>20)
	errWideRow = reading.Errorf("holds a row of more than %d columns", maxSeparators)
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

// CSV reads a table.
func CSV(r *reading.Reader, name string, raw []byte) (reading.Document, error) {
	separator, raw, ok := separatorSaid(raw)
	if !ok {
		separator, ok = separatorOf(raw, 2)
	}
	if !ok {
		separator = rune(separators[0])
	}
	if err := r.Hold(min(64*len(raw), rowMemory)); err != nil {
		return reading.Document{}, err
	}
	in := &columns{
		allowance: allowance{rest: raw, allowed: reading.MaxToken, spent: errLongRow}, separator: []byte(string(separator)),
	}
	records := csv.NewReader(in)
	records.Comma, records.LazyQuotes, records.FieldsPerRecord, records.ReuseRecord = separator, true, -1, true
	sheet := Sheet{Builder: &reading.Builder{Reader: r}}
	at := int64(0)
	for {
		record, err := records.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && errors.Is(err, reading.ErrFile) {
			return reading.Document{}, err
		}
		if err != nil {
			line := 0
			if p, ok := errors.AsType[*csv.ParseError](err); ok {
				line = p.StartLine
			}
			return reading.Document{}, reading.Errorf("is no well-formed CSV at line %d", line)
		}
		if err := r.Step(reading.TableWork*int(records.InputOffset()-at) + CellWork*len(record)); err != nil {
			return reading.Document{}, err
		}
		at, in.allowed, in.seen = records.InputOffset(), reading.MaxToken, 0
		if sheet.Add(record); sheet.Err != nil {
			return reading.Document{}, sheet.Err
		}
	}
	sheet.End()
	content, err := sheet.DoneVisible("is a table without a cell to read")
	if err != nil {
		return reading.Document{}, err
	}
	return reading.Document{Title: reading.BaseTitle(name), Content: content}, nil
}

// Sheet writes a table as lines of "column: value; column: value": a chunk from its
// middle then says what its numbers are, which rows under a header far above do not.
type Sheet struct {
	*reading.Builder
	header []string
	first  []string // the first row, until it is known whether it is a header
	rows   int
}

// Add adds a row; cells stays the caller's.
func (s *Sheet) Add(cells []string) {
	cells = cells[:min(len(cells), MaxColumns)]
	if s.TooWide(cells) {
		return
	}
	if filled(cells) == 0 {
		return
	}
	s.rows++
	if s.rows == 1 {
		for _, c := range cells {
			s.first = append(s.first, strings.Clone(reading.Flat(c)))
		}
		return
	}
	if filled(s.first) == 1 && filled(cells) > 1 { // a title above the table
		s.begin(false)
		for _, c := range cells {
			s.first = append(s.first, strings.Clone(reading.Flat(c)))
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
func (s *Sheet) begin(more bool) {
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

// End writes what is left.
func (s *Sheet) End() { s.begin(false) }

func (s *Sheet) line(cells []string) {
	var parts []string
	for i, c := range cells {
		if c = reading.Flat(c); c == "" {
			continue
		}
		if i < len(s.header) && s.header[i] != "" {
			c = s.header[i] + ": " + c
		}
		parts = append(parts, c)
	}
	if len(parts) > 0 {
		s.Block("table")
		s.Write(reading.Plain(strings.Join(parts, "; ")))
	}
}

// isHeader reports whether a row names columns: words, each once.
func isHeader(row []string) bool {
	seen := map[string]bool{}
	for i, c := range row {
		c = reading.Flat(c)
		if c == "" {
			if i == 0 { // the corner of a table with names on two sides
				continue
			}
			return false
		}
		if _, err := strconv.ParseFloat(strings.TrimSuffix(c, "%"), 64); err == nil || seen[c] ||
			utf8.RuneCountInString(c) > LooksCell {
			return false
		}
		seen[c] = true
	}
	return len(seen) > 0
}

// CellWork is what a cell costs beside its letters.
const CellWork = 16
