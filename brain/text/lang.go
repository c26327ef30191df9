package text

import "unicode"

// Lang is a language that has a name space of terms of its own.
type Lang uint8

// The languages. Latin script that is recognised as none of them is treated as
// English, Cyrillic as Russian. The numbers are stored inside terms: append,
// never reorder. There is no room for another: a [LangSet] is stored as 32 bits.
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
	Polish
	Czech
	Indonesian
	Vietnamese
	Ukrainian
	Persian
	Urdu
	Greek
	Hebrew
	Hindi
	Bengali
	Thai // this and what follows: function words, and terms that are Neutral
	Korean
	Japanese
	Chinese
	langCount
)

// LangSet is a set of languages.
type LangSet uint32

// AllLangs holds every language.
const AllLangs LangSet = 1<<langCount - 1

// Languages that share a script, and differ in their words.
const (
	latinLangs LangSet = 1<<(Turkish+1) - 1<<English | 1<<Polish | 1<<Czech | 1<<Indonesian | 1<<Vietnamese
	cyrilLangs LangSet = 1<<Russian | 1<<Ukrainian
	arabLangs  LangSet = 1<<Arabic | 1<<Persian | 1<<Urdu
)

// Has tells whether l is in the set.
func (s LangSet) Has(l Lang) bool { return s&(1<<l) != 0 }

// With returns the set with l.
func (s LangSet) With(l Lang) LangSet { return s | 1<<l }

// script groups the characters that are treated alike.
type script uint8

const (
	scriptNone  script = iota // not part of a word
	scriptLatin               // lower-cased, stemmed by language
	scriptCyrl                // lower-cased, stemmed by language
	scriptArab                // stemmed by language
	scriptGreek
	scriptHebrew
	scriptDevanagari
	scriptBengali
	scriptOther   // words between spaces, taken as they stand
	scriptHan     // no spaces: bigrams and single characters
	scriptKana    // no spaces: bigrams
	scriptHangul  // particles cling to words: bigrams and the first syllable
	scriptCluster // Thai, Lao, Khmer, Burmese: bigrams of clusters
	scriptMark    // belongs to the character before
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
	case r >= 0x370 && r <= 0x3FF || r >= 0x1F00 && r <= 0x1FFF:
		if unicode.IsLetter(r) {
			return scriptGreek
		}
	case r >= 0x5D0 && r <= 0x5F2:
		return scriptHebrew
	case r >= 0x904 && r <= 0x97F || r >= 0x980 && r <= 0x9FF:
		if unicode.IsLetter(r) && r < 0x980 {
			return scriptDevanagari
		}
		if unicode.IsLetter(r) {
			return scriptBengali
		}
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
