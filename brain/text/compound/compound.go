// Package compound takes the compounds of German, Dutch, Swedish, Norwegian, Danish and Finnish apart.
//
// A word is cut where what stands before and after speaks for it: at each place the weights of the runs of letters that
// end there, and of those that begin there, are added up. It is logistic regression on hashed features; a table of 32 KiB
// for each language, made by cmd/compoundtable from word lists (NOTICE), stands for a lexicon of megabytes and knows parts
// that are in no list. Sums are of whole numbers: every machine cuts alike.
package compound

import (
	_ "embed"
	"unicode/utf8"
)

// Language is one of those that write compounds as one word.
type Language uint8

// The languages, in the order of their tables.
const (
	German Language = iota
	Dutch
	Swedish
	Norwegian
	Danish
	Finnish
	Languages
)

const (
	// Rows is the size of a language's table.
	Rows = 1 << 15
	// Unit is how much a score grows for one more nat of log-odds.
	Unit = 12
	// Bias is what is against a border, whatever stands around it.
	Bias = 3 * Unit
	// MinWord is the least length of words that are looked at, in characters: hardly a compound is shorter.
	MinWord = 7
	// MaxWord is the largest.
	MaxWord = 40
	// MinPart is the least length of a part.
	MinPart = 3
	// sure is the score from which a word is cut: in German 92 of 100 such cuts are right, and 89 of 100 borders are found.
	sure = 0
	// reach is the longest run of letters that is a feature.
	reach = 7
)

//go:embed table.bin
var table []byte

// Features appends the rows for a border before letter at: the runs that end before it, those that begin there, and what
// there is on either side up to the border before and the end of the word.
func Features(dst []uint32, letters []rune, from, at int) []uint32 {
	const shift = 32 - 15
	h := uint32(1)
	for k := 1; k <= reach && at-k >= from; k++ {
		h = (h>>15 ^ h ^ uint32(letters[at-k])) * 0x9E3779B1
		if k > 1 {
			dst = append(dst, h>>shift)
		}
		if at-k == from {
			dst = append(dst, (h^3)*0x85EBCA6B>>shift)
		}
	}
	h = 2
	for k := 0; k < reach && at+k < len(letters); k++ {
		h = (h>>15 ^ h ^ uint32(letters[at+k])) * 0x9E3779B1
		if k > 0 {
			dst = append(dst, h>>shift)
		}
		if at+k == len(letters)-1 {
			dst = append(dst, (h^5)*0x85EBCA6B>>shift)
		}
	}
	return dst
}

// Splitter cuts words. The zero value is ready to use, by one goroutine at a time.
type Splitter struct {
	letters []rune
	rows    []uint32
	parts   [][]byte
}

// Split gives the parts of a lower-case word, or none if it is no compound. They share the word's memory and are valid
// until the next call; what joins two parts ("s", "en") is at the end of the first.
func (s *Splitter) Split(l Language, word []byte) [][]byte {
	s.parts, s.letters = s.parts[:0], s.letters[:0]
	if len(word) < MinWord || len(word) > MaxWord*2 {
		return nil
	}
	for i := 0; i < len(word); {
		r, n := utf8.DecodeRune(word[i:])
		s.letters = append(s.letters, r)
		i += n
	}
	if len(s.letters) < MinWord || len(s.letters) > MaxWord {
		return nil
	}
	from, begin := 0, 0
	for {
		at := s.border(l, from)
		if at == 0 {
			break
		}
		end := begin
		for _, r := range s.letters[from:at] {
			end += utf8.RuneLen(r)
		}
		if end > len(word) { // invalid UTF-8 has been read as longer characters
			return nil
		}
		s.parts = append(s.parts, word[begin:end])
		from, begin = at, end
	}
	if len(s.parts) == 0 {
		return nil
	}
	return append(s.parts, word[begin:])
}

// border gives the first border after from that is sure and not outdone by one nearby, 0 for none.
func (s *Splitter) border(l Language, from int) int {
	best, at := int32(sure), 0
	for k := from + MinPart; k+MinPart <= len(s.letters); k++ {
		if at > 0 && k-at >= MinPart {
			break
		}
		if score := s.score(l, from, k); score > best {
			best, at = score, k
		}
	}
	return at
}

func (s *Splitter) score(l Language, from, at int) int32 {
	s.rows = Features(s.rows[:0], s.letters, from, at)
	sum := int32(-Bias)
	t := table[int(l)*Rows : int(l+1)*Rows]
	for _, row := range s.rows {
		sum += int32(int8(t[row]))
	}
	return sum
}
