package voice

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
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
	prev      []byte   // the word before it, in lower case
	lists     int      // list items of the message
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
	s.words, s.inSent, s.lastMark, s.first, s.afterStop, s.lists, s.prev = 0, 0, 0, true, false, 0, s.prev[:0]
	before := s.c.get(cSentences)
	code := false
	text, signed := ownWords(text)
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "~~~", "```"), "```") {
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
	if s.lists > 1 {
		c.add(cLists, 1)
	}
	if signed != "" { // what a letter ends with is not its last sentence
		last := s.lastMark
		if formally.MatchString(signed) {
			c.add(cSigned, 1)
		}
		s.prose(signed)
		s.lastMark = last
	}
	switch s.lastMark {
	case '.':
		c.add(cEndsStop, 1)
	case '?':
		c.add(cEndsQuestion, 1)
	case '!':
		c.add(cEndsBang, 1)
	case 'a', '0', 0x60: // a word, a number, code
		c.add(cEndsOpen, 1)
	default: // a smile, a picture, an address or a list's item closes it
	}
}

// signOffs are how a letter ends, before a name.
var signOffs = regexp.MustCompile(`(?i)^` + signOff + `[,.!]*$`)

const signOff = `(?:(?:with )?(?:best|kind|kindest|warm|warmest|many|much|lots of|all the best|yours|` +
	`yours (?:sincerely|faithfully|truly)|sincerely|regards|` +
	`(?:best|kind|kindest|warm|warmest) (?:regards|wishes|thanks)|` +
	`cheers|thanks|many thanks|thank you|thx|love|hugs|take care|cu|xx?|best wishes|all best|` +
	`respectfully|cordially|see you|talk soon|have a (?:good|nice|great) (?:day|one|week|weekend|evening)|` +
	`mit freundlichen grüßen|lg|vg|mfg))`

// ownWords cuts off what somebody else wrote below a message, and the lines that a letter
// is signed with.
func ownWords(s string) (own, signed string) {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if t := strings.TrimSpace(line); i > 0 &&
			(strings.HasPrefix(t, "-----Original Message") || strings.HasPrefix(t, "---------- Forwarded") ||
				strings.HasSuffix(t, ":") && attribution.MatchString(t)) {
			lines = lines[:i]
			break
		}
	}
	last := len(lines)
	for last > 1 && strings.TrimSpace(lines[last-1]) == "" {
		last--
	}
	for i := last - 1; i > 0 && i >= last-maxSignature; i-- {
		if signOffs.MatchString(strings.TrimSpace(lines[i])) {
			return strings.Join(lines[:i], "\n"), strings.Join(lines[i:last], "\n")
		}
		if !signature.MatchString(strings.TrimSpace(lines[i])) {
			break
		}
	}
	if last > 1 && signature.MatchString(strings.TrimSpace(lines[last-1])) && strings.TrimSpace(lines[last-1]) != "" &&
		ended(lines[last-2]) {
		return strings.Join(lines[:last-1], "\n"), lines[last-1]
	}
	// "Thanks, Jo" behind the last sentence.
	if at := inline.FindStringSubmatchIndex(lines[last-1]); at != nil {
		return strings.Join(append(lines[:last-1:last-1], lines[last-1][:at[2]]), "\n"), lines[last-1][at[2]:]
	}
	return strings.Join(lines, "\n"), ""
}

// ended tells whether a line is empty or ends a sentence.
func ended(line string) bool {
	t := strings.TrimSpace(line)
	return t == "" || strings.ContainsRune(".?!", rune(t[len(t)-1]))
}

// maxSignature is how many lines may stand below the words that a letter ends with: a
// name and an office.
const maxSignature = 4

var (
	attribution = regexp.MustCompile(`^(?:On|Am) .{6,80} (?:wrote|schrieb).{0,60}:$`)
	formally    = regexp.MustCompile(`(?i)sincerely|faithfully|respectfully|cordially|regards|freundlichen`)
	inline      = regexp.MustCompile(`[.?!]\s+((?i:` + signOff + `)(?:,\s*|\s+)` + name + `)$`)
	signature   = regexp.MustCompile(`^(?:[-–—]+ ?)?(?:` + name + `)?$`)
)

const name = `\p{Lu}[\p{L}.'’-]*(?:,? (?:\p{Lu}[\p{L}.'’-]*|of|de|von|van|and|&)){0,4}`

// trailers begin lines that a tool wrote.
var trailers = []string{
	"Signed-off-by:", "Co-authored-by:", "Co-Authored-By:", "Reviewed-by:", "Change-Id:", "git-svn-id:",
}

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
		item := false
		if n := bullet(line); n > 0 {
			item = true
			s.lists++
			s.c.add(cBullets, 1)
			if line[0] == '*' {
				s.c.add(cStars, 1)
			}
			if s.inSent > 0 {
				s.sentence()
			}
			line = line[n:]
		}
		if indented && isCode(line) {
			s.c.add(cCode, 1)
			s.tech()
			any = true
			continue
		}
		s.line(line)
		if item && s.lastMark == 'a' {
			s.lastMark = '-' // no full stop is left out behind a list's item
		}
		any = true
	}
}

// isCode tells whether an indented line is code rather than prose.
func isCode(line string) bool {
	return strings.ContainsAny(line[len(line)-1:], ";{}") || strings.Contains(line, "()") ||
		strings.Contains(line, " = ") || strings.Contains(line, "=>") || strings.HasPrefix(line, "$ ")
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
var emoticons = []string{
	":-)", ":-(", ";-)", ":-D", ":-P", ":-/", ":)", ":(", ";)", ":D", ":P", ":p", ":/", "=)", "=D", "xD", "XD", "^^",
	"<3", "¯\\_(ツ)_/¯",
}

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
// emoji; 0: t begins with none of these.
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
		k, named := 1, false
		for k < len(t) && k < maxSpan && (isNameByte(t[k]) || t[k] == '+') {
			named = named || t[k] > '9'
			k++
		}
		if named = named || strings.HasPrefix(t, ":+1:") ||
			strings.HasPrefix(t, ":100:"); named && k > 2 && k < len(t) && t[k] == ':' {
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
		if !strings.HasPrefix(t, e) {
			continue
		}
		if next, _ := following(t[len(e):]); e == "<3" && (units[next] || strings.HasPrefix(t[len(e):], "%")) {
			continue // fewer than 3
		}
		if len(t) == len(e) || !isNameByte(t[len(e)]) {
			s.c.add(cEmoticons, 1)
			s.lastMark = ')'
			return len(e)
		}
	}
	return 0
}

var units = text.Set(`days day hours hour minutes minute mins min weeks week months month years year seconds secs sec
	s ms
items item people percent km m cm kg g gb mb kb x times lines files users euros pounds dollars degrees`)

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

// spelling is what the letters of a word look like.
type spelling struct {
	letters, digits int
	upper, inner    int  // capital letters, and those of them that are not the first letter
	capital         bool // the first letter is one
	joined, dotted  bool // a compound; with a mark that only identifiers have inside
	curly           bool // with a typographic apostrophe
}

// shouted reports whether all of its letters are capitals.
func (w *spelling) shouted() bool { return w.upper == w.letters && w.letters > 1 }

// spelling reads the letters of a word, into s.lower as small ones, and returns how long it
// is.
func (s *scanner) spelling(t string) (w spelling, i int) {
	s.lower = s.lower[:0]
	for i < len(t) && w.letters < maxWord {
		r, n := rune(t[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(t[i:])
		}
		switch {
		case (r == '\'' || r == '’' || r == '‘' || r == 'ʼ' || r == '´' || r == '＇' || r == '`' && clitic(t[i+n:])) &&
			letterAt(t, i+n):
			w.curly = w.curly || r == '’' || r == '‘'
			r = '\''
		case unicode.IsLetter(r):
			w.letters++
			if unicode.IsUpper(r) {
				w.upper++
				if w.letters == 1 {
					w.capital = true
				} else {
					w.inner++
				}
				r = unicode.ToLower(r)
			}
		case unicode.IsDigit(r):
			w.digits++
		case unicode.IsMark(r):
		case r == '-' && letterAt(t, i+n):
			w.joined = true
		case r == '_' && letterAt(t, i+n), (r == '.' || r == '/' || r == ':' || r == '\\') &&
			letterAt(t, i+n) && i+n < len(t):
			w.dotted = true
		default:
			goto done
		}
		s.lower = utf8.AppendRune(s.lower, r)
		i += n
	}
done:
	if i < len(t) && t[i] == '(' && i+1 < len(t) && t[i+1] == ')' {
		w.dotted = true
		i += 2
	}
	return w, i
}

// word reads a word, a compound or an identifier.
func (s *scanner) word(t string) int {
	w, i := s.spelling(t)
	c := s.c
	if w.dotted || w.digits > 0 && w.letters > 0 || w.inner > 0 && w.upper < w.letters {
		c.add(cIdentifiers, 1)
		s.tech()
		s.opening(w.capital, false)
		return i
	}
	c.add(cWords, 1)
	c.add(cLetters, float64(w.letters))
	s.words++
	s.inSent++
	if w.letters >= 8 {
		c.add(cLongWords, 1)
	}
	if w.letters <= 3 {
		c.add(cShortWords, 1)
	}
	if w.joined {
		c.add(cHyphenated, 1)
	}
	if w.shouted() {
		c.add(cShouted, 1)
	} else if w.capital && !s.first && !s.afterStop {
		c.add(cCapitalised, 1)
	}
	lower := s.lower
	if written[string(lower)][string(s.prev)] || string(lower) == "cannot" {
		c.add(cWritten, 1)
	}
	if contracted[string(lower)] {
		c.add(cContractions, 1)
	}
	if at := bytes.IndexByte(lower, '\''); at > 0 {
		if contraction(string(lower), at) {
			c.add(cContractions, 1)
		}
		c.add(cApostrophes, 1)
		if w.curly {
			c.add(cCurly, 1)
		}
	}
	known := lexicon[string(lower)]
	cl := s.meant(string(lower), known.classes, w.capital, w.shouted(), t[i:])
	if w.shouted() && abbreviations[string(lower)] {
		known.habits = nil
	}
	s.classes = cl
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
	s.endings(lower, w.letters)
	if s.afterStop && !s.first {
		c.add(cStarts, 1)
		if !w.capital {
			c.add(cStartsLower, 1)
		}
	}
	s.opening(w.capital, true)
	s.afterStop = false
	s.lastMark = 'a'
	s.prev = append(s.prev[:0], lower...)
	return i
}

// clitic tells whether a contraction goes on behind its apostrophe.
func clitic(t string) bool {
	end := 0
	for end < len(t) && letterAt(t, end) {
		end++
	}
	switch strings.ToLower(t[:end]) {
	case "t", "s", "re", "ve", "ll", "d", "m":
		return true
	}
	return false
}

// contraction tells whether a word with an apostrophe at a place is a contraction, and
// not a name or whose something is.
func contraction(w string, at int) bool {
	if strings.HasSuffix(w, "n't") || w == "y'all" || w == "c'mon" || w == "ma'am" {
		return true
	}
	return pronouns[w[:at]] && (w[at:] == "'s" || clitics[w[at:]])
}

// meant leaves out the classes that a word has elsewhere, but not here; rest is what
// follows it.
func (s *scanner) meant(w string, cl classSet, capital, shouted bool, rest string) classSet {
	next, mark := following(rest)
	if shouted && abbreviations[w] || capital && w == "may" {
		return 0 // the US, IT, and the month
	}
	switch {
	case cl.has(greeting):
		if !s.first || next == "world" || next == "from" && w == "greetings" {
			cl &^= 1 << greeting
		}
	case !s.first:
	case w == "morning" && (mark != 0 || everyone[next]),
		w == "good" && (next == "morning" || next == "evening" || next == "afternoon" || next == "day"),
		(w == "evening" || w == "afternoon") && (mark == '!' || mark == ',' || everyone[next]),
		w == "dear" && next != "" && mark == 0 && next != "me" && next != "god" && next != "lord" && next != "oh":
		cl |= 1 << greeting
	}
	switch {
	case cl.has(thanks) && (next == "to" && !strings.HasPrefix(strings.TrimLeft(rest, " "), "to you") &&
		!strings.HasPrefix(strings.TrimLeft(rest, " "), "to all") ||
		next == "god" || next == "goodness" || w == "cheers" && !s.first && next == "for"):
		cl &^= 1 << thanks // thanks to the pump
	case (w == "kind" || w == "sort") && (next != "of" || kinds[string(s.prev)]):
		cl &^= 1 << hedge
	case thinking[w] && !mine[string(s.prev)]:
		cl &^= 1 << hedge
	case w == "so" && (s.first || s.afterStop || next == "" || mark != 0 || plainWords[next] ||
		lexicon[next].classes.has(self, group, third, other, article, demonstrative, conjunction, preposition)):
		cl &^= 1 << booster // so we left
	}
	return cl
}

var (
	everyone   = text.Set(`all everyone everybody team folks guys both there y'all`)
	kinds      = text.Set(`a the this that what which some any every each one another same of no only`)
	plainWords = text.Set(`far long if that as please let is are can do did will would could should on he she they`)
)

// following is the next word, in lower case, and the mark before it; '!' at the end.
func following(t string) (word string, mark byte) {
	i := 0
	for i < len(t) && (t[i] == ' ' || t[i] == '\t') {
		i++
	}
	if i == len(t) {
		return "", '!'
	}
	end := i
	for end < len(t) && end < i+maxWord && (t[end]|0x20 >= 'a' && t[end]|0x20 <= 'z' || t[end] == '\'' && end > i) {
		end++
	}
	if end == i && t[i] < utf8.RuneSelf {
		return "", t[i]
	}
	return strings.ToLower(t[i:end]), 0
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
	if !plain { // a name of code is written as it is
		return
	}
	c := s.c
	if !capital {
		c.add(cOpensLower, 1)
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
		case (c == '.' || c == ',' || c == ':' || c == '/' || c == '-' || c == '_') && i+1 < len(t) &&
			t[i+1] >= '0' && t[i+1] <= '9':
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
