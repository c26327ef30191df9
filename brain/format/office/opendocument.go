package office

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"path"
	"strconv"
	"strings"
	"unicode"

	"orgmem/brain/format/markup"
	"orgmem/brain/format/reading"
)

// maxRepeated bounds how often a cell of OpenDocument is repeated, as its file may
// ask for a million: what repeats further is a sheet's empty end.
const maxRepeated = 64

// readOpenDocument reads texts, sheets and presentations of OpenDocument, which are one
// format.
func readOpenDocument(r *reading.Reader, z *zip.Reader) (reading.Document, error) {
	raw, err := r.Named(z, "META-INF/manifest.xml")
	if err != nil {
		return reading.Document{}, err
	}
	defer r.Drop(raw)
	if bytes.Contains(raw, []byte("encryption-data")) {
		return reading.Document{}, reading.Errorf("is encrypted")
	}
	o := &openReader{writer: writer{Builder: reading.Builder{Reader: r}}}
	found, err := walkNamed(r, z, "content.xml", markup.Elements{Open: o.open, Shut: o.shut, Text: o.chars, Fault: &o.Err})
	if err != nil {
		return reading.Document{}, err
	}
	if !found {
		return reading.Document{}, reading.Errorf("is an OpenDocument file without its content")
	}
	if o.Err != nil {
		return reading.Document{}, o.Err
	}
	values, err := propertiesOf(r, z, "meta.xml")
	if err != nil {
		return reading.Document{}, err
	}
	return documentOf(&o.Builder, values)
}

type openReader struct {
	writer
	paragraphs int // open ones: a note's stand in that of its mark
	lists      int
	skipped    int           // depth within what is not read
	sheet      *markup.Sheet // of a spreadsheet
	row        []string
	repeat     int
	slides     int
	untitled   bool     // the open slide has no heading yet
	titling    bool     // within the frame of its title
	title      []string // what stands there
}

// beginSlide writes the heading of the open slide, once what follows shows that its title
// has been read or that it has none in front.
func (o *openReader) beginSlide() {
	if !o.untitled || o.titling {
		return
	}
	o.untitled = false
	o.Heading(2, slideTitle(o.slides, strings.Join(o.title, " ")))
	o.title = nil
}

func (o *openReader) open(t xml.StartElement) {
	if o.skipped > 0 {
		o.skipped++
		return
	}
	switch t.Name.Local {
	case "annotation", "tracked-changes", "forms", "object", "automatic-styles", "font-face-decls", "scripts",
		"note-citation", "ruby-text", "desc":
		o.skipped = 1
	case "title":
		if t.Name.Space == "svg" { // of a picture, within a paragraph; another is a field that shows the document's
			o.skipped = 1
		}
	case "frame":
		o.titling = o.untitled && markup.Attr(t, "class") == "title"
	case "note":
		o.openAside(true)
	case "text-box":
		o.beginSlide()
		o.openAside(false)
	case "h":
		o.beginSlide()
		o.paragraphs++
		o.level = 1
		if n, err := strconv.Atoi(markup.Attr(t, "outline-level")); err == nil {
			o.level = n
		}
	case "p":
		o.beginSlide()
		o.paragraphs++
	case "s":
		n, err := strconv.Atoi(markup.Attr(t, "c"))
		if err != nil {
			n = 1
		}
		o.text.WriteString(strings.Repeat(" ", min(max(n, 0), maxRepeated)))
	case "tab":
		o.text.WriteByte('\t')
	case "line-break":
		o.text.WriteByte('\n')
	case "list":
		o.lists++
	case "page":
		o.slides++
		o.untitled, o.titling, o.title = true, false, nil
	case "spreadsheet":
		o.sheet = &markup.Sheet{}
	case "table":
		if o.sheet != nil {
			o.Heading(2, markup.Attr(t, "name"))
			o.sheet = &markup.Sheet{Builder: &o.Builder}
			return
		}
		o.beginSlide()
		o.openTable()
	case "table-row":
		o.row = nil
	case "table-cell", "covered-table-cell":
		o.repeat = 1
		if n, err := strconv.Atoi(markup.Attr(t, "number-columns-repeated")); err == nil {
			o.repeat = min(max(n, 1), maxRepeated)
		}
		o.openCell()
	}
}

func (o *openReader) shut(name string) {
	if o.skipped > 0 {
		o.skipped--
		return
	}
	switch name {
	case "h", "p":
		if o.paragraphs > 0 {
			o.paragraphs--
		}
		if o.sheet != nil {
			o.park(&o.cells, o.take())
			return
		}
		if o.titling {
			o.park(&o.title, o.take())
			return
		}
		if o.lists > 0 && o.level == 0 {
			o.item, o.depth = true, o.lists-1
		}
		o.endParagraph()
	case "note", "text-box":
		o.shutAside()
	case "frame":
		o.titling = false
	case "page":
		o.titling = false
		o.beginSlide()
	case "list":
		if o.lists > 0 {
			o.lists--
		}
	case "table-cell", "covered-table-cell":
		if o.sheet == nil {
			o.shutCell()
			return
		}
		cell := strings.Join(o.cells, " ")
		o.cells, o.waiting = nil, 0
		if err := o.Step(o.repeat); err != nil {
			o.Err = cmp.Or(o.Err, err)
		}
		for range o.repeat {
			if len(o.row) < markup.MaxColumns {
				o.row = append(o.row, cell)
			}
		}
	case "table-row":
		if o.sheet != nil && o.sheet.Builder != nil {
			o.sheet.Add(o.row)
			o.row = nil
			return
		}
		o.shutRow()
	case "table":
		if o.sheet != nil && o.sheet.Builder != nil {
			o.sheet.End()
			o.Tail = ""
			return
		}
		o.shutTable()
	}
}

// chars takes the letters of a paragraph. White space of any length is one space, as
// OpenDocument has it (1.3, part 3, 6.1.2): programs break lines where they like.
func (o *openReader) chars(b []byte) {
	if o.skipped > 0 || o.paragraphs == 0 {
		return
	}
	if o.Err = cmp.Or(o.Err, o.TooLong(o.text.Len()+len(b))); o.Err == nil {
		o.Err = o.Growing(&o.text, len(b)+1)
	}
	if o.Err != nil {
		return
	}
	gap := false
	for _, c := range b {
		if c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			gap = true
			continue
		}
		if gap {
			o.text.WriteByte(' ')
			gap = false
		}
		o.text.WriteByte(c)
	}
	if gap {
		o.text.WriteByte(' ')
	}
}

// readEpub reads a book: the pages of its spine, in their order.
func readEpub(r *reading.Reader, z *zip.Reader) (reading.Document, error) {
	opf := ""
	if _, err := walkNamed(r, z, "META-INF/container.xml", markup.Elements{Open: func(t xml.StartElement) {
		if t.Name.Local == "rootfile" && opf == "" {
			opf = markup.Attr(t, "full-path")
		}
	}}); err != nil {
		return reading.Document{}, err
	}
	if locked, err := r.Named(z, "META-INF/rights.xml"); err != nil || locked != nil {
		return reading.Document{}, reading.Errorf("is a book that is locked")
	}
	pages, values, err := readSpine(r, z, opf)
	if err != nil {
		return reading.Document{}, err
	}
	m := &reading.Builder{Reader: r}
	for _, name := range pages {
		kept, held := r.Kept, r.Held()
		doc, err := readEpubPage(r, z, name)
		if err != nil && !reading.IsFileError(err) {
			return reading.Document{}, err
		}
		r.Kept = kept
		own := r.Held() - held // of the page, which is written to another text
		if doc.Content != "" {
			m.Block("")
			m.Write(doc.Content)
		}
		r.Release(own)
		if m.Err != nil {
			return reading.Document{}, m.Err
		}
	}
	return documentOf(m, values)
}

// readEpubPage reads one page of a book.
func readEpubPage(r *reading.Reader, z *zip.Reader, name string) (reading.Document, error) {
	raw, err := r.Named(z, name)
	if err != nil {
		return reading.Document{}, err
	}
	text, err := r.Decoded(raw, markup.HTMLCharset(raw))
	if err == nil {
		text, err = r.Newlines(text)
	}
	if err != nil {
		return reading.Document{}, err // of one that is no text nothing is read
	}
	return markup.HTML(r, text)
}

// readSpine reads which pages a book has, and what it says of itself.
func readSpine(r *reading.Reader, z *zip.Reader, opf string) (pages []string, values map[string]string, err error) {
	items, values := map[string]string{}, map[string]string{}
	var text strings.Builder
	var fault error
	found, err := walkNamed(r, z, opf, markup.Elements{
		Open: func(t xml.StartElement) {
			text.Reset()
			switch t.Name.Local {
			case "item":
				if kind := markup.Attr(t, "media-type"); strings.Contains(kind, "html") && len(items) < reading.MaxEntries {
					id, href := markup.Attr(t, "id"), markup.Attr(t, "href")
					if fault = r.Hold(reading.NameMemory + len(id) + len(href) + len(opf)); fault == nil {
						items[id] = path.Join(path.Dir(opf), unescaped(href))
					}
				}
			case "itemref":
				if name := items[markup.Attr(t, "idref")]; name != "" && len(pages) < maxInDocument {
					pages = append(pages, name)
				}
			}
		},
		Shut: func(name string) {
			switch name {
			case "title", "creator", "language", "date":
				if values[name] == "" {
					values[name] = reading.Clip(reading.Clean(text.String()))
				}
			}
			text.Reset()
		},
		Text:  func(b []byte) { text.Write(b[:min(len(b), max(0, reading.MaxFront-text.Len()))]) },
		Fault: &fault,
	})
	if err == nil && !found {
		err = reading.Errorf("is a book without its contents")
	}
	return pages, values, err
}

// unescaped takes the escapes of an address back.
func unescaped(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil && n >= ' ' && n != unicode.MaxASCII {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
