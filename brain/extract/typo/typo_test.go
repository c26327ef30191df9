package typo

import (
	"testing"

	"pgregory.net/rapid"
)

func TestMeant(t *testing.T) {
	t.Parallel()
	months := Of("june", "july", "october", "wednesday", "may")
	for word, want := range map[string]string{
		"octoebr": "october", "octber": "october", "octobber": "october", "octoder": "october", "wednezday": "wednesday",
		"jnue": "june", "october": "", "octobers": "", "wednesdays": "", "wenday": "", "cotober": "", "juny": "", "mya": "",
		"": "", "jun": "", "octo": "", "\xff": "",
	} {
		if got, ok := months.Meant(word); got != want && ok || ok != (want != "") {
			t.Errorf("%q is %q, want %q", word, got, want)
		}
	}
}

// TestNearIsSymmetric: whichever word is changed, and whatever the words.
func TestNearIsSymmetric(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 0, 6, -1)
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if near(a, b) != near(b, a) || !near(a, a) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}
