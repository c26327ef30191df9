package voice

import "testing"

func TestRetell(t *testing.T) {
	t.Parallel()

	manner := func(contractions, stop float64) *Profile {
		return &Profile{Style: []Measure{{"closing", "fullStop", stop}, {"spelling", "contractions", contractions}}}
	}
	for _, c := range []struct {
		p              *Profile
		sentence, want string
	}{
		{manner(1, 0), "Do not touch it; it will not hold.", "Don't touch it; it won't hold."},
		{manner(1, 0), "We can not only paint, we cannot stop.", "We can not only paint, we can't stop."},
		{manner(1, 0), `She said "do not".`, `She said "do not".`},
		{manner(1, 0), "`do not` is a keyword.", "`do not` is a keyword."},
		{manner(-1, 0), "It won’t hold, and I don't care.", "It will not hold, and I do not care."},
		{manner(-1, 0), "Can't be: it's Ann's.", "Cannot be: it's Ann's."},
		{manner(0.5, 0), "I do not care.", "I do not care."},
		{nil, "I do not care.", "I do not care."},
	} {
		if got := c.p.Retell(c.sentence); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, c := range []struct {
		p          *Profile
		text, want string
	}{
		{manner(0, -1), "It holds.", "It holds"},
		{manner(0, -1), "It holds...", "It holds..."},
		{manner(0, -1), "It holds?", "It holds?"},
		{manner(0, 0), "It holds.", "It holds."},
		{nil, "It holds.", "It holds."},
	} {
		if got := c.p.End(c.text); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for words, want := range map[float64]int{0: 40, 30: 60, 500: 150} {
		if got := (&Profile{MessageWords: words}).AnswerWords(150); got != want {
			t.Errorf("messages of %v words: answers of %d, want %d", words, got, want)
		}
	}
}
