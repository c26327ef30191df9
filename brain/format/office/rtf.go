package office

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"orgmem/brain/format/reading"
)

// maxRTFDepth bounds the groups that lie in each other.
const maxRTFDepth = 1000

// rtfUnread are the groups that hold no text of the document: also entries of an index
// (xe, tc), shapes for older programs beside those that are read (shprslt), what shapes
// look like (sp), and what stands for tables in tables where a program knows none.
var rtfUnread = []string{
	"fonttbl", "colortbl", "stylesheet", "pict", "object", "header", "footer", "headerl", "headerr", "headerf",
	"footerl", "footerr",
	"footerf", "xmlnstbl", "listtable", "listoverridetable", "themedata", "datastore", "generator", "fldinst", "filetbl",
	"revtbl", "rsidtbl",
	"latentstyles", "pgdsctbl", "colorschememapping", "listtext", "pntext", "info", "xe", "tc", "tcn", "shprslt",
	"sp", "nonesttables",
}

// rtfSigns are the control words that stand for text.
var rtfSigns = map[string]string{
	"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“",
	"rdblquote": "”",
	"emspace":   " ", "enspace": " ", "qmspace": " ",
}

// maxRTFFont is the largest number of a font.
const maxRTFFont = 1<<15 - 1

// rtfGroup is what holds within a group.
type rtfGroup struct {
	unread  bool
	deleted bool
	hidden  bool
	fonts   bool   // it is the table of fonts, or in it
	about   bool   // it is what the document says of itself, or in it
	says    string // it is that value of it
	aside   bool   // it is a note or a box
	font    int    // -1: the document's
	skip    int    // characters that stand for one in Unicode, and are passed over behind it
}

type rtf struct {
	writer
	group   rtfGroup
	outer   []rtfGroup
	page    encoding.Encoding         // of bytes
	pages   map[int]encoding.Encoding // of bytes in a font of its own
	font    int                       // the document's
	listed  int                       // the font that the table of fonts is at
	raw     []byte                    // bytes that are not decoded yet
	high    rune                      // the first half of a character
	passed  int                       // characters still to be passed over
	starred bool                      // what comes is the name of a group that not all programs know
	values  map[string]string         // what the document says of itself
}

// RTF reads Rich Text Format, version 1.9.1.
func RTF(r *reading.Reader, data []byte) (reading.Document, error) {
	t := &rtf{
		writer: writer{Builder: reading.Builder{Reader: r}}, group: rtfGroup{skip: 1, font: -1}, font: -1,
		pages: map[int]encoding.Encoding{}, values: map[string]string{},
	}
	t.page = rtfPage(1252)
	for i := 0; i < len(data) && t.Err == nil; {
		n := i
		switch c := data[i]; c {
		case '{':
			if len(t.outer) == maxRTFDepth {
				return reading.Document{}, reading.Errorf("is RTF with groups nested deeper than %d", maxRTFDepth)
			}
			t.outer = append(t.outer, t.group)
			t.group.aside, t.group.says = false, ""
			t.passed = 0
			i++
		case '}':
			t.shutGroup()
			i++
		case '\\':
			i = t.control(data, i+1)
		case '\r', '\n', 0:
			i++
		default:
			t.char(c)
			i++
		}
		if err := r.Step(reading.MarkupWork * (i - n)); err != nil {
			return reading.Document{}, err
		}
	}
	for len(t.outer) > 0 { // it was cut short
		t.shutGroup()
	}
	t.shutGroup()
	t.endParagraph()
	if t.inCell() {
		t.shutCell()
		t.shutRow()
	}
	content, err := t.DoneVisible("holds no text to read")
	if err != nil {
		return reading.Document{}, err
	}
	return reading.Document{
		Title: reading.ClipTitle(t.values["title"]), Content: content, Noted: true,
		Metadata: reading.Noted("author", t.values["author"]),
	}, nil
}

// openGroup makes the group one aside: a note or a box. It may be one already.
func (t *rtf) openGroup(note bool) bool {
	if t.group.aside {
		return false
	}
	t.decode()
	t.group.aside = true
	t.openAside(note)
	return true
}

// shutGroup ends a group, and what holds within it.
func (t *rtf) shutGroup() {
	t.decode()
	t.passed = 0
	if t.group.says != "" {
		t.values[t.group.says] = reading.Clip(t.take())
	}
	if t.group.aside {
		t.shutAside()
	}
	t.group.says, t.group.aside = "", false
	if k := len(t.outer); k > 0 {
		t.group, t.outer = t.outer[k-1], t.outer[:k-1]
	}
}

// rtfPage is the encoding of a code page; nil: it is not known.
func rtfPage(n int) encoding.Encoding {
	name := "windows-" + strconv.Itoa(n)
	switch n {
	case 437:
		return charmap.CodePage437
	case 850:
		return charmap.CodePage850
	case 852:
		return charmap.CodePage852
	case 866:
		name = "ibm866"
	case 932:
		name = "shift_jis"
	case 936:
		name = "gbk"
	case 949:
		name = "euc-kr"
	case 950:
		name = "big5"
	case 10000:
		name = "macintosh"
	case 65001:
		name = "utf-8"
	}
	e, _ := charset.Lookup(name)
	return e
}

// rtfCharsets are the code pages of the character sets that fonts name. 0 and 1 are
// the document's own.
var rtfCharsets = map[int]int{
	77: 10000, 128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257,
	204: 1251, 222: 874,
	238: 1250, 254: 437, 255: 850,
}

func (t *rtf) codePage(n int) {
	if e := rtfPage(n); e != nil {
		t.decode()
		t.page = e
	}
}

// fontTable reads which code pages fonts have.
func (t *rtf) fontTable(word string, value int) {
	switch word {
	case "f":
		t.listed = min(max(value, 0), maxRTFFont)
	case "fcharset":
		value = rtfCharsets[value]
		fallthrough
	case "cpg":
		if e := rtfPage(value); e != nil {
			t.pages[t.listed] = e
		}
	}
}

// silent reports that what comes is not shown.
func (t *rtf) silent() bool { return t.group.unread || t.group.deleted || t.group.hidden }

// char takes one byte of text.
func (t *rtf) char(c byte) {
	switch {
	case t.passed > 0:
		t.passed--
	case !t.silent():
		if t.raw = append(t.raw, c); len(t.raw) > reading.MaxToken { // no line of text is as long
			t.decode()
		}
	}
}

// decode makes text of the bytes so far.
func (t *rtf) decode() {
	if len(t.raw) == 0 {
		return
	}
	font := t.group.font
	if font < 0 {
		font = t.font
	}
	page := t.pages[font]
	if page == nil {
		page = t.page
	}
	if out, err := page.NewDecoder().Bytes(t.raw); err == nil {
		t.add(bytes.ReplaceAll(out, []byte{0}, nil))
	}
	t.raw = t.raw[:0]
}

// control reads what stands behind a backslash, and returns where it ends.
func (t *rtf) control(data []byte, i int) int {
	if i >= len(data) {
		return i
	}
	c := data[i]
	if c < 'a' || c > 'z' {
		return t.symbol(data, i)
	}
	start := i
	for i < len(data) && i-start < 32 && data[i] >= 'a' && data[i] <= 'z' {
		i++
	}
	word := string(data[start:i])
	number := i
	if i < len(data) && data[i] == '-' {
		i++
	}
	for i < len(data) && i-number < 12 && data[i] >= '0' && data[i] <= '9' {
		i++
	}
	value, err := strconv.Atoi(string(data[number:i]))
	given := err == nil
	if i < len(data) && data[i] == ' ' {
		i++
	}
	if word == "bin" && given && value > 0 {
		return min(i+value, len(data))
	}
	t.word(word, value, given)
	return i
}

// symbol reads a control that is one character.
func (t *rtf) symbol(data []byte, i int) int {
	switch c := data[i]; c {
	case '\\', '{', '}':
		t.char(c)
	case '~':
		t.char(' ')
	case '_':
		t.char('-')
	case '\r', '\n':
		t.word("par", 0, false)
	case '*':
		t.starred = !t.group.unread
		t.group.unread = true
	case '\'':
		if i+2 < len(data) {
			if n, err := strconv.ParseUint(string(data[i+1:i+3]), 16, 8); err == nil {
				t.char(byte(n))
				return i + 3
			}
		}
	}
	return i + 1
}

func (t *rtf) word(word string, value int, given bool) {
	starred := t.starred
	t.starred = false
	switch {
	case t.group.fonts:
		t.fontTable(word, value)
		return
	case t.group.about && (word == "title" || word == "author"):
		if t.openGroup(true) {
			t.group.unread, t.group.says = false, word
		}
		return
	case starred && word == "shpinst": // the text of its box lies in it
		t.group.unread = false
		return
	case slices.Contains(rtfUnread, word):
		t.group.unread, t.group.fonts, t.group.about = true, word == "fonttbl", word == "info"
		return
	case t.group.unread:
		return
	}
	sign := rtfSigns[word]
	if word != "u" && t.passed > 0 {
		if sign != "" { // it is one of the characters that are passed over
			t.passed--
			return
		}
		t.passed = 0
	}
	if sign != "" {
		t.put(sign)
		return
	}
	switch word {
	case "ansicpg":
		t.codePage(value)
	case "mac":
		t.codePage(10000)
	case "pc":
		t.codePage(437)
	case "pca":
		t.codePage(850)
	case "deff":
		t.font = value
	case "f":
		t.decode()
		t.group.font = value
	case "plain":
		t.decode()
		t.group.font, t.group.deleted, t.group.hidden = -1, false, false
	case "deleted":
		t.group.deleted = !given || value != 0
	case "v":
		t.group.hidden = !given || value != 0
	case "footnote":
		t.openGroup(true)
	case "shptxt":
		t.openGroup(false)
	case "uc":
		t.group.skip = min(max(value, 0), 8)
	case "u":
		t.unicode(value)
	case "par", "sect", "page":
		t.decode()
		t.endParagraph()
	case "outlinelevel":
		if given && value >= 0 && value < 9 {
			t.level = value + 1
		}
	case "ls":
		t.item = true
	case "ilvl":
		t.depth = value
	case "trowd":
		if len(t.tables) == 0 {
			t.openTable()
		}
		t.openCell()
	case "pard":
		t.level, t.item, t.depth = 0, false, 0
	case "nestcell": // of a table in a table, which is not kept
		t.decode()
		t.park(&t.cells, t.take())
	case "cell":
		t.decode()
		t.park(&t.cells, t.take())
		t.shutCell()
		t.openCell()
	case "row":
		t.shutRow()
		t.shutTable()
		t.Tail = "table"
	}
}

func (t *rtf) put(s string) {
	t.decode()
	if !t.silent() {
		t.text.WriteString(s)
	}
}

// unicode takes a character, or half of one.
func (t *rtf) unicode(value int) {
	t.decode()
	c := rune(uint16(value))
	switch {
	case t.silent():
	case c >= 0xd800 && c < 0xdc00:
		t.high = c
	case c >= 0xdc00 && c < 0xe000:
		if both := utf16.DecodeRune(t.high, c); both != utf8.RuneError {
			t.text.WriteRune(both)
		}
		t.high = 0
	case c != 0:
		t.text.WriteRune(c)
	}
	t.passed = t.group.skip
}
