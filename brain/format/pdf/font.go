package pdf

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf "golang.org/x/text/encoding/unicode"
)

// font says what the bytes of a text mean, and how wide they are.
type font struct {
	wide    bool // its codes are of two bytes
	unicode map[int]string
	simple  [256]string
	widths  map[int]float64 // in thousandths of the size
	missing float64         // of what widths does not hold
	decoder encoding.Encoding
	lost    bool // what its codes mean is unknown
}

const (
	// maxCodes bounds the codes of one font, which has 65,536 at most.
	maxCodes = 1 << 16
	// maxMeaning bounds what one code stands for: a ligature of a few letters.
	maxMeaning = 32
	// maxHeldCodes bounds the codes of the fonts that are held, at codeMemory each: those
	// of four fonts that have all.
	maxHeldCodes = 1 << 18
	codeMemory   = 96
	// fontWork is what a font costs beside its tables, in bytes that are worked
	// through: a font that is written out where it is named is read each time.
	fontWork = 4096
	// codeWork is what a code of a font costs, in its table of widths or of meanings.
	codeWork = 24
)

// fonts are those of a file.
type fonts struct {
	*objects
	known map[int]*font
	codes int // that these hold
}

// of reads a font.
func (f *fonts) of(o object) *font {
	r, is := o.(ref)
	if is {
		if known := f.known[r.number]; known != nil {
			return known
		}
	}
	n := f.read(f.dict(o))
	if is {
		codes := len(n.widths) + len(n.unicode)
		if f.codes+codes > maxHeldCodes {
			clear(f.known)
			f.meter.Release(codeMemory * f.codes)
			f.codes = 0
		}
		if !f.hold(codeMemory * codes) {
			return n
		}
		f.codes += codes
		f.known[r.number] = n
	}
	return n
}

func (f *fonts) read(d dict) *font {
	n := &font{widths: map[int]float64{}, missing: 500}
	if !f.spend(fontWork) {
		return n
	}
	if s, ok := f.object(d["ToUnicode"]).(*stream); ok {
		data, free := f.decode(s)
		n.unicode = f.cmap(data)
		free()
	}
	if f.name(d["Subtype"]) == "Type0" {
		n.wide = true
		f.composite(n, d)
		return n
	}
	first := f.int(d["FirstChar"])
	for i, w := range f.array(d["Widths"]) {
		if i == 256 {
			break
		}
		n.widths[first+i] = f.float(w)
	}
	if m := f.float(f.dict(d["FontDescriptor"])["MissingWidth"]); m > 0 {
		n.missing = m
	}
	if f.name(d["Subtype"]) == "Type3" { // its glyphs have a measure of their own
		scale := 1.0
		if m := f.array(d["FontMatrix"]); len(m) == 6 {
			scale = f.float(m[0]) * 1000
		}
		for c := range n.widths {
			n.widths[c] *= scale
		}
	}
	f.simpleEncoding(n, d)
	return n
}

// simpleEncoding reads what the single bytes of a font mean.
func (f *fonts) simpleEncoding(n *font, d dict) {
	base := f.name(d["Encoding"])
	var differences array
	if e := f.dict(d["Encoding"]); e != nil {
		base, differences = f.name(e["BaseEncoding"]), f.array(e["Differences"])
	}
	for c := range 256 {
		switch {
		case base == "MacRomanEncoding":
			n.simple[c] = string(charmap.Macintosh.DecodeByte(byte(c)))
		case base == "WinAnsiEncoding":
			n.simple[c] = string(charmap.Windows1252.DecodeByte(byte(c)))
		case standard[byte(c)] != "":
			n.simple[c] = standard[byte(c)]
		case c < 0x80:
			n.simple[c] = string(rune(c))
		default: // nothing says what a font of its own has there; this is the likeliest
			n.simple[c] = string(charmap.Windows1252.DecodeByte(byte(c)))
		}
	}
	code := 0
	for _, o := range differences {
		if !f.spend(listWork) {
			return
		}
		switch v := f.object(o).(type) {
		case int:
			code = v
		case name:
			if code >= 0 && code < 256 {
				n.simple[code] = glyph(string(v))
			}
			code++
		}
	}
}

// composite reads the widths of a font of many characters, and what its codes mean
// where no table says so.
func (f *fonts) composite(n *font, d dict) {
	descendants := f.array(d["DescendantFonts"])
	if len(descendants) > 0 {
		child := f.dict(descendants[0])
		n.missing = 1000
		if w, ok := child["DW"]; ok {
			n.missing = f.float(w)
		}
		f.compositeWidths(n, f.array(child["W"]))
	}
	if n.unicode != nil {
		return
	}
	cmap := string(f.name(d["Encoding"]))
	switch {
	case strings.Contains(cmap, "UCS2"), strings.Contains(cmap, "UTF16"):
		n.decoder = utf.UTF16(utf.BigEndian, utf.IgnoreBOM)
	case strings.Contains(cmap, "RKSJ"):
		n.decoder = japanese.ShiftJIS
	case strings.Contains(cmap, "GB"):
		n.decoder = simplifiedchinese.GBK
	case strings.Contains(cmap, "B5"):
		n.decoder = traditionalchinese.Big5
	case strings.Contains(cmap, "KSC"):
		n.decoder = korean.EUCKR
	case strings.HasPrefix(cmap, "EUC-"):
		n.decoder = japanese.EUCJP
	default:
		n.lost = true
	}
}

func (f *fonts) compositeWidths(n *font, w array) {
	for i := 0; i+1 < len(w) && len(n.widths) < maxCodes; {
		first := f.int(w[i])
		if list := f.array(w[i+1]); list != nil {
			for k, width := range list[:min(len(list), maxCodes)] {
				if !f.spend(codeWork) {
					return
				}
				n.widths[first+k] = f.float(width)
			}
			i += 2
			continue
		}
		if i+2 >= len(w) {
			return
		}
		last, width := f.int(w[i+1]), f.float(w[i+2])
		for c := first; c <= last && c-first < maxCodes && f.spend(codeWork); c++ {
			n.widths[c] = width
		}
		i += 3
	}
}

// cmap reads a table of codes and characters (Adobe technical note 5014), as far as
// it is needed: bfchar and bfrange.
func (f *fonts) cmap(data []byte) map[int]string {
	out := map[int]string{}
	l := lexer{data: data}
	var stack []object
	for {
		o, ok := l.next()
		if !ok || !f.spend(codeWork) {
			return out
		}
		op, is := o.(operator)
		if !is {
			if stack = append(stack, o); len(stack) > 4*maxOperands {
				stack = stack[:0]
			}
			continue
		}
		switch op {
		case "endbfchar":
			for i := 0; i+1 < len(stack); i += 2 {
				if to, ok := stack[i+1].(text); ok {
					put(out, code(stack[i]), meaning(to))
				}
			}
		case "endbfrange":
			for i := 0; i+2 < len(stack); i += 3 {
				f.spread(out, code(stack[i]), code(stack[i+1]), stack[i+2])
			}
		}
		stack = stack[:0]
	}
}

func put(m map[int]string, code int, meaning string) {
	if code >= 0 && len(m) < maxCodes {
		m[code] = meaning
	}
}

// spread reads one range of a table.
func (f *fonts) spread(m map[int]string, first, last int, to object) {
	if first < 0 || last < first {
		return
	}
	last = min(last, first+maxCodes)
	switch to := to.(type) {
	case array:
		for i, o := range to {
			if !f.spend(codeWork) {
				return
			}
			if t, ok := o.(text); ok && first+i <= last {
				put(m, first+i, meaning(t))
			}
		}
	case text:
		begin := []rune(meaning(to))
		if len(begin) == 0 {
			return
		}
		for c := first; c <= last && len(m) < maxCodes && f.spend(codeWork); c++ {
			put(m, c, string(begin))
			begin[len(begin)-1]++
		}
	}
}

// code is the number that a text of one or two bytes, or of up to four, is.
func code(o object) int {
	t, ok := o.(text)
	if !ok || t == "" || len(t) > 4 {
		return -1
	}
	return number([]byte(t))
}

// meaning reads UTF-16.
func meaning(t text) string {
	var units []uint16
	for i := 0; i+1 < len(t) && i < maxMeaning; i += 2 {
		units = append(units, uint16(t[i])<<8|uint16(t[i+1]))
	}
	if len(t) == 1 {
		units = append(units, uint16(t[0]))
	}
	return string(utf16.Decode(units))
}

// show reads a text of the font: what it says, how wide it is in thousandths of the
// size, and how many characters and spaces it has, which are spaced further.
func (n *font) show(t text, say func(s string, width float64, space bool)) {
	if n.decoder != nil && n.unicode == nil {
		n.decoded(t, say)
		return
	}
	for i := 0; i < len(t); {
		c := int(t[i])
		i++
		if n.wide {
			if i >= len(t) {
				return
			}
			c = c<<8 | int(t[i])
			i++
		}
		width, ok := n.widths[c]
		if !ok {
			width = n.missing
		}
		s, ok := n.unicode[c]
		if !ok && !n.wide {
			s = n.simple[c&0xff]
		}
		say(s, width, !n.wide && c == ' ')
	}
}

// decoded reads a text in an encoding of East Asia.
func (n *font) decoded(t text, say func(s string, width float64, space bool)) {
	out, err := n.decoder.NewDecoder().String(string(t))
	if err != nil {
		return
	}
	for _, r := range out {
		width := n.missing
		if r < utf8.RuneSelf {
			width /= 2
		}
		say(string(r), width, false)
	}
}
