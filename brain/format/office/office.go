package office

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"orgmem/brain/format/markup"
	"orgmem/brain/format/reading"
)

// readFunc reads a document of one format.
type readFunc = func(*reading.Reader, *zip.Reader) (reading.Document, error)

// Recognize recognises office documents and books by the files that each must have.
func Recognize(r *reading.Reader, z *zip.Reader) (read readFunc, format string) {
	for _, f := range z.File {
		switch f.Name {
		case "word/document.xml":
			return readDocx, reading.DOCX
		case "ppt/presentation.xml":
			return readPptx, reading.PPTX
		case "xl/workbook.xml":
			return readXlsx, reading.XLSX
		case "META-INF/container.xml":
			return readEpub, reading.EPUB
		case "mimetype":
			raw, err := r.Entry(f)
			if err != nil {
				continue
			}
			r.Drop(raw)
			switch kind := strings.TrimSpace(string(raw)); {
			case strings.HasPrefix(kind, "application/vnd.oasis.opendocument.spreadsheet"):
				return readOpenDocument, reading.ODS
			case strings.HasPrefix(kind, "application/vnd.oasis.opendocument.presentation"):
				return readOpenDocument, reading.ODP
			case strings.HasPrefix(kind, "application/vnd.oasis.opendocument."):
				return readOpenDocument, reading.ODT
			}
		}
	}
	return findWordDocument(r, z)
}

// findWordDocument finds the text of a document that a program keeps under another name
// than Word does: the archive's own relations say which.
func findWordDocument(r *reading.Reader, z *zip.Reader) (read readFunc, format string) {
	parts, err := relationsOf(r, z, "")
	if err != nil {
		return nil, ""
	}
	if main := partOf(parts, "officeDocument"); strings.HasPrefix(main, "word/") {
		return func(r *reading.Reader, z *zip.Reader) (reading.Document, error) {
			return readWordDocument(r, z, main)
		}, reading.DOCX
	}
	return nil, ""
}

// writer writes the paragraphs and tables of a word processor.
type writer struct {
	reading.Builder
	text   bytes.Buffer // of the open paragraph, behind that of those it stands in
	level  int          // it is a heading of that level; 0: none
	item   bool         // it is an item of a list
	depth  int          // of the list
	asides []aside
	notes  []string // what is written behind the open paragraph
	tables []markup.Table
	cells  []string // the paragraphs of the open cell
	within bool     // of a run's text
	hidden bool     // and that is not shown
	beside int      // elements that lie open whose text stands elsewhere, too, or nowhere
	// waiting are the bytes of notes, cells and rows that are not written yet.
	waiting int
}

// aside is a box or a note in the middle of a paragraph: it has paragraphs of its own,
// and when it ends the outer one goes on.
type aside struct {
	start int // where the text of the inner paragraphs begins
	note  bool
	level int // of the outer paragraph, and what else it is
	item  bool
	depth int
}

// openAside begins a box, which is read before the paragraph that it hangs on, or a
// note, which is read behind.
func (w *writer) openAside(note bool) {
	w.asides = append(w.asides, aside{start: w.text.Len(), note: note, level: w.level, item: w.item, depth: w.depth})
	w.level, w.item, w.depth = 0, false, 0
}

// parked bounds what waits for the end of a row or of a paragraph: notes and cells.
func (w *writer) park(to *[]string, text string) {
	if w.waiting += len(text) + reading.NameMemory/4; w.waiting > reading.MaxToken && w.Err == nil {
		w.Err = reading.Errorf("holds a row or notes of more than %d MiB", reading.MaxToken>>20)
	}
	if w.Err == nil {
		*to = append(*to, text)
	}
}

func (w *writer) shutAside() {
	n := len(w.asides)
	if n == 0 {
		return
	}
	w.endParagraph()
	outer := w.asides[n-1]
	w.asides = w.asides[:n-1]
	w.level, w.item, w.depth = outer.level, outer.item, outer.depth
}

// add adds letters to the open paragraph.
func (w *writer) add(b []byte) {
	if w.Err = cmp.Or(w.Err, w.TooLong(w.text.Len()+len(b))); w.Err == nil {
		w.Err = w.Growing(&w.text, len(b))
	}
	if w.Err == nil {
		w.text.Write(b)
	}
}

// take takes the text of the open paragraph.
func (w *writer) take() string {
	start := 0
	if n := len(w.asides); n > 0 {
		start = w.asides[n-1].start
	}
	text := string(w.text.Bytes()[start:])
	w.text.Truncate(start)
	return text
}

// besides are elements that are not read: the shape for older programs beside the one
// that is, where a paragraph stood before it was moved, what was deleted, and what
// something looked like before it was changed.
var besides = []string{"Fallback", "moveFrom", "del", "pPrChange", "rPrChange"}

// elements are what word processors and presentations of Office Open XML have in
// common: runs of text, and tables. open and shut deal with the rest.
func (w *writer) elements(open func(xml.StartElement), shut func(name string)) markup.Elements {
	return markup.Elements{
		Open: func(t xml.StartElement) {
			if slices.Contains(besides, t.Name.Local) {
				w.beside++
			}
			if w.beside > 0 {
				return
			}
			switch t.Name.Local {
			case "t":
				w.within = true
			case "br":
				w.text.WriteByte('\n')
			case "tbl":
				w.openTable()
			case "tc":
				w.openCell()
			default:
				open(t)
			}
		},
		Shut: func(name string) {
			if w.beside > 0 {
				if slices.Contains(besides, name) {
					w.beside--
				}
				return
			}
			switch name {
			case "t":
				w.within = false
			case "tc":
				w.shutCell()
			case "tr":
				w.shutRow()
			case "tbl":
				w.shutTable()
			default:
				shut(name)
			}
		},
		Text: func(b []byte) {
			if w.within && !w.hidden && w.beside == 0 {
				w.add(b)
			}
		},
		Fault: &w.Err,
	}
}

func (w *writer) inCell() bool {
	return len(w.tables) > 0 && w.tables[len(w.tables)-1].Cell && !w.tables[len(w.tables)-1].Layout
}

// endParagraph ends the open paragraph.
func (w *writer) endParagraph() {
	text := w.take()
	switch {
	case len(w.asides) > 0 && w.asides[len(w.asides)-1].note:
		w.park(&w.notes, text)
	case w.inCell():
		w.park(&w.cells, text)
	case w.level > 0:
		w.Heading(w.level, text)
	case w.item:
		w.Builder.Item(w.depth, "-", text)
	default:
		w.Paragraph(text)
	}
	w.level, w.item, w.depth = 0, false, 0
	if len(w.notes) > 0 && len(w.asides) == 0 {
		notes := w.notes
		w.notes = nil
		for _, text := range notes {
			if w.inCell() {
				w.park(&w.cells, text)
			} else {
				w.Paragraph(text)
			}
		}
	}
}

func (w *writer) openTable() {
	if n := len(w.tables); n > 0 {
		outer := &w.tables[n-1]
		outer.Layout = true
		for _, c := range slices.Concat(outer.Row, w.cells) {
			w.Paragraph(c)
		}
		outer.Row, w.cells, w.waiting = nil, nil, 0
	}
	w.tables = append(w.tables, markup.Table{})
}

func (w *writer) shutTable() {
	if n := len(w.tables); n > 0 {
		w.tables = w.tables[:n-1]
	}
	w.Tail = ""
}

func (w *writer) openCell() {
	if n := len(w.tables); n > 0 {
		w.tables[n-1].Cell = true
	}
	w.cells = nil
}

func (w *writer) shutCell() {
	if n := len(w.tables); n > 0 && w.inCell() {
		if row := &w.tables[n-1].Row; len(*row) < markup.MaxColumns {
			w.park(row, strings.Join(w.cells, " "))
		}
		w.tables[n-1].Cell = false
	}
	w.cells = nil
}

func (w *writer) shutRow() {
	if n := len(w.tables); n > 0 {
		row := w.tables[n-1].Row
		w.tables[n-1].Row, w.waiting = nil, 0
		w.Row(row[:min(len(row), markup.MaxColumns)])
	}
}

// readDocx reads a document of Word.
func readDocx(r *reading.Reader, z *zip.Reader) (reading.Document, error) {
	return readWordDocument(r, z, "word/document.xml")
}

// readWordDocument reads the document whose text is the part main.
func readWordDocument(r *reading.Reader, z *zip.Reader, main string) (reading.Document, error) {
	parts, err := relationsOf(r, z, main)
	if err != nil {
		return reading.Document{}, err
	}
	levels, err := readWordStyles(r, z, cmp.Or(partOf(parts, "styles"), "word/styles.xml"))
	if err != nil {
		return reading.Document{}, err
	}
	w := &writer{Builder: reading.Builder{Reader: r}}
	run := false
	e := w.elements(func(t xml.StartElement) {
		switch t.Name.Local {
		case "r":
			run, w.hidden = true, false
		case "vanish": // of the paragraph's mark it hides no text
			w.hidden = run && !slices.Contains([]string{"0", "false", "off"}, markup.Attr(t, "val"))
		case "txbxContent":
			w.openAside(false)
		case "tab":
			w.text.WriteByte('\t')
		case "cr":
			w.text.WriteByte('\n')
		case "noBreakHyphen":
			w.text.WriteByte('-')
		case "pStyle":
			style := markup.Attr(t, "val")
			if w.level = levels[style]; w.level == 0 && strings.Contains(strings.ToLower(style), "list") {
				w.item = true
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(markup.Attr(t, "val")); err == nil && n >= 0 && n < 9 {
				w.level = n + 1
			}
		case "ilvl":
			if n, err := strconv.Atoi(markup.Attr(t, "val")); err == nil {
				w.item, w.depth = true, n
			}
		case "numId": // 0 takes the paragraph out of the list that its style is
			w.item = markup.Attr(t, "val") != "0"
		}
	}, func(name string) {
		switch name {
		case "r":
			run, w.hidden = false, false
		case "p":
			w.endParagraph()
		case "txbxContent":
			w.shutAside()
		}
	})
	notes, ends := cmp.Or(partOf(parts, "footnotes"), "word/footnotes.xml"),
		cmp.Or(partOf(parts, "endnotes"), "word/endnotes.xml")
	for _, part := range []string{main, notes, ends} {
		if _, err := walkNamed(r, z, part, e); err != nil {
			return reading.Document{}, err
		}
		w.endParagraph()
	}
	values, err := propertiesOf(r, z, "docProps/core.xml")
	if err != nil {
		return reading.Document{}, err
	}
	return documentOf(&w.Builder, values)
}

// readWordStyles are the levels of the styles that are headings. A style's name is
// English in every language of Word, its id is not.
func readWordStyles(r *reading.Reader, z *zip.Reader, part string) (map[string]int, error) {
	levels := map[string]int{"Title": 1}
	var fault error
	for n := 1; n <= 9; n++ {
		levels[fmt.Sprintf("Heading%d", n)] = n
	}
	id := ""
	_, err := walkNamed(r, z, part, markup.Elements{Open: func(t xml.StartElement) {
		switch t.Name.Local {
		case "style":
			id = markup.Attr(t, "styleId")
			fault = r.Hold(reading.NameMemory + len(id))
		case "name":
			name := strings.ToLower(markup.Attr(t, "val"))
			if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n >= 1 && n <= 9 {
				levels[id] = n
			} else if name == "title" {
				levels[id] = 1
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(markup.Attr(t, "val")); err == nil && n >= 0 && n < 9 && id != "" {
				levels[id] = n + 1
			}
		}
	}, Fault: &fault})
	return levels, err
}

// readPptx reads a presentation: a section for each slide, with the speaker's notes.
func readPptx(r *reading.Reader, z *zip.Reader) (reading.Document, error) {
	const presentation = "ppt/presentation.xml"
	parts, err := relationsOf(r, z, presentation)
	if err != nil {
		return reading.Document{}, err
	}
	var slides []string
	count := 0
	if _, err := walkNamed(r, z, presentation, markup.Elements{Open: func(t xml.StartElement) {
		if t.Name.Local != "sldId" {
			return
		}
		for _, a := range t.Attr { // there is an id of its own beside it
			if part := parts[a.Value].part; a.Name.Local == "id" && part != "" {
				if count++; count <= maxInDocument {
					slides = append(slides, part)
				}
			}
		}
	}}); err != nil {
		return reading.Document{}, err
	}
	w := &writer{Builder: reading.Builder{Reader: r}}
	for i, part := range slides {
		if err := readSlide(r, z, w, part, i+1); err != nil {
			return reading.Document{}, err
		}
		if w.Err != nil {
			return reading.Document{}, w.Err
		}
	}
	values, err := propertiesOf(r, z, "docProps/core.xml")
	if err != nil {
		return reading.Document{}, err
	}
	return documentOf(&w.Builder, values, "slides", count)
}

// maxInDocument bounds the slides, sheets and chapters of one document.
const maxInDocument = 2000

// readSlide reads a slide. Its title may stand anywhere in the file, so that the rest
// waits for it.
func readSlide(r *reading.Reader, z *zip.Reader, w *writer, part string, number int) error {
	body := &writer{Builder: reading.Builder{Reader: r}}
	title := ""
	kept, held := r.Kept, r.Held()
	if err := readShapes(r, z, part, body, &title); err != nil {
		return err
	}
	parts, err := relationsOf(r, z, part)
	if err != nil {
		return err
	}
	notes := &writer{Builder: reading.Builder{Reader: r}}
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		to := notes
		switch parts[id].kind {
		case "notesSlide":
		case "diagramData": // the words of its shapes
			to = body
		default:
			continue
		}
		var ignored string
		if err := readShapes(r, z, parts[id].part, to, &ignored); err != nil {
			return err
		}
	}
	for _, m := range []*writer{body, notes} {
		if _, err := m.Done(); err != nil {
			return err
		}
	}
	r.Kept = kept // it is counted where it is written
	w.Heading(2, slideTitle(number, title))
	own := r.Held() - held // of the slide, which is written to another text
	for _, m := range []*writer{body, notes} {
		if m.Out.Len() > 0 {
			w.Block("")
			w.Write(m.Out.String())
		}
	}
	r.Release(own)
	return w.Err
}

func slideTitle(number int, title string) string {
	return fmt.Sprintf("Slide %d: %s", number, cmp.Or(reading.Flat(title), "no title"))
}

// readShapes reads the text of a slide's shapes and tables.
func readShapes(r *reading.Reader, z *zip.Reader, part string, w *writer, title *string) error {
	kind := ""
	_, err := walkNamed(r, z, part, w.elements(func(t xml.StartElement) {
		switch t.Name.Local {
		case "sp":
			kind = ""
		case "ph":
			if kind = markup.Attr(t, "type"); kind == "" {
				kind = "body"
			}
		case "pPr":
			if n, err := strconv.Atoi(markup.Attr(t, "lvl")); err == nil {
				w.depth = n
			}
		}
	}, func(name string) {
		switch name {
		case "p":
			switch kind {
			case "title", "ctrTitle":
				if len(*title) < reading.MaxNote {
					*title += " " + w.take()
				}
				w.take()
			case "sldNum", "ftr", "dt", "hdr":
				w.take()
			case "body":
				w.item = !w.inCell()
			}
			w.endParagraph()
		case "sp":
			kind = ""
			w.Tail = ""
		}
	}))
	return err
}
