package undress

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"orgmem/brain/text"
)

// TestInPlace: letters that pass for Latin ones are read as such in Latin words and texts, and in no others.
func TestInPlace(t *testing.T) {
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
		got := InPlace(x.text)
		if len(got) != len(x.text) {
			t.Errorf("%q becomes %d bytes", x.text, len(got)-len(x.text))
		}
		shown := strings.Join(strings.FieldsFunc(got, func(r rune) bool { return r == Filler }), "")
		if shown = squeezed(shown); shown != squeezed(x.want) {
			t.Errorf("%q is %q, want %q", x.text, shown, x.want)
		}
	}
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

var pieces = []string{
	"a", "Ω", "о", "Е", "я", "ς", "Ａ", "𝐀", "ℓ", "🎉", "\u20e3", "\ufe0f", "\u0301", "\u200b", "\u00ad", "\u200d",
	"，", "ｙ", "\u0645", "é", "東", "か", " ", ".",
	"\n", "7", "\xff", "\xf0\x9f", "\x00", "Ⅳ", "①", "♥",
}

// TestInPlaceKeepsPlaces: whatever the text, its plain one is as long, and what begins a character in the text begins
// one there.
func TestInPlaceKeepsPlaces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var s strings.Builder
		for range r.IntN(12) {
			s.WriteString(pieces[r.IntN(len(pieces))])
		}
		written, got := s.String(), InPlace(s.String())
		if len(got) != len(written) || utf8.ValidString(written) != utf8.ValidString(got) {
			t.Fatalf("%q becomes %q", written, got)
		}
		for at := range written {
			if utf8.RuneStart(written[at]) && !utf8.RuneStart(got[at]) {
				t.Fatalf("%q becomes %q, where no character begins at %d", written, got, at)
			}
		}
		for at := range got {
			if end := EndOf(written, at); end < at || end < len(written) && !utf8.RuneStart(written[end]) {
				t.Fatalf("%q: %d ends at %d", written, at, end)
			}
		}
	}
}

// TestOf: rules read plain letters and no invisible marks; what other scripts mean by theirs stays.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ written, want string }{
		{"", ""},
		{"Plain words, 20 °C, naïve café — “so” ♭ → ½ Straße 👍", "Plain words, 20 °C, naïve café — “so” ♭ → ½ Straße 👍"},
		{"Ｏｎ ３ Ｍａｙ， ｗｅ ｍｅｅｔ．", "On 3 May, we meet."},
		{"on 3 Мау", "on 3 May"},
		{"𝐨𝐧 𝟑 𝐌𝐚𝐲", "on 3 May"},
		{"on\u200b 3 M\u200bay, W\ufeffednes\u00adday\u2060 ", "on 3 May, Wednesday "},
		{"\u200bMay\u200d\u200b", "May"},
		{"👨\u200d👩 \u0645\u06cc\u200c\u062e", "👨\u200d👩 \u0645\u06cc\u200c\u062e"}, // joiners of pictures and of Persian
		{"你好，世界！東京（とうきょう）", "你好，世界！東京（とうきょう）"},
		{"Ａ社は３月５日、（株）と", "A社は3月5日、（株）と"},
		{"Наш хаос и май", "Наш хаос и май"},
		{"\xffМау\xf0\x9f may", "\xffMay\xf0\x9f may"},
	} {
		if got := Of(x.written); got.Plain != x.want {
			t.Errorf("%q is %q, want %q", x.written, got.Plain, x.want)
		}
	}
}

// TestOfKeepsPlaces: whatever the text, a span of its plain one was written on the borders of characters, in order, and
// leads back to the same span; undressed once more, what was written says what the span says.
func TestOfKeepsPlaces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 4000 {
		var s strings.Builder
		for range r.IntN(12) {
			s.WriteString(pieces[r.IntN(len(pieces))])
		}
		x := Of(s.String())
		starts := []int{}
		for at := range x.Plain {
			starts = append(starts, at)
		}
		starts = append(starts, len(x.Plain))
		last := 0
		for i, start := range starts[:len(starts)-1] {
			end := starts[i+1+r.IntN(len(starts)-1-i)]
			at := x.Span(text.Span{Start: start, End: end})
			if at.Start < last || at.End <= at.Start || at.End > len(x.Written) || x.At(at.Start) != start ||
				x.At(at.End) != end {
				t.Fatalf("%q [%d, %d) of %q is [%d, %d)", x.Plain, start, end, x.Written, at.Start, at.End)
			}
			last = at.Start
			whole := func(at int) bool { return at == len(x.Written) || utf8.RuneStart(x.Written[at]) }
			if utf8.ValidString(x.Written) && (!whole(at.Start) || !whole(at.End)) {
				t.Fatalf("%q: [%d, %d) cuts a character", x.Written, at.Start, at.End)
			}
		}
	}
}
