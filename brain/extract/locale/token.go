package locale

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word in lower case, a number in ASCII digits, or a mark.
type token struct {
	text       string
	start, end int // byte offsets
	n          int // of a number; -1: the token is no number
	capital    bool
}

// maxTokens bounds the tokens of a sentence that are read: a longer one is a table.
const maxTokens = 400

// tokensOf cuts a sentence. Apostrophes and hyphens within words part them and are no tokens of their own; the digits
// of every script are read as the same.
func tokensOf(s string) (out []token) {
	for i := 0; i < len(s) && len(out) < maxTokens; {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsDigit(r):
			start, v, digits := i, 0, make([]byte, 0, 4)
			for i < len(s) {
				r, n := utf8.DecodeRuneInString(s[i:])
				if !unicode.IsDigit(r) {
					break
				}
				d := digit(r)
				digits = append(digits, byte('0'+d))
				if v < 1e8 {
					v = 10*v + d
				}
				i += n
			}
			out = append(out, token{string(digits), start, i, v, false})
		case unicode.IsLetter(r):
			start := i
			for i < len(s) {
				r, n := utf8.DecodeRuneInString(s[i:])
				if !unicode.IsLetter(r) && !unicode.IsMark(r) {
					break
				}
				i += n
			}
			out = append(out, token{strings.ToLower(s[start:i]), start, i, -1, unicode.IsUpper(r)})
		case r == '\'' || r == '’' || r == '-' && wordBoth(s, i):
			i++
			if r == '’' {
				i += n - 1
			}
		case unicode.IsSpace(r):
			i += n
		default:
			out = append(out, token{s[i : i+n], i, i + n, -1, false})
			i += n
		}
	}
	return out
}

// wordBoth tells whether letters stand on both sides of the hyphen at i.
func wordBoth(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	behind, _ := utf8.DecodeRuneInString(s[i+1:])
	return unicode.IsLetter(before) && unicode.IsLetter(behind)
}

// digit is the value of a decimal digit of any script: they stand in runs of ten from 0 on.
func digit(r rune) int {
	if r <= '9' {
		return int(r - '0')
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	return 0
}

// Token is a word in lower case, a number, or a mark of a sentence. An apostrophe or a hyphen within a word parts it.
type Token struct {
	Text            string
	Start, End      int // byte offsets
	Number, Capital bool
}

// Tokens cuts a sentence, of which it reads a bounded part.
func Tokens(s string) []Token {
	all := tokensOf(s)
	out := make([]Token, len(all))
	for i, t := range all {
		out[i] = Token{Text: t.text, Start: t.start, End: t.end, Number: t.n >= 0, Capital: t.capital}
	}
	return out
}
