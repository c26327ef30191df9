package text

import (
	"cmp"
	"strings"
	"unicode"
)

// maxTitle bounds a title made from a text's beginning, in characters.
const maxTitle = 80

// Title is what a text is called: by the title that it was given, or by its beginning, of
// which it takes the first line that holds a letter or a number, at most 80 characters.
func Title(given, content string) string {
	if t := strings.TrimSpace(given); t != "" {
		return t
	}
	first := ""
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(strings.TrimLeft(line, "#*->= \t"))
		if line == "" {
			continue
		}
		if strings.ContainsFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			return shortTitle(line)
		}
		first = cmp.Or(first, line) // a fence, or a smile, which may be all there is
	}
	return shortTitle(first)
}

func shortTitle(line string) string {
	runes := 0
	for i := range line {
		if runes++; runes > maxTitle {
			return strings.TrimSpace(line[:i]) + "…"
		}
	}
	return line
}
