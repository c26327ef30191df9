// Package doubt tells what speaks against a name: its words are those of the dictionary, nobody is written so, or it
// stands at the head of a sentence where anything has a capital.
//
// # Promises
//
//   - Pure functions of the words: no I/O, no clock.
package doubt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/extract/typing"
	"orgmem/brain/text"
)

const (
	// called are what the lexicon says of words by which somebody or something is called.
	called = tagger.FirstName | tagger.LastName | tagger.PlaceName | tagger.OrgName | tagger.BrandName
	// leastShouted is how many capitals an abbreviation has at least that no person is called by.
	leastShouted = 3
	// leastLeading is how likely the likeliest type must be at least of a word of the dictionary that begins a sentence
	// as such words do, and leastPhrase that of several such words that only the rules take for a name.
	leastLeading = 0.9
	leastPhrase  = 0.34
)

// Common tells whether all words of the name in the tokens [from, to) are such that nothing is called by them.
func Common(t *typing.Text, from, to int) bool {
	for i := from; i < to; i++ {
		if e, _ := t.Model.Find(t.Word(i)); e.Class&tagger.Common == 0 && e.Class.Part() == 0 || e.Class&called != 0 {
			return false
		}
	}
	return true
}

// Inhuman tells whether no person is written like the name in the tokens [from, to): with digits or signs, as an
// abbreviation beside small letters ("N-API"), or as a word in small letters, where sentences begin with a capital,
// that is nobody's name.
func Inhuman(t *typing.Text, from, to int) bool {
	begun, small := style(t, from)
	for i := from; i < to; i++ {
		w := t.Word(i)
		if strings.IndexFunc(w, func(c rune) bool { return unicode.IsDigit(c) || strings.ContainsRune("+_#%", c) }) >= 0 {
			return true
		}
		last := w[strings.LastIndexByte(w, '-')+1:]
		if e, _ := t.Model.Find(last); small && utf8.RuneCountInString(last) >= leastShouted && shouted(last) &&
			e.Class&(tagger.FirstName|tagger.LastName) == 0 {
			return true
		}
	}
	if to-from > 1 || t.Word(from) != t.Lows[from] || !begun {
		return false
	}
	e, _ := t.Model.Find(t.Word(from))
	return e.Class&(tagger.FirstName|tagger.LastName) == 0
}

// style tells how the sentence around token i is written: begun, with a capital at its head, which is not token i, and
// with words in small letters in it.
func style(t *typing.Text, i int) (begun, small bool) {
	head := i
	for head > 0 && !t.Tokens[head].First {
		head--
	}
	for k := head; k < len(t.Tokens) && (k == head || !t.Tokens[k].First); k++ {
		if t.Tokens[k].Kind != tagger.Word {
			continue
		}
		if c, _ := utf8.DecodeRuneInString(t.Word(k)); !small && !begun && k != i {
			begun = unicode.IsUpper(c)
		}
		small = small || t.Word(k) == t.Lows[k] && len(t.Lows[k]) > 1
	}
	return begun, small
}

// shouted tells whether a text has capitals and no small letters.
func shouted(s string) bool { return strings.ToUpper(s) == s && strings.ToLower(s) != s }

// begins tells whether token i begins a sentence, or a line behind the mark of a list or a heading.
func begins(t *typing.Text, i int) bool {
	for i > 0 && !t.Tokens[i].First && t.Tokens[i-1].Kind == tagger.Mark {
		i--
	}
	return t.Tokens[i].First
}

// Lead is how many words before a name have their capital for the head of the sentence at which they stand: "Allocating
// C++", "Ex GitHub".
func Lead(t *typing.Text, from, to int) int {
	if to-from < 2 || !begins(t, from) {
		return 0
	}
	e, _ := t.Model.Find(t.Word(from))
	next, _ := t.Model.Find(t.Word(from + 1))
	if e.Class&called == 0 && (strings.HasSuffix(t.Lows[from], "ing") || t.Lows[from] == "ex") &&
		next.Class&tagger.Common == 0 {
		return 1
	}
	return 0
}

// Leading tells whether the word at the head of a sentence begins it as words of the dictionary do: a plural or what
// somebody does ("Pets have a way", "Gaming has brought me"), or what is said of the noun behind it ("Deep dive").
func Leading(t *typing.Text, i int) bool {
	e, _ := t.Model.Find(t.Word(i))
	switch e.Class.Part() {
	case tagger.Plural, tagger.Gerund:
		return true
	case tagger.Adjective:
		return i+1 < len(t.Tokens) && t.Tokens[i+1].Kind == tagger.Word && t.Word(i+1) == t.Lows[i+1]
	default:
		return strings.HasSuffix(t.Lows[i], "ing") && len(t.Lows[i]) > len("thing")
	}
}

// None tells whether a name is none: what it is does not get clear, and it is made of words of the dictionary that
// nothing is called by, without quotation marks. likely is how likely its likeliest type is.
func None(t *typing.Text, from, to int, likely float64) bool {
	switch {
	case from > 0 && quotes[t.Word(from-1)] || !Common(t, from, to):
		return false
	case to-from == 1:
		return begins(t, from) && Leading(t, from) && likely < leastLeading
	}
	return likely < leastPhrase
}

// Accounts are the sentences of a text that name an account, such as the lists of those present.
func Accounts(t *typing.Text) (all []text.Span) {
	for i := 0; i < len(t.Tokens); {
		to, has := i, false
		for ; to < len(t.Tokens) && (to == i || !t.Tokens[to].First); to++ {
			has = has || t.Tokens[to].Kind == tagger.Handle || t.Tokens[to].Kind == tagger.Hashtag
		}
		if has {
			all = append(all, text.Span{Start: t.Tokens[i].Start, End: t.Tokens[to-1].End})
		}
		i = to
	}
	return all
}

// Month tells whether a word is that of a month or of a day, by which people are seldom called.
func Month(w string) bool { return months[w] }

// Broken is where the name in the tokens [from, to) ends since a verb in small letters goes on ("Lena joined Streams"),
// else to.
func Broken(t *typing.Text, from, to int) int {
	for i := from + 1; i < to-1; i++ {
		if t.Word(i) != t.Lows[i] || t.Tokens[i].Kind != tagger.Word {
			continue
		}
		e, _ := t.Model.Find(t.Word(i))
		if part := e.Class.Part(); part == tagger.Verb || part == tagger.Past || strings.HasSuffix(t.Word(i), "ed") {
			return i
		}
	}
	return to
}
