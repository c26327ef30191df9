package shape

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxEmoji is how long the name of an emoji is at most.
const maxEmoji = 40

// Emoji is where the code of an emoji that begins at i ends, ":wink:"; 0 where none does. A time of day is none.
func Emoji(s string, i int) int {
	if s[i] != ':' || i > 0 && (s[i-1] == ':' || s[i-1] >= '0' && s[i-1] <= '9') {
		return 0
	}
	letters := false
	for k := i + 1; k < len(s) && k-i < maxEmoji; k++ {
		switch c := s[k]; {
		case c >= 'a' && c <= 'z':
			letters = true
		case c >= '0' && c <= '9' || c == '_' || c == '-' || c == '+':
		case c == ':' && letters && (k+1 == len(s) || s[k+1] != ':'):
			return k + 1
		default:
			return 0
		}
	}
	return 0
}

// Address is the address in the link of a chat, which stands before what is shown of it: "https://x.org|x.org".
func Address(w string) string {
	w, _, _ = strings.Cut(w, "|")
	return w
}

// Humped cuts a word in two where a capital begins its second part: "readFile", "forMax"; head is empty for any other
// word. Both parts have three letters at least, and of the second part's only the first of each hump is a capital:
// "macOS" and "iPhone" are written so by those who made them.
func Humped(w string) (head, tail string) {
	at := strings.IndexFunc(w, unicode.IsUpper)
	if at < leastHump || len(w)-at < leastHump || !Symbol(w) || strings.ContainsAny(w, "._:0123456789") {
		return "", ""
	}
	for i := at + 1; i < len(w); i++ {
		if w[i] <= 'Z' && (w[i-1] <= 'Z' || i+1 == len(w)) {
			return "", ""
		}
	}
	return w[:at], w[at:]
}

const leastHump = 3

// LinkLabel is where the label in bold type that begins at i ends, if a link is all that it labels, as in
// "**Recording**: <https://…>"; 0 where none does. It names a field of a form.
func LinkLabel(s string, i int) int {
	if !strings.HasPrefix(s[i:], "**") {
		return 0
	}
	rest := s[i+2 : min(len(s), i+2+maxEmoji)]
	n := strings.Index(rest, "**")
	if n <= 0 || strings.IndexByte(rest[:n], '\n') >= 0 {
		return 0
	}
	end := i + 2 + n + 2
	value := strings.TrimLeft(strings.TrimLeft(s[end:min(len(s), end+maxEmoji)], ":"), " <")
	if strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "www.") {
		return end
	}
	return 0
}

// Full is how much of a name's last word is the name: the point behind "6.5." and "Corp." ends a sentence, that of "J."
// and "U.S." does not.
func Full(w string) int {
	n := len(w) - 1
	if n < 2 || w[n] != '.' {
		return len(w)
	}
	before, _ := utf8.DecodeLastRuneInString(w[:n])
	if strings.IndexByte(w, '.') == n || unicode.IsDigit(before) {
		return n
	}
	return len(w)
}

// Library tells whether a file may as well be a library that is called so: "Node.js", "Vue.js".
func Library(w string) bool {
	name, ok := strings.CutSuffix(w, ".js")
	return ok && name != "" && name[0] >= 'A' && name[0] <= 'Z' && Word(name)
}
