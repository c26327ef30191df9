package temporal

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"orgmem/brain/text"
)

// titled is the title of the only moment of a note; empty: it has none.
func titled(t *testing.T, n Note) string {
	t.Helper()
	switch got := Timeline([]Note{n}); len(got) {
	case 0:
		return ""
	case 1:
		return got[0].Title
	default:
		t.Errorf("%q: %+v", n.Text, got)
		return ""
	}
}

// TestATitleSaysOfWhat: what stands over an item of a list, else the heading where the sentence does not say it, is
// put before the sentence; sections that every document has are not.
func TestATitleSaysOfWhat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, phrase, title string }{
		{"* Boat shed roof\n  * postponed to March 3", "March 3", "Boat shed roof: postponed to March 3"},
		{
			"* Yard\n  * Slipway - Lena looked at it. If you object tell us before 3 May.", "3 May",
			"Slipway: If you object tell us before 3 May.",
		},
		{
			"* Yard\n  * Slipway - Lena looked at it and at\n    the rails. If you object tell us before 3 May.", "3 May",
			"Slipway: If you object tell us before 3 May.",
		},
		{"- Kiln\n\t- Lena called.\n\t- 2.1 was released on 3 May.", "3 May", "Kiln: 2.1 was released on 3 May."},
		{
			"1. **Kiln** [#12](https://x.example/12)\n   - Next firing is on 3 May.", "3 May",
			"Kiln #12: Next firing is on 3 May.",
		},
		{
			"* Harbour fees\n  * agreed\n    so the bill comes on 3 May", "3 May",
			"Harbour fees: agreed so the bill comes on 3 May",
		},
		{"* Harbour fees\n    * a detail\n  * due on 3 May", "3 May", "Harbour fees: due on 3 May"},
		{"* Harbour fees\n  * The harbour fees rise on 3 May.", "3 May", "The harbour fees rise on 3 May."},
		{"Garden party:\n- moved to 3 May", "3 May", "Garden party: moved to 3 May"},
		{"## Garden party\n\nMoved to 3 May.", "3 May", "Garden party: Moved to 3 May."},
		{"## Garden party\n* starts on 3 May", "3 May", "Garden party: starts on 3 May"},
		{"## Garden party\n* Lena arrives on 3 May", "3 May", "Lena arrives on 3 May"},
		{"## Announcements\n* starts on 3 May", "3 May", "starts on 3 May"},
		{"# Board Meeting 2031-04-09\n\nMoved to 3 May.", "3 May", "Moved to 3 May."},
		{"* Updates\n  * starts on 3 May", "3 May", "starts on 3 May"},
		{"* Kiln\n\nThe fair is on 3 May.", "3 May", "The fair is on 3 May."},
		{"# The fair of 3 May", "3 May", "The fair of 3 May"},
		{"> - [x] **The fair** is on 3 May", "3 May", "The fair is on 3 May"},
		{"#12 was closed on 3 May", "3 May", "#12 was closed on 3 May"},
		{"My cousin has a new bakery. It opens on 3 May.", "3 May", "My cousin has a new bakery. It opens on 3 May."},
		{"Hey Lena! It opens on 3 May.", "3 May", "It opens on 3 May."},
		{"We won on 3 May! [photo of a cup]", "3 May", "We won on 3 May!"},
	} {
		if got := titled(t, dated(c.text, c.phrase, 9*day)); got != c.title {
			t.Errorf("%q: %q, want %q", c.text, got, c.title)
		}
	}
}

// TestATitleSaysOfWhatBeforeThePassage: the item that a list stands under may be in the passage before.
func TestATitleSaysOfWhatBeforeThePassage(t *testing.T) {
	t.Parallel()
	n := dated("* postponed to March 3\n* Slipway\n", "March 3", 9*day)
	n.Above = "# Yard\n\n* Boat shed roof\n  * Lena looked at it.\n  "
	if got := titled(t, n); got != "Boat shed roof: postponed to March 3" {
		t.Error(got)
	}
	promised := dated("* I will send the drawings by March 3", "March 3", 9*day)
	promised.Above = n.Above
	if got := Tell([]Note{promised}); len(got) != 1 || got[0].Kind != Due ||
		got[0].Title != "Boat shed roof: I will send the drawings by March 3" {
		t.Errorf("%+v", got)
	}
}

// TestALongTitleKeepsItsDate: it is cut between words, and of what is left out the date is not.
func TestALongTitleKeepsItsDate(t *testing.T) {
	t.Parallel()
	const long = "The committee, which has met four times about the colour of the door, the width of the steps and the " +
		"lamp beside both, will paint all of it on 3 May unless somebody who has not been asked says that it should not."
	for text, want := range map[string]string{
		long: "The committee, which has met four times… of the steps and the lamp beside both, will paint all of it on " +
			"3 May unless…",
		"On 3 May " + strings.ToLower(long[:1]) + strings.Replace(long[1:], "on 3 May ", "", 1): "On 3 May the committee, " +
			"which has met four times about the colour of the door, the width of the steps and the lamp…",
		"See [the plans of the yard](https://plans.example/" + strings.Repeat("yard/", 30) + ") on 3 May.": "See the plans " +
			"of the yard on 3 May.",
	} {
		if got := titled(t, dated(text, "3 May", 9*day)); got != want {
			t.Errorf("%q: %q (%d), want %q", text, got, utf8.RuneCountInString(got), want)
		}
	}
}

// TestTitlesOfAnything: whatever the sentence is, its title is one line of bounded length with the date in it.
func TestTitlesOfAnything(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[a-zà-ü*#:\[\]()-]{1,30}|https://[a-z/]{20,150}|字{1,90}`)
	rapid.Check(t, func(t *rapid.T) {
		before := strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "before"), " ")
		s := before + " painted 3 May " + strings.Join(rapid.SliceOfN(word, 0, 30).Draw(t, "after"), " ")
		n := dated(s, "3 May", 9*day)
		n.Above = rapid.SampledFrom([]string{"", "* Kiln\n  ", "## Kiln\n", "字字:\n- "}).Draw(t, "above")
		for _, m := range Timeline([]Note{n}) {
			if utf8.RuneCountInString(m.Title) > maxTitle || m.Title != text.OneLine(m.Title) ||
				!utf8.ValidString(m.Title) || !strings.Contains(m.Title, "3 May") {
				t.Fatalf("%q: %q", s, m.Title)
			}
		}
	})
}

// TestHopesAreNoMoments: what somebody hopes for has not happened and is not planned; who hopes to be done by a day has
// chosen it.
func TestHopesAreNoMoments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, phrase string
		told         bool
	}{
		{"I hope to see you on 12 May.", "12 May", false},
		{"* no drawings yet, but I hope to have some by next week.", "next week", false},
		{"We were hoping that it opens on 12 May.", "12 May", false},
		{"Kiln: may be able to close this next week.", "next week", false},
		{"Six of them said they'd love to come again next month.", "next month", false},
		{"We might move the shed next week.", "next week", false},

		{"We hope to be done by 12 May.", "12 May", true},
		{"The hope chest arrives on 12 May.", "12 May", true},
		{"The fair opens on 12 May, and I hope to see you there.", "12 May", true},
		{"We would like to move on 12 May.", "12 May", true},
		{"We may close in May, the month of fairs.", "in May", true},
	} {
		n := dated(c.text, c.phrase, 9*day)
		n.AtMs = 8 * day
		if got := titled(t, n); (got != "") != c.told {
			t.Errorf("%q: %q", c.text, got)
		}
	}
	n := dated("I hope you had fun on 3 May.", "3 May", 3*day)
	n.AtMs = 8 * day
	if titled(t, n) == "" {
		t.Error("what has been is no hope")
	}
}
