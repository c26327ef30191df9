package reader

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spelling is how the word around a token is spelt, in the order of the head. The vocabulary has small letters alone,
// and a capital says more of what is a name than any word does.
type spelling uint8

const (
	unspelt  spelling = iota // no letter or digit
	digits                   // nothing but digits
	mixed                    // digits and letters
	small                    // no capital
	capitals                 // nothing but capitals, two or more
	camel                    // a capital within, or several
	opening                  // a capital that begins a sentence or a line
	capital                  // a capital elsewhere
	spellings
)

// beforeOpening are what may stand between the end of a sentence and the capital that begins the next.
const beforeOpening = " \t\"'“”‘’*_#(-•–—>"

// maxSpelt is how many bytes of a word before and behind a place are looked at: where nothing parts the words of a
// script, a sentence is one.
const maxSpelt = 128

// spellingAt is that of the word of s at a place. train/tasks.py has the same.
func spellingAt(s string, at int) spelling {
	if r, _ := utf8.DecodeRuneInString(s[at:]); !inWord(r) {
		return unspelt
	}
	start := at
	for start > max(0, at-maxSpelt) {
		r, n := utf8.DecodeLastRuneInString(s[:start])
		if !inWord(r) {
			break
		}
		start -= n
	}
	var letters, upper, decimal int
	end := start
	for end < min(len(s), at+maxSpelt) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if !inWord(r) {
			break
		}
		letters++
		if unicode.IsUpper(r) {
			upper++
		}
		if unicode.IsDigit(r) {
			decimal++
		}
		end += n
	}
	first, _ := utf8.DecodeRuneInString(s[start:])
	switch {
	case decimal == letters:
		return digits
	case decimal > 0:
		return mixed
	case upper == 0:
		return small
	case upper == letters && letters > 1:
		return capitals
	case upper > 1 || !unicode.IsUpper(first):
		return camel
	}
	before := strings.TrimRight(s[:start], beforeOpening)
	if before == "" || strings.ContainsRune(".!?:\n", rune(before[len(before)-1])) {
		return opening
	}
	return capital
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
