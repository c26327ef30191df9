package text

import (
	"bytes"
	_ "embed"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// letters holds, for each of letterBuckets hashes of three letters and each of lettered, 16 times the negative natural
// logarithm of how often words of the language have them. TestMakeTables makes it.
//
//go:embed letters.bin
var letters string

// letterBuckets is how many hashes of three letters there are.
const letterBuckets = 1 << 12

// lettered are the languages that letters knows, in its order.
var lettered = [...]Lang{
	English, German, French, Spanish, Portuguese, Italian, Dutch, Swedish, Norwegian, Danish, Finnish, Hungarian,
	Romanian, Turkish, Polish, Indonesian,
}

// What words say of a language, in sixteenths of a natural logarithm. A note has a dozen words, among them names and
// words of other languages, so no single one may decide. Of 532 notes
// of a sentence or two in six languages .86 are recognised, of 4,515 English ones .998 (by function words alone, two at
// least: .51 and .999); of questions .97 and all (.81 and all). The values were
// chosen on these.
const (
	// foreignWord is what a function word of others costs a language.
	foreignWord = 5 * 16
	// improbable is the most that the letters of a word cost one.
	improbable = 3 * 16
	// englishFirst is what all others need more than English: names, commands and lone words are taken for it. A
	// question must show more than one function word: "die hard" is no German question.
	englishFirst, englishAsked = 4 * 16, 7 * 16
	// certain is a lead at which letters need not be looked at.
	certain = 12 * 16
	// distinctWords is of how many function words the second and further times say nothing: "door" in a title and again in
	// a sentence of English is no two words of Dutch.
	distinctWords = 24
	// maxLettered bounds the words whose letters are looked at.
	maxLettered = 48
)

// identify gives the language of the scanned words in Latin script: by function words first, and by letters where these
// leave a doubt. English is first by as much as is said.
func (a *Analyzer) identify(first int) Lang {
	var score [langCount]int
	total := 0
	var seen [distinctWords]token
	for _, t := range a.scan.tokens {
		if speaks(t) {
			w := a.scan.buf[t.start:t.end]
			in := stopTable[string(w)] & latinLangs
			again := slices.ContainsFunc(seen[:min(total, distinctWords)], func(s token) bool {
				return bytes.Equal(w, a.scan.buf[s.start:s.end])
			})
			if in != 0 && !again {
				if total < distinctWords {
					seen[total] = t
				}
				total++
				for ; in != 0; in &= in - 1 {
					score[bits.TrailingZeros32(uint32(in))]++
				}
			}
		}
	}
	for l := range score {
		score[l] = (score[l] - total) * foreignWord
	}
	score[English] += first
	best, second := bestTwo(&score)
	if score[best]-score[second] >= certain {
		return best
	}
	left := maxLettered
	for _, t := range a.scan.tokens {
		if left == 0 {
			break
		}
		if w := a.scan.buf[t.start:t.end]; speaks(t) && len(w) > 1 && stopTable[string(w)]&latinLangs == 0 {
			left--
			byLetters(w, &score)
		}
	}
	best, _ = bestTwo(&score)
	return best
}

// speaks tells whether a token says anything of the language in Latin script around it.
func speaks(t token) bool {
	return t.script == scriptLatin && t.role == roleWord && t.kind == tokWord && !t.inName
}

// bestTwo gives the two languages in Latin script of the highest scores, the first of equals.
func bestTwo(score *[langCount]int) (best, second Lang) {
	best, second = English, German
	for l := German; l < langCount; l++ {
		switch {
		case !latinLangs.Has(l):
		case score[l] > score[best]:
			best, second = l, best
		case l != second && score[l] > score[second]:
			second = l
		}
	}
	return best, second
}

// byLetters adds to the scores how improbable a lower-case word is in each language, against the one that has it most.
func byLetters(w []byte, score *[langCount]int) {
	var sums [len(lettered)]int
	vietnamese := false
	x, y := uint32('^'), uint32(0)
	for len(w) > 0 || y != '$' {
		z := uint32('$')
		if len(w) > 0 {
			r, n := utf8.DecodeRune(w)
			w = w[n:]
			z = uint32(r)
			vietnamese = vietnamese || onlyVietnamese(r)
		}
		if y != 0 {
			row := letters[trigram(x, y, z)*len(lettered):][:len(lettered)]
			for k := range sums {
				sums[k] += int(row[k])
			}
			x = y
		}
		y = z
	}
	least := sums[0]
	for _, s := range sums {
		least = min(least, s)
	}
	for k, l := range lettered {
		cost := min((sums[k]-least)/2, improbable)
		if vietnamese {
			cost = improbable
		}
		score[l] -= cost
	}
	if !vietnamese {
		score[Vietnamese] -= improbable / 2 // half of its words have letters of their own
	}
}

// trigram is the place of three letters.
func trigram(x, y, z uint32) int {
	mixed := (x*0x9E3779B1 ^ y*0x85EBCA6B ^ z*0xC2B2AE35) * 0x27D4EB2F
	return int(mixed >> 16 & (letterBuckets - 1))
}

// onlyVietnamese are the letters that no other language of latinLangs has.
func onlyVietnamese(r rune) bool {
	return r >= 0x1EA0 && r <= 0x1EF9 || r == 'ơ' || r == 'ư'
}
