package shape

import (
	"testing"

	"pgregory.net/rapid"
)

func TestEmoji(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		":wink:": 6, ":wink:)": 6, ":+1:": 0, ":slightly_smiling_face: ok": 23,
		"10:30:00": 0, ": a:": 0, "::sort:": 0, ":": 0,
	} {
		if got := Emoji(s, 0); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
	if Emoji("10:a:", 2) != 0 {
		t.Error("a time of day is an emoji")
	}
}

func TestHumped(t *testing.T) {
	t.Parallel()
	for w, want := range map[string]string{
		"readFile": "read", "forMax": "for", "writeHeadBack": "write", "iPhone": "", "macOS": "", "eBay": "", "NodeConf": "",
		"read": "", "openSUSE": "", "readA": "", "read_File": "",
	} {
		if got, _ := Humped(w); got != want {
			t.Errorf("%q: %q, want %q", w, got, want)
		}
	}
}

func TestLinkLabel(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{
		"**Minutes Doc**: <https://docs.example.com/d>": 15, "**Recording:** https://video.example.com": 14,
		"**Heron** is late": 0, "**Heron**: Tomas": 0, "**\n**: https://x.org": 0, "**": 0,
	} {
		if got := LinkLabel(s, 0); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	for w, want := range map[string]string{"6.5.": "6.5", "Corp.": "Corp", "J.": "J.", "U.S.": "U.S.", "Heron": "Heron"} {
		if got := w[:Full(w)]; got != want {
			t.Errorf("%q: %q, want %q", w, got, want)
		}
	}
}

// No text makes them fail, and what they find lies in it.
func TestMarksOfAnyText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune(":*a<hA|. \n_9\u00e9\U0001F600"))).Draw(t, "text")
		for i := range s {
			if end := max(Emoji(s, i), LinkLabel(s, i)); end != 0 && (end <= i || end > len(s)) {
				t.Fatalf("%d of %d", end, len(s))
			}
		}
		head, tail := Humped(s)
		if head != "" && head+tail != s || Full(s) > len(s) || len(Address(s)) > len(s) {
			t.Fatalf("%q, %q of %q", head, tail, s)
		}
	})
}
