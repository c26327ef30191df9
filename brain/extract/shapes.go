package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// shapes finds what is recognised by how it is written, whatever it means: URLs,
// identifiers and code. Names that overlap with it are not names.
func (r *reader) shapes() {
	r.marked = r.marked[:0]
	i := 0
	for i < len(r.text) {
		c, n := utf8.DecodeRuneInString(r.text[i:])
		if unicode.IsSpace(c) {
			i += n
			continue
		}
		end := wordStop(r.text, i)
		if r.text[i] == '`' {
			if sp, ok := inlineCode(r.text, i); ok {
				if name := r.text[sp.Start:sp.End]; len(name) > 1 && !strings.ContainsAny(name, " \t") {
					r.mark(sp, name, Code, 0.9)
				}
				for i = sp.End; i < len(r.text) && r.text[i] == '`'; {
					i++
				}
				continue
			}
		}
		r.shape(i, end)
		i = end
	}
}

// mark keeps a mention of a shape.
func (r *reader) mark(sp Span, name string, t Type, confidence float64) {
	if name != "" && len(name) <= MaxName && len(r.marked) < MaxMentions {
		r.marked = append(r.marked, Mention{Span: sp, Name: name, Type: t, Confidence: confidence})
	}
}

func wordStop(s string, i int) int {
	if n := strings.IndexFunc(s[i:], unicode.IsSpace); n >= 0 {
		return i + n
	}
	return len(s)
}

// inlineCode is what stands in the `code` or “code“ that begins at i: no fence,
// and not longer than a name may be.
func inlineCode(s string, i int) (Span, bool) {
	ticks := "`"
	if strings.HasPrefix(s[i:], "``") {
		ticks = "``"
	}
	start := i + len(ticks)
	rest := s[start:min(len(s), start+MaxName)]
	n := strings.Index(rest, ticks)
	if n <= 0 || rest[0] == '`' || strings.IndexByte(rest[:n], '\n') >= 0 {
		return Span{}, false
	}
	return Span{Start: start, End: start + n}, true
}

// maxURL is the longest URL, as browsers have it.
const maxURL = 2048

// shape looks at the word [i, end), without the marks around it.
func (r *reader) shape(i, end int) {
	if end-i > 2*maxURL {
		return
	}
	for i < end && strings.IndexByte(`([{<"'*_,;`, r.text[i]) >= 0 && !strings.HasPrefix(r.text[i:], "__") {
		i++
	}
	for end > i && (strings.IndexByte(".,;:!?\"'*>]}`~", r.text[end-1]) >= 0 ||
		r.text[end-1] == ')' && strings.Count(r.text[i:end], "(") < strings.Count(r.text[i:end], ")")) {
		end--
	}
	w := r.text[i:end]
	sp := Span{Start: i, End: end}
	switch {
	case len(w) < 2 || len(w) > maxURL:
	case strings.Contains(w, "://") || strings.HasPrefix(w, "www."):
		if name := urlName(w); name != "" {
			r.mark(sp, name, URL, 0.95)
		}
	case strings.Contains(w, "@"):
		r.handle(i, end)
	case ticket(w):
		r.mark(sp, w, Identifier, 0.9)
	case r.numbered(i, end):
	case hexName(w) || version(w):
		r.mark(sp, w, Identifier, 0.8)
	case strings.HasSuffix(w, "()") && symbol(w[:len(w)-2]):
		r.mark(Span{Start: i, End: end - 2}, w[:len(w)-2], Code, 0.9)
	case symbol(w) && (strings.Contains(w, "_") || strings.Contains(w, "::") || humps(w) >= 2):
		r.mark(sp, w, Code, 0.8)
	case file(w) || flag(w):
		r.mark(sp, w, Code, 0.8)
	}
}

// handle keeps <@name> of a chat, and @name where people are known to talk to each
// other: elsewhere it is a stranger's account.
func (r *reader) handle(i, end int) {
	name := r.text[i+1 : end]
	if r.text[i] != '@' || len(name) < 2 || len(name) > maxSpeaker || r.speaker == "" && (i == 0 || r.text[i-1] != '<') {
		return
	}
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._-", c) {
			return
		}
	}
	r.mark(Span{Start: i, End: end}, name, Person, 0.8)
}

// urlName is a URL without its scheme, query and closing slash; empty for a
// shortened one, which says nothing of where it leads.
func urlName(w string) string {
	if _, after, ok := strings.Cut(w, "://"); ok {
		w = after
	}
	w = strings.TrimPrefix(w, "www.")
	w, _, _ = strings.Cut(w, "#")
	w, _, _ = strings.Cut(w, "?")
	w = strings.TrimRight(w, "/.,)")
	host, path, _ := strings.Cut(w, "/")
	if !strings.Contains(host, ".") && host != "localhost" || strings.ContainsAny(host, "()<>\\") {
		return ""
	}
	short := len(host) <= 12 && strings.Count(host, ".") == 1 && path != "" && len(path) <= 12 &&
		!strings.ContainsAny(path, "/.-_")
	if short && (strings.IndexFunc(path, unicode.IsDigit) >= 0 || strings.IndexFunc(path, unicode.IsUpper) >= 0) {
		return ""
	}
	return w
}

// ticket matches INC-4521 and CVE-2024-3094: two or more capitals, a hyphen,
// numbers.
func ticket(w string) bool {
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

// series are the words before a number that name a document or a ticket.
var series = map[string]bool{
	"pep": true, "rfc": true, "iso": true, "eip": true, "jep": true, "bip": true, "adr": true, "kep": true,
	"pr": true, "mr": true,
	"issue": true, "ticket": true, "bug": true, "incident": true, "ieee": true, "request": true,
}

// numbered matches PEP 484, issue #12 and #1234 at [i, end).
func (r *reader) numbered(i, end int) bool {
	w := r.text[i:end]
	number := strings.TrimPrefix(w, "#")
	if number == "" || len(number) > 8 || strings.Trim(number, "0123456789") != "" {
		return false
	}
	before := r.text[max(0, i-24):i]
	before = strings.TrimRight(before[strings.LastIndexByte(before, '\n')+1:], " ")
	word := before[strings.LastIndexAny(before, " (")+1:]
	low := strings.ToLower(word)
	switch {
	case series[low] && (number != w || word == strings.ToUpper(word)):
		start := strings.LastIndex(r.text[:i], word)
		r.mark(Span{Start: start, End: end}, word+" "+w, Identifier, 0.9)
	case number != w && len(number) >= 2:
		r.mark(Span{Start: i, End: end}, w, Identifier, 0.7)
	default:
		return false
	}
	return true
}

// hexName matches commits and UUIDs: long hexadecimal numbers with letters and
// digits.
func hexName(w string) bool {
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

// version matches v1.2.3 and v2.
func version(w string) bool {
	rest, ok := strings.CutPrefix(w, "v")
	if !ok || rest == "" || rest[0] < '0' || rest[0] > '9' {
		return false
	}
	return strings.Trim(rest, "0123456789.") == "" ||
		strings.Count(rest, ".") == 2 && symbol("v"+strings.NewReplacer(".", "", "-", "").Replace(rest))
}

// symbol matches names of code: letters, digits and underscores, joined by dots,
// colons or arrows, beginning with a letter or underscore.
func symbol(w string) bool {
	if w == "" || len(w) > MaxName {
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

// humps counts the capitals behind small letters: getUserName has two, iPhone and
// McDonald one.
func humps(w string) int {
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

// file matches a file by its extension.
func file(w string) bool {
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

// flag matches --name of a command line.
func flag(w string) bool {
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
