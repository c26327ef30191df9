package reader

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"orgmem/brain/embed"
	"orgmem/brain/text"
)

// filler fills up where a letter is written with fewer bytes than before. Tokenizers drop it.
const filler = 0

// plain is a text as the model reads it: emoji are spaces, since a word that they cling to would be an unknown one;
// full-width letters and those of mathematics are plain ones; and so are Cyrillic and Greek letters that pass for Latin
// ones. It has as many bytes as the text, and each character begins where it did.
func plain(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return s
	}
	p := plainText{s: s}
	for at := 0; at < len(s); {
		r, size := utf8.DecodeRuneInString(s[at:])
		switch {
		case inWord(r):
			size = p.word(at)
		case isEmoji(r):
			p.put(at, size, ' ')
		default:
			if c, ok := shaped(r); ok {
				p.put(at, size, c)
			}
		}
		at += size
	}
	if p.out == nil {
		return s
	}
	return string(p.out)
}

// plainText is a text that is being made plain.
type plainText struct {
	s      string
	out    []byte // nil: as s
	has    scripts
	looked bool // whether has is known
}

// scripts are those that letters of a word or a text are surely of.
type scripts struct{ latin, cyrillic, greek bool }

func (x *scripts) add(r rune) {
	switch {
	case r < utf8.RuneSelf:
		x.latin = x.latin || unicode.IsLetter(r)
	case passing[r] != 0: // for two
	case unicode.Is(unicode.Latin, r):
		x.latin = true
	case unicode.Is(unicode.Cyrillic, r):
		x.cyrillic = true
	case unicode.Is(unicode.Greek, r):
		x.greek = true
	default:
		_, letter := shaped(r)
		x.latin = x.latin || letter
	}
}

// passes tells whether a letter that may be of two scripts is Latin, by those that are surely of one.
func (x *scripts) passes(r rune) bool {
	return x.latin && !(x.cyrillic && unicode.Is(unicode.Cyrillic, r)) && !(x.greek && unicode.Is(unicode.Greek, r))
}

// put writes a character in the place of one.
func (p *plainText) put(at, size int, c byte) {
	if p.out == nil {
		p.out = []byte(p.s)
	}
	rest := byte(filler)
	if c == ' ' {
		rest = c
	}
	p.out[at] = c
	for i := at + 1; i < at+size; i++ {
		p.out[i] = rest
	}
}

// word makes the word plain that begins at a place, and tells how many bytes it has. A letter that passes for a Latin
// one is one where the word has others that are surely Latin, or the text has and none that surely is of the letter's
// own script.
func (p *plainText) word(at int) int {
	var own scripts
	end, ascii := at, true
	for end < len(p.s) {
		r, size := utf8.DecodeRuneInString(p.s[end:])
		if !inWord(r) && !unicode.In(r, unicode.Mn, unicode.Cf) {
			break
		}
		ascii = ascii && r < utf8.RuneSelf
		own.add(r)
		end += size
	}
	if ascii {
		return end - at
	}
	for i := at; i < end; {
		r, size := utf8.DecodeRuneInString(p.s[i:])
		if c := passing[r]; c != 0 {
			if own.passes(r) || own == (scripts{}) && p.whole().passes(r) {
				p.put(i, size, c)
			}
		} else if c, ok := shaped(r); ok {
			p.put(i, size, c)
		}
		i += size
	}
	return end - at
}

// whole are the scripts of the text.
func (p *plainText) whole() *scripts {
	if !p.looked {
		p.looked = true
		for _, r := range p.s {
			p.has.add(r)
		}
	}
	return &p.has
}

// passing are letters of Cyrillic and Greek that look like Latin ones.
var passing = func() map[rune]byte {
	const pairs = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwАAВBЕEКKМMНHОOРPСCТTУYХXЅSІIЈJ" + // Cyrillic
		"οoΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" // Greek
	all, from := map[rune]byte{}, rune(0)
	for _, r := range pairs {
		if r < utf8.RuneSelf {
			all[from] = byte(r)
		}
		from = r
	}
	return all
}()

// shaped is the letter, digit or mark of which a character is a shape: full-width, or a letter of mathematics.
func shaped(r rune) (byte, bool) {
	switch {
	case r >= '！' && r <= '～':
		return byte(r - '！' + '!'), true
	case r >= 0x1D400 && r <= 0x1D7FF, r >= 0x210A && r <= 0x2134, r >= 0x24B6 && r <= 0x24E9:
		if c := norm.NFKC.String(string(r)); len(c) == 1 {
			return c[0], true
		}
	}
	return 0, false
}

// isEmoji tells whether a character is a picture, or a part of one. The marks of music are none.
func isEmoji(r rune) bool {
	switch {
	case r < 0x20E3:
		return false
	case r == 0x20E3, // the frame of a key
		r >= 0x231A && r <= 0x231B, r >= 0x23E9 && r <= 0x23FA,
		r >= 0x2600 && r <= 0x27BF && !(r >= 0x2669 && r <= 0x266F),
		r >= 0x2B1B && r <= 0x2B1C, r == 0x2B50, r == 0x2B55, r >= 0x1F000 && r <= 0x1FAFF:
		return true
	}
	return false
}

// appendTokenSpans is that of a tower, of a text made plain.
func appendTokenSpans(
	tower *embed.Tower, ids []int32, spans []text.Span, s string, most int,
) ([]int32, []text.Span) {
	first := len(spans)
	ids, spans = tower.AppendTokenSpans(ids, spans, plain(s), most)
	for i := range spans[first:] {
		spans[first+i].End = endOf(s, spans[first+i].End)
	}
	return ids, spans
}

// endOf is the end of the character that a place in its plain text is in.
func endOf(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}
