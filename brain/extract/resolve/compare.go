package resolve

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"orgmem/brain/extract"
)

const (
	// minTypo is how long a name must be before one letter may differ: shorter names
	// have neighbours that are names too.
	minTypo = 8
	// minTypoWord is the same for the word of a person's name that differs.
	minTypoWord = 6
	// minJoined is how long a name must be, without what [joined] leaves out, that may be written in one word or in two.
	minJoined = 4
	// library is the end of a name that says in what language a library is written, and is left out as often.
	library = "js"
	// minAcronym of letters: two are the initials of too much.
	minAcronym = 3
)

// compatible tells whether a thing of type a can be one of type b, given that
// both have the same name of so many words. Types are guesses, and a name of
// several words is seldom shared; but Washington is a person and a place.
func compatible(a, b extract.Type, words int) bool {
	switch {
	case a == b:
		return true
	case verbatim(a) || verbatim(b):
		return false
	case a == extract.Other || b == extract.Other || words > 1:
		return true
	}
	return a != extract.Person && a != extract.Place && b != extract.Person && b != extract.Place
}

// spelled is a name with its forms; accented is its form with the diacritics.
type spelled struct{ name, folded, form, accented string }

func spell(name string, t extract.Type) spelled {
	accented := norm.NFKD.String(name)
	s := spelled{name: name, folded: folded(accented, false)}
	s.form = formOf(s.folded, t)
	s.accented = formOf(folded(accented, true), t)
	return s
}

// namesakes tells whether two names that are equal but for their diacritics are those of two people: René and Rene may
// sit at one table, while somebody of a first and a last name is mostly the same one.
func namesakes(a, b spelled, ta, tb extract.Type) bool {
	return (ta == extract.Person || tb == extract.Person) && a.accented != b.accented && !strings.Contains(a.form, " ")
}

// same says why two names are the same one, if they are by themselves.
func same(a, b spelled, ta, tb extract.Type) (Reason, bool) {
	switch {
	case a.name == b.name:
		return Same, true
	case ta == extract.Code || tb == extract.Code || a.folded == "":
		return "", false
	case namesakes(a, b, ta, tb):
		return "", false
	case a.folded == b.folded:
		return Case, true
	case verbatim(ta) || verbatim(tb):
		return "", false
	case a.form == b.form:
		return Form, true
	case ta != extract.Person && tb != extract.Person && len(joined(a.form)) >= minJoined &&
		joined(a.form) == joined(b.form):
		return Form, true
	}
	return "", false
}

// joined is a form without its spaces but between numbers, and without the end that libraries have: Mac OS and macOS
// are one, and so are Node, Node.js and nodejs.
func joined(form string) string {
	words := strings.Fields(form)
	for i := len(words) - 2; i >= 0; i-- {
		a, b := words[i], words[i+1]
		if strings.Trim(a[len(a)-1:]+b[:1], "0123456789") == "" {
			words[i+1] = " " + b
		}
	}
	whole := strings.Join(words, "")
	if len(whole) < minJoined+len(library) {
		return whole
	}
	return strings.TrimSuffix(whole, library)
}

// initials tells whether one is the other with a first name cut to its initial, J. Lee and Jane Lee, J. R. Lee and Jane
// Rose Lee, or with the last name so, Jane L. Both are forms.
func initials(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) == 2 && len(y) == 2 && x[0] == y[0] && len(x[0]) > 1 && x[1] != y[1] {
		return initialOf(x[1], y[1]) || initialOf(y[1], x[1])
	}
	if len(x) < 2 || len(x) != len(y) || x[len(x)-1] != y[len(y)-1] || len(x[len(x)-1]) < 2 {
		return false
	}
	cut := false
	for i := range len(x) - 1 {
		if x[i] == y[i] {
			continue
		}
		short, long := x[i], y[i]
		if len(short) > len(long) {
			short, long = long, short
		}
		if utf8.RuneCountInString(short) != 1 || !strings.HasPrefix(long, short) {
			return false
		}
		cut = true
	}
	return cut
}

// initialOf tells whether a last name is but the first letter of another: i, v and x may count kings.
func initialOf(letter, name string) bool {
	return len(letter) == 1 && !strings.Contains("ivx", letter) && strings.HasPrefix(name, letter)
}

// abbreviated tells whether a form holds initials.
func abbreviated(form string) bool {
	words := strings.Fields(form)
	return len(words) > 1 && slices.ContainsFunc(words, func(w string) bool { return utf8.RuneCountInString(w) == 1 })
}

// part tells whether a word is the first or last word of a person's name.
func part(word, full string) bool {
	words := strings.Fields(full)
	return len(words) > 1 && !strings.Contains(word, " ") && (words[0] == word || words[len(words)-1] == word)
}

// acronym tells whether short, as it is written, is made of the initials of long;
// small words may be left out.
func acronym(short, long string) bool {
	s := strings.ReplaceAll(short, ".", "")
	if len(s) < minAcronym || len(s) > 8 || strings.ToUpper(s) != s {
		return false
	}
	var all, capitals strings.Builder
	words := strings.FieldsFunc(long, func(c rune) bool { return c == ' ' || c == '-' })
	for _, w := range words {
		c, _ := utf8.DecodeRuneInString(w)
		upper := strings.ToUpper(string(c))
		all.WriteString(upper)
		if upper == string(c) {
			capitals.WriteRune(c)
		}
	}
	return len(words) > 1 && (s == all.String() || s == capitals.String())
}

// typo tells whether two forms of one type are one typing error apart.
func typo(a, b string, t extract.Type) bool {
	if verbatim(t) || a == b || strings.ContainsAny(a+b, "0123456789") || len(a) < minTypo ||
		len(b) < minTypo || a[0] != b[0] {
		return false
	}
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) != len(y) {
		return false
	}
	at := -1
	for i := range x {
		if x[i] != y[i] {
			if at >= 0 {
				return false
			}
			at = i
		}
	}
	if min(len(x[at]), len(y[at])) < minTypoWord {
		return false
	}
	kind := edit(x[at], y[at])
	// Christina and Christine are two people, Germany and Germans two things.
	return kind == moved || kind == dropped && (t != extract.Person || len(x) > 1) ||
		kind == changed && t != extract.Person
}

// How one word becomes another.
type editKind int

const (
	farther editKind = iota
	changed          // one letter, not the first or last
	dropped          // one letter more or less, not the first or last
	moved            // two neighbours exchanged
)

// edit compares words that differ (Damerau 1964).
func edit(a, b string) editKind {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	j := 0
	for j < len(x)-i && x[len(x)-1-j] == y[len(y)-1-j] {
		j++
	}
	restX, restY := len(x)-i-j, len(y)-i-j
	switch {
	case i == 0 || j == 0:
		return farther
	case restX == 0 && restY == 1:
		return dropped
	case restX == 1 && restY == 1:
		return changed
	case restX == 2 && restY == 2 && x[i] == y[i+1] && x[i+1] == y[i]:
		return moved
	}
	return farther
}
