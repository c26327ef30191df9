package shape

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestURLName(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://www.example.com/docs/":                                "example.com/docs",
		"https://video.example.com/watch?v=Ab3_x&t=29m00s&utm_term=a":  "video.example.com/watch?v=Ab3_x",
		"https://groups.example.com/forum/#!topic/boats/Ab3":           "groups.example.com/forum#!topic/boats/Ab3",
		"https://docs.example.com/Log.html?q=log#wtf":                  "docs.example.com/Log.html",
		"https://a.example.com/in?id=7&access_token=s3cret&page=2":     "a.example.com/in?id=7",
		"https://a.example.com/j/9341?pwd=Q2xh":                        "a.example.com/j/9341",
		"https://a.example.com/#/accept?token=s3cret":                  "a.example.com#/accept",
		"https://a.example.com/in?q=" + strings.Repeat("boats+", 40):   "a.example.com/in",
		"https://git.example.com/boats/issues/86#issuecomment-3566431": "git.example.com/boats/issues/86",
	} {
		if got := URLName(url, 120); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
	for _, url := range []string{"http://bit.ly/2Fa3x", "https://quay"} {
		if got := URLName(url, 120); got != "" {
			t.Errorf("%q: %q", url, got)
		}
	}
}

func TestIdentifier(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"boat_shed": true, "tide-lib": true, "fs.open": true, "srfi/19": true, "@quay/ropes": true, "onMoor": true,
		"date->string": true, "std::sort": true, "~/bin/moor.sh": true, "mooring%": true, "a/b": true,
		"draft": false, "Kestrel": false, "--clone": false, "-1": false, "#f": false, "(moor)": false, "->i": false,
		"name+version": false, "moor.": false, "a b": false, "x=1": false, "scheme_...": false, "": false, "12": false,
	} {
		if got := Identifier(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}

// TestShapesOfAnything: whatever the word is, nothing panics, and the name of an address is valid and short.
func TestShapesOfAnything(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching("[a-zA-Z0-9@:/.?&=#!_%*`()\"' ü字-]{0,60}")
	rapid.Check(t, func(t *rapid.T) {
		w := word.Draw(t, "word")
		_, _, _, _, _ = Ticket(w), HexName(w), Version(w), Symbol(w), Humps(w)
		_, _, _, _, _ = File(w), Flag(w), Identifier(w), Word(w), Prose(w)
		if name := URLName("https://"+w, 40); !utf8.ValidString(name) || len(name) > max(40, len(w)) {
			t.Fatalf("%q: %q", w, name)
		}
		if sp, ok := InlineCode("`"+w, 0, 40); ok && (sp.Start < 1 || sp.End > len(w) || sp.Start >= sp.End) {
			t.Fatalf("%q: %+v", w, sp)
		}
	})
}
