package office

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"strconv"
	"strings"

	"orgmem/brain/format/markup"
	"orgmem/brain/format/reading"
)

// maxShared bounds the texts that the cells of a workbook share. They are read
// from a part of at most MaxPart bytes; their number is bounded for the memory that
// each takes beside its letters.
const maxShared = 1_000_000

// sharedMemory is what each of them takes beside its letters: its place in a list that
// grows.
const sharedMemory = 48

// readXlsx reads a workbook: a section for each sheet, a line for each row. What a
// cell shows is read, not how it is computed.
func readXlsx(r *reading.Reader, z *zip.Reader) (reading.Document, error) {
	const workbook = "xl/workbook.xml"
	parts, err := relationsOf(r, z, workbook)
	if err != nil {
		return reading.Document{}, err
	}
	type named struct{ name, part string }
	var sheets []named
	from1904, count := false, 0
	if _, err := walkNamed(r, z, workbook, markup.Elements{Open: func(t xml.StartElement) {
		switch t.Name.Local {
		case "sheet":
			if part := parts[markup.Attr(t, "id")].part; part != "" && markup.Attr(t, "state") != "veryHidden" {
				if count++; count <= maxInDocument {
					sheets = append(sheets, named{reading.Clip(markup.Attr(t, "name")), part})
				}
			}
		case "workbookPr":
			v := markup.Attr(t, "date1904")
			from1904 = v == "1" || v == "true"
		}
	}}); err != nil {
		return reading.Document{}, err
	}
	book := &workbookReader{Builder: reading.Builder{Reader: r}, from1904: from1904}
	if err := book.readShared(z); err != nil {
		return reading.Document{}, err
	}
	if err := book.readStyles(z); err != nil {
		return reading.Document{}, err
	}
	for _, s := range sheets {
		if err := book.readSheet(z, s.name, s.part); err != nil {
			return reading.Document{}, err
		}
	}
	values, err := propertiesOf(r, z, "docProps/core.xml")
	if err != nil {
		return reading.Document{}, err
	}
	return documentOf(&book.Builder, values, "sheets", count)
}

type workbookReader struct {
	reading.Builder
	shared   []string
	dated    []bool // of the styles of cells: it shows a date
	from1904 bool
}

// readShared reads the texts that cells share. Readings of East Asian characters
// (rPh) are not part of them.
func (b *workbookReader) readShared(z *zip.Reader) error {
	var text strings.Builder
	var fault error
	within, reading := false, false
	_, err := walkNamed(b.Builder.Reader, z, "xl/sharedStrings.xml", markup.Elements{
		Open: func(t xml.StartElement) {
			switch t.Name.Local {
			case "t":
				within = true
			case "rPh":
				reading = true
			}
		},
		Shut: func(name string) {
			switch name {
			case "t":
				within = false
			case "rPh":
				reading = false
			case "si":
				if fault = cmp.Or(fault, b.Hold(sharedMemory+text.Len())); fault == nil && len(b.shared) < maxShared {
					b.shared = append(b.shared, text.String())
				}
				text.Reset()
			}
		},
		Text: func(raw []byte) {
			if within && !reading {
				if fault = b.TooLong(text.Len() + len(raw)); fault == nil {
					text.Write(raw)
				}
			}
		},
		Fault: &fault,
	})
	return err
}

// readStyles finds the styles of cells that show dates: by the numbers of the
// built-in formats (ECMA-376, 18.8.30), or by the letters of others.
func (b *workbookReader) readStyles(z *zip.Reader) error {
	formats := map[string]bool{}
	cells := false
	_, err := walkNamed(b.Builder.Reader, z, "xl/styles.xml", markup.Elements{
		Open: func(t xml.StartElement) {
			switch t.Name.Local {
			case "numFmt":
				if len(formats) < maxInDocument {
					formats[markup.Attr(t, "numFmtId")] = isDateFormat(markup.Attr(t, "formatCode"))
				}
			case "cellXfs":
				cells = true
			case "xf":
				if !cells || len(b.dated) >= maxXfs {
					return
				}
				id := markup.Attr(t, "numFmtId")
				n, err := strconv.Atoi(id)
				b.dated = append(b.dated, err == nil &&
					(n >= 14 && n <= 17 || n == 22 || n >= 27 && n <= 36 || n >= 50 && n <= 58) || formats[id])
			}
		},
		Shut: func(name string) { cells = cells && name != "cellXfs" },
	})
	return err
}

// maxXfs is the most styles of cells that Excel writes.
const maxXfs = 65_490

// isDateFormat looks for days or years outside of quotes and brackets.
func isDateFormat(code string) bool {
	quoted, bracket := false, false
	for _, c := range strings.ToLower(code) {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case !quoted && !bracket && (c == 'd' || c == 'y'):
			return true
		}
	}
	return false
}

// readSheet reads one sheet.
func (b *workbookReader) readSheet(z *zip.Reader, name, part string) error {
	s := markup.Sheet{Builder: &b.Builder}
	var row []string
	var text strings.Builder
	kind, style, column := "", 0, 0
	within, titled := false, false
	_, err := walkNamed(b.Builder.Reader, z, part, markup.Elements{
		Open: func(t xml.StartElement) {
			switch t.Name.Local {
			case "row":
				row = row[:0]
				column = -1
			case "c":
				kind = markup.Attr(t, "t")
				style, _ = strconv.Atoi(markup.Attr(t, "s")) // none is the first
				column++
				if at, ok := columnOf(markup.Attr(t, "r")); ok {
					column = at
				}
				text.Reset()
			case "v", "t":
				within = true
			}
		},
		Shut: func(element string) {
			switch element {
			case "v", "t":
				within = false
			case "c":
				if text.Len() == 0 || column >= markup.MaxColumns || column < 0 {
					return
				}
				if err := b.Step(markup.CellWork); err != nil {
					b.Err = cmp.Or(b.Err, err)
				}
				for len(row) <= column {
					row = append(row, "")
				}
				row[column] = b.shown(kind, style, text.String())
			case "row":
				if !titled {
					b.Heading(2, name)
					titled = true
				}
				if err := b.Step(len(row)); err != nil {
					b.Err = cmp.Or(b.Err, err)
				}
				s.Add(row)
			}
		},
		Text: func(raw []byte) {
			if within {
				if b.Err = cmp.Or(b.Err, b.TooLong(text.Len()+len(raw))); b.Err == nil {
					text.Write(raw)
				}
			}
		},
		Fault: &b.Err,
	})
	s.End()
	b.Tail = ""
	if err == nil {
		err = b.Err
	}
	return err
}

// columnOf reads the column of a cell's place, such as 27 of AB3.
func columnOf(ref string) (int, bool) {
	n := 0
	for i := 0; i < len(ref) && ref[i] >= 'A' && ref[i] <= 'Z'; i++ {
		if n = n*26 + int(ref[i]-'A') + 1; n > 1<<20 {
			return 0, false
		}
	}
	return n - 1, n > 0
}

// shown is what a cell shows.
func (b *workbookReader) shown(kind string, style int, v string) string {
	switch kind {
	case "s":
		if i, err := strconv.Atoi(strings.TrimSpace(v)); err == nil && i >= 0 && i < len(b.shared) {
			return b.shared[i]
		}
		return ""
	case "b":
		if v == "1" {
			return "true"
		}
		return "false"
	case "", "n":
		n, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		if err != nil {
			return v
		}
		if style >= 0 && style < len(b.dated) && b.dated[style] {
			return b.date(n)
		}
		return strconv.FormatFloat(n, 'f', -1, 64)[:min(len(strconv.FormatFloat(n, 'f', -1, 64)), markup.LooksCell)]
	}
	return v
}

// Days from the begin of each of the two calendars of workbooks to 1970.
const (
	days1900 = 25569
	days1904 = 24107
)

// date reads a serial day: a day and its part that has gone by.
func (b *workbookReader) date(serial float64) string {
	begin := days1900
	if b.from1904 {
		begin = days1904
	}
	if serial < 1 || serial > 2958466 { // the year 10000
		return strconv.FormatFloat(serial, 'f', -1, 64)
	}
	day := int(math.Floor(serial))
	minutes := int(math.Round((serial - float64(day)) * 24 * 60))
	y, m, d := reading.CivilDate(day - begin)
	out := fmt.Sprintf("%04d-%02d-%02d", y, m, d)
	if minutes > 0 && minutes < 24*60 {
		out += fmt.Sprintf(" %02d:%02d", minutes/60, minutes%60)
	}
	return out
}
