package text

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// compounds holds, a line for each language, words that many others are made of. TestMakeTables makes it. Those of
// Finnish are finnishNouns.
//
//go:embed compounds.txt
var compounds string

// Bounds of what is taken apart.
const (
	// shortestPart is the shortest word, in letters, that another is made of: shorter ones stand in too many by chance.
	shortestPart = 4
	// shortestFinnish is that in Finnish, of which the words were chosen one by one.
	shortestFinnish = 3
	// mostParts is how many words one is made of at most.
	mostParts = 4
)

// joints are what may stand between the words that one is made of.
var joints = [langCount][]string{
	German: {"", "s", "n", "es", "en", "er", "e"}, Dutch: {"", "s", "en", "e"}, Swedish: {"", "s"},
	Danish: {"", "s", "e"}, Finnish: {""},
}

// lexicon is what words of a language are made of.
type lexicon struct {
	words map[string]string // as they stand at the beginning of others, with their stems
	stems map[string]string // of their forms at the end, with those of the words
}

var lexicons = sync.OnceValue(func() map[Lang]lexicon {
	names := map[string]Lang{"german": German, "dutch": Dutch, "swedish": Swedish, "danish": Danish}
	all := make(map[Lang]lexicon, len(names))
	for line := range strings.Lines(compounds) {
		name, list, _ := strings.Cut(line, ":")
		l, n := names[name], strings.Count(list, " ")
		x := lexicon{words: make(map[string]string, n), stems: make(map[string]string, n)}
		for w := range strings.FieldsSeq(list) {
			if !stopTable[w].Has(l) {
				s := stem(l, w)
				x.words[w], x.stems[s] = s, s
			}
		}
		all[l] = x
	}
	all[Finnish] = finnishLexicon()
	return all
})

func finnishLexicon() lexicon {
	x := lexicon{words: make(map[string]string), stems: make(map[string]string)}
	for w := range strings.FieldsSeq(finnishNouns) {
		s := stem(Finnish, w)
		for i, form := range finnishForms(w) {
			if _, ok := x.words[form]; !ok || i == 0 {
				x.words[form] = s
			}
			if f := stem(Finnish, form); len(f) >= shortestFinnish && (x.stems[f] == "" || i == 0) {
				x.stems[f] = s
			}
		}
	}
	return x
}

// split gives the stems of the words that a lower-case word is made of, nil if it is not known to be made of any. The
// first part is the shortest that leaves a known one: of "Dampfschifffahrt" steam, then what is behind it.
func split(l Lang, w string) []string {
	if joints[l] == nil || len(w) < 2*shortest(l) || len(w) > maxStemBytes || !utf8.ValidString(w) {
		return nil
	}
	known := lexicons()[l]
	if l == Finnish && known.stems[stem(l, w)] != "" {
		return nil // chosen one by one, none of these is a compound
	}
	return splitInto(l, w, known, mostParts)
}

func splitInto(l Lang, w string, known lexicon, most int) []string {
	letters := utf8.RuneCountInString(w)
	least := shortest(l)
	if most < 2 || letters < 2*least {
		return nil
	}
	at := 0
	for n := range letters - least + 1 {
		if n > 0 {
			_, size := utf8.DecodeRuneInString(w[at:])
			at += size
		}
		if n < least {
			continue
		}
		first := partOf(l, w[:at], known)
		if first == "" {
			continue
		}
		if last := known.stems[stem(l, w[at:])]; last != "" {
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
		if !ok || utf8.RuneCountInString(bare) < shortest(l) {
			continue
		}
		if s := known.words[bare]; s != "" {
			return s
		}
	}
	return ""
}

// shortest is the shortest part of a compound.
func shortest(l Lang) int {
	if l == Finnish {
		return shortestFinnish
	}
	return shortestPart
}
