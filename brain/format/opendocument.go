package format

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"path"
	"strconv"
	"strings"
	"unicode"
)

// maxRepeated bounds how often a cell of OpenDocument is repeated, as its file may
// ask for a million: what repeats further is a sheet's empty end.
const maxRepeated = 64

// opendocument reads texts, sheets and presentations of OpenDocument, which are one
// format.
func (r *reader) opendocument(z *zip.Reader) (Document, error) {
	raw, err := r.named(z, "META-INF/manifest.xml")
	if err != nil {
		return Document{}, err
	}
	defer r.drop(raw)
	if bytes.Contains(raw, []byte("encryption-data")) {
		return Document{}, errorf("is encrypted")
	}
	o := &openReader{writer: writer{markup: markup{reader: r}}}
	found, err := r.walkNamed(z, "content.xml", elements{open: o.open, shut: o.shut, text: o.chars, fault: &o.err})
	if err != nil {
		return Document{}, err
	}
	if !found {
		return Document{}, errorf("is an OpenDocument file without its content")
	}
	if o.err != nil {
		return Document{}, o.err
	}
	values, err := r.properties(z, "meta.xml")
	if err != nil {
		return Document{}, err
	}
	return office(&o.markup, values)
}

type openReader struct {
	writer
	paragraphs int // open ones: a note's stand in that of its mark
	lists      int
	skipped    int    // depth within what is not read
	sheet      *sheet // of a spreadsheet
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
	o.heading(2, slideTitle(o.slides, strings.Join(o.title, " ")))
	o.title = nil
}

func (o *openReader) open(t xml.StartElement) {
	if o.skipped > 0 {
		o.skipped++
		return
	}
	switch t.Name.Local {
	case "annotation", "tracked-changes", "forms", "object", "automatic-styles", "font-face-decls", "scripts", "note-citation", "ruby-text", "desc":
		o.skipped = 1
	case "title":
		if t.Name.Space == "svg" { // of a picture, within a paragraph; another is a field that shows the document's
			o.skipped = 1
		}
	case "frame":
		o.titling = o.untitled && xmlAttr(t, "class") == "title"
	case "note":
		o.openAside(true)
	case "text-box":
		o.beginSlide()
		o.openAside(false)
	case "h":
		o.beginSlide()
		o.paragraphs++
		o.level = 1
		if n, err := strconv.Atoi(xmlAttr(t, "outline-level")); err == nil {
			o.level = n
		}
	case "p":
		o.beginSlide()
		o.paragraphs++
	case "s":
		n, err := strconv.Atoi(xmlAttr(t, "c"))
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
		o.sheet = &sheet{}
	case "table":
		if o.sheet != nil {
			o.heading(2, xmlAttr(t, "name"))
			o.sheet = &sheet{markup: &o.markup}
			return
		}
		o.beginSlide()
		o.openTable()
	case "table-row":
		o.row = nil
	case "table-cell", "covered-table-cell":
		o.repeat = 1
		if n, err := strconv.Atoi(xmlAttr(t, "number-columns-repeated")); err == nil {
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
			o.err = cmp.Or(o.err, err)
		}
		for range o.repeat {
			if len(o.row) < maxColumns {
				o.row = append(o.row, cell)
			}
		}
	case "table-row":
		if o.sheet != nil && o.sheet.markup != nil {
			o.sheet.add(o.row)
			o.row = nil
			return
		}
		o.shutRow()
	case "table":
		if o.sheet != nil && o.sheet.markup != nil {
			o.sheet.end()
			o.tail = ""
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
	if o.err = cmp.Or(o.err, o.tooLong(o.text.Len()+len(b))); o.err == nil {
		o.err = o.growing(&o.text, len(b)+1)
	}
	if o.err != nil {
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

// epub reads a book: the pages of its spine, in their order.
func (r *reader) epub(z *zip.Reader) (Document, error) {
	opf := ""
	if _, err := r.walkNamed(z, "META-INF/container.xml", elements{open: func(t xml.StartElement) {
		if t.Name.Local == "rootfile" && opf == "" {
			opf = xmlAttr(t, "full-path")
		}
	}}); err != nil {
		return Document{}, err
	}
	if locked, err := r.named(z, "META-INF/rights.xml"); err != nil || locked != nil {
		return Document{}, errorf("is a book that is locked")
	}
	pages, values, err := r.spine(z, opf)
	if err != nil {
		return Document{}, err
	}
	m := &markup{reader: r}
	for _, name := range pages {
		kept, held := r.kept, r.Held()
		doc, err := r.epubPage(z, name)
		if err != nil && !isFileError(err) {
			return Document{}, err
		}
		r.kept = kept
		own := r.Held() - held // of the page, which is written to another text
		if doc.Content != "" {
			m.block("")
			m.write(doc.Content)
		}
		r.Release(own)
		if m.err != nil {
			return Document{}, m.err
		}
	}
	return office(m, values)
}

// epubPage reads one page of a book.
func (r *reader) epubPage(z *zip.Reader, name string) (Document, error) {
	raw, err := r.named(z, name)
	if err != nil {
		return Document{}, err
	}
	text, err := r.decoded(raw, htmlCharset(raw))
	if err == nil {
		text, err = r.newlines(text)
	}
	if err != nil {
		return Document{}, err // of one that is no text nothing is read
	}
	return r.html(text)
}

// spine reads which pages a book has, and what it says of itself.
func (r *reader) spine(z *zip.Reader, opf string) (pages []string, values map[string]string, err error) {
	items, values := map[string]string{}, map[string]string{}
	var text strings.Builder
	var fault error
	found, err := r.walkNamed(z, opf, elements{
		open: func(t xml.StartElement) {
			text.Reset()
			switch t.Name.Local {
			case "item":
				if kind := xmlAttr(t, "media-type"); strings.Contains(kind, "html") && len(items) < maxEntries {
					id, href := xmlAttr(t, "id"), xmlAttr(t, "href")
					if fault = r.Hold(nameMemory + len(id) + len(href) + len(opf)); fault == nil {
						items[id] = path.Join(path.Dir(opf), unescaped(href))
					}
				}
			case "itemref":
				if name := items[xmlAttr(t, "idref")]; name != "" && len(pages) < maxInDocument {
					pages = append(pages, name)
				}
			}
		},
		shut: func(name string) {
			switch name {
			case "title", "creator", "language", "date":
				if values[name] == "" {
					values[name] = clip(clean(text.String()))
				}
			}
			text.Reset()
		},
		text:  func(b []byte) { text.Write(b[:min(len(b), max(0, maxFront-text.Len()))]) },
		fault: &fault,
	})
	if err == nil && !found {
		err = errorf("is a book without its contents")
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
