package canon

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Seen is what a person sees of a text. It leaves out controls, format characters, characters
// of private use and all others that show nothing, in which a text can hide what only a
// program reads. Line ends and tabs stay, and invalid UTF-8 becomes U+FFFD.
func Seen(s string) string {
	if !strings.ContainsFunc(s, doubtful) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	var out strings.Builder
	last, varied := rune(-1), false // what was kept last, selectors aside, and whether one followed it
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch {
		case unicode.Is(unicode.Variation_Selector, r):
			if varied || !varies(last, r, next) {
				continue
			}
			varied = true
		case r == zwnj || r == zwj:
			if !joins(last) || !joins(next) {
				continue
			}
			last, varied = r, false
		case unseen(r):
			continue
		default:
			last, varied = r, false
		}
		out.WriteRune(r)
	}
	return out.String()
}

// doubtful characters are those that Seen looks at: not what most texts are made of.
func doubtful(r rune) bool { return r < ' ' || r > '~' && !unicode.IsLetter(r) || unseen(r) }

// Joiners, of no width: what stands on their sides is written as one, or just not.
const zwnj, zwj = '\u200C', '\u200D'

// unseen characters leave no trace where a text is shown. The signs of Arabic and Syriac
// that enclose the number behind them are format characters, too, and are seen.
func unseen(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case r >= 0xE0000 && r <= 0xE0FFF: // tags, and selectors that carry bytes
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point)
}

// plainScripts are those in which a joiner changes nothing that is seen.
var plainScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Armenian, unicode.Georgian, unicode.Hebrew, unicode.Han,
	unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Inherited,
}

// joins reports whether a joiner has a meaning beside a character: a letter of a script that
// joins its letters, or an emoji.
func joins(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M) && !unicode.In(r, plainScripts...) || emoji(r)
}

// emoji are among the symbols beyond the letters of Europe.
func emoji(r rune) bool {
	return r >= 0x2000 && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sk, unicode.Sm)
}

// varies reports whether a selector has a meaning behind a character: it chooses between a
// symbol's shapes as text and as emoji, or the shape of a Mongolian letter.
func varies(base, selector, next rune) bool {
	const asText, asEmoji, keycap = '\uFE0E', '\uFE0F', '\u20E3'
	if selector != asText && selector != asEmoji {
		return selector < 0x2000 && unicode.IsLetter(base) && unicode.Is(unicode.Mongolian, base)
	}
	switch base {
	case '\u00A9', '\u00AE', '\u203C', '\u2049', '\u3030': // ©, ®, and three that are punctuation
		return true
	}
	return emoji(base) || next == keycap && strings.ContainsRune("0123456789#*", base)
}

// Prefix is the longest beginning of a text that has at most so many bytes and ends between two characters.
func Prefix(s string, maxBytes int) string {
	if len(s) <= maxBytes {
		return s
	}
	for maxBytes > 0 && !utf8.RuneStart(s[maxBytes]) {
		maxBytes--
	}
	return s[:maxBytes]
}
