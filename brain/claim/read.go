package claim

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"orgmem/brain/text"
	"orgmem/brain/text/undress"
)

const (
	// maxWords bounds the words of a sentence that are read. A sentence of more is
	// a table or a listing, which states nothing that could be denied.
	maxWords = 120
	// maxCached bounds the memory of words and their stems, as in brain/text.
	maxCached = 1 << 14
	// maxStemBytes keeps blobs from the stemmer.
	maxStemBytes = 32
)

// Reader takes texts apart. The zero value is ready to use. It caches words, so
// it is for one goroutine at a time; keep one per worker.
type Reader struct {
	cache map[string]lexeme
	lower []byte
}

// lexeme is what is known of a word by its form alone.
type lexeme struct {
	form, stem string
	kind       Kind
}

// Read gives the statements of a text in order.
func (r *Reader) Read(src Source) []Claim {
	var claims []Claim
	written := undress.Of(src.Text)
	src.Text = written.Plain
	s := src.Text
	marked := markedIn(s)
	for sp := range text.Sentences(s) {
		if len(claims) == maxClaims {
			break
		}
		c := Claim{Span: sp, Words: r.words(s, sp)}
		if len(c.Words) == 0 {
			continue
		}
		marked.mark(c.Words)
		c.Shows, c.Points = shows(c.Words), points(c.Words, s) || text.OnRoll(s[sp.Start:sp.End])
		c.Asks = strings.HasSuffix(strings.TrimRight(withoutMarks(s[sp.Start:sp.End]), `"'”’) `), "?")
		label(c.Words, s)
		negate(c.Words, s)
		if c.Orders = !c.Asks && orders(c.Words, s); !c.Asks && !c.Orders {
			c.Fact = r.fact(&src, &c)
		}
		claims = append(claims, c)
	}
	if src.Title != "" {
		forgetTurns(claims, s)
	}
	if written.Disguised() {
		for i := range claims {
			claims[i].asWritten(&written)
		}
	}
	return claims
}

// asWritten gives what was read in the plain letters of a text the places and the words that it has in the text. The
// forms and stems stay plain, so that what is disguised is set against what is not.
func (c *Claim) asWritten(u *undress.Text) {
	if f := &c.Fact; f.Key != 0 {
		value := int(f.Words[0].Start)
		quote := func(part string, from, to int) string {
			if i := strings.Index(u.Plain[from:to], part); i >= 0 {
				at := u.Span(text.Span{Start: from + i, End: from + i + len(part)})
				return u.Written[at.Start:at.End]
			}
			return part // of the title, or who speaks
		}
		f.Subject, f.Attribute = quote(f.Subject, c.Span.Start, value), quote(f.Attribute, c.Span.Start, value)
		f.Value = quote(f.Value, value, c.Span.End)
	}
	c.Span = u.Span(c.Span)
	for i := range c.Words {
		w := &c.Words[i]
		at := u.Span(text.Span{Start: int(w.Start), End: int(w.End)})
		w.Start, w.End = int32(at.Start), int32(at.End)
	}
}

// forgetTurns takes the facts "A: V" back where one A stands in front of two sentences:
// then the text is what people say in turns, and A is one of them.
func forgetTurns(claims []Claim, s string) {
	turns, seen := false, map[string]bool{}
	for i := range claims {
		if n := labelled(claims[i].Words, s); n > 0 {
			name := between(s, claims[i].Words[:n])
			turns = turns || seen[name]
			seen[name] = true
		}
	}
	for i := range claims {
		if c := &claims[i]; turns && header(c.Words, s, c.Span.Start) > 0 {
			c.Fact = Fact{}
		}
	}
}

// words cuts a sentence into words: runs of letters and digits, with the dots,
// colons and commas inside numbers, and the hyphens and underscores of
// identifiers, which hold a digit.
func (r *Reader) words(s string, sp text.Span) []Word {
	words := make([]Word, 0, 1+(sp.End-sp.Start)/6)
	for i := sp.Start; i < sp.End && len(words) < maxWords; {
		c, n := utf8.DecodeRuneInString(s[i:])
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			i += max(n, mark(s[i:sp.End]))
			continue
		}
		end := wordEnd(s[:sp.End], i)
		word := s[i:end]
		if base, ok := contracted(word); ok { // isn't, can't, won't
			if base > 0 {
				words = append(words, r.word(s, i, i+base))
			}
			words = append(words, Word{Stem: "not", Form: "not", Kind: Negation, Start: int32(i + base), End: int32(end)})
		} else {
			w := r.word(s, i, end)
			if word == "May" && i > sp.Start { // else it is the verb
				w.Kind = Time
			}
			w.Name = w.Kind == Content && isName(word, i == sp.Start)
			words = append(words, w)
		}
		i = end
		if i < sp.End && (s[i] == '\'' || strings.HasPrefix(s[i:], "’")) { // the s of a possessive, the ll of I'll
			for i++; i < sp.End && !isSpace(s[i]) && s[i] != '.' && s[i] != ','; i++ {
			}
		}
	}
	return words
}

// maxMark is the longest mark of a transcript in bytes.
const maxMark = 24

// mark is the length of what a transcript notes of a noise, as {vocalsound}: nobody
// has said it.
func mark(s string) int {
	if s[0] != '{' {
		return 0
	}
	for i := 1; i < min(len(s), maxMark); i++ {
		if s[i] == '}' {
			return i + 1
		}
		if c := s[i] | 0x20; c < 'a' || c > 'z' {
			return 0
		}
	}
	return 0
}

// withoutMarks cuts marks off the end of a sentence.
func withoutMarks(s string) string {
	for {
		s = strings.TrimRight(s, " .\n")
		i := strings.LastIndexByte(s, '{')
		if i < 0 || mark(s[i:]) != len(s)-i {
			return s
		}
		s = s[:i]
	}
}

// label marks the words in front of a colon at the beginning of a line.
func label(words []Word, s string) {
	for i := range words {
		if i == 0 || strings.ContainsRune(s[words[i-1].End:words[i].Start], '\n') {
			for k := range words[i : i+labelled(words[i:], s)] {
				words[i+k].Label = true
			}
		}
	}
}

// labelled is of how many words the label in front of words consists.
func labelled(words []Word, s string) int {
	for i := 0; i+1 < len(words) && i < maxAttributeWords; i++ {
		gap := s[words[i].End:words[i+1].Start]
		if strings.HasPrefix(gap, ": ") {
			return i + 1
		}
		if strings.TrimSpace(gap) != "" {
			break
		}
	}
	return 0
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// contracted tells where the verb of a negated contraction ends.
func contracted(w string) (base int, ok bool) {
	for _, end := range []string{"n't", "n’t", "N'T"} {
		if strings.HasSuffix(w, end) {
			return len(w) - len(end), true
		}
	}
	return 0, false
}

// wordEnd gives the end of the word that begins at i.
func wordEnd(s string, i int) int {
	digits := false
	start := i
	for i < len(s) {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsDigit(c):
			digits = true
		case unicode.IsLetter(c), unicode.Is(unicode.Mn, c):
		case (c == '\'' || c == '’') && i > start && (s[i-1]|0x20) == 'n' && strings.HasPrefix(s[i+n:], "t") &&
			!letterAt(s, i+n+1):
			// n't
		case (c == '.' || c == ',' || c == ':' || c == '/') && digits && digitAt(s, i+1) && s[i-1] >= '0' && s[i-1] <= '9':
		case (c == '-' || c == '_') && (digits || c == '_' || digitAt(s, i+1)) && letterAt(s, i+1): // identifiers
		default:
			return i
		}
		i += n
	}
	return i
}

func digitAt(s string, i int) bool { return i < len(s) && s[i] >= '0' && s[i] <= '9' }

func letterAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	c, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}

// isName tells whether a word is written as a name is. At the start of a
// sentence a capital says nothing.
func isName(w string, first bool) bool {
	upper, digit := 0, false
	for _, c := range w {
		if unicode.IsUpper(c) {
			upper++
		}
		digit = digit || unicode.IsDigit(c)
	}
	c, _ := utf8.DecodeRuneInString(w)
	return upper > 1 || digit && upper > 0 || !first && unicode.IsUpper(c)
}

func (r *Reader) word(s string, start, end int) Word {
	l := r.lexeme(s[start:end])
	return Word{Stem: l.stem, Form: l.form, Kind: l.kind, Start: int32(start), End: int32(end)}
}

func (r *Reader) lexeme(w string) lexeme {
	r.lower = r.lower[:0]
	for _, c := range w {
		r.lower = utf8.AppendRune(r.lower, unicode.ToLower(c))
	}
	if l, ok := r.cache[string(r.lower)]; ok {
		return l
	}
	l := lexemeOf(string(r.lower))
	if r.cache == nil || len(r.cache) >= maxCached {
		r.cache = make(map[string]lexeme, 1024)
	}
	r.cache[l.form] = l
	return l
}

func lexemeOf(form string) lexeme {
	l := lexeme{form: form, stem: form}
	if n, ok := quantity(form); ok {
		l.kind = Number
		l.stem = strconv.FormatFloat(n, 'g', -1, 64)
		return l
	}
	if kind, ok := closed[form]; ok {
		l.kind = kind
		return l
	}
	if form[0] >= '0' && form[0] <= '9' {
		if strings.ContainsAny(form, ":-/") {
			l.kind = Time
		}
		return l
	}
	if len(form) > 2 && len(form) <= maxStemBytes && utf8.ValidString(form) {
		env := snowballstem.NewEnv(form)
		english.Stem(env)
		if stem := env.Current(); stem != "" {
			l.stem = stem
		}
	}
	return l
}

// quantity reads a number in digits or in words.
func quantity(w string) (float64, bool) {
	if n, ok := numerals[w]; ok {
		return n, true
	}
	if w[0] < '0' || w[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(w, ",", ""), 64)
	return n, err == nil
}

// negate marks what the negations of a sentence reach: from the negation to the
// end of its clause.
func negate(words []Word, s string) {
	reach := false
	for i := range words {
		w := &words[i]
		inLink := i > 0 && w.Link != 0 && w.Link == words[i-1].Link
		if i > 0 && !inLink && (breaks[w.Form] || strings.ContainsAny(s[words[i-1].End:w.Start], ",;:()")) {
			reach = false
		}
		if w.Kind == Negation {
			reach = true
			continue
		}
		w.Not = reach
	}
}

// Stem gives what the words of one form share, as [Word.Stem] has it.
func Stem(word string) string { return lexemeOf(strings.ToLower(word)).stem }
