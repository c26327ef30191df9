package text

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// maxGrapheme bounds how far a border between graphemes is looked for. The
// longest in use (a family emoji with skin tones) has 35 bytes; a letter under a
// thousand accents is cut between two of them.
const maxGrapheme = 256

// Truncate returns the longest prefix of s of at most maxBytes bytes that ends
// between two graphemes (what a reader sees as one character).
func Truncate(s string, maxBytes int) string {
	if maxBytes <= 0 {
		return ""
	}
	if len(s) <= maxBytes {
		return s
	}
	cut := runeStart(s, maxBytes)
	if cut == 0 {
		return ""
	}
	if s[cut] == '\n' && s[cut-1] == '\r' {
		return s[:cut-1]
	}
	// Graphemes are found by going forward, so begin at a place that is surely
	// a border: after an ASCII character that is followed by another one.
	from := cut
	for from > 0 && cut-from < maxGrapheme && (s[from] >= utf8.RuneSelf || s[from-1] >= utf8.RuneSelf) {
		from--
	}
	if from == cut {
		return s[:cut]
	}
	from = runeStart(s, from)
	border := from
	for g := graphemes.FromString(s[from:min(len(s), cut+maxGrapheme)]); g.Next(); {
		end := from + g.End()
		if end > cut {
			break
		}
		border = end
	}
	if border == from && from > 0 && cut-from >= maxGrapheme {
		return s[:cut]
	}
	return s[:border]
}

// runeStart moves i back to the start of a rune, 0 ≤ i < len(s).
func runeStart(s string, i int) int {
	for k := 0; k < utf8.UTFMax-1 && i > 0 && !utf8.RuneStart(s[i]); k++ {
		i--
	}
	return i
}

// TruncateRunes returns the first maxRunes characters of s.
func TruncateRunes(s string, maxRunes int) string {
	if maxRunes <= 0 {
		return ""
	}
	if len(s) <= maxRunes {
		return s
	}
	for i := range s {
		if maxRunes == 0 {
			return s[:i]
		}
		maxRunes--
	}
	return s
}

// maxLine bounds what OneLine gives, in characters.
const maxLine = 120

// OneLine makes a title, or a sentence, fit to stand in a list: one line, with single
// spaces, of at most 120 characters.
func OneLine(s string) string {
	return TruncateRunes(strings.Join(strings.Fields(s), " "), maxLine)
}
