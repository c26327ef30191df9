package resolve

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"orgmem/brain/extract"
	"orgmem/brain/text"
)

// fold takes case, diacritics and marks away: letters and digits in words, single
// spaces between them.
func fold(name string) string { return folded(norm.NFKD.String(name), false) }

// folded is fold of a decomposed name, which may keep its diacritics.
func folded(name string, accents bool) string {
	var b strings.Builder
	gap := false
	for _, c := range name {
		switch {
		case unicode.Is(unicode.Mn, c) && accents && !gap:
			b.WriteRune(c)
		case unicode.Is(unicode.Mn, c) || c == '\'' || c == '’':
			continue
		case unicode.IsLetter(c) || unicode.IsDigit(c) || c == '+' || c == '#' && b.Len() > 0:
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(unicode.ToLower(c))
		default:
			gap = true
		}
	}
	return b.String()
}

var (
	// titles are left out before a person's name.
	titles = text.Set(`mr mrs ms miss dr prof professor sir dame lord lady president senator minister captain colonel
		general
		reverend rev hon`)
	// companies are left out behind an organization's.
	companies = text.Set(`inc incorporated corp corporation ltd limited llc gmbh ag plc co company sa bv oy ab kk pty`)
)

// form is fold without what may be left out at will: an article, titles before a
// person, the company's form behind an organization. At least one word stays.
func form(name string, t extract.Type) string { return formOf(fold(name), t) }

// formOf is form of what is folded.
func formOf(folded string, t extract.Type) string {
	words := strings.Fields(folded)
	for len(words) > 1 && (words[0] == "the" || t == extract.Person && titles[words[0]]) {
		words = words[1:]
	}
	if t == extract.Organization || t == extract.Other || t == extract.Product {
		for len(words) > 1 && companies[words[len(words)-1]] {
			words = words[:len(words)-1]
		}
	}
	return strings.Join(words, " ")
}

// verbatim are the types whose names mean something else when a letter changes.
func verbatim(t extract.Type) bool {
	return t == extract.Code || t == extract.URL || t == extract.Identifier
}
