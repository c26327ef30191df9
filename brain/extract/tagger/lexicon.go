package tagger

import "unicode/utf8"

// Class is what the lexicon knows of a word or phrase: a part of speech in the
// low four bits, and what else it is.
type Class uint16

// The parts of speech.
const (
	noPart Class = iota
	Noun
	Plural
	Verb
	Past
	Gerund
	Adjective
	Adverb
	Function // determiners, prepositions, conjunctions, pronouns, modal verbs
	Numeral
	Calendar // weekdays and months
	Honorific
	Demonym
	Actor // a profession or role
	Unit
	Expression // an interjection or emoticon

	partMask Class = 15
)

// The other bits of a Class.
const (
	FirstName Class = 16 << iota
	LastName
	PlaceName
	OrgName
	Common    // stands in an English dictionary in lower case
	Proper    // stands there with a capital only
	Prefix    // longer phrases begin with this
	BrandName // of a product, service or programming language
)

// Part is the part of speech alone.
func (c Class) Part() Class { return c & partMask }

// Entry is what the lexicon holds of one word or phrase.
type Entry struct {
	Class   Class
	Cluster uint16 // of words that are used alike, from 1; 0: none known
}

// maxPhrase is the longest phrase of the lexicon, in words.
const maxPhrase = 4

// Hashing: words are never stored, only the upper half of a 64-bit FNV-1a of
// their lower case. Of a hundred thousand entries an unknown word meets one by
// chance once in forty thousand.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// hashLower hashes the lower case of w on top of h.
func hashLower(h uint64, w string) uint64 {
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c-'A' < 26 {
			c |= 0x20
		} else if c >= utf8.RuneSelf {
			return hashLowerRunes(h, w[i:])
		}
		h = (h ^ uint64(c)) * fnvPrime
	}
	return h
}

func hashLowerRunes(h uint64, w string) uint64 {
	var buf [utf8.UTFMax]byte
	for _, r := range w {
		for _, c := range buf[:utf8.EncodeRune(buf[:], lower(r))] {
			h = (h ^ uint64(c)) * fnvPrime
		}
	}
	return h
}

// PhraseKey is the key of a phrase in the lexicon: its words, separated by
// single spaces.
func PhraseKey(phrase string) uint32 { return fold32(hashLower(fnvOffset, phrase)) }

func fold32(h uint64) uint32 {
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return uint32(h >> 32)
}
