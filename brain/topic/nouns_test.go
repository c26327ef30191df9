package topic

import (
	"slices"
	"strings"
	"testing"
)

// A label says what a group is about, not what was done, how it was, or what somebody exclaimed.
func TestLabelsAreNouns(t *testing.T) {
	for _, x := range []struct {
		texts      []string
		yes, never []string
	}{
		{
			[]string{
				"Congrats, Tam! The regatta was amazing.", "Congrats! We talked about the regatta.",
				"Unfortunately, the regatta was postponed. We talked it over.",
				"Woohoo! An amazing regatta, really frustrating weather.",
				"Unfortunately, I chatted too long. Woohoo! Frustrating.",
			},
			[]string{"regatta"},
			[]string{"congrats", "talked", "chatted", "unfortunately", "woohoo", "amazing", "frustrating"},
		},
		{
			[]string{
				"I do some writing before work.", "My writing improves.", "Writing my letter takes years, and my writing too.",
				"Seeing my sister was good.", "Seeing the letter printed would be good.", "We are seeing it printed.",
			},
			[]string{"writing", "letter"},
			[]string{"seeing"},
		},
		{
			[]string{
				"The test failed again.", "A test of the pump.", "We test it on Sunday, then the test of the valve.",
				"I recognize the pump.", "You recognize that valve.", "It requires a pump.", "She says it requires oil.",
			},
			[]string{"test", "pump", "valve"},
			[]string{"recognize", "failed", "requires"},
		},
		{
			[]string{
				"We lost the final.", "In the final we play Leeds.", "The final was a disaster.", "The pitch was muddy.",
				"A muddy pitch again, and a dairy-free cake.", "The cake was dairy-free.",
			},
			[]string{"final", "pitch"},
			[]string{"muddy", "dairy-free"},
		},
		{
			[]string{
				"A kiln that requires a permit.", "That requires a permit, too.", "It requires clay.",
				"Flags that improve the clay.", "Can that improve the kiln?", "An experimental kiln.", "Experimental clay.",
				"The experimental permit.",
			},
			[]string{"kiln", "clay", "permit"},
			[]string{"require", "improve", "experimental,", "experimental"},
		},
	} {
		l := Describe([]Group{{Passages: passages(x.texts...)}, baking, sailing})[0]
		said := strings.ToLower(strings.Join(l.Keywords, ", "))
		for _, w := range x.yes {
			if !strings.Contains(said, w) {
				t.Errorf("%q is no keyword of %q", w, l.Keywords)
			}
		}
		for _, w := range x.never {
			if strings.Contains(said, w) {
				t.Errorf("%q is a keyword of %q", w, l.Keywords)
			}
		}
	}
}

// A word that has only begun sentences loses their capital, unless it may be a name.
func TestCapitals(t *testing.T) {
	t.Parallel()
	l := Describe([]Group{{Passages: passages(
		"Garden slates fell.", "Garden slates again.", "Hackett wants slates.", "Hackett came.", "Hackett went up.",
	)}, baking})[0]
	if !slices.Contains(l.Keywords, "garden slates") && !slices.Contains(l.Keywords, "slates") ||
		!slices.Contains(l.Keywords, "Hackett") || slices.Contains(l.Keywords, "Garden slates") {
		t.Errorf("%q", l.Keywords)
	}
}

// A word and what is made of it are one.
func TestKinIsSaidOnce(t *testing.T) {
	l := Describe([]Group{{Passages: passages(
		"The logging of the pump.", "A logger for the pump.",
		"The log is full, said the logger.", "Which log? The logging is off.",
	)}, baking})[0]
	n := 0
	for _, w := range l.Keywords {
		if strings.HasPrefix(strings.ToLower(w), "log") {
			n++
		}
	}
	if n != 1 || len(l.Keywords) < 2 {
		t.Errorf("%q", l.Keywords)
	}
}
