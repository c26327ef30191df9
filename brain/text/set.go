package text

import "strings"

// Set is a set of the words of a list, which spaces part.
func Set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
