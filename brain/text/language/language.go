package language

import (
	_ "embed"
	"unicode/utf8"
)

// Group are the languages that share a script and are told apart by their words.
type Group uint8

// The groups.
const (
	Latin Group = iota
	Cyrillic
	groups
)

// codes are the languages of each group, in the order of the columns of its
// table: two-letter codes of ISO 639-1.
var codes = [groups][]string{
	Latin: {
		"en", "de", "fr", "es", "pt", "it", "nl", "sv", "nb", "da", "fi", "hu", "ro", "tr", "pl", "cs", "id", "vi",
		"ca", "sk", "hr", "sl", "et", "lt", "lv", "sq", "eu", "af", "ms",
	},
	Cyrillic: {"ru", "uk", "bg", "sr", "be", "mk"},
}

// rowBits are the sizes of the tables: with 2^13 rows the Latin one weighs 240 KiB.
var rowBits = [groups]uint{Latin: 13, Cyrillic: 11}

// Unit is how much a score grows for one more nat of log-odds.
const Unit = 16

const (
	// maxGroup is the most languages that a group has.
	maxGroup = 29
	// maxRunes bounds what is read of a word; what is longer says nothing more.
	maxRunes = 20
	// longest is the longest run of letters that is a feature.
	longest = 4
)

// Codes gives the languages of a group, in the order of [Scores.Of].
func (g Group) Codes() []string { return codes[g] }

// Rows is the number of rows of the group's table.
func (g Group) Rows() int { return 1 << rowBits[g] }

//go:embed table.bin
var table []byte

// tables are the weights by group: for each row one signed byte per language.
var tables = func() (t [groups][]byte) {
	from := 0
	for g := range groups {
		n := g.Rows() * len(codes[g])
		t[g] = table[from : from+n : from+n]
		from += n
	}
	return t
}()

// Features appends the rows that the table has for a lower-case word: those of its runs of two to four characters, its
// ends marked, and of single letters beyond ASCII. Equal words have equal features on every machine.
func (g Group) Features(dst []uint32, word []byte) []uint32 {
	var letters [maxRunes + 2]uint32
	n := 1
	letters[0] = ' '
	for i := 0; i < len(word) && n <= maxRunes; n++ {
		if c := word[i]; c < utf8.RuneSelf {
			letters[n] = uint32(c)
			i++
			continue
		}
		r, size := utf8.DecodeRune(word[i:])
		letters[n] = uint32(r)
		i += size
	}
	letters[n] = ' '
	n++
	shift := 32 - rowBits[g]
	for from := range n - 1 {
		// Fibonacci hashing (Knuth, TAOCP 3, 6.4) of the run so far.
		h := (letters[from] + 1) * 0x9E3779B1
		if letters[from] >= utf8.RuneSelf {
			dst = append(dst, h>>shift)
		}
		for k := from + 1; k < min(n, from+longest); k++ {
			h = (h>>15 ^ h ^ letters[k]) * 0x9E3779B1
			dst = append(dst, h>>shift)
		}
	}
	return dst
}

// Sums are scores by language, as log-odds in units of 1/Unit nat.
type Sums [maxGroup]int32

// Scores are what the words so far say about the language of a text. The zero value has seen none.
type Scores struct {
	// Words counts the words.
	Words int
	// Of are the scores.
	Of Sums

	rows []uint32
}

// Reset forgets all words.
func (s *Scores) Reset() { s.Words, s.Of = 0, Sums{} }

// Add counts a lower-case word.
func (s *Scores) Add(g Group, word []byte) {
	s.Words++
	width := len(codes[g])
	s.rows = g.Features(s.rows[:0], word)
	t, of := tables[g], s.Of[:width]
	for _, row := range s.rows {
		at := int(row) * width
		weights := t[at : at+width]
		weights = weights[:len(of)]
		for k := range of {
			of[k] += int32(int8(weights[k]))
		}
	}
}

// Join adds what other has seen.
func (s *Scores) Join(other *Scores) {
	s.Words += other.Words
	for k := range s.Of {
		s.Of[k] += other.Of[k]
	}
}
