package resolve

import (
	"strings"
	"unicode/utf8"

	"orgmem/brain/extract"
	"orgmem/proto/canon"
)

const (
	// maxKeys of a name: its form, a person's last word and first one with an initial or the form in one word, and two
	// for typing errors.
	maxKeys = 5
	// maxKeyBytes cuts the form in a key: longer names that begin alike are compared
	// whole by Resolve.
	maxKeyBytes = 96
	// typoEnd is how much of either end of a long name is a key: one letter that is
	// wrong leaves one of them whole.
	typoEnd = 4
)

// Keys are the keys under which an entity of this name is found by other names
// that may mean it; at most maxKeys, each at most maxKeyBytes. They hold parts of
// the name: a caller that stores them erases them with the entity.
func Keys(name string, t extract.Type) []string {
	f := form(name, t)
	if f == "" {
		f = name
	}
	keys := make([]string, 0, maxKeys)
	add := func(prefix, value string) {
		keys = append(keys, canon.Prefix(prefix+value, maxKeyBytes))
	}
	add("f:", f)
	if verbatim(t) {
		return keys
	}
	if i := strings.LastIndexByte(f, ' '); i >= 0 && personal(t) {
		add("l:", f[i+1:])
		if last, _ := utf8.DecodeRuneInString(f[i+1:]); strings.IndexByte(f, ' ') == i {
			add("n:", f[:i+1]+string(last))
		}
	} else if j := joined(f); t != extract.Person && len(j) >= minJoined {
		add("j:", j)
	}
	if runes := []rune(f); len(f) >= minTypo && len(runes) >= 2*typoEnd {
		add("p:", string(runes[:typoEnd]))
		add("s:", string(runes[len(runes)-typoEnd:]))
	}
	return keys
}

// Canonical is the form that equal names share across partitions: folded, without
// article, title or company form; empty where the name is too weak to link by (a
// person's first name alone). A caller that compares partitions compares a keyed
// hash of it, never the form.
func Canonical(name string, t extract.Type) string {
	f := form(name, t)
	switch {
	case f == "" || utf8.RuneCountInString(f) < 3:
		return ""
	case t == extract.Person:
		if !strings.Contains(f, " ") || abbreviated(f) {
			return ""
		}
		return "person:" + f
	case t == extract.Code:
		return "code:" + name // a letter's case is part of it
	case t == extract.URL || t == extract.Identifier || t == extract.Place:
		return string(t) + ":" + f
	}
	return "thing:" + f
}
