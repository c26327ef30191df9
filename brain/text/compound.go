package text

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// compounds holds, a line for each language, words that many others are made of. TestMakeTables makes it.
//
//go:embed compounds.txt
var compounds string

// Bounds of what is taken apart.
const (
	// shortestPart is the shortest word, in letters, that another is made of: shorter ones stand in too many by chance.
	shortestPart = 4
	// mostParts is how many words one is made of at most.
	mostParts = 4
)

// joints are what may stand between the words that one is made of.
var joints = [langCount][]string{
	German: {"", "s", "n", "es", "en", "er", "e"}, Dutch: {"", "s", "en", "e"}, Swedish: {"", "s"},
	Danish: {"", "s", "e"},
}

// lexicon is what words of a language are made of.
type lexicon struct {
	words map[string]bool // as they stand at the beginning of others
	stems map[string]bool // of their forms at the end
}

var lexicons = sync.OnceValue(func() map[Lang]lexicon {
	names := map[string]Lang{"german": German, "dutch": Dutch, "swedish": Swedish, "danish": Danish}
	all := make(map[Lang]lexicon, len(names))
	for line := range strings.Lines(compounds) {
		name, list, _ := strings.Cut(line, ":")
		l, n := names[name], strings.Count(list, " ")
		x := lexicon{words: make(map[string]bool, n), stems: make(map[string]bool, n)}
		for w := range strings.FieldsSeq(list) {
			if !stopTable[w].Has(l) {
				x.words[w], x.stems[stem(l, w)] = true, true
			}
		}
		all[l] = x
	}
	return all
})

// split gives the stems of the words that a lower-case word is made of, nil if it is not known to be made of any. The
// first part is the shortest that leaves a known one: of "Dampfschifffahrt" steam, then what is behind it.
func split(l Lang, w string) []string {
	if joints[l] == nil || len(w) < 2*shortestPart || len(w) > maxStemBytes || !utf8.ValidString(w) {
		return nil
	}
	return splitInto(l, w, lexicons()[l], mostParts)
}

func splitInto(l Lang, w string, known lexicon, most int) []string {
	letters := utf8.RuneCountInString(w)
	if most < 2 || letters < 2*shortestPart {
		return nil
	}
	at := 0
	for n := range letters - shortestPart + 1 {
		if n > 0 {
			_, size := utf8.DecodeRuneInString(w[at:])
			at += size
		}
		if n < shortestPart {
			continue
		}
		first := partOf(l, w[:at], known)
		if first == "" {
			continue
		}
		if last := stem(l, w[at:]); known.stems[last] {
			return []string{first, last}
		}
		if rest := splitInto(l, w[at:], known, most-1); rest != nil {
			return slices.Insert(rest, 0, first)
		}
	}
	return nil
}

// partOf gives the stem of a known word with what may join it to the next, "" if it is none.
func partOf(l Lang, w string, known lexicon) string {
	for _, joint := range joints[l] {
		bare, ok := strings.CutSuffix(w, joint)
		if !ok || utf8.RuneCountInString(bare) < shortestPart {
			continue
		}
		if known.words[bare] {
			return stem(l, bare)
		}
	}
	return ""
}
