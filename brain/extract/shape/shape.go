// Package shape tells what a word is by how it is written, whatever it means: a ticket, a commit, a name of code, a
// file; and what names the thing that an address leads to.
//
// # Promises
//
//   - Pure functions of the word: no I/O, no clock. Any string is accepted.
package shape

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// Ticket matches INC-4521 and CVE-2024-3094: two or more capitals, a hyphen,
// numbers.
func Ticket(w string) bool {
	letters, rest, ok := strings.Cut(w, "-")
	if !ok || len(letters) < 2 || len(letters) > 10 || rest == "" {
		return false
	}
	for i := range len(letters) {
		if c := letters[i]; (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	digits := 0
	for i := range len(rest) {
		switch c := rest[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c != '-' || i == 0 || i == len(rest)-1:
			return false
		}
	}
	return digits >= 2 && len(rest) <= 12
}

// HexName matches commits and UUIDs: long hexadecimal numbers with letters and
// digits.
func HexName(w string) bool {
	hyphens, digits, letters := 0, 0, 0
	for i := range len(w) {
		switch c := w[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f':
			letters++
		case c == '-':
			hyphens++
		default:
			return false
		}
	}
	if hyphens > 0 {
		return hyphens == 4 && len(w) == 36
	}
	return digits >= 2 && letters >= 1 && len(w) >= 7 && len(w) <= 64 && digits+letters == len(w)
}

// Version matches v1.2.3 and v2.
func Version(w string) bool {
	rest, ok := strings.CutPrefix(w, "v")
	if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return false
	}
	return strings.Trim(rest, "0123456789.") == "" ||
		strings.Count(rest, ".") == 2 && Symbol("v"+strings.NewReplacer(".", "", "-", "").Replace(rest))
}

// Symbol matches names of code: letters, digits and underscores, joined by dots,
// colons or arrows, beginning with a letter or underscore.
func Symbol(w string) bool {
	if w == "" {
		return false
	}
	start, any := true, false
	for i := 0; i < len(w); i++ {
		c := w[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			start, any = false, true
		case c == '_':
			start = false
		case c >= '0' && c <= '9' && !start:
		case c == '.' && !start:
			start = true
		case c == ':' && !start && i+1 < len(w) && w[i+1] == ':':
			start = true
			i++
		default:
			return false
		}
	}
	return any && !start
}

// Humps counts the capitals behind small letters: getUserName has two, iPhone and
// McDonald one.
func Humps(w string) int {
	n := 0
	for i := 1; i < len(w); i++ {
		if w[i] >= 'A' && w[i] <= 'Z' && w[i-1] >= 'a' && w[i-1] <= 'z' {
			n++
		}
	}
	return n
}

// extensions of the files that are code or its configuration.
var extensions = map[string]bool{
	"go": true, "py": true, "js": true, "ts": true, "tsx": true, "jsx": true, "rs": true, "c": true, "h": true, "cc": true,
	"cpp": true, "java": true,
	"rb": true, "sh": true, "sql": true, "md": true, "rst": true, "txt": true, "json": true, "yaml": true,
	"yml": true, "toml": true,
	"xml": true, "html": true, "css": true, "proto": true, "rkt": true, "cfg": true, "ini": true, "mod": true,
	"lock": true, "ipynb": true,
}

// File matches a file by its extension.
func File(w string) bool {
	dot := strings.LastIndexByte(w, '.')
	if dot <= 0 || !extensions[w[dot+1:]] {
		return false
	}
	// "the README.md", "src/a.c"; but "is.c" ends no sentence that we know.
	for i := range dot {
		c := w[i]
		if c >= utf8.RuneSelf || !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' ||
			strings.IndexByte("._-/~", c) >= 0) {
			return false
		}
	}
	return true
}

// Flag matches --name of a command line.
func Flag(w string) bool {
	rest, ok := strings.CutPrefix(w, "--")
	if !ok || len(rest) < 2 {
		return false
	}
	for i := range len(rest) {
		if c := rest[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' && i > 0 || c == '-' && i > 0 && i < len(rest)-1) {
			return false
		}
	}
	return true
}

// Identifier tells whether a word is written as one: letters and digits in parts that marks or capitals join, from a
// letter on, such as gui-lib, read_file, fs.open, srfi/19, @org/pkg, onClick, date->string.
func Identifier(s string) bool {
	if len(s) < 3 {
		return false
	}
	w := strings.TrimPrefix(s, "@")
	if n := len(w) - 1; n > 2 && (w[n] == '%' || w[n] == '*' || w[n] == '+') {
		w = w[:n] // text%, let*
	}
	for _, root := range []string{"./", "../", "~/", "/", "."} {
		if rest, ok := strings.CutPrefix(w, root); ok {
			w = rest
			break
		}
	}
	joined, letters := len(w) < len(s), 0
	for i := 0; i < len(w); i++ {
		c := w[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
			joined = joined || i > 0 && c < 'a' && w[i-1] >= 'a' && w[i-1] <= 'z'
		case c >= '0' && c <= '9' && i > 0:
			joined = true
		case strings.HasPrefix(w[i:], "->") && i > 0:
			joined = true
			i++
		case i == 0 || !strings.ContainsRune("_.-/:", rune(c)):
			return false
		case i+1 == len(w) && c != '/' && c != '_', c == ':' && w[i-1] != ':' && !strings.HasPrefix(w[i:], "::"):
			return false
		default:
			joined = joined || i+1 < len(w) || c == '/'
		}
	}
	return joined && letters > 1
}

// Prose tells whether several plain words stand in backquotes, as somebody marks a name of such.
func Prose(s string) bool {
	return strings.Contains(s, " ") &&
		strings.IndexFunc(s, func(c rune) bool { return !unicode.IsLetter(c) && c != ' ' && c != '-' }) < 0
}

// Word tells whether a text is one plain word.
func Word(s string) bool {
	return len(s) > 1 && strings.IndexFunc(s, func(c rune) bool { return !unicode.IsLetter(c) }) < 0
}

// Acronym tells whether short is made of the initials of long: ESB, Empire State
// Building; small words of the name may be left out.
func Acronym(short, long string) bool {
	if len(short) < 2 || len(short) > 8 || strings.ToUpper(short) != short || strings.ContainsAny(short, " ") {
		return false
	}
	var all, capitals []byte
	for w := range strings.FieldsFuncSeq(long, func(c rune) bool { return c == ' ' || c == '-' }) {
		c := w[0]
		all = append(all, c&^0x20)
		if c >= 'A' && c <= 'Z' {
			capitals = append(capitals, c)
		}
	}
	s := strings.ReplaceAll(short, ".", "")
	return len(all) > 1 && (s == string(all) || s == string(capitals))
}

// InlineCode is what stands in the `code` or “code“ that begins at i, of so many bytes at most: no fence,
// and not longer than that.
func InlineCode(s string, i, most int) (text.Span, bool) {
	ticks := "`"
	if strings.HasPrefix(s[i:], "``") {
		ticks = "``"
	}
	start := i + len(ticks)
	rest := s[start:min(len(s), start+most)]
	n := strings.Index(rest, ticks)
	if n <= 0 || rest[0] == '`' || strings.IndexByte(rest[:n], '\n') >= 0 {
		return text.Span{}, false
	}
	return text.Span{Start: start, End: start + n}, true
}
