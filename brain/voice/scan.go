package voice

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of one message: what is longer says no more about a manner of writing.
const (
	// maxMessage is how much of a message is read, some 3,000 words.
	maxMessage = 20_000
	// maxSpan is the longest code span or emoji name that is looked for its end.
	maxSpan = 300
	// maxWord is the longest run of letters that is one word.
	maxWord = 60
)

// scanner reads one message into counts.
type scanner struct {
	c     *counts
	lower []byte

	words     int      // of prose, in the message
	inSent    int      // words of the present sentence
	lastMark  rune     // the last character that was not space
	first     bool     // no word was seen yet
	afterStop bool     // the last word ended a sentence
	classes   classSet // of the last word
}

// message reads a text.
func (s *scanner) message(text string) {
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	s.words, s.inSent, s.lastMark, s.first, s.afterStop = 0, 0, 0, true, false
	before := s.c.get(cSentences)
	code := false
	for part := range strings.SplitSeq(text, "```") {
		if code {
			s.c.add(cBlocks, 1)
		} else {
			s.prose(part)
		}
		code = !code
	}
	if s.inSent > 0 {
		s.sentence()
	}
	c := s.c
	c.add(cMessages, 1)
	c.add(cWordsSquared, float64(s.words)*float64(s.words))
	l := logOf(s.words)
	c.add(cLog, l)
	c.add(cLogSquared, l*l)
	switch {
	case s.words <= 6:
		c.add(cShort, 1)
	case s.words >= 40:
		c.add(cLong, 1)
	}
	if n := c.get(cSentences) - before; n > 1 {
		c.add(cSeveral, 1)
	}
	switch s.lastMark {
	case '.':
		c.add(cEndsStop, 1)
	case '?':
		c.add(cEndsQuestion, 1)
	case '!':
		c.add(cEndsBang, 1)
	case ':', ';', ',', '…':
	default:
		c.add(cEndsOpen, 1)
	}
}

// trailers begin lines that a tool wrote.
var trailers = []string{"Signed-off-by:", "Co-authored-by:", "Co-Authored-By:", "Reviewed-by:", "Change-Id:", "git-svn-id:"}

// prose reads text that is no code block, line by line.
func (s *scanner) prose(text string) {
	blank, any := false, false
lines:
	for line := range strings.SplitSeq(text, "\n") {
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		if line == "" {
			blank = any
			continue
		}
		for _, t := range trailers {
			if strings.HasPrefix(line, t) {
				continue lines
			}
		}
		if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "&gt;") {
			s.c.add(cQuoted, 1)
			continue
		}
		s.c.add(cLines, 1)
		if indented {
			s.c.add(cIndented, 1)
		}
		if blank {
			s.c.add(cParagraphs, 1)
			if s.inSent > 0 {
				s.sentence()
			}
			blank = false
		}
		if n := bullet(line); n > 0 {
			s.c.add(cBullets, 1)
			if line[0] == '*' {
				s.c.add(cStars, 1)
			}
			if s.inSent > 0 {
				s.sentence()
			}
			line = line[n:]
		}
		s.line(line)
		any = true
	}
}

// bullet is the length of a list mark at the start of a line.
func bullet(line string) int {
	for _, b := range []string{"- ", "* ", "+ ", "• "} {
		if strings.HasPrefix(line, b) {
			return len(b)
		}
	}
	n := 0
	for n < len(line) && n < 3 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && line[n+1] == ' ' {
		return n + 2
	}
	return 0
}

// emoticons, the longer first where one begins another.
var emoticons = []string{":-)", ":-(", ";-)", ":-D", ":-P", ":-/", ":)", ":(", ";)", ":D", ":P", ":p", ":/", "=)", "=D", "xD", "XD", "^^", "<3", "¯\\_(ツ)_/¯"}

// line reads one line of prose.
func (s *scanner) line(t string) {
	atStart := true // no letter before: marks that only stand at a word's start
	for i := 0; i < len(t); {
		r, n := rune(t[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(t[i:])
		}
		if r == ' ' || r == '\t' || unicode.IsSpace(r) {
			i += n
			atStart = true
			continue
		}
		if atStart {
			if k := s.special(t[i:]); k > 0 {
				i += k
				continue
			}
		}
		switch {
		case r == '`':
			k := codeSpan(t[i:])
			s.c.add(cCode, 1)
			s.tech()
			s.mark('`')
			i += k
			atStart = false
			continue
		case unicode.IsLetter(r):
			k := s.word(t[i:])
			i += k
			atStart = false
			continue
		case r >= '0' && r <= '9':
			i += s.number(t[i:])
			atStart = false
			continue
		}
		i += s.punctuation(t, i, r, n, atStart)
		atStart = r == '(' || r == '"' || r == '\'' || r == '“' || r == '*' || r == '_' || r == '[' || r == '<'
	}
}

// special reads what only begins where no word is under way: addresses, mentions,
// emoji; 0: it is none.
func (s *scanner) special(t string) int {
	switch t[0] {
	case '<':
		if end := strings.IndexByte(t, '>'); end > 1 && end < maxSpan {
			switch inner := t[1:end]; {
			case inner[0] == '@' || inner[0] == '!':
				s.c.add(cMentions, 1)
				s.mark('@')
				return end + 1
			case strings.Contains(inner, "://") || strings.HasPrefix(inner, "mailto:"):
				s.c.add(cLinks, 1)
				s.mark('/')
				return end + 1
			}
		}
	case '@':
		if k := nameLen(t[1:]); k > 1 {
			s.c.add(cMentions, 1)
			s.mark('@')
			return 1 + k
		}
	case '#':
		k := 1
		for k < len(t) && t[k] >= '0' && t[k] <= '9' {
			k++
		}
		if k > 1 {
			s.c.add(cReferences, 1)
			s.mark('#')
			return k
		}
	case ':':
		k := 1
		for k < len(t) && k < maxSpan && (isNameByte(t[k]) || t[k] == '+') {
			k++
		}
		if k > 2 && k < len(t) && t[k] == ':' {
			s.c.add(cEmoji, 1)
			s.mark(':')
			return k + 1
		}
	case 'h':
		if strings.HasPrefix(t, "http://") || strings.HasPrefix(t, "https://") {
			s.c.add(cLinks, 1)
			s.mark('/')
			k := strings.IndexAny(t, " \t)>]")
			if k < 0 {
				k = len(t)
			}
			return k
		}
	}
	for _, e := range emoticons {
		if strings.HasPrefix(t, e) && (len(t) == len(e) || !isNameByte(t[len(e)])) {
			s.c.add(cEmoticons, 1)
			s.lastMark = ')'
			return len(e)
		}
	}
	return 0
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func nameLen(t string) int {
	k := 0
	for k < len(t) && k < maxWord && isNameByte(t[k]) {
		k++
	}
	return k
}

// codeSpan is the length of a span between backticks, or of the backticks alone.
func codeSpan(t string) int {
	k := 0
	for k < len(t) && t[k] == '`' {
		k++
	}
	end := strings.Index(t[k:min(len(t), k+maxSpan)], t[:k])
	if end < 0 {
		return k
	}
	return k + end + k
}

// word reads a word, a compound or an identifier.
func (s *scanner) word(t string) int {
	var digits, inner, capital, upper, letters int
	joined, dotted := false, false
	i := 0
	s.lower = s.lower[:0]
	curly := false
	for i < len(t) && letters < maxWord {
		r, n := rune(t[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(t[i:])
		}
		switch {
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) {
				upper++
				if letters == 1 {
					capital = 1
				} else {
					inner++
				}
				r = unicode.ToLower(r)
			}
		case unicode.IsDigit(r):
			digits++
		case unicode.IsMark(r):
		case (r == '\'' || r == '’') && letterAt(t, i+n):
			curly = curly || r == '’'
			r = '\''
		case r == '-' && letterAt(t, i+n):
			joined = true
		case r == '_' && letterAt(t, i+n), (r == '.' || r == '/' || r == ':' || r == '\\') && letterAt(t, i+n) && i+n < len(t):
			dotted = true
		default:
			goto done
		}
		s.lower = utf8.AppendRune(s.lower, r)
		i += n
	}
done:
	if i < len(t) && t[i] == '(' && i+1 < len(t) && t[i+1] == ')' {
		dotted = true
		i += 2
	}
	c := s.c
	if dotted || digits > 0 && letters > 0 || inner > 0 && upper < letters {
		c.add(cIdentifiers, 1)
		s.tech()
		s.opening(capital == 1, false)
		return i
	}
	c.add(cWords, 1)
	c.add(cLetters, float64(letters))
	s.words++
	s.inSent++
	if letters >= 8 {
		c.add(cLongWords, 1)
	}
	if letters <= 3 {
		c.add(cShortWords, 1)
	}
	if joined {
		c.add(cHyphenated, 1)
	}
	if upper == letters && letters > 1 {
		c.add(cShouted, 1)
	} else if capital == 1 && !s.first && !s.afterStop {
		c.add(cCapitalised, 1)
	}
	w := s.lower
	if bytes.IndexByte(w, '\'') > 0 {
		c.add(cContractions, 1)
		c.add(cApostrophes, 1)
		if curly {
			c.add(cCurly, 1)
		}
	}
	known := lexicon[string(w)]
	s.classes = known.classes
	cl := known.classes
	for k := counter(0); cl>>k != 0; k++ {
		if cl.has(k) {
			c.add(cClass+k, 1)
		}
	}
	if cl.has(apology, please) {
		c.add(cCourtesy, 1)
	}
	for _, h := range known.habits {
		c.add(h, 1)
	}
	s.endings(w, letters)
	if s.afterStop && !s.first {
		c.add(cStarts, 1)
		if capital == 0 {
			c.add(cStartsLower, 1)
		}
	}
	s.opening(capital == 1, true)
	s.afterStop = false
	s.lastMark = 'a'
	return i
}

// endings counts the forms that tell nouns and verbs apart without a tagger.
func (s *scanner) endings(w []byte, letters int) {
	if letters < 5 {
		return
	}
	switch t := string(w[len(w)-3:]); {
	case t == "ing":
		s.c.add(cIng, 1)
	case t[1:] == "ed":
		s.c.add(cEd, 1)
	case t[1:] == "ly":
		s.c.add(cLy, 1)
	case t == "ion", t == "ity", t == "ent", t == "nce", t == "ess":
		s.c.add(cNoun, 1)
	}
}

// opening looks at the first word of a message: how it is written and what it is.
func (s *scanner) opening(capital, plain bool) {
	first := s.first
	s.first = false
	if !first {
		return
	}
	c := s.c
	if !capital {
		c.add(cOpensLower, 1)
	}
	if !plain {
		return
	}
	w, cl := string(s.lower), s.classes
	switch {
	case cl.has(self):
		c.add(cOpensSelf, 1)
	case cl.has(assent, interjection):
		c.add(cOpensAssent, 1)
	case cl.has(question):
		c.add(cOpensQuestion, 1)
	case cl.has(conjunction):
		c.add(cOpensConjunction, 1)
	case cl.has(article, demonstrative):
		c.add(cOpensArticle, 1)
	case cl == 0 && len(w) > 4 && strings.HasSuffix(w, "ed"):
		c.add(cOpensEd, 1)
	case cl == 0 && len(w) > 5 && strings.HasSuffix(w, "ing"):
		c.add(cOpensIng, 1)
	case cl == 0 && len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		c.add(cOpensS, 1)
	}
}

func letterAt(t string, i int) bool {
	if i >= len(t) {
		return false
	}
	r, _ := utf8.DecodeRuneInString(t[i:])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// number reads digits and what is joined to them.
func (s *scanner) number(t string) int {
	i, letters := 0, false
	for i < len(t) && i < maxWord {
		c := t[i]
		switch {
		case c >= '0' && c <= '9':
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters = true
		case (c == '.' || c == ',' || c == ':' || c == '/' || c == '-' || c == '_') && i+1 < len(t) && t[i+1] >= '0' && t[i+1] <= '9':
		default:
			goto done
		}
		i++
	}
done:
	s.c.add(cNumbers, 1)
	if letters {
		s.tech()
	}
	s.mark('0')
	return i
}

// tech counts something that only who works with machines writes.
func (s *scanner) tech() { s.c.add(cTechnical, 1); s.inSent++; s.mark('a') }

// mark remembers what a message may end with.
func (s *scanner) mark(r rune) {
	s.lastMark = r
	s.afterStop = false
	if r != '@' && r != ':' {
		s.first = false
	}
}

// sentence ends a sentence.
func (s *scanner) sentence() {
	s.c.add(cSentences, 1)
	s.c.add(cSentenceWords, float64(s.inSent))
	s.inSent = 0
	s.afterStop = true
}

// punctuation reads a mark and returns how long it is.
func (s *scanner) punctuation(t string, i int, r rune, n int, atStart bool) int {
	c := s.c
	rest := t[i+n:]
	ends := rest == "" || rest[0] == ' ' || rest[0] == ')' || rest[0] == '"' || rest[0] == '\''
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
		if ends && s.inSent > 0 {
			c.add(cStops, 1)
			if strings.HasPrefix(rest, "  ") {
				c.add(cWide, 1)
			}
			s.sentence()
		}
	case '…':
		c.add(cEllipsis, 1)
	case '?', '!':
		if r == '?' {
			c.add(cQuestions, 1)
		} else {
			c.add(cBangs, 1)
		}
		if ends && s.inSent > 0 {
			s.sentence()
		}
	case ',':
		c.add(cCommas, 1)
	case ';':
		c.add(cSemicolons, 1)
	case ':':
		c.add(cColons, 1)
	case '(':
		c.add(cParens, 1)
	case '"':
		c.add(cQuotes, 1)
		c.add(cApostrophes, 1)
	case '“', '”':
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
		c.add(cAmpersands, 1)
	case '*', '_':
		if atStart && letterAt(t, i+n) {
			c.add(cEmphasis, 1)
		}
	case '[', '{', '<', '|', '%', '$', '\\', '^', '~':
		c.add(cSymbols, 1)
	default:
		if isEmoji(r) {
			c.add(cEmoji, 1)
		}
	}
	return n
}

// isEmoji holds for the blocks of pictographs.
func isEmoji(r rune) bool {
	return r >= 0x1F300 && r <= 0x1FAFF || r >= 0x2600 && r <= 0x27BF
}
