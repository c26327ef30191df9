// Package typo tells which word a misspelled one is meant as.
//
// # Promises
//
//   - Pure functions of the words: no I/O, no clock. Any string is accepted.
//   - What is told is meant: the first letter is right, one letter at most is too much, missing or another, or two are
//     swapped, and no other word of the list is as near. A plural is no misspelling.
//
// # What it hides
//
// How near two words are (Damerau and Levenshtein's distance, up to one).
package typo

// leastLetters a word must have: of shorter ones too many are a letter apart.
const leastLetters = 4

// Words is a list of words in lower case that are looked for.
type Words map[byte][]string

// Of makes a list.
func Of(words ...string) Words {
	m := Words{}
	for _, w := range words {
		if len(w) >= leastLetters {
			m[w[0]] = append(m[w[0]], w)
		}
	}
	return m
}

// Meant is the word of a list that a word, in lower case and not of the list, is meant as.
func (l Words) Meant(word string) (string, bool) {
	if len(word) < leastLetters {
		return "", false
	}
	found := ""
	for _, w := range l[word[0]] {
		if !near(word, w) || word == w+"s" {
			continue
		}
		if found != "" {
			return "", false
		}
		found = w
	}
	return found, found != "" && found != word
}

// near tells whether one change makes a word of another.
func near(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i == len(a) || a[i+1:] == b[i+1:] ||
		i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
