package typing

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// Text is a stretch of a text in tokens, as the tagger reads it.
type Text struct {
	Model  *tagger.Model
	Text   string
	Tokens []tagger.Token
	Lows   []string // the tokens in lower case
}

// Word is a token as it is written.
func (t *Text) Word(i int) string { return t.Text[t.Tokens[i].Start:t.Tokens[i].End] }

// Clues appends what is seen of the name in the tokens [from, to): first what of the name itself, then what of the
// words beside it. own is where the second part begins.
func (t *Text) Clues(dst []Clue, from, to int) (all []Clue, own int) {
	dst = t.lexical(append(dst, always), from, to)
	dst = t.spelling(dst, from, to)
	dst = t.heads(dst, from, to)
	own = len(dst)
	return t.beside(dst, from, to), own
}

// lexical adds what the lexicon knows of the whole name, and of the first and last word of a longer one.
func (t *Text) lexical(dst []Clue, from, to int) []Clue {
	name := t.Text[t.Tokens[from].Start:t.Tokens[to-1].End]
	if strings.ContainsAny(name, "\t\n\r") {
		name = strings.Join(strings.Fields(name), " ")
	}
	whole, _ := t.Model.Find(name)
	if to-from > 1 {
		if whole.Class != 0 {
			dst = known(dst, phrase, whole.Class)
		}
		first, _ := t.Model.Find(t.Word(from))
		last, _ := t.Model.Find(t.Word(to - 1))
		return known(known(dst, firstOf, first.Class), lastOf, last.Class)
	}
	if whole.Class == 0 { // a possessive, a plural: "the Okafors"
		if w, ok := strings.CutSuffix(t.Lows[from], "s"); ok {
			if e, _ := t.Model.Find(w); e.Class&(tagger.FirstName|tagger.LastName) != 0 && e.Class&tagger.Common == 0 {
				dst = append(dst, family)
			}
		}
	}
	dst = known(dst, single, whole.Class)
	const names = tagger.FirstName | tagger.LastName | tagger.PlaceName | tagger.OrgName | tagger.BrandName | tagger.Common
	if c, ok := only[whole.Class&names]; ok {
		dst = append(dst, c)
	}
	return dst
}

// only are the clues of words of which the lexicon knows one thing.
var only = map[tagger.Class]Clue{
	tagger.FirstName: onlyFirst, tagger.LastName: onlyLast, tagger.FirstName | tagger.LastName: onlyPerson,
	tagger.PlaceName: onlyPlace, tagger.OrgName: onlyOrg, tagger.BrandName: onlyBrand, tagger.Common: onlyCommon,
}

// known adds what the lexicon knows of a word; base is the first of its clues.
func known(dst []Clue, base Clue, c tagger.Class) []Clue {
	for k, bit := range [...]tagger.Class{
		tagger.FirstName, tagger.LastName, tagger.PlaceName, tagger.OrgName, tagger.BrandName, tagger.Common, tagger.Proper,
	} {
		if c&bit != 0 {
			dst = append(dst, base+Clue(k))
		}
	}
	k := Clue(lexUnknown)
	switch c.Part() {
	case tagger.Noun, tagger.Plural:
		k = lexNoun
	case tagger.Verb, tagger.Past, tagger.Gerund:
		k = lexVerb
	case tagger.Adjective, tagger.Adverb:
		k = lexAdjective
	case tagger.Demonym:
		k = lexDemonym
	case tagger.Actor, tagger.Honorific:
		k = lexRole
	default:
		if c != 0 {
			return dst
		}
	}
	return append(dst, base+k)
}

// spelling adds how a name is written.
func (t *Text) spelling(dst []Clue, from, to int) []Clue {
	switch to - from {
	case 1:
		dst = append(dst, oneWord)
	case 2:
		dst = append(dst, twoWords)
	case 3:
		dst = append(dst, threeWords)
	default:
		dst = append(dst, longName)
	}
	name := t.Text[t.Tokens[from].Start:t.Tokens[to-1].End]
	lower, upper, digits, foreign, hump, initial := 0, 0, 0, false, false, false
	var last rune
	for _, c := range name {
		switch {
		case unicode.IsUpper(c):
			upper++
			hump = hump || unicode.IsLower(last)
		case unicode.IsLower(c):
			lower++
		case unicode.IsDigit(c):
			digits++
		}
		foreign = foreign || c >= utf8.RuneSelf && unicode.IsLetter(c)
		last = c
	}
	for i := from; i < to; i++ {
		w := t.Word(i)
		initial = initial || len(w) == 2 && w[1] == '.' && w[0] >= 'A' && w[0] <= 'Z'
	}
	for _, x := range [...]struct {
		is   bool
		clue Clue
	}{
		{upper > 1 && lower == 0 && len(name) <= 5 && digits == 0, acronym},
		{upper > 5 && lower == 0, shouted},
		{hump, camel},
		{upper == 0 && lower > 0, small},
		{digits > 0, digit},
		{unicode.IsDigit(last), numberLast},
		{foreign, letters},
		{initial, initials},
		{strings.Contains(name, "-"), hyphen},
		{strings.ContainsAny(name, "&+"), ampersand},
		{strings.Contains(name, " and "), joined},
		{strings.ContainsAny(name, "'’"), apostrophe},
	} {
		if x.is {
			dst = append(dst, x.clue)
		}
	}
	w := t.Lows[to-1]
	for _, e := range endings {
		for _, end := range e.words {
			if len(w) > len(end)+2 && strings.HasSuffix(w, end) {
				dst = append(dst, e.clue)
				break
			}
		}
	}
	return dst
}

// linking words stand inside of names, behind what is named.
var linking = text.Set(`of the for in de du des da do dos das del della di la le les von van der den al el y e i og och
	und`)

// heads adds the words of a name that say what it is.
func (t *Text) heads(dst []Clue, from, to int) []Clue {
	if to-from < 2 {
		if i := strings.LastIndexByte(t.Lows[from], '-'); i > 0 { // "N-API"
			if k, ok := kinds[t.Lows[from][i+1:]]; ok {
				dst = append(dst, head0+Clue(k))
			}
		}
		return dst
	}
	head := to - 1
	for i := from + 1; i < to; i++ {
		if linking[t.Lows[i]] {
			head = i - 1
			dst = append(dst, linked)
			break
		}
	}
	if k := t.Tokens[head].Kind; k == tagger.Number && head > from {
		head--
	}
	w := strings.TrimSuffix(t.Lows[head], ".")
	first := strings.TrimSuffix(t.Lows[from], ".")
	switch k, ok := kinds[w]; {
	case firms[w]:
		return append(dst, firm)
	case head == from && ok:
		return append(dst, leads+Clue(k))
	case ok:
		return append(dst, head0+Clue(k))
	}
	if k, ok := kinds[first]; ok {
		return append(dst, leads+Clue(k))
	}
	if roles[first] {
		dst = append(dst, leads+person)
	}
	return dst
}

// beside adds what stands before and behind a name.
func (t *Text) beside(dst []Clue, from, to int) []Clue {
	switch {
	case from == 0 || t.Tokens[from].First:
		dst = append(dst, begins)
	case t.Tokens[from-1].Kind == tagger.Mark:
		dst = append(dst, t.mark(from-1, afterComma))
	default:
		dst = t.before(dst, from-1)
	}
	switch {
	case to == len(t.Tokens) || t.Tokens[to].First:
		return append(dst, ends)
	case t.Tokens[to].Kind == tagger.Mark && t.Lows[to] != "&":
		return t.apposition(append(dst, t.mark(to, beforeComma)), to)
	}
	w := t.Lows[to]
	if c, ok := behind[w]; ok {
		return t.apposition(append(dst, c), to)
	}
	if k, ok := kinds[w]; ok {
		return append(dst, behindKind+Clue(k))
	}
	return append(dst, beforeOther)
}

// before adds what the word before a name tells.
func (t *Text) before(dst []Clue, i int) []Clue {
	w := strings.TrimSuffix(t.Lows[i], ".")
	c, ok := before[w]
	k, kind := kinds[w]
	called, is := t.called(i)
	switch {
	case is:
		return append(dst, beforeKind+Clue(called))
	case roles[w] || t.role(i):
		dst = append(dst, beforeKind+person)
	case kind:
		dst = append(dst, beforeKind+Clue(k))
	case ok:
		dst = append(dst, c)
	default:
		dst = append(dst, afterOther)
	}
	if ok && (c == afterThe || c == afterA || c == afterOwn) && i > 0 && !t.Tokens[i].First {
		if c, ok := before[t.Lows[i-1]]; ok && c <= afterVia {
			dst = append(dst, theAfter+c-afterIn)
		}
	}
	return dst
}

// called is what the name behind the word at i is, as in "a game called Moths" and "the game was called Moths".
func (t *Text) called(i int) (k uint8, ok bool) {
	if !naming[t.Lows[i]] {
		return 0, false
	}
	if i--; i > 0 && (t.Lows[i] == "is" || t.Lows[i] == "was") {
		i--
	}
	if i < 0 {
		return 0, false
	}
	k, ok = kinds[t.Lows[i]]
	return k, ok
}

// apposition adds what stands behind the word at i and an article: "Aurora, the ferry", "Aurora is a ferry".
func (t *Text) apposition(dst []Clue, i int) []Clue {
	if i+2 >= len(t.Tokens) {
		return dst
	}
	switch t.Lows[i] {
	case ",", "(", "is", "was", "'s":
	default:
		return dst
	}
	switch t.Lows[i+1] {
	case "the", "a", "an", "our":
		if k, ok := kinds[t.Lows[i+2]]; ok {
			dst = append(dst, apposed+Clue(k))
		}
	}
	return dst
}

// role tells whether a word is what a person is.
func (t *Text) role(i int) bool {
	e, _ := t.Model.Find(strings.TrimSuffix(t.Lows[i], "."))
	return e.Class.Part() == tagger.Actor || e.Class.Part() == tagger.Honorific
}

// mark is the clue of a mark beside a name; base is that of the comma.
func (t *Text) mark(i int, base Clue) Clue {
	switch t.Word(i) {
	case ",", ";":
		return base
	case ":":
		return base + 1
	case "(", ")", "[", "]":
		return base + 2
	case `"`, "“", "”", "'", "‘", "’", "«", "»":
		return base + 3
	case "&", "/", "+":
		return base + 4
	default:
		return base + 5
	}
}
