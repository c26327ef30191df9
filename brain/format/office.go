package format

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
)

// officeOf recognises office documents and books by the files that each must have.
func officeOf(r *reader, z *zip.Reader) (read func(*reader, *zip.Reader) (Document, error), format string) {
	for _, f := range z.File {
		switch f.Name {
		case "word/document.xml":
			return (*reader).docx, DOCX
		case "ppt/presentation.xml":
			return (*reader).pptx, PPTX
		case "xl/workbook.xml":
			return (*reader).xlsx, XLSX
		case "META-INF/container.xml":
			return (*reader).epub, EPUB
		case "mimetype":
			raw, err := r.entry(f)
			if err != nil {
				continue
			}
			r.drop(raw)
			switch kind := strings.TrimSpace(string(raw)); {
			case strings.HasPrefix(kind, "application/vnd.oasis.opendocument.spreadsheet"):
				return (*reader).opendocument, ODS
			case strings.HasPrefix(kind, "application/vnd.oasis.opendocument.presentation"):
				return (*reader).opendocument, ODP
			case strings.HasPrefix(kind, "application/vnd.oasis.opendocument."):
				return (*reader).opendocument, ODT
			}
		}
	}
	return r.wordElsewhere(z)
}

// wordElsewhere finds the text of a document that a program keeps under another name
// than Word does: the archive's own relations say which.
func (r *reader) wordElsewhere(z *zip.Reader) (read func(*reader, *zip.Reader) (Document, error), format string) {
	parts, err := r.relations(z, "")
	if err != nil {
		return nil, ""
	}
	if main := partOf(parts, "officeDocument"); strings.HasPrefix(main, "word/") {
		return func(r *reader, z *zip.Reader) (Document, error) { return r.wordDocument(z, main) }, DOCX
	}
	return nil, ""
}

// writer writes the paragraphs and tables of a word processor.
type writer struct {
	markup
	text   bytes.Buffer // of the open paragraph, behind that of those it stands in
	level  int          // it is a heading of that level; 0: none
	item   bool         // it is an item of a list
	depth  int          // of the list
	asides []aside
	notes  []string // what is written behind the open paragraph
	tables []table
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
	if w.waiting += len(text) + nameMemory/4; w.waiting > maxToken && w.err == nil {
		w.err = errorf("holds a row or notes of more than %d MiB", maxToken>>20)
	}
	if w.err == nil {
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
	if w.err = cmp.Or(w.err, w.tooLong(w.text.Len()+len(b))); w.err == nil {
		w.err = w.growing(&w.text, len(b))
	}
	if w.err == nil {
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
func (w *writer) elements(open func(xml.StartElement), shut func(name string)) elements {
	return elements{
		open: func(t xml.StartElement) {
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
		shut: func(name string) {
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
		text: func(b []byte) {
			if w.within && !w.hidden && w.beside == 0 {
				w.add(b)
			}
		},
		fault: &w.err,
	}
}

func (w *writer) inCell() bool {
	return len(w.tables) > 0 && w.tables[len(w.tables)-1].cell && !w.tables[len(w.tables)-1].layout
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
		w.heading(w.level, text)
	case w.item:
		w.markup.item(w.depth, "-", text)
	default:
		w.paragraph(text)
	}
	w.level, w.item, w.depth = 0, false, 0
	if len(w.notes) > 0 && len(w.asides) == 0 {
		notes := w.notes
		w.notes = nil
		for _, text := range notes {
			if w.inCell() {
				w.park(&w.cells, text)
			} else {
				w.paragraph(text)
			}
		}
	}
}

func (w *writer) openTable() {
	if n := len(w.tables); n > 0 {
		outer := &w.tables[n-1]
		outer.layout = true
		for _, c := range slices.Concat(outer.row, w.cells) {
			w.paragraph(c)
		}
		outer.row, w.cells, w.waiting = nil, nil, 0
	}
	w.tables = append(w.tables, table{})
}

func (w *writer) shutTable() {
	if n := len(w.tables); n > 0 {
		w.tables = w.tables[:n-1]
	}
	w.tail = ""
}

func (w *writer) openCell() {
	if n := len(w.tables); n > 0 {
		w.tables[n-1].cell = true
	}
	w.cells = nil
}

func (w *writer) shutCell() {
	if n := len(w.tables); n > 0 && w.inCell() {
		if row := &w.tables[n-1].row; len(*row) < maxColumns {
			w.park(row, strings.Join(w.cells, " "))
		}
		w.tables[n-1].cell = false
	}
	w.cells = nil
}

func (w *writer) shutRow() {
	if n := len(w.tables); n > 0 {
		row := w.tables[n-1].row
		w.tables[n-1].row, w.waiting = nil, 0
		w.row(row[:min(len(row), maxColumns)])
	}
}

// docx reads a document of Word.
func (r *reader) docx(z *zip.Reader) (Document, error) { return r.wordDocument(z, "word/document.xml") }

// wordDocument reads the document whose text is the part main.
func (r *reader) wordDocument(z *zip.Reader, main string) (Document, error) {
	parts, err := r.relations(z, main)
	if err != nil {
		return Document{}, err
	}
	levels, err := r.wordStyles(z, cmp.Or(partOf(parts, "styles"), "word/styles.xml"))
	if err != nil {
		return Document{}, err
	}
	w := &writer{markup: markup{reader: r}}
	run := false
	e := w.elements(func(t xml.StartElement) {
		switch t.Name.Local {
		case "r":
			run, w.hidden = true, false
		case "vanish": // of the paragraph's mark it hides no text
			w.hidden = run && !slices.Contains([]string{"0", "false", "off"}, xmlAttr(t, "val"))
		case "txbxContent":
			w.openAside(false)
		case "tab":
			w.text.WriteByte('\t')
		case "cr":
			w.text.WriteByte('\n')
		case "noBreakHyphen":
			w.text.WriteByte('-')
		case "pStyle":
			style := xmlAttr(t, "val")
			if w.level = levels[style]; w.level == 0 && strings.Contains(strings.ToLower(style), "list") {
				w.item = true
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(xmlAttr(t, "val")); err == nil && n >= 0 && n < 9 {
				w.level = n + 1
			}
		case "ilvl":
			if n, err := strconv.Atoi(xmlAttr(t, "val")); err == nil {
				w.item, w.depth = true, n
			}
		case "numId": // 0 takes the paragraph out of the list that its style is
			w.item = xmlAttr(t, "val") != "0"
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
	notes, ends := cmp.Or(partOf(parts, "footnotes"), "word/footnotes.xml"), cmp.Or(partOf(parts, "endnotes"), "word/endnotes.xml")
	for _, part := range []string{main, notes, ends} {
		if _, err := r.walkNamed(z, part, e); err != nil {
			return Document{}, err
		}
		w.endParagraph()
	}
	values, err := r.properties(z, "docProps/core.xml")
	if err != nil {
		return Document{}, err
	}
	return office(&w.markup, values)
}

// wordStyles are the levels of the styles that are headings. A style's name is
// English in every language of Word, its id is not.
func (r *reader) wordStyles(z *zip.Reader, part string) (map[string]int, error) {
	levels := map[string]int{"Title": 1}
	var fault error
	for n := 1; n <= 9; n++ {
		levels[fmt.Sprintf("Heading%d", n)] = n
	}
	id := ""
	_, err := r.walkNamed(z, part, elements{open: func(t xml.StartElement) {
		switch t.Name.Local {
		case "style":
			id = xmlAttr(t, "styleId")
			fault = r.Hold(nameMemory + len(id))
		case "name":
			name := strings.ToLower(xmlAttr(t, "val"))
			if n, err := strconv.Atoi(strings.TrimPrefix(name, "heading ")); err == nil && n >= 1 && n <= 9 {
				levels[id] = n
			} else if name == "title" {
				levels[id] = 1
			}
		case "outlineLvl":
			if n, err := strconv.Atoi(xmlAttr(t, "val")); err == nil && n >= 0 && n < 9 && id != "" {
				levels[id] = n + 1
			}
		}
	}, fault: &fault})
	return levels, err
}

// pptx reads a presentation: a section for each slide, with the speaker's notes.
func (r *reader) pptx(z *zip.Reader) (Document, error) {
	const presentation = "ppt/presentation.xml"
	parts, err := r.relations(z, presentation)
	if err != nil {
		return Document{}, err
	}
	var slides []string
	count := 0
	if _, err := r.walkNamed(z, presentation, elements{open: func(t xml.StartElement) {
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
		return Document{}, err
	}
	w := &writer{markup: markup{reader: r}}
	for i, part := range slides {
		if err := r.slide(z, w, part, i+1); err != nil {
			return Document{}, err
		}
		if w.err != nil {
			return Document{}, w.err
		}
	}
	values, err := r.properties(z, "docProps/core.xml")
	if err != nil {
		return Document{}, err
	}
	return office(&w.markup, values, "slides", count)
}

// maxInDocument bounds the slides, sheets and chapters of one document.
const maxInDocument = 2000

// slide reads a slide. Its title may stand anywhere in the file, so that the rest
// waits for it.
func (r *reader) slide(z *zip.Reader, w *writer, part string, number int) error {
	body := &writer{markup: markup{reader: r}}
	title := ""
	kept, held := r.kept, r.Held()
	if err := r.shapes(z, part, body, &title); err != nil {
		return err
	}
	parts, err := r.relations(z, part)
	if err != nil {
		return err
	}
	notes := &writer{markup: markup{reader: r}}
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
		if err := r.shapes(z, parts[id].part, to, &ignored); err != nil {
			return err
		}
	}
	for _, m := range []*writer{body, notes} {
		if _, err := m.done(); err != nil {
			return err
		}
	}
	r.kept = kept // it is counted where it is written
	w.heading(2, slideTitle(number, title))
	own := r.Held() - held // of the slide, which is written to another text
	for _, m := range []*writer{body, notes} {
		if m.out.Len() > 0 {
			w.block("")
			w.write(m.out.String())
		}
	}
	r.Release(own)
	return w.err
}

func slideTitle(number int, title string) string {
	return fmt.Sprintf("Slide %d: %s", number, cmp.Or(flat(title), "no title"))
}

// shapes reads the text of a slide's shapes and tables.
func (r *reader) shapes(z *zip.Reader, part string, w *writer, title *string) error {
	kind := ""
	_, err := r.walkNamed(z, part, w.elements(func(t xml.StartElement) {
		switch t.Name.Local {
		case "sp":
			kind = ""
		case "ph":
			if kind = xmlAttr(t, "type"); kind == "" {
				kind = "body"
			}
		case "pPr":
			if n, err := strconv.Atoi(xmlAttr(t, "lvl")); err == nil {
				w.depth = n
			}
		}
	}, func(name string) {
		switch name {
		case "p":
			switch kind {
			case "title", "ctrTitle":
				if len(*title) < maxNote {
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
			w.tail = ""
		}
	}))
	return err
}
