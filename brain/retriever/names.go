package retriever

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"orgmem/brain/text"
)

// Salt keys every hash that an artifact holds: without the organization's secret,
// from which the caller derives it, nobody can look a name up in one.
type Salt [16]byte

const (
	// maxNameWords bounds a name; titles that are whole sentences are no names.
	maxNameWords = 8
	// stemRunes is how much of a word counts when sentences are compared with
	// questions: "directed" and "director" agree in five letters, and cutting works
	// in every language alike.
	stemRunes = 5
	// maxTextWords bounds the words that are read of one text.
	maxTextWords = 1 << 16
)

// word is a word of a text: a run of letters and digits, or a single character of
// a script that does not separate words.
type word struct {
	whole uint64 // of the folded word
	stem  uint32 // of its first letters
	start int    // byte offset
	end   int
	loud  bool // begins with a capital, a digit or a letter of a script without case
	weak  bool // says too little to be a name by itself
}

// lexer takes texts apart. The zero value with a salt is ready; one goroutine.
type lexer struct {
	salt Salt
	buf  []byte
	out  []word
}

// words returns the words of a text, which belong to the lexer until its next call.
func (x *lexer) words(s string) []word {
	x.out = x.out[:0]
	for i := 0; i < len(s) && len(x.out) < maxTextWords; {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			i += n
			continue
		}
		start, first, single := i, r, text.Spaceless(r)
		x.buf = append(x.buf[:0], x.salt[:]...)
		runes, stem := 0, 0
		for {
			x.buf = utf8.AppendRune(x.buf, foldRune(r))
			if runes++; runes == stemRunes {
				stem = len(x.buf)
			}
			i += n
			if i >= len(s) || single {
				break
			}
			r, n = utf8.DecodeRuneInString(s[i:])
			if (r == '\'' || r == '’') && i+n < len(s) { // "O'Brien" is one word, "Ada's" is "Ada"
				next, m := utf8.DecodeRuneInString(s[i+n:])
				if unicode.IsLetter(next) && !possessive(s[i+n:], m) {
					i += n
					r, n = next, m
				}
			}
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) || text.Spaceless(r) {
				break
			}
		}
		if stem == 0 {
			stem = len(x.buf)
		}
		x.out = append(x.out, word{
			whole: xxhash.Sum64(x.buf), stem: uint32(xxhash.Sum64(x.buf[:stem])), start: start, end: i,
			loud: !unicode.IsLower(first),
			weak: runes < 3,
		})
	}
	return x.out
}

// possessive reports whether a text continues with the s of a genitive.
func possessive(s string, first int) bool {
	if s[:first] != "s" && s[:first] != "S" {
		return false
	}
	next, _ := utf8.DecodeRuneInString(s[first:])
	return !unicode.IsLetter(next)
}

// foldRune makes letters of one case, and Latin letters with a mark plain: half of
// all people write names without their accents.
func foldRune(r rune) rune {
	r = unicode.ToLower(r)
	if r < firstMarked || r >= firstMarked+rune(len(plainLatin)) {
		return r
	}
	return plainLatin[r-firstMarked]
}

// firstMarked begins the Latin letters with marks, from À to ſ; plainLatin is what
// each is without.
const firstMarked = 'À'

var plainLatin = []rune("aaaaaaaceeeeiiiidnooooo×ouuuuyþsaaaaaaaceeeeiiiidnooooo÷ouuuuyþy" +
	"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllllllln" +
	"nnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs")

// nameHash identifies a run of words.
func nameHash(words []word) uint64 {
	h := uint64(len(words))
	var b [16]byte
	for _, w := range words {
		binary.LittleEndian.PutUint64(b[:8], h)
		binary.LittleEndian.PutUint64(b[8:], w.whole)
		h = xxhash.Sum64(b[:])
	}
	return h
}

// nominal reports whether words can be a name: not too long, and more than one
// short word.
func nominal(words []word) bool {
	if len(words) == 0 || len(words) > maxNameWords {
		return false
	}
	return len(words) > 1 || !words[0].weak
}
