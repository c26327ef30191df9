package voice

import (
	"strings"
	"unicode/utf8"
)

// punctuation reads a mark and returns how long it is.
func (s *scanner) punctuation(t string, i int, r rune, n int, atStart bool) int {
	c := s.c
	rest := t[i+n:]
	s.lastMark = r
	switch r {
	case '.':
		if strings.HasPrefix(rest, "..") {
			k := 1
			for i+k < len(t) && t[i+k] == '.' {
				k++
			}
			c.add(cEllipsis, 1)
			s.lastMark = '…'
			return k
		}
		if ends(rest) && s.inSent > 0 {
			c.add(cStops, 1)
			if strings.HasPrefix(rest, "  ") {
				c.add(cWide, 1)
			}
			s.sentence()
		}
	case '…':
		c.add(cEllipsis, 1)
	case '?', '!':
		if i > 0 && t[i-1] == byte(r) {
			return n // one question, however it is marked
		}
		s.endMark(rest, r)
	case ',':
		c.add(cCommas, 1)
	case ';':
		c.add(cSemicolons, 1)
	case ':':
		c.add(cColons, 1)
	case '(':
		c.add(cParens, 1)
	case '"', '“':
		if k := quoted(rest, r); atStart && k > 0 {
			s.quotation(rest, k, r)
			return n + k
		}
		c.add(cQuotes, 1)
		c.add(cApostrophes, 1)
		if r == '“' {
			c.add(cCurly, 1)
		}
	case '”':
		c.add(cQuotes, 1)
		c.add(cApostrophes, 1)
		c.add(cCurly, 1)
	case '\'', '‘', '’':
		c.add(cSingle, 1)
	case '-':
		if strings.HasPrefix(rest, "-") {
			c.add(cDashes, 1)
			return n + 1
		}
		if strings.HasPrefix(rest, ">") {
			c.add(cArrows, 1)
			return n + 1
		}
		if atStart && strings.HasPrefix(rest, " ") {
			c.add(cDashes, 1)
		}
	case '–', '—':
		if i > 0 && (r == '–' && t[i-1] != ' ' || t[i-1] >= '0' && t[i-1] <= '9') {
			break // from 9–11, Mon–Fri
		}
		c.add(cDashes, 1)
		c.add(cLongDashes, 1)
	case '=':
		if strings.HasPrefix(rest, ">") {
			c.add(cArrows, 1)
			return n + 1
		}
	case '/':
		c.add(cSlashes, 1)
	case '&', '+':
		if k := strings.IndexByte(rest[:min(len(rest), 7)], ';'); r == '&' && k > 1 && nameLen(rest) == k {
			return n + k + 1 // &amp;
		}
		c.add(cAmpersands, 1)
	case '*', '_':
		if atStart && letterAt(t, i+n) {
			c.add(cEmphasis, 1)
		}
	case '[', '{', '<', '|', '%', '$', '\\', '^', '~':
		c.add(cSymbols, 1)
	default:
		if isEmoji(r) || strings.HasPrefix(rest, "\uFE0F") && r >= 0x2190 {
			c.add(cEmoji, 1)
			return n + joined(rest)
		}
	}
	return n
}

// ends reports whether a sentence may end in front of rest.
func ends(rest string) bool {
	return rest == "" || rest[0] == ' ' || rest[0] == ')' || rest[0] == '"' || rest[0] == '\''
}

// endMark counts a question or an exclamation, with its sentence.
func (s *scanner) endMark(rest string, r rune) {
	if r == '?' {
		s.c.add(cQuestions, 1)
	} else {
		s.c.add(cBangs, 1)
	}
	if ends(strings.TrimLeft(rest, "?!")) && s.inSent > 0 {
		s.sentence()
	}
}

// quotation counts what somebody else said: k bytes of rest, behind the first mark r.
func (s *scanner) quotation(rest string, k int, r rune) {
	s.c.add(cQuotes, 2)
	s.c.add(cApostrophes, 2)
	if r == '“' {
		s.c.add(cCurly, 2)
	}
	s.inSent++
	s.first = false
	s.lastMark = 'a'
	said := strings.TrimRight(rest[:k], "\"”")
	if last := said[len(said)-1]; last == '.' || last == '?' || last == '!' {
		s.lastMark = rune(last)
		if after := rest[k:]; after == "" {
			s.sentence()
		}
	}
}

// quoted is the length of a quotation of at least two words that goes on behind its
// first mark, with its last; 0: t begins no such quotation.
func quoted(t string, open rune) int {
	mark := "\""
	if open == '“' {
		mark = "”"
	}
	end := strings.Index(t[:min(len(t), maxQuote)], mark)
	if end < 3 || !strings.Contains(strings.TrimSpace(t[:end]), " ") || t[0] == ' ' {
		return 0
	}
	return end + len(mark)
}

// maxQuote is the longest quotation inside of a line.
const maxQuote = 1000

// isEmoji holds for the blocks of pictographs, without the marks that lists are ticked
// with.
func isEmoji(r rune) bool {
	switch r {
	case '✓', '✔', '✗', '✘', '✕', '✖', '☐', '☑', '☒', '★', '☆', '➜', '➔', '➤', '➡', '❯', '❱', '✱', '✳', '✴', '❖',
		'☞', '✎', '✏':
		return false
	}
	return r >= 0x1F300 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF || r >= 0x1F1E6 && r <= 0x1F1FF
}

// joined is the length of what belongs to the emoji before it: its look, a tone of skin,
// what it is joined with, the second letter of a flag.
func joined(t string) int {
	at := 0
	for at < len(t) {
		r, n := utf8.DecodeRuneInString(t[at:])
		switch {
		case r == 0xFE0F, r >= 0x1F3FB && r <= 0x1F3FF, r == 0x20E3:
			at += n
		case r == 0x200D:
			_, m := utf8.DecodeRuneInString(t[at+n:])
			at += n + m
		case r >= 0x1F1E6 && r <= 0x1F1FF && at == 0:
			return at + n
		default:
			return at
		}
	}
	return at
}
