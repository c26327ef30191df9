package tagger

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// Kind says what a token is made of.
type Kind uint8

// The kinds of tokens.
const (
	Word    Kind = iota // letters, perhaps with digits, hyphens and dots inside
	Number              // begins with a digit and has no letter
	Handle              // @name
	Hashtag             // #name
	Link                // a URL or an e-mail address
	Suffix              // 's, n't and the like, cut off a word
	Mark                // punctuation and symbols
)

// Token is a unit of a sentence: a half-open range of byte offsets.
type Token struct {
	Start, End int
	Kind       Kind
	First      bool // begins a sentence
}

// maxToken is the longest token; a longer run is cut into several. No name is as
// long, and a blob must not become one.
const maxToken = 128

// maxLink is the longest URL, as browsers have it.
const maxLink = 2048

// Tokens appends the tokens of s between the offsets of a sentence.
func Tokens(dst []Token, s string, sp text.Span) []Token {
	first := true
	add := func(start, end int, k Kind) {
		dst = append(dst, Token{start, end, k, first})
		first = false
	}
	for i := sp.Start; i < sp.End; {
		r, n := utf8.DecodeRuneInString(s[i:sp.End])
		if unicode.IsSpace(r) {
			i += n
			continue
		}
		if (r == '@' || r == '#') && i+1 < sp.End && (i == sp.Start || !wordRune(before(s, i))) {
			if end := run(s, i+1, sp.End); end > i+1 {
				k := Handle
				if r == '#' {
					k = Hashtag
				}
				add(i, end, k)
				i = end
				continue
			}
		}
		if !wordRune(r) {
			end := i + n
			for end < sp.End && end-i < maxToken && strings.HasPrefix(s[end:sp.End], s[i:i+n]) {
				end += n // "...", "!!!", "---"
			}
			add(i, end, Mark)
			i = end
			continue
		}
		if end := linkEnd(s, i, sp.End); end > i {
			add(i, end, Link)
			i = end
			continue
		}
		end := wordEnd(s, i, sp.End)
		if cut := suffixAt(s[i:end]); cut > 0 {
			add(i, i+cut, kindOf(s[i:i+cut]))
			add(i+cut, end, Suffix)
		} else {
			add(i, end, kindOf(s[i:end]))
		}
		i = end
	}
	return dst
}

func before(s string, i int) rune {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return r
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r-'a' < 26 && r >= 'a' || r-'A' < 26 && r >= 'A' || r-'0' < 10 && r >= '0'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// run is where the letters, digits and underscores that begin at i end.
func run(s string, i, end int) int {
	from := i
	for i < end && i-from < maxToken {
		r, n := utf8.DecodeRuneInString(s[i:end])
		if !wordRune(r) && r != '_' {
			break
		}
		i += n
	}
	return i
}

// linkEnd is the end of the URL or e-mail address that begins at i, or i.
func linkEnd(s string, i, end int) int {
	rest := s[i:min(end, i+maxLink)]
	url := hasPrefixFold(rest, "http://") || hasPrefixFold(rest, "https://") || hasPrefixFold(rest, "www.") ||
		hasPrefixFold(rest, "ftp://")
	at := 0
	if !url {
		rest = rest[:min(len(rest), 2*maxToken)]
		if at = strings.IndexByte(rest[:min(len(rest), maxToken)], '@'); at <= 0 {
			return i
		}
	}
	stop := strings.IndexFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || r == '<' || r == '>' || r == '"' || r == '|'
	})
	if stop < 0 {
		stop = len(rest)
	}
	if !url {
		if at >= stop || strings.LastIndexByte(rest[at:stop], '.') < 2 {
			return i
		}
		for _, r := range rest[:at] {
			if !wordRune(r) && !strings.ContainsRune("._%+-", r) {
				return i
			}
		}
	}
	link := strings.TrimRight(rest[:stop], ".,;:!?)]}'*_`")
	if url && strings.Count(link, "(") > strings.Count(link, ")") && len(link) < stop && rest[len(link)] == ')' {
		link = rest[:len(link)+1]
	}
	return i + len(link)
}

func hasPrefixFold(s, lower string) bool {
	return len(s) >= len(lower) && strings.EqualFold(s[:len(lower)], lower)
}

// wordEnd reads a word: letters and digits, joined by single hyphens,
// apostrophes, dots, underscores, and commas between digits; with the dot that
// belongs to an initial or an abbreviation, and the marks of C++ and C#.
func wordEnd(s string, i, end int) int {
	from := i
	for i < end && i-from < maxToken {
		r, n := utf8.DecodeRuneInString(s[i:end])
		if wordRune(r) {
			i += n
			continue
		}
		next, m := utf8.DecodeRuneInString(s[i+n : end])
		if m == 0 || !wordRune(next) {
			break
		}
		last := before(s, i)
		switch r {
		case '-', '‐', '‑', '_':
		case '\'', '’':
			if unicode.IsDigit(last) {
				return i
			}
		case '.':
			// Node.js, U.S.A, 3.11; but a sentence may follow without a space.
			if unicode.IsUpper(next) && unicode.IsLower(last) {
				return i
			}
		case ',', ':':
			if !unicode.IsDigit(last) || !unicode.IsDigit(next) {
				return i
			}
		case '&':
			if !unicode.IsUpper(last) || !unicode.IsUpper(next) {
				return i
			}
		default:
			return i
		}
		i += n
	}
	w := s[from:i]
	if i < end && s[i] == '.' && dotted(w) {
		return i + 1
	}
	if len(w) == 1 && (strings.HasPrefix(s[i:end], "++") || strings.HasPrefix(s[i:end], "#")) {
		return i + 1 + strings.Count(s[i:min(i+2, end)], "++")
	}
	return i
}

// abbreviations that keep their dot, in lower case.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "jr": true, "sr": true,
	"inc": true, "ltd": true,
	"co": true, "corp": true, "vs": true, "etc": true, "rev": true, "gen": true, "col": true, "capt": true,
	"lt": true, "sgt": true,
	"gov": true, "sen": true, "rep": true, "mt": true, "bros": true, "al": true, "ft": true, "dept": true, "approx": true,
}

func dotted(w string) bool {
	if r, n := utf8.DecodeRuneInString(w); n == len(w) {
		return unicode.IsUpper(r) && r != 'I'
	}
	if len(w) <= 8 && strings.IndexByte(w, '.') > 0 {
		for i := 1; i < len(w); i += 2 { // U.S, J.R.R, e.g
			if w[i] != '.' {
				return false
			}
		}
		return true
	}
	return len(w) <= 6 && abbreviations[strings.ToLower(w)]
}

// suffixAt is where the possessive or contraction begins in w, or 0.
func suffixAt(w string) int {
	at := strings.LastIndexAny(w, "'’")
	if at <= 0 {
		return 0
	}
	tail := strings.TrimPrefix(strings.TrimPrefix(w[at:], "'"), "’")
	switch strings.ToLower(tail) {
	case "s", "m", "re", "ve", "ll", "d":
		return at
	case "t":
		if at > 1 && (w[at-1] == 'n' || w[at-1] == 'N') {
			return at - 1
		}
	}
	return 0
}

func kindOf(w string) Kind {
	if w[0] < '0' || w[0] > '9' {
		return Word
	}
	for i := range len(w) {
		if c := w[i]; c >= utf8.RuneSelf || c|0x20 >= 'a' && c|0x20 <= 'z' {
			return Word
		}
	}
	return Number
}
