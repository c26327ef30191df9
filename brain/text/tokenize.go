package text

import (
	"unicode"
	"unicode/utf8"
)

// tokenKind says what a token is made of and so how it becomes terms.
type tokenKind uint8

const (
	tokWord    tokenKind = iota // letters of one alphabet
	tokExact                    // with digits, or an identifier as a whole: taken as it stands
	tokUnigram                  // one character of a script without spaces
	tokBigram                   // two of them
)

// role says how a token counts.
type role uint8

const (
	roleWord    role = iota // counts for the length of the passage
	roleWhole               // a compound as a whole, beside its parts
	rolePart                // a piece of a word (camel case, digits beside letters)
	roleUnigram             // a single Han character: for queries of one character
	roleEdge                // of a question: a character of a word and one of a function word that clings to it
	roleStop                // of a question: belongs to a function word of a language without spaces
	roleSound               // Katakana or Hangul, for how it sounds
)

// token is a unit in its lower-case form, which lies in scanner.buf.
type token struct {
	start, end int32
	kind       tokenKind
	role       role
	script     script
	// inName: a part of a URL, e-mail, path or host, which says nothing about
	// the language: "com" is Portuguese for "with".
	inName bool
	// capital: it begins with one.
	capital bool
}

// Bounds of the tokenizer. Beyond them a text is a blob rather than language,
// and more terms would only cost memory.
const (
	// maxCompound is the longest run of joined words that is looked at as one
	// (a long URL); what follows is the next one.
	maxCompound = 256
	// maxWord is the longest word; a longer run of letters is cut.
	maxWord = 128
	// maxPieces is how often letters and digits may alternate, or case change,
	// in a word that is still taken apart: more is base64.
	maxPieces = 6
)

// joiner levels, from the loosest to the tightest.
const (
	joinNone  = iota
	joinPath  // / \ @ : ? = & # + % ~: URLs, e-mails, paths
	joinDot   // . : hosts, files, versions
	joinDash  // - _ : identifiers, compounds
	joinQuote // ' : elisions, possessives
)

// byteClass of ASCII.
type byteClass uint8

const (
	bSep byteClass = iota
	bLower
	bUpper
	bDigit
	bJoin
)

var classes = func() (t [128]byteClass) {
	for c := range t {
		switch {
		case c >= 'a' && c <= 'z':
			t[c] = bLower
		case c >= 'A' && c <= 'Z':
			t[c] = bUpper
		case c >= '0' && c <= '9':
			t[c] = bDigit
		}
	}
	for _, c := range []byte(`/\@:?=&#+%~.-_'`) {
		t[c] = bJoin
	}
	return t
}()

func joinLevel(r rune) int {
	switch r {
	case '/', '\\', '@', ':', '?', '=', '&', '#', '+', '%', '~':
		return joinPath
	case '.':
		return joinDot
	case '-', '_', 0x2010, 0x2011:
		return joinDash
	case '\'', 0x2019, 0x2BC:
		return joinQuote
	}
	return joinNone
}

// unit is a stretch of letters and digits inside a compound.
type unit struct {
	start, end int // in the scanned text
	script     script
	digits     bool // has a digit
	letters    bool // has a letter
	cased      bool // has a capital after its first letter
	join       int  // level of the joiner before it (joinNone for the first)
}

// scanner cuts a normalised text into tokens.
type scanner struct {
	buf    []byte
	tokens []token
	units  []unit
	starts []int // cluster borders of a spaceless run
	asked  bool  // the text is a question: function words of languages without spaces are told apart
}

func (s *scanner) reset() {
	s.buf, s.tokens = s.buf[:0], s.tokens[:0]
}

// scan appends the tokens of t, which is normalised.
func (s *scanner) scan(t string) {
	i := 0
	for i < len(t) {
		// The first character of a word.
		if c := t[i]; c < utf8.RuneSelf {
			if k := classes[c]; k == bSep || k == bJoin {
				i++
				continue
			}
		} else if r, n := utf8.DecodeRuneInString(t[i:]); true {
			sc := scriptOf(r)
			if sc == scriptNone || sc == scriptMark {
				i += n
				continue
			}
			if sc.spaceless() {
				i = s.spaceless(t, i)
				continue
			}
		}
		i = s.compound(t, i)
	}
}

// compound reads words joined by single joiners and emits their tokens; it
// returns where it stopped, always beyond i.
func (s *scanner) compound(t string, i int) int {
	s.units = s.units[:0]
	from, join := i, joinNone
	for {
		u := unit{start: i, join: join}
		i = readUnit(t, i, &u)
		s.units = append(s.units, u)
		if i-from >= maxCompound || i >= len(t) {
			break
		}
		next, level := joined(t, i, u)
		if level == joinNone {
			break
		}
		i, join = next, level
	}
	if len(s.units) == 1 && !s.units[0].cased && !(s.units[0].digits && s.units[0].letters) {
		u := s.units[0]
		end := u.end
		role, kind := roleWord, tokWord
		if u.digits {
			kind = tokExact
		} else if n := sharpOrPlus(t[end:]); n > 0 && end-u.start == 1 && !wordAt(t, end+n) {
			s.emit(t[u.start:end+n], tokExact, roleWhole, u.script)
		}
		s.emit(t[u.start:u.end], kind, role, u.script)
		return i
	}
	before := len(s.tokens)
	s.compoundTokens(t, s.units, joinPath)
	if hasJoin(s.units, joinPath) || hasJoin(s.units, joinDot) {
		for k := range s.tokens[before:] {
			s.tokens[before+k].inName = true
		}
	}
	return i
}

// sharpOrPlus is the length of the tail in C#, F# and C++.
func sharpOrPlus(rest string) int {
	switch {
	case len(rest) > 0 && rest[0] == '#':
		return 1
	case len(rest) > 1 && rest[0] == '+' && rest[1] == '+':
		return 2
	}
	return 0
}

// readUnit reads letters, digits and marks of one kind of script from i on.
func readUnit(t string, i int, u *unit) int {
	for i < len(t) && i-u.start < maxWord {
		c := t[i]
		if c < utf8.RuneSelf {
			switch classes[c] {
			case bLower:
				u.letters = true
			case bUpper:
				if i > u.start {
					u.cased = true
				}
				u.letters = true
			case bDigit:
				u.digits = true
			default:
				u.end = i
				return i
			}
			if u.script == scriptNone || u.script == scriptDigit {
				u.script = scriptDigit
				if u.letters {
					u.script = scriptLatin
				}
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(t[i:])
		sc := scriptOf(r)
		if invisible(r) { // invisible or decorative inside words
			i += n
			continue
		}
		if sc == scriptNone || sc.spaceless() {
			break
		}
		switch sc {
		case scriptMark:
		case scriptDigit:
			u.digits = true
			if u.script == scriptNone {
				u.script = scriptDigit
			}
		default:
			u.letters = true
			if u.script == scriptNone || u.script == scriptDigit {
				u.script = sc
			} else if u.script != sc {
				u.script = scriptOther // mixed alphabets: take it as it stands
			}
		}
		i += n
	}
	u.end = i
	return i
}

// wordAt tells whether a letter or digit that a compound can hold stands at i.
func wordAt(t string, i int) bool {
	if i >= len(t) {
		return false
	}
	if c := t[i]; c < utf8.RuneSelf {
		k := classes[c]
		return k != bSep && k != bJoin
	}
	r, _ := utf8.DecodeRuneInString(t[i:])
	sc := scriptOf(r)
	return sc != scriptNone && sc != scriptMark && !sc.spaceless()
}

// joined looks at what follows a unit: where the next begins and how tightly it
// is joined, or joinNone.
func joined(t string, i int, u unit) (int, int) {
	r, n := utf8.DecodeRuneInString(t[i:])
	if r == ',' { // 1,000,000
		if u.digits && !u.letters && thousands(t, i+1) {
			return i + 1, joinQuote
		}
		return i, joinNone
	}
	level := joinLevel(r)
	if level == joinNone {
		return i, joinNone
	}
	if wordAt(t, i+n) {
		return i + n, level
	}
	rest := t[i:]
	for _, long := range [...]string{"://", "::", "->"} {
		if len(rest) > len(long) && rest[:len(long)] == long && wordAt(t, i+len(long)) {
			return i + len(long), joinPath
		}
	}
	return i, joinNone
}

// thousands tells whether exactly three digits stand at i.
func thousands(t string, i int) bool {
	for k := range 3 {
		if i+k >= len(t) || t[i+k] < '0' || t[i+k] > '9' {
			return false
		}
	}
	return i+3 >= len(t) || t[i+3] < '0' || t[i+3] > '9'
}

// emit appends a token for the text w.
func (s *scanner) emit(w string, k tokenKind, r role, sc script) {
	start := len(s.buf)
	s.buf = appendLower(s.buf, w)
	if len(s.buf) == start {
		return // nothing but marks
	}
	first, _ := utf8.DecodeRuneInString(w)
	s.tokens = append(s.tokens, token{
		start: int32(start), end: int32(len(s.buf)), kind: k, role: r, script: sc, capital: unicode.IsUpper(first),
	})
}

// compoundTokens emits the tokens of units that are joined at the given level
// or tighter: the whole, if that is a name that people look for, and the parts.
func (s *scanner) compoundTokens(t string, us []unit, level int) {
	if len(us) == 1 {
		s.single(t, us[0])
		return
	}
	switch level {
	case joinPath:
		if hasJoin(us, joinPath) {
			if first := t[us[0].start:us[0].end]; len(us) > 2 && (equalFold(first, "https") || equalFold(first, "http")) &&
				t[us[0].end] == ':' {
				us = us[1:] // the scheme is no part of the name, nor worth a term
				s.compoundTokens(t, us, level)
				return
			}
			if !plainPair(us) {
				s.emit(t[us[0].start:us[len(us)-1].end], tokExact, roleWhole, scriptLatin)
			}
		}
	case joinDot:
		if numeric(t, us) {
			s.version(t, us)
			return
		}
		if hasJoin(us, joinDot) {
			s.emit(t[us[0].start:us[len(us)-1].end], tokExact, roleWhole, scriptLatin)
		}
	case joinDash:
		if hasJoin(us, joinDash) {
			s.concat(t, us)
		}
	case joinQuote:
		s.quoted(t, us)
		return
	}
	begin := 0
	for k := 1; k <= len(us); k++ {
		if k == len(us) || us[k].join == level {
			s.compoundTokens(t, us[begin:k], level+1)
			begin = k
		}
	}
}

func hasJoin(us []unit, level int) bool {
	for _, u := range us[1:] {
		if u.join == level {
			return true
		}
	}
	return false
}

// plainPair is "and/or": two plain words, whose whole nobody looks for.
func plainPair(us []unit) bool {
	return len(us) == 2 && !us[0].digits && !us[1].digits && !us[0].cased && !us[1].cased
}

// numeric tells whether the units, joined by dots, are a number or a version
// (which may begin with a v).
func numeric(t string, us []unit) bool {
	for k, u := range us {
		if k > 0 && us[k].join != joinDot {
			return false
		}
		if u.letters && !(k == 0 && u.digits && len(us) > 1 && isVersionHead(t[u.start:u.end])) {
			return false
		}
	}
	return true
}

// isVersionHead matches v followed by digits.
func isVersionHead(w string) bool {
	if len(w) < 2 || w[0] != 'v' && w[0] != 'V' {
		return false
	}
	for i := 1; i < len(w); i++ {
		if w[i] < '0' || w[i] > '9' {
			return false
		}
	}
	return true
}

// version emits 1.2.3 as a word, and beside it 1.2, and what is long enough to
// be looked for by itself: the year of 12.05.2024.
func (s *scanner) version(t string, us []unit) {
	from := us[0].start
	if us[0].letters {
		from++
	}
	s.emit(t[from:us[len(us)-1].end], tokExact, roleWord, scriptDigit)
	if len(us) > 2 {
		s.emit(t[from:us[1].end], tokExact, rolePart, scriptDigit)
	}
	for _, u := range us {
		if u.end-u.start >= 4 && !u.letters {
			s.emit(t[u.start:u.end], tokExact, rolePart, scriptDigit)
		}
	}
}

// concat emits the units without what joins them, so that INC-4521 is INC4521
// and e-mail is email. Only letters make it an ordinary word, to be stemmed.
func (s *scanner) concat(t string, us []unit) {
	start := len(s.buf)
	kind, sc := tokWord, us[0].script
	for _, u := range us {
		s.buf = appendLower(s.buf, t[u.start:u.end])
		if u.digits {
			kind = tokExact
		}
		if u.script != sc {
			sc = scriptOther
		}
	}
	if len(s.buf)-start > maxWord {
		s.buf = s.buf[:start]
		return
	}
	if kind == tokExact {
		sc = scriptDigit
	}
	s.tokens = append(s.tokens, token{
		start: int32(start), end: int32(len(s.buf)), kind: kind, role: roleWhole, script: sc,
	})
}

// quoted handles don't, Anna's, l'avion and 1,000: what clings to the word by an
// apostrophe is grammar, and a number loses its commas.
func (s *scanner) quoted(t string, us []unit) {
	if us[0].digits && !us[0].letters && t[us[0].end] == ',' {
		start := len(s.buf)
		for _, u := range us {
			s.buf = appendLower(s.buf, t[u.start:u.end])
		}
		s.tokens = append(s.tokens, token{
			start: int32(start), end: int32(len(s.buf)), kind: tokExact, role: roleWord, script: scriptDigit,
		})
		return
	}
	for k, u := range us {
		w := t[u.start:u.end]
		if len(us) > 1 && (len(w) == 1 || k > 0 && (equalFold(w, "ll") || equalFold(w, "re") || equalFold(w, "ve"))) {
			continue
		}
		s.single(t, u)
	}
}

// single emits one unit, and its pieces where case or digits divide it.
func (s *scanner) single(t string, u unit) {
	w := t[u.start:u.end]
	kind := tokWord
	if u.digits {
		kind = tokExact
	}
	if kind == tokExact && isVersionHead(w) {
		s.emit(w, kind, roleWord, u.script)
		s.emit(w[1:], kind, rolePart, scriptDigit)
		return
	}
	s.emit(w, kind, roleWord, u.script)
	if !u.cased && !(u.digits && u.letters) {
		return
	}
	var cuts [maxPieces + 1]int
	n := pieces(w, cuts[:])
	if n < 2 || n > maxPieces {
		return
	}
	for k := range n {
		end := len(w)
		if k+1 < n {
			end = cuts[k+1]
		}
		p := w[cuts[k]:end]
		if len(p) < 2 {
			continue
		}
		if p[0] >= '0' && p[0] <= '9' {
			s.emit(p, tokExact, rolePart, scriptDigit)
		} else {
			s.emit(p, tokWord, rolePart, u.script)
		}
	}
}

// pieces writes where the pieces of w begin: at fooBar, HTTPServer, abc123.
// It stops at one more than fits, so the caller sees that there were too many.
func pieces(w string, cuts []int) int {
	n := 0
	var before, now byteClass
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c >= utf8.RuneSelf {
			now = bLower
		} else {
			now = classes[c]
		}
		cut := i == 0
		switch {
		case cut:
		case (now == bDigit) != (before == bDigit):
			cut = true
		case now == bUpper && before == bLower:
			cut = true
		case now == bLower && before == bUpper && i >= 2 &&
			cuts[n-1] != i-1: //nolint:gosec // cuts[0] is set before the loop: n is at least 1
			cuts[n] = i - 1 // HTTPServer: the last capital begins the next piece
			n++
			if n == len(cuts) {
				return n
			}
		}
		if cut {
			cuts[n] = i
			n++
			if n == len(cuts) {
				return n
			}
		}
		before = now
	}
	return n
}

func equalFold(w, lower string) bool {
	if len(w) != len(lower) {
		return false
	}
	for i := 0; i < len(w); i++ {
		c := w[i]
		if c-'A' < 26 {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// spaceless emits the bigrams of a run of characters of scripts without spaces
// (of Han and kana mixed, as Japanese mixes them), and single characters where
// queries may consist of one. It returns where the run ends.
func (s *scanner) spaceless(t string, i int) int {
	s.starts = s.starts[:0]
	var family script
	first, before := i, len(s.tokens)
	for i < len(t) {
		r, n := utf8.DecodeRuneInString(t[i:])
		sc := scriptNone
		if r >= utf8.RuneSelf {
			sc = scriptOf(r)
		}
		if sc == scriptMark {
			i += n
			continue
		}
		if !sc.spaceless() {
			break
		}
		f := sc
		if f == scriptKana {
			f = scriptHan
		}
		if family != scriptNone && f != family {
			break
		}
		family = f
		s.starts = append(s.starts, i)
		if sc == scriptHan || sc == scriptHangul && i == first {
			s.emit(t[i:i+n], tokUnigram, roleUnigram, sc)
		}
		i += n
	}
	s.soundsOf(t[first:i])
	if len(s.starts) == 1 {
		// A run of one: the word is its only character.
		k := before
		if k < len(s.tokens) && s.tokens[k].role == roleUnigram {
			s.tokens[k].role = roleWord
		} else {
			s.emit(t[s.starts[0]:i], tokUnigram, roleWord, family)
		}
		return i
	}
	var marks []bool
	if s.asked {
		marks = functional(t, s.starts, i)
		s.alone(t, marks, before)
	}
	for k := 0; k+1 < len(s.starts); k++ {
		end := i
		if k+2 < len(s.starts) {
			end = s.starts[k+2]
		}
		role := roleWord
		switch {
		case marks == nil || !marks[k] && !marks[k+1]:
		case marks[k] && marks[k+1]:
			role = roleStop
		default:
			role = roleEdge
		}
		s.emit(t[s.starts[k]:end], tokBigram, role, family)
	}
	return i
}

// alone makes words of single Han characters between function words: 鍵 in 鍵はどこ. They are among the tokens from a
// place on.
func (s *scanner) alone(t string, marks []bool, from int) {
	next := from
	for k, marked := range marks {
		r, _ := utf8.DecodeRuneInString(t[s.starts[k]:])
		if scriptOf(r) != scriptHan || next >= len(s.tokens) {
			continue
		}
		if !marked && (k == 0 || marks[k-1]) && (k+1 == len(marks) || marks[k+1]) {
			s.tokens[next].role = roleWord
		}
		next++
	}
}

// soundsOf emits the stretches of a run that may be names of other languages, for how they sound: Katakana, and Hangul
// without a particle.
func (s *scanner) soundsOf(run string) {
	from := -1
	for i, r := range run {
		switch katakana := r >= firstKatakana && r <= lastKatakana || r == 0x30FC; {
		case katakana && from < 0:
			from = i
		case !katakana && from >= 0:
			s.sound(run[from:i], scriptKana)
			from = -1
		}
	}
	if from >= 0 {
		s.sound(run[from:], scriptKana)
	}
	if r, _ := utf8.DecodeRuneInString(run); r >= firstHangul && r <= lastHangul {
		s.sound(withoutParticle(run), scriptHangul)
	}
}

func (s *scanner) sound(w string, sc script) {
	if len(w) <= longestSounded {
		s.emit(w, tokUnigram, roleSound, sc)
	}
}
