package unigram

import (
	"encoding/binary"
	"sort"
	"unicode/utf8"
)

// Hangul syllables are composed by arithmetic (The Unicode Standard, section 3.12).
const (
	leadFirst, leadLast     = 0x1100, 0x1112
	vowelFirst, vowelLast   = 0x1161, 0x1175
	tailBase, tailLast      = 0x11A7, 0x11C2
	hangulFirst, hangulLast = 0xAC00, 0xD7A3
	vowels, tails           = vowelLast - vowelFirst + 1, tailLast - tailBase + 1
)

// byteClass says what a rule makes of an ASCII character.
type byteClass uint8

const (
	classKeep byteClass = iota
	classSpace
	classDrop
	classOther
)

// rules are the part of a section that normalises text.
type rules struct {
	index, pages, ends, results, pairs []byte

	ascii [utf8.RuneSelf]byteClass
}

// open fills the table of ASCII characters.
func (n *rules) open() {
	for c := range n.ascii {
		switch to, ruled := n.result(n.entry(rune(c))); {
		case !ruled && c == ' ' || string(to) == " ":
			n.ascii[c] = classSpace
		case !ruled:
			n.ascii[c] = classKeep
		case len(to) == 0:
			n.ascii[c] = classDrop
		default:
			n.ascii[c] = classOther
		}
	}
}

// entry returns what the pages hold of a character.
func (n *rules) entry(r rune) uint16 {
	page := int(binary.LittleEndian.Uint16(n.index[r/pageRunes*2:]))
	if at := (page-1)*pageBytes + int(r%pageRunes)*2; page > 0 && at+2 <= len(n.pages) {
		return binary.LittleEndian.Uint16(n.pages[at:])
	}
	return 0
}

// result returns what a rule makes of a character, and whether there is a rule.
func (n *rules) result(entry uint16) ([]byte, bool) {
	rule := int(entry & entryRule)
	if rule == 0 || rule*4 > len(n.ends) {
		return nil, false
	}
	begin, end := 0, int(binary.LittleEndian.Uint32(n.ends[rule*4-4:]))
	if rule > 1 {
		begin = int(binary.LittleEndian.Uint32(n.ends[rule*4-8:]))
	}
	if begin > end || end > len(n.results) {
		return nil, false
	}
	return n.results[begin:end], true
}

// replaced returns the one character that stands for r, or -1 if none or several do.
func (n *rules) replaced(r rune, entry uint16) rune {
	to, ruled := n.result(entry)
	if !ruled {
		return r
	}
	if c, size := utf8.DecodeRune(to); size == len(to) && size > 0 {
		return c
	}
	return -1
}

// compose returns the character that two in a row are one of.
func (n *rules) compose(a, b rune) (rune, bool) {
	switch {
	case a >= leadFirst && a <= leadLast && b >= vowelFirst && b <= vowelLast:
		return hangulFirst + ((a-leadFirst)*vowels+b-vowelFirst)*tails, true
	case a >= hangulFirst && a <= hangulLast && (a-hangulFirst)%tails == 0 && b > tailBase && b <= tailLast:
		return a + b - tailBase, true
	}
	pair := func(i, part int) rune {
		return rune(binary.LittleEndian.Uint32(n.pairs[i*pairBytes+part*4:]))
	}
	count := len(n.pairs) / pairBytes
	i := sort.Search(count, func(i int) bool {
		first := pair(i, 0)
		return first > a || first == a && pair(i, 1) >= b
	})
	if i < count && pair(i, 0) == a && pair(i, 1) == b {
		return pair(i, 2), true
	}
	return 0, false
}

// next normalises what begins at i, which is not empty: a character and the marks that compose with it. It returns the
// end of it and what it became, in room or elsewhere, to be used before the next call. A byte that is not UTF-8 is the
// character U+FFFD.
func (n *rules) next(of string, i int, room []byte) (end int, out []byte) {
	r, size := utf8.DecodeRuneInString(of[i:])
	end = i + size
	entry := n.entry(r)
	whole, composed := n.replaced(r, entry), false
	for whole >= 0 && end < len(of) && of[end] >= utf8.RuneSelf {
		mark, size := utf8.DecodeRuneInString(of[end:])
		e := n.entry(mark)
		if e&entrySecond == 0 {
			break
		}
		c, ok := n.compose(whole, n.replaced(mark, e))
		if !ok {
			break
		}
		whole, composed, end = c, true, end+size
	}
	if composed {
		return end, utf8.AppendRune(room, whole)
	}
	if to, ruled := n.result(entry); ruled {
		return end, to
	}
	return end, utf8.AppendRune(room, r)
}
