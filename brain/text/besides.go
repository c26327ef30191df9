package text

import (
	"strings"
	"unicode/utf8"

	"orgmem/brain/text/compound"
)

// compounds are the languages whose words are taken apart.
var compounds = map[Lang]compound.Language{
	German: compound.German, Dutch: compound.Dutch, Swedish: compound.Swedish, Norwegian: compound.Norwegian,
	Danish: compound.Danish, Finnish: compound.Finnish,
}

// hebrewPrefixes cling to a word: in, to, as, from, that. Which of them are the first letter of the word itself only a
// dictionary knows, so a word is found with and without.
const hebrewPrefixes = "בלכמש"

// partsOf gives the parts of a word that are looked for by themselves: those of a compound, and a Hebrew word without what
// clings to it. They are valid until the next call.
func (a *Analyzer) partsOf(l Lang, w []byte) [][]byte {
	if l == Hebrew {
		r, n := utf8.DecodeRune(w)
		if !strings.ContainsRune(hebrewPrefixes, r) || utf8.RuneCount(w[n:]) < 3 {
			return nil
		}
		a.rest[0] = w[n:]
		return a.rest[:]
	}
	if len(w) < compound.MinWord || l == English || l == Neutral {
		return nil
	}
	c, ok := compounds[l]
	if !ok {
		return nil
	}
	return a.splitter.Split(c, w)
}

// besides appends what a query looks for beside a word: the parts of a compound, and the word in the other alphabet.
func (a *Analyzer) besides(out []QueryTerm, t *token, w []byte, langs LangSet) []QueryTerm {
	if len(out) >= maxQueryTerms {
		return out
	}
	l := t.lang
	if t.script == scriptLatin {
		l = a.compounding(l, langs)
	}
	if langs.Has(l) {
		for _, part := range a.partsOf(l, w) {
			out = append(out, QueryTerm{Alts: []Term{a.term(l, part)}, Weight: partWeight, Optional: true})
		}
	}
	var alts []Term
	switch t.script {
	case scriptLatin:
		if langs&cyrilLangs != 0 && t.stops == 0 {
			for _, word := range toCyrillic(string(w)) {
				for l := range langCount {
					if (langs & cyrilLangs).Has(l) {
						alts = appendTerm(alts, a.term(l, []byte(word)))
					}
				}
			}
		}
	case scriptCyrl:
		if langs&latinLangs != 0 && t.stops == 0 {
			for _, word := range toLatin(string(w)) {
				for l := range langCount {
					if (langs & latinLangs).Has(l) {
						alts = appendTerm(alts, a.term(l, []byte(word)))
					}
				}
			}
		}
	default: // its words are spelled in one way
	}
	if len(alts) > 0 {
		out = append(out, QueryTerm{Alts: alts, Weight: otherWeight, Optional: true})
	}
	return out
}

// compounding gives the language by whose rules a word of a query is taken apart: its own, or, where that is English for
// want of anything better, the one of the index that has compounds.
func (a *Analyzer) compounding(own Lang, langs LangSet) Lang {
	if own != English || a.all.Words > shortText {
		return own
	}
	for l := range langCount {
		if _, ok := compounds[l]; ok && langs.Has(l) {
			return l
		}
	}
	return own
}

// umlauts gives a word with a German umlaut written out, or with one that is written out drawn together, which German
// words are anyway; nil if it has none.
func umlauts(w []byte) []byte {
	s := string(w)
	if out := umlautsOut.Replace(s); out != s {
		return []byte(out)
	}
	if len(s) < minUmlauts {
		return nil
	}
	if in := germanUmlauts(s); in != s {
		return []byte(in)
	}
	return nil
}

// minUmlauts is the length from which "ue" may be an umlaut: names such as Mueller and Schroeder, rarely English words.
const minUmlauts = 6

var umlautsOut = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue")
