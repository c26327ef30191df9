package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxRollWords is how many words a name on a roll has, or what somebody is.
	maxRollWords = 4
	// maxItemDigits bounds the number of an item of a list.
	maxItemDigits = 3
)

// OnRoll tells whether a line of a list names somebody by how they are reached, and says nothing more than what they
// are: "* Ilse Brandt @ilse (chair)", "- Bruno Vogt <bruno@example.org>". Such lists say who was there.
func OnRoll(line string) bool {
	item, listed := Item(line)
	if !listed {
		return false
	}
	words := strings.Fields(item)
	at := slices.IndexFunc(words, func(w string) bool {
		before, behind, ok := strings.Cut(w, "@")
		first, _ := utf8.DecodeRuneInString(behind)
		return ok && unicode.IsLetter(first) && !strings.HasSuffix(before, ":")
	})
	if at < 0 || at > maxRollWords || len(words)-at-1 > maxRollWords {
		return false
	}
	if at+1 < len(words) { // what they are stands apart from how they are reached
		mark, _ := utf8.DecodeRuneInString(words[at+1])
		if unicode.IsLetter(mark) && !strings.HasSuffix(words[at], ",") && !strings.HasSuffix(words[at], ":") {
			return false
		}
	}
	for _, w := range words[:at] {
		w = strings.Trim(w, "()[]*_-–,:")
		if r, _ := utf8.DecodeRuneInString(w); w != "" && !unicode.IsUpper(r) {
			return false
		}
	}
	return true
}

// Item is a line without the mark of a list that begins it, and whether there is one.
func Item(line string) (item string, listed bool) {
	line = strings.TrimSpace(line)
	for _, mark := range [...]string{"* ", "- ", "+ ", "• ", "– "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
	if digits == 0 || digits > maxItemDigits {
		return line, false
	}
	for _, mark := range [...]string{". ", ") "} {
		if rest, ok := strings.CutPrefix(line[digits:], mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	return line, false
}
