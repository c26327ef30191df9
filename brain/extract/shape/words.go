package shape

import (
	"strings"

	"orgmem/brain/text"
)

// Words are the words of a stretch of text, in small letters.
func Words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(c rune) bool { return c == ' ' || c == '`' || c == '\n' })
}

// UntilMark are words up to the first mark of their sentence.
func UntilMark(words []string) []string {
	for i, w := range words {
		if bare := strings.TrimRight(w, ".,;:!?)"); bare != w {
			if words[i] = bare; bare == "" {
				return words[:i]
			}
			return words[:i+1]
		}
	}
	return words
}

// Described is how much of a name's last word is the name: "V8-generated" and "Kestrel-based" are described by it.
func Described(w string) int {
	name, made, ok := strings.Cut(w, "-")
	if ok && len(name) > 1 && madeBy[made] {
		return len(name)
	}
	return len(w)
}

var madeBy = text.Set(`generated based using like only related specific driven style aware compatible powered
	backed hosted built owned led free ready wide approved sponsored`)
