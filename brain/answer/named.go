package answer

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// works are words that stand beside the name of something that people work on: "the orchard project".
var works = text.Set(`app application backend board branch client cluster codebase crate directory folder frontend
	library module package pipeline plugin project projekt projet proyecto progetto projeto repo repository server
	service site team tool website workspace`)

// Holds tells whether a text has a name as a word, or as some words, whatever its case and what parts its words.
func Holds(s, name string) bool { return len(placesOf(s, name, 1)) > 0 }

// Names tells whether a text has a name and means it as one. A name of several words, or with a digit or a mark in it,
// means nothing else. One that is a word, as "walk" is, may stand in a text as that: it is a name where it is written
// with a capital within a sentence, in quotes or marks of code, in a path, or beside what such a thing is called.
func Names(s, name string) bool {
	if parts := wordsOf(name); len(parts) > 1 || strings.ContainsFunc(name, unicode.IsNumber) {
		return Holds(s, name)
	}
	for _, at := range placesOf(s, name, maxPlaces) {
		if meant(s, at) {
			return true
		}
	}
	return false
}

// maxPlaces bounds the places of a name in a text that are looked at.
const maxPlaces = 20

// placesOf are the places where the words of a name stand in a text one after another, at most so many.
func placesOf(s, name string, most int) (places []text.Span) {
	parts := wordsOf(name)
	if len(parts) == 0 {
		return nil
	}
	words := spokenWords(s)
	for i := 0; i+len(parts) <= len(words) && len(places) < most; i++ {
		if slices.EqualFunc(words[i:i+len(parts)], parts, func(w spokenWord, part string) bool { return w.low == part }) {
			places = append(places, text.Span{Start: words[i].Start, End: words[i+len(parts)-1].End})
		}
	}
	return places
}

// meant tells whether a word of a text is meant as a name there.
func meant(s string, at text.Span) bool {
	before, after := s[:at.Start], s[at.End:]
	prev, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	if strings.ContainsRune("`\"'“‘„«/\\_~", prev) && prev != utf8.RuneError ||
		strings.ContainsRune("`\"”’“»/\\_", next) && next != utf8.RuneError && !contracted(after) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(s[at.Start:at.End])
	if unicode.IsUpper(first) && !begins(before) {
		return true
	}
	for _, beside := range []string{lastWord(before), firstWord(after)} {
		if works[beside] {
			return true
		}
	}
	return false
}

// contracted tells whether what follows a word is the end of it: "walk's".
func contracted(after string) bool {
	r, n := utf8.DecodeRuneInString(after)
	next, _ := utf8.DecodeRuneInString(after[n:])
	return r == '’' && unicode.IsLetter(next)
}

// begins tells whether a sentence, a line or a quotation begins behind what stands before.
func begins(before string) bool {
	before = strings.TrimRight(before, " \t\"“‘„«'*#>-([")
	last, n := utf8.DecodeLastRuneInString(before)
	return n == 0 || strings.ContainsRune(".!?:;…。！？\n", last)
}

func firstWord(s string) string {
	s = strings.TrimLeft(s, " ")
	return strings.ToLower(s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsLetter))])
}

func lastWord(s string) string {
	s = strings.TrimRight(s, " ")
	return strings.ToLower(s[len(strings.TrimRightFunc(s, unicode.IsLetter)):])
}
