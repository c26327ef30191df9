package locale

import (
	"math/bits"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// Languages are those that a text may be in.
type Languages struct {
	mask    uint32 // of places among languages
	eastern bool   // it has Chinese or Japanese characters
}

func (l Languages) has(k int) bool { return l.mask&(1<<k) != 0 }

// None tells whether no language but English comes into question, so that there is nothing to read but what is written
// with a number and the name of a month.
func (l Languages) None() bool { return l.mask == 0 && !l.eastern }

// Only is the one language that comes into question, as its two letters; "": none does, or several.
func (l Languages) Only() string {
	if l.eastern || bits.OnesCount32(l.mask) != 1 {
		return ""
	}
	return languages[bits.TrailingZeros32(l.mask)].code
}

// And are the languages of both.
func (l Languages) And(m Languages) Languages {
	return Languages{l.mask | m.mask, l.eastern || m.eastern}
}

// Of guesses the languages of a text: by its script, and where that is the Latin one by the words that English does not
// have, those of dates among them. Several where they have as many.
func Of(s string) Languages { return guess(s, 1) }

// Surely is Of where more than one word says so.
func Surely(s string) Languages { return guess(s, 2) }

// guess gives the languages of a text that at least so many words speak for.
func guess(s string, best int) (l Languages) {
	latin, arabic, devanagari := 0, 0, 0
	for _, r := range s {
		switch {
		case r < 'A':
		case r < 0x250:
			latin++
		case r >= 0x600 && r <= 0x6FF:
			arabic++
		case r >= 0x900 && r <= 0x97F:
			devanagari++
		case r >= 0x3040 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			l.eastern = true
		}
	}
	var scores [maxLanguages]int
	if latin > 0 {
		scores = evidence(withoutAddresses(s))
	}
	for _, n := range scores {
		best = max(best, n)
	}
	for k, w := range languages {
		if scores[k] == best || w.code == "hi" && devanagari > latin || w.code == "ar" && arabic > latin {
			l.mask |= 1 << k
		}
	}
	if latin > 0 && bits.OnesCount32(l.mask) > 1 {
		l.mask = spelled(s, l.mask)
	}
	return l
}

// alphabets are the letters beside a to z with which languages are spelled.
var alphabets = map[string]string{
	"de": "äöüß", "fr": "àâçéèêëîïôùûüœ", "es": "áéíóúñü¿¡", "it": "àèéìòù", "pt": "ãáâàçéêíóôõú", "nl": "éëïèöü",
	"pl": "ąćęłńóśźż",
}

// spelled leaves of languages that have as many words of a text those that have all its letters, if there are any.
func spelled(s string, mask uint32) uint32 {
	left := mask
	for _, r := range strings.ToLower(s) {
		if r < 'À' && r != '¿' && r != '¡' || r >= 0x250 || !unicode.IsLetter(r) && r != '¿' && r != '¡' {
			continue
		}
		for k, w := range languages {
			if alphabet := alphabets[w.code]; alphabet != "" && !strings.ContainsRune(alphabet, r) {
				left &^= 1 << k
			}
		}
	}
	if left == 0 {
		return mask
	}
	return left
}

// withoutAddresses leaves out what spells no words.
func withoutAddresses(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	var words []string
	for f := range strings.FieldsSeq(s) {
		if !strings.Contains(f, "://") {
			words = append(words, f)
		}
	}
	return strings.Join(words, " ")
}

// maxLanguages is as many languages as there may be tables.
const maxLanguages = 16

// evidence counts by language the words of a text that English does not have: function words and those of the tables.
// What has as many that only English has is English.
func evidence(s string) (scores [maxLanguages]int) {
	var against [maxLanguages]int
	for f := range strings.FieldsFuncSeq(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(f) == 1 && strings.Contains("bcfghjknpqrstvwxz", f) {
			continue // the t of isn't, an initial, the letter of an item
		}
		in := text.FunctionWord(f)
		for k, w := range languages {
			if in.Has(text.English) {
				if !w.own[f] && !in.Has(w.lang) {
					against[k]++
				}
				continue
			}
			if w.lang != text.Neutral && in.Has(w.lang) || w.own[f] || !inEnglish[f] && (w.month[f] > 0 || w.day[f] > 0 ||
				w.shift[f] > 0 || w.unit[f] > 0 || w.before[f] > 0 || w.behind[f] > 0 || w.number[f] > 0) {
				scores[k]++
			}
		}
	}
	for k := range scores {
		if scores[k] <= against[k] {
			scores[k] = 0
		}
	}
	return scores
}

// TimeWord tells whether a word, in lower case, is one of dates in another language than English: the name of a month
// or day, a word such as yesterday, a unit of time, or what stands before one.
func TimeWord(word string) bool { return timeWords()[word] }

var timeWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range languages {
		for _, set := range []map[string]int{w.month, w.day, w.shift, w.unit, w.before, w.behind, w.number} {
			for p := range set {
				m[p] = true
			}
		}
	}
	return m
})

// NamesTime tells whether a word is the name of a month or a day in the one language that a text is in, and nobody's.
func (l Languages) NamesTime(word string) bool {
	if l.Only() == "" {
		return false
	}
	w := languages[bits.TrailingZeros32(l.mask)]
	word = strings.ToLower(word)
	return w.month[word] > 0 || w.day[word] > 0
}

// triggers are the words that a date has at least one of; true for the months that English does not have.
var triggers = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for _, w := range languages {
		for _, set := range []map[string]int{w.short, w.day, w.shift, w.unit, w.month} {
			for p := range set {
				first, _, _ := strings.Cut(p, " ")
				m[first] = m[first] || w.month[p] > 0 && !inEnglish[p]
			}
		}
	}
	return m
})

// inEnglish are names of months that English has, too, or that mean something else in it.
var inEnglish = text.Set("april august september november december mars")

// mayDate tells whether a sentence may have a date at all: where its language is known a figure or one of the words of
// dates, else the name of a month.
func (l Languages) mayDate(s string) bool {
	if l.mask != 0 && strings.IndexFunc(s, unicode.IsDigit) >= 0 {
		return true
	}
	t := triggers()
	for f := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }) {
		month, ok := t[f]
		if !ok {
			month, ok = t[strings.ToLower(f)]
		}
		if month || ok && l.mask != 0 {
			return true
		}
	}
	return false
}

// Sure is the one language other than English that a text is in, as its two letters, where more than one word says so;
// "": it is in English, or it is not sure.
func Sure(s string) string {
	if han, kana, letters := eastern(s); 2*(han+kana) > letters {
		if kana > 0 {
			return "ja"
		}
		return "zh"
	}
	if code := Surely(s).latin(); code != "" {
		return code
	}
	if polish(s) {
		return "pl"
	}
	return ""
}

// Guess is Sure where one word may be enough.
func Guess(s string) string {
	if code := Sure(s); code != "" {
		return code
	}
	return Of(s).latin()
}

// polish tells whether a word in small letters has a letter that only Polish has.
func polish(s string) bool {
	small := false
	for i, r := range s {
		if before, _ := utf8.DecodeLastRuneInString(s[:i]); !unicode.IsLetter(before) {
			small = unicode.IsLower(r) || i == 0
		}
		if small && strings.ContainsRune("ąęłśźż", r) {
			return true
		}
	}
	return false
}

// latin is Only where no Chinese or Japanese is quoted.
func (l Languages) latin() string { return Languages{mask: l.mask}.Only() }

// eastern counts the letters of Chinese and Japanese, and all.
func eastern(s string) (han, kana, letters int) {
	for _, r := range s {
		switch {
		case r < 'A' || !unicode.IsLetter(r):
			continue
		case r >= 0x3040 && unicode.Is(unicode.Han, r):
			han++
		case r >= 0x3040 && unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		}
		letters++
	}
	return han, kana, letters
}

// Codes are the languages that come into question.
func (l Languages) Codes() (codes []string) {
	for k, w := range languages {
		if l.has(k) {
			codes = append(codes, w.code)
		}
	}
	return codes
}
