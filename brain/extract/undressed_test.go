package extract

import (
	"reflect"
	"strings"
	"testing"

	"orgmem/brain/text"
)

// disguises write a character in another way.
var disguises = map[string]func(c rune) string{
	"full width": func(c rune) string {
		if c > ' ' && c < 0x7f {
			return string(c - '!' + '！')
		}
		return string(c)
	},
	"invisible marks": func(c rune) string { return string(c) + "\u200b" },
	"soft hyphens":    func(c rune) string { return "\u00ad" + string(c) },
	"bold": func(c rune) string {
		switch {
		case c >= 'a' && c <= 'z':
			return string(c - 'a' + '𝐚')
		case c >= 'A' && c <= 'Z':
			return string(c - 'A' + '𝐀')
		case c >= '0' && c <= '9':
			return string(c - '0' + '𝟎')
		}
		return string(c)
	},
	"Cyrillic": func(c rune) string {
		if to, ok := map[rune]string{'a': "а", 'e': "е", 'o': "о", 'c': "с", 'M': "М"}[c]; ok {
			return to
		}
		return string(c)
	},
}

// TestDisguisedTextSaysTheSame: of text in look-alike letters, or with marks that nobody sees, the same is found as of
// the plain text, and quoted as it was written.
func TestDisguisedTextSaysTheSame(t *testing.T) {
	for _, plain := range []string{
		"On 3 May 2024 we signed the contract with Lena Novak.",
		"We meet on Wednesday at 10:30. The lease ended in March 2023, and Omar Haddad moved to Lisbon last week.",
		"Due by 2024-11-05, from 13/05/2024 until December.",
		"I prefer the window seat. I think that the old printer is broken.",
		"Ann: the offsite is tomorrow\nBen: I love the new office in Oslo\nAnn: see https://example.org/May by 3 June",
	} {
		want := Extract(Document{Text: plain, AtMs: 1715126400000, Speakers: []string{"Ann", "Ben"}})
		for name, disguise := range disguises {
			var written strings.Builder
			begins, ends := map[int]int{}, map[int]int{}
			for at, c := range plain {
				d := disguise(c)
				shift := max(0, strings.IndexRune(d, c))
				begins[at] = written.Len() + shift
				ends[at+1] = written.Len() + len(strings.TrimSuffix(d, "\u200b"))
				written.WriteString(d)
			}
			got := Extract(Document{Text: written.String(), AtMs: 1715126400000, Speakers: []string{"Ann", "Ben"}})
			place := func(sp text.Span) text.Span { return text.Span{Start: begins[sp.Start], End: ends[sp.End]} }
			if len(got.Dates) != len(want.Dates) || len(got.Mentions) != len(want.Mentions) ||
				len(got.Statements) != len(want.Statements) || len(got.Turns) != len(want.Turns) {
				t.Errorf("%s: %q: %+v, want %+v", name, plain, got, want)
				continue
			}
			for i, x := range want.Dates {
				if x.Span = place(x.Span); got.Dates[i] != x {
					t.Errorf("%s: %q: %+v, want %+v", name, plain, got.Dates[i], x)
				}
			}
			for i, x := range want.Mentions {
				x.Span = place(x.Span)
				if x.Type == URL {
					x.Name = written.String()[x.Span.Start:x.Span.End]
				}
				if got.Mentions[i] != x {
					t.Errorf("%s: %q: %+v, want %+v", name, plain, got.Mentions[i], x)
				}
			}
			for i, x := range want.Statements {
				if x.Span, x.Object = place(x.Span), place(x.Object); got.Statements[i] != x {
					t.Errorf("%s: %q: %+v, want %+v", name, plain, got.Statements[i], x)
				}
			}
			for i, x := range want.Turns {
				if x.Name, x.Span = place(x.Name), place(x.Span); !reflect.DeepEqual(got.Turns[i], x) {
					t.Errorf("%s: %q: %+v, want %+v", name, plain, got.Turns[i], x)
				}
			}
		}
	}
}
