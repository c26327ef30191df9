package text

import (
	_ "embed"
	"unicode/utf8"
)

// variants holds pairs of Chinese characters: one that is written in Taiwan, in Hong Kong or in Japan, and the
// simplified one. Words are indexed by the second, so that either spelling finds the other.
//
//go:embed variants.txt
var variants string

// firstHan and lastHan bound the block that nearly all Han characters of texts are in.
const firstHan, lastHan = 0x4E00, 0x9FFF

// simplified gives, for each Han character, its simplified form, 0 if it has no other.
var simplified = func() (t [lastHan - firstHan + 1]uint16) {
	for s := variants; s != ""; {
		from, n := utf8.DecodeRuneInString(s)
		to, m := utf8.DecodeRuneInString(s[n:])
		t[from-firstHan] = uint16(to)
		s = s[n+m:]
	}
	return t
}()

// Katakana that have hiragana of the same sound, and how far apart the two are.
const (
	firstKatakana, lastKatakana = 0x30A1, 0x30F6
	toHiragana                  = 0x60
)

// eastern gives the form of a Han character or a kana under which it is indexed.
func eastern(r rune) rune {
	switch {
	case r >= firstHan && r <= lastHan:
		if s := simplified[r-firstHan]; s != 0 {
			return rune(s)
		}
	case r >= firstKatakana && r <= lastKatakana:
		return r - toHiragana
	}
	return r
}
