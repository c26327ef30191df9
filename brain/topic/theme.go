package topic

import (
	"slices"
	"strings"
)

// OneTheme says of each label which is the first that names the same theme: a reader would not know which of the two to
// look into. The one says all that the other does, both begin with what the other says, too, and a word is the same in
// both: "Tournament, game" and "Tournament, video game", but not "Board game" and "Video game".
func OneTheme(labels []Label) []int {
	first := make([]int, len(labels))
	said := make([][]string, len(labels))
	saying := map[string][]int{} // a word: the labels that say it, and the same as none before them
	for i, l := range labels {
		first[i] = i
		said[i] = keysOf(l.Text)
		for _, w := range said[i] {
			for _, k := range saying[w] {
				if first[i] == i && alike(said[i], said[k]) {
					first[i] = k
				}
			}
		}
		if first[i] != i {
			continue
		}
		for _, w := range said[i] {
			saying[w] = append(saying[w], i)
		}
	}
	return first
}

// alike tells whether two labels name the same.
func alike(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, w := range a {
		if !slices.ContainsFunc(b, func(other string) bool { return sameThing(w, other) }) {
			return false
		}
	}
	return slices.ContainsFunc(a, func(w string) bool { return sameThing(w, b[0]) })
}

// sameThing tells whether two phrases are the same, or the one is what the other is a kind of.
func sameThing(a, b string) bool {
	return a == b || strings.HasSuffix(a, " "+b) || strings.HasSuffix(b, " "+a)
}

// keysOf are the words and phrases of a label.
func keysOf(label string) (keys []string) {
	if label == "" {
		return nil
	}
	for _, phrase := range WordsOf(unnumbered(label)) {
		words := strings.Fields(phrase)
		for i, w := range words {
			words[i] = keyOf(w)
		}
		keys = append(keys, strings.Join(words, " "))
	}
	return keys
}

// unnumbered is a label without the number that tells it from one that is alike.
func unnumbered(label string) string {
	if bare, number, ok := strings.Cut(label, " ("); ok && strings.Trim(number, "0123456789)") == "" {
		return bare
	}
	return label
}
