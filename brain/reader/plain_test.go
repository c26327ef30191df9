package reader

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPlain: letters that pass for Latin ones are read as such in Latin words and texts, and in no others.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ text, want string }{
		{"", ""},
		{"Plain words, 20 °C, naïve café — “so” ♭ → ½ Straße", "Plain words, 20 °C, naïve café — “so” ♭ → ½ Straße"},
		{"раss the sаlt", "pass the salt"},
		{"сору that", "copy that"},                   // a word of nothing but such letters, in a Latin text
		{"хаос", "хаос"},                             // alone it may be Russian
		{"Наш хаос и their с", "Наш хаос и their с"}, // and beside Russian it is
		{"мой wіfi", "мой wifi"},
		{"ИТ-отдел, smsка, ΑΘΗΝΑ, Τhe ΤΟ", "ИТ-отдел, smsка, ΑΘΗΝΑ, The ΤΟ"},
		{"ＡＢＣ－１２（ａ）", "ABC-12(a)"},
		{"𝒜 ℬ 𝟙 ⓐ Ⓩ", "A B 1 a Z"},
		{"東京１０時", "東京10時"},
		{"ok👍ok", "ok ok"},
		{"☎ ★ ⏰ 🀄", "       "},
	} {
		got := plain(x.text)
		if len(got) != len(x.text) {
			t.Errorf("%q becomes %d bytes", x.text, len(got)-len(x.text))
		}
		shown := strings.Join(strings.FieldsFunc(got, func(r rune) bool { return r == filler }), "")
		if shown = squeezed(shown); shown != squeezed(x.want) {
			t.Errorf("%q is %q, want %q", x.text, shown, x.want)
		}
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

// TestPlainKeepsPlaces: whatever the text, its plain one is as long, and what begins a character in the text begins one
// there.
func TestPlainKeepsPlaces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		"a", "Ω", "о", "Е", "я", "ς", "Ａ", "𝐀", "ℓ", "🎉", "\u20e3", "\ufe0f", "\u0301", "\u200b", "é", "東", "か", " ", ".",
		"\n", "7", "\xff", "\xf0\x9f", "\x00", "Ⅳ", "①", "♥",
	}
	for range 2000 {
		var s strings.Builder
		for range r.IntN(12) {
			s.WriteString(pieces[r.IntN(len(pieces))])
		}
		text, got := s.String(), plain(s.String())
		if len(got) != len(text) || utf8.ValidString(text) != utf8.ValidString(got) {
			t.Fatalf("%q becomes %q", text, got)
		}
		for at := range text {
			if utf8.RuneStart(text[at]) && !utf8.RuneStart(got[at]) {
				t.Fatalf("%q becomes %q, where no character begins at %d", text, got, at)
			}
		}
		for at := range got {
			if end := endOf(text, at); end < at || end < len(text) && !utf8.RuneStart(text[end]) {
				t.Fatalf("%q: %d ends at %d", text, at, end)
			}
		}
	}
}
