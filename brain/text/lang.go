package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Lang is a language that has a name space of terms of its own.
type Lang uint8

// The languages that are told apart. Latin script that is recognised as none of
// them is treated as English; Cyrillic as Russian; Arabic script as Arabic; other
// scripts are Neutral. The numbers are stored inside terms: append, never reorder.
const (
	Neutral Lang = iota // numbers, identifiers, scripts that are not stemmed
	English
	German
	French
	Spanish
	Portuguese
	Italian
	Dutch
	Swedish
	Norwegian
	Danish
	Finnish
	Hungarian
	Romanian
	Turkish
	Russian
	Arabic
	// These have function words and no stemmer.
	Polish
	Indonesian
	Vietnamese
	// Not languages, but the name spaces of keys of how names sound: in Latin script, and in others.
	soundLatin
	soundOther
	langCount
)

// LangSet is a set of languages.
type LangSet uint32

// AllLangs holds every language.
const AllLangs LangSet = 1<<langCount - 1

// latinLangs are those that differ in their words, not in their script.
const latinLangs LangSet = 1<<(Turkish+1) - 1<<English | 1<<Polish | 1<<Indonesian | 1<<Vietnamese

// Has tells whether l is in the set.
func (s LangSet) Has(l Lang) bool { return s&(1<<l) != 0 }

// With returns the set with l.
func (s LangSet) With(l Lang) LangSet { return s | 1<<l }

// minLangEvidence is how many function words of its own a question needs where
// another language has as many: one could be a name or a quotation.
const minLangEvidence = 2

// guess counts function words.
type guess struct {
	own     [langCount]int // function words of the language that are none in English
	english [langCount]int // function words of English that are none in the language
}

func (g *guess) add(s LangSet) {
	if s == 0 {
		return
	}
	inEnglish := s.Has(English)
	for l := German; l <= Turkish; l++ {
		switch {
		case s.Has(l) && !inEnglish:
			g.own[l]++
		case inEnglish && !s.Has(l):
			g.english[l]++
		}
	}
}

// LanguageOfQuestion guesses what language a question is asked in. A question is short, so one function word will do
// where no other language has it and none speaks for English: a wrong guess costs a refusal in another language.
// Neutral: its script is none of a known language.
func LanguageOfQuestion(s string) Lang {
	var g guess
	latin, other := 0, map[Lang]int{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		r, _ := utf8.DecodeRuneInString(w)
		switch scriptOf(r) {
		case scriptNone, scriptLatin:
			latin++
			g.add(stopTable[w])
		case scriptCyrl:
			other[Russian]++
		case scriptArab:
			other[Arabic]++
		default:
			other[Neutral] += utf8.RuneCountInString(w) // words that no space parts
		}
	}
	for _, l := range []Lang{Russian, Arabic, Neutral} {
		if other[l] > latin {
			return l
		}
	}
	best, ties := English, 0
	for l := German; l <= Turkish; l++ {
		switch {
		case g.own[l] == 0 || g.own[l] <= 2*g.english[l]:
		case best == English || g.own[l] > g.own[best]:
			best, ties = l, 0
		case g.own[l] == g.own[best]:
			ties++
		}
	}
	if best != English && g.own[best] < minLangEvidence && ties > 0 {
		return English
	}
	return best
}

// script groups the characters that are treated alike.
type script uint8

const (
	scriptNone    script = iota // not part of a word
	scriptLatin                 // lower-cased, stemmed by language
	scriptCyrl                  // lower-cased, stemmed as Russian
	scriptArab                  // stemmed as Arabic
	scriptOther                 // words between spaces, taken as they stand
	scriptHan                   // no spaces: bigrams and single characters
	scriptKana                  // no spaces: bigrams
	scriptHangul                // particles cling to words: bigrams and the first syllable
	scriptCluster               // Thai, Lao, Khmer, Burmese: bigrams of clusters
	scriptMark                  // belongs to the character before
	scriptDigit
)

// spaceless tells that words of the script are cut into bigrams.
func (s script) spaceless() bool { return s >= scriptHan && s <= scriptCluster }

// Spaceless tells the scripts that put no space between words.
func Spaceless(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao,
		unicode.Khmer, unicode.Myanmar)
}

// scriptOf classifies a character outside ASCII. Ranges are tested from the
// frequent to the rare; the tables of package unicode come last.
func scriptOf(r rune) script {
	switch {
	case r >= 0x3041 && r <= 0x30FF:
		if r == 0x30FB || r == 0x30A0 { // middle dot, double hyphen
			return scriptNone
		}
		return scriptKana
	case r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x3134F ||
		r == 0x3005 || r == 0x3007:
		return scriptHan
	case r >= 0xAC00 && r <= 0xD7A3:
		return scriptHangul
	case r == 0xAA || r == 0xBA || r == 0xB5: // ª º µ, which NFKC replaces anyway
		return scriptLatin
	case r < 0xC0:
		return scriptNone
	case r <= 0x24F || r >= 0x1E00 && r <= 0x1EFF:
		if r == 0xD7 || r == 0xF7 {
			return scriptNone
		}
		return scriptLatin
	case unicode.Is(unicode.M, r):
		return scriptMark
	case r >= 0x400 && r <= 0x52F:
		return scriptCyrl
	case r >= 0x600 && r <= 0x6FF || r >= 0x750 && r <= 0x77F:
		if unicode.IsLetter(r) {
			return scriptArab
		}
	case r >= 0xE00 && r <= 0xEFF || r >= 0x1000 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF:
		if unicode.IsLetter(r) {
			return scriptCluster
		}
	}
	switch {
	case unicode.IsDigit(r), unicode.Is(unicode.Nl, r), unicode.Is(unicode.No, r):
		return scriptDigit
	case unicode.IsLetter(r):
		if unicode.Is(unicode.Latin, r) {
			return scriptLatin
		}
		if unicode.Is(unicode.Han, r) {
			return scriptHan
		}
		return scriptOther
	}
	return scriptNone
}
