package quality

import (
	"slices"
	"unicode"

	"orgmem/brain/text"
)

const (
	// shingleRunes is the length of the pieces that texts are compared by: the runes of a short word, in any script.
	shingleRunes = 5
	// nearShare is the share of the pieces that two texts have in common from which on they are near duplicates:
	// of two sentences of twelve words of which one differs it is some .7.
	nearShare = 0.6
)

// Shingles are the pieces of a text, hashed, each once and sorted (Broder 1997), and the numbers that it names.
type Shingles struct {
	pieces  []uint64
	numbers []uint64
}

// ShinglesOf takes a memory apart. Letters are compared without regard to case, and what is neither letter nor digit
// not at all, unless the text has nothing else.
func ShinglesOf(m Memory) Shingles {
	var runes, all []rune
	var s Shingles
	number, digits := uint64(0), false
	end := func() {
		if digits {
			s.numbers = append(s.numbers, number)
		}
		number, digits = 0, false
	}
	for _, r := range m.body() {
		if !unicode.IsSpace(r) {
			all = append(all, r)
		}
		switch {
		case unicode.IsDigit(r):
			number, digits = mix(number, r), true
			runes = append(runes, r)
			continue
		case unicode.IsLetter(r), unicode.IsMark(r):
			runes = append(runes, unicode.ToLower(r))
		}
		end()
	}
	end()
	if len(runes) == 0 { // emoji only
		runes = all
	}
	for i := range max(len(runes)-shingleRunes+1, min(len(runes), 1)) {
		h := uint64(0)
		for _, r := range runes[i:min(i+shingleRunes, len(runes))] {
			h = mix(h, r)
		}
		s.pieces = append(s.pieces, h)
	}
	slices.Sort(s.pieces)
	s.pieces = slices.Compact(s.pieces)
	return s
}

// mix adds a rune to a hash (FNV-1a over runes; nobody gains by a collision).
func mix(h uint64, r rune) uint64 {
	if h == 0 {
		h = fnvOffset
	}
	return (h ^ uint64(r)) * fnvPrime
}

const fnvOffset, fnvPrime = 14695981039346656037, 1099511628211

// Near reports whether two texts are near duplicates: most of their pieces are the same, and all of their numbers. Two
// entries of a log that differ in a number alone say different things.
func (s Shingles) Near(t Shingles) bool {
	if len(s.pieces) == 0 || len(t.pieces) == 0 || !slices.Equal(s.numbers, t.numbers) {
		return false
	}
	both := 0
	for i, j := 0, 0; i < len(s.pieces) && j < len(t.pieces); {
		switch a, b := s.pieces[i], t.pieces[j]; {
		case a == b:
			both++
			i++
			j++
		case a < b:
			i++
		default:
			j++
		}
	}
	return float64(both) >= nearShare*float64(len(s.pieces)+len(t.pieces)-both)
}

// Undetermined is the language of a text without letters, or in a script that is not known (ISO 639-2).
const Undetermined = "und"

// codes are the ISO 639-1 codes of the languages that package text tells apart.
var codes = map[text.Lang]string{
	text.English: "en", text.German: "de", text.French: "fr", text.Spanish: "es", text.Portuguese: "pt",
	text.Italian: "it", text.Dutch: "nl", text.Swedish: "sv", text.Norwegian: "no", text.Danish: "da",
	text.Finnish: "fi", text.Hungarian: "hu", text.Romanian: "ro", text.Turkish: "tr", text.Russian: "ru",
	text.Arabic: "ar",
}

// scripts are the languages that a script tells, the more particular first: Japanese has Chinese characters, too.
var scripts = []struct {
	table *unicode.RangeTable
	code  string
}{
	{unicode.Hiragana, "ja"},
	{unicode.Katakana, "ja"},
	{unicode.Hangul, "ko"},
	{unicode.Han, "zh"},
	{unicode.Thai, "th"},
	{unicode.Devanagari, "hi"},
	{unicode.Bengali, "bn"},
	{unicode.Tamil, "ta"},
	{unicode.Greek, "el"},
	{unicode.Hebrew, "he"},
	{unicode.Georgian, "ka"},
	{unicode.Armenian, "hy"},
}

// Language is the language that most of a memory is in: an ISO 639-1 code, or Undetermined.
func Language(m Memory) string {
	body := m.body()
	letters, found := 0, make([]int, len(scripts))
	for _, r := range body {
		if !unicode.IsLetter(r) {
			continue
		}
		letters++
		if r < 0x370 { // below all of these scripts
			continue
		}
		for i, s := range scripts {
			if unicode.Is(s.table, r) {
				found[i]++
				break
			}
		}
	}
	if letters == 0 {
		return Undetermined
	}
	total, best := 0, 0
	for i, n := range found {
		total += n
		if n > found[best] {
			best = i
		}
	}
	if 2*total > letters {
		if kana := found[0] + found[1]; 10*kana > total { // a tenth of kana makes Chinese characters Japanese
			return "ja"
		}
		return scripts[best].code
	}
	if code, known := codes[text.LanguageOfQuestion(body)]; known {
		return code
	}
	return Undetermined
}
