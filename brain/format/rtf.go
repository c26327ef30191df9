package format

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// maxRTFDepth bounds the groups that lie in each other.
const maxRTFDepth = 1000

// rtfUnread are the groups that hold no text of the document.
var rtfUnread = []string{
	"fonttbl", "colortbl", "stylesheet", "pict", "object", "header", "footer", "headerl", "headerr", "headerf", "footerl", "footerr",
	"footerf", "xmlnstbl", "listtable", "listoverridetable", "themedata", "datastore", "generator", "fldinst", "filetbl", "revtbl", "rsidtbl",
	"latentstyles", "pgdsctbl", "colorschememapping", "listtext", "pntext", "info",
}

// rtfGroup is what holds within a group.
type rtfGroup struct {
	unread bool
	skip   int // characters that stand for one in Unicode, and are passed over behind it
}

type rtf struct {
	writer
	group  rtfGroup
	outer  []rtfGroup
	page   encoding.Encoding // of bytes
	raw    []byte            // bytes that are not decoded yet
	high   rune              // the first half of a character
	passed int               // characters still to be passed over
}

// rtf reads Rich Text Format, version 1.9.1.
func (r *reader) rtf(data []byte) (Document, error) {
	t := &rtf{writer: writer{markup: markup{reader: r}}, group: rtfGroup{skip: 1}}
	t.codePage(1252)
	for i := 0; i < len(data) && t.err == nil; {
		n := i
		switch c := data[i]; c {
		case '{':
			if len(t.outer) == maxRTFDepth {
				return Document{}, errorf("is RTF with groups nested deeper than %d", maxRTFDepth)
			}
			t.outer = append(t.outer, t.group)
			i++
		case '}':
			t.decode()
			if k := len(t.outer); k > 0 {
				t.group, t.outer = t.outer[k-1], t.outer[:k-1]
			}
			i++
		case '\\':
			i = t.control(data, i+1)
		case '\r', '\n', 0:
			i++
		default:
			t.char(c)
			i++
		}
		if err := r.step(i - n); err != nil {
			return Document{}, err
		}
	}
	t.decode()
	t.endParagraph()
	content, err := t.said("holds no text to read")
	if err != nil {
		return Document{}, err
	}
	return Document{Content: content}, nil
}

func (t *rtf) codePage(n int) {
	name := "windows-" + strconv.Itoa(n)
	switch n {
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
	}
	if e, _ := charset.Lookup(name); e != nil {
		t.decode()
		t.page = e
	}
}

// char takes one byte of text.
func (t *rtf) char(c byte) {
	switch {
	case t.passed > 0:
		t.passed--
	case !t.group.unread:
		t.raw = append(t.raw, c)
	}
}

// decode makes text of the bytes so far.
func (t *rtf) decode() {
	if len(t.raw) == 0 {
		return
	}
	if out, err := t.page.NewDecoder().Bytes(t.raw); err == nil {
		t.text.Write(bytes.ReplaceAll(out, []byte{0}, nil))
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
	if slices.Contains(rtfUnread, word) {
		t.group.unread = true
		return
	}
	if t.group.unread {
		return
	}
	if word != "u" && t.passed > 0 {
		t.passed = 0
	}
	switch word {
	case "ansicpg":
		t.codePage(value)
	case "mac":
		t.codePage(10000)
	case "uc":
		t.group.skip = min(max(value, 0), 8)
	case "u":
		t.unicode(value)
	case "par", "sect", "page":
		t.decode()
		t.endParagraph()
	case "line":
		t.put("\n")
	case "tab":
		t.put("\t")
	case "emdash":
		t.put("—")
	case "endash":
		t.put("–")
	case "bullet":
		t.put("•")
	case "lquote":
		t.put("‘")
	case "rquote":
		t.put("’")
	case "ldblquote":
		t.put("“")
	case "rdblquote":
		t.put("”")
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
	case "cell":
		t.decode()
		t.cells = append(t.cells, t.text.String())
		t.text.Reset()
		t.shutCell()
		t.openCell()
	case "row":
		t.shutRow()
		t.shutTable()
		t.tail = "table"
	}
}

func (t *rtf) put(s string) {
	t.decode()
	t.text.WriteString(strings.ToValidUTF8(s, ""))
}

// unicode takes a character, or half of one.
func (t *rtf) unicode(value int) {
	t.decode()
	c := rune(uint16(value))
	switch {
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
