package undress

import (
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// Filler fills up where a letter is written with fewer bytes than before. Tokenizers drop it.
const Filler = 0

// InPlace is a text as a model reads it: emoji are spaces, since a word that they cling to would be an unknown one;
// full-width letters and those of mathematics are plain ones; and so are Cyrillic and Greek letters that pass for Latin
// ones. It has as many bytes as the text, and each character begins where it did.
func InPlace(s string) string {
	if ascii(s) {
		return s
	}
	w := walk{s: s, emoji: true}
	w.all()
	if len(w.changes) == 0 {
		return s
	}
	out := []byte(s)
	for _, c := range w.changes {
		rest := byte(Filler)
		if c.to == ' ' {
			rest = c.to
		}
		out[c.at] = c.to
		for i := c.at + 1; i < c.at+c.size; i++ {
			out[i] = rest
		}
	}
	return string(out)
}

// EndOf is the end of the character of s that a place in its text in place is in.
func EndOf(s string, at int) int {
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return at
}

// Text is a text as rules read it: without invisible marks, and with plain letters, digits and marks in the place of
// disguised ones. It is shorter than the text as it was written, and knows where each of its characters stood there.
type Text struct {
	Plain   string
	Written string
	turns   []turn // in order
}

// turn is a place in a plain text from which on what was written lies by bytes behind it.
type turn struct{ at, by int }

// Of undresses a text.
func Of(s string) Text {
	if ascii(s) {
		return Text{Plain: s, Written: s}
	}
	w := walk{s: s, marks: true}
	w.all()
	t := Text{Plain: s, Written: s}
	if len(w.changes) == 0 {
		return t
	}
	out, from, by := make([]byte, 0, len(s)), 0, 0
	t.turns = make([]turn, 0, len(w.changes))
	for _, c := range w.changes {
		out = append(out, s[from:c.at]...)
		from = c.at + c.size
		by += c.size
		if c.to != 0 {
			out = append(out, c.to)
			by--
		}
		t.turns = append(t.turns, turn{at: len(out), by: by})
	}
	t.Plain = string(append(out, s[from:]...))
	return t
}

// Disguised tells whether the text was written otherwise than it is read.
func (t *Text) Disguised() bool { return len(t.turns) > 0 }

// Span is where a span of the plain text was written.
func (t *Text) Span(sp text.Span) text.Span {
	if !t.Disguised() {
		return sp
	}
	if sp.Start >= sp.End {
		at := t.start(sp.Start)
		return text.Span{Start: at, End: at}
	}
	last := t.start(sp.End - 1)
	_, size := utf8.DecodeRuneInString(t.Written[last:])
	return text.Span{Start: t.start(sp.Start), End: last + size}
}

// start is where the character of the plain text was written that begins at a place.
func (t *Text) start(at int) int {
	low, high := 0, len(t.turns)
	for low < high {
		if m := (low + high) / 2; t.turns[m].at <= at {
			low = m + 1
		} else {
			high = m
		}
	}
	if low == 0 {
		return at
	}
	return at + t.turns[low-1].by
}

// At is where in the plain text a place of the text as it was written is.
func (t *Text) At(written int) int {
	low, high := 0, len(t.turns)
	for low < high {
		if m := (low + high) / 2; t.turns[m].at+t.turns[m].by <= written {
			low = m + 1
		} else {
			high = m
		}
	}
	at := written
	if low > 0 {
		at -= t.turns[low-1].by
	}
	if low < len(t.turns) { // perhaps within a character, or among invisible marks
		at = min(at, t.turns[low].at)
	}
	return at
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// change is a character that becomes another; 0: none at all.
type change struct {
	at, size int
	to       byte
}

// walk goes through a text and gathers what changes.
type walk struct {
	s       string
	emoji   bool // become spaces
	marks   bool // invisible ones go, and full-width punctuation stays where it is no disguise
	changes []change
	has     scripts
	looked  bool // whether has is known
	before  rune // the last that can be seen, 0 at the beginning
}

func (w *walk) all() {
	for at := 0; at < len(w.s); {
		r, size := utf8.DecodeRuneInString(w.s[at:])
		switch {
		case inWord(r):
			size = w.word(at)
			r, _ = utf8.DecodeLastRuneInString(w.s[:at+size])
		case w.emoji && isEmoji(r):
			w.put(at, size, ' ')
		case w.marks && invisible(r):
			if w.bare(at + size) {
				w.put(at, size, 0)
			}
			at += size
			continue
		default:
			if c, ok := shaped(r); ok && (!w.marks || w.dressed(at+size)) {
				w.put(at, size, c)
			}
		}
		if !invisible(r) {
			w.before = r
		}
		at += size
	}
}

func (w *walk) put(at, size int, to byte) { w.changes = append(w.changes, change{at, size, to}) }

// next is the next character from a place on that can be seen, 0 at the end.
func (w *walk) next(at int) rune {
	for n := 0; at < len(w.s) && n < maxInvisible; n++ {
		r, size := utf8.DecodeRuneInString(w.s[at:])
		if !invisible(r) {
			return r
		}
		at += size
	}
	return 0
}

// maxInvisible is how many marks in a row are looked behind.
const maxInvisible = 16

// bare tells whether invisible marks before a place mean nothing: they do in scripts whose letters they join or part,
// and in pictures that are made of several.
func (w *walk) bare(at int) bool {
	plain := func(r rune) bool {
		_, letter := shaped(r)
		return r < 0x370 || unicode.Is(unicode.Latin, r) || letter || passing[r] != 0 || r >= 0x2000 && r < 0x2070
	}
	return plain(w.before) && plain(w.next(at))
}

// dressed tells whether a full-width mark before a place is one that Latin text would write in ASCII; beside the
// scripts that it is made for it is as it should be.
func (w *walk) dressed(at int) bool {
	wide := func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo)
	}
	before, behind := w.before, w.next(at)
	if wide(before) || wide(behind) {
		return false
	}
	_, letter := shaped(before)
	_, also := shaped(behind)
	return letter || also
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

// word undresses the word that begins at a place, and tells how many bytes it has. A letter that passes for a Latin
// one is one where the word has others that are surely Latin, or the text has and none that surely is of the letter's
// own script.
func (w *walk) word(at int) int {
	var own scripts
	end, plain := at, true
	for end < len(w.s) {
		r, size := utf8.DecodeRuneInString(w.s[end:])
		if !inWord(r) && !unicode.In(r, unicode.Mn, unicode.Cf) {
			break
		}
		plain = plain && r < utf8.RuneSelf
		own.add(r)
		end += size
	}
	if plain {
		return end - at
	}
	for i := at; i < end; {
		r, size := utf8.DecodeRuneInString(w.s[i:])
		if w.marks && invisible(r) {
			if w.bare(i + size) {
				w.put(i, size, 0)
			}
			i += size
			continue
		}
		if c := passing[r]; c != 0 {
			if own.passes(r) || own == (scripts{}) && w.whole().passes(r) {
				w.put(i, size, c)
			}
		} else if c, ok := shaped(r); ok {
			w.put(i, size, c)
		}
		w.before = r
		i += size
	}
	return end - at
}

// whole are the scripts of the text.
func (w *walk) whole() *scripts {
	if !w.looked {
		w.looked = true
		for _, r := range w.s {
			w.has.add(r)
		}
	}
	return &w.has
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// invisible tells whether a character takes no room: soft hyphens, joiners, marks of direction and byte order.
func invisible(r rune) bool { return r >= 0xAD && (unicode.Is(unicode.Cf, r) || r == 0x34F) }
