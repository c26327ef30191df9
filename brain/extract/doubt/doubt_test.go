package doubt_test

import (
	"testing"

	"orgmem/brain/extract/doubt"
	"orgmem/brain/extract/tagger/taggertest"
	"orgmem/brain/extract/typing"
)

// read is a text with the tokens of a name in it.
func read(tb testing.TB, s, name string) (t *typing.Text, from, to int) {
	tb.Helper()
	n, err := taggertest.Read(s, name)
	if err != nil {
		tb.Fatal(err)
	}
	return &typing.Text{Model: n.Model, Text: s, Tokens: n.Tokens, Lows: n.Lows}, n.From, n.To
}

// What is written as code and abbreviations are is nobody.
func TestInhuman(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"The plan is that N-API leads the way.", "N-API", true},
		{"We asked the TC39 about it.", "TC39", true},
		{"It works, but not with faulttrace and its like.", "faulttrace", true},
		{"We asked Ryzo about it.", "Ryzo", false},
		{"We asked Jean-Luc about it.", "Jean-Luc", false},
		{"did you ask ryzo about it?", "ryzo", false}, // nobody uses capitals there
		{"PLEASE ASK OKAFOR ABOUT THE KEYS", "OKAFOR", false},
	} {
		if x, from, to := read(t, c.text, c.name); doubt.Inhuman(x, from, to) != c.want {
			t.Errorf("%s in %q: not %v", c.name, c.text, c.want)
		}
	}
}

// Words of the dictionary at the head of a sentence are no names as long as it is not clear of what.
func TestNone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		likely     float64
		want       bool
	}{
		{"Pets have a way of brightening our days.", "Pets", 0.7, true},
		{"Gaming has brought me so much success.", "Gaming", 0.8, true},
		{"Deep dive yesterday.", "Deep", 0.4, true},
		{"* Deep dive yesterday.", "Deep", 0.4, true},
		{"Gaming has brought me so much success.", "Gaming", 0.95, false},
		{"Heron has moved to the new server.", "Heron", 0.4, false},
		{"We moved Pets to the new server.", "Pets", 0.4, false},
		{"Canada even publishes the rules.", "Canada", 0.4, false},
		{"We wait for the Runtime Deprecation of Buffer.", "Runtime Deprecation", 0.3, true},
		{"We wait for the Runtime Deprecation of Buffer.", "Runtime Deprecation", 0.45, false},
		{"We call it “Finding Home” now.", "Finding Home", 0.3, false},
	} {
		if x, from, to := read(t, c.text, c.name); doubt.None(x, from, to, c.likely) != c.want {
			t.Errorf("%s in %q: not %v", c.name, c.text, c.want)
		}
	}
}

func TestWhereANameBeginsAndEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, name, want string }{
		{"Allocating OpenGL objects is slow.", "Allocating OpenGL", "OpenGL"},
		{"* Allocating OpenGL objects is slow.", "Allocating OpenGL", "OpenGL"},
		{"Finding Home is a script.", "Finding Home", "Finding Home"},
		{"We met Running Bear there.", "Running Bear", "Running Bear"},
		{"Lena involved Diagnostics WG in it.", "Lena involved Diagnostics WG", "Lena"},
		{"Lena van Dreel called.", "Lena van Dreel", "Lena van Dreel"},
	} {
		x, from, to := read(t, c.text, c.name)
		from += doubt.Lead(x, from, to)
		to = doubt.Broken(x, from, to)
		if got := c.text[x.Tokens[from].Start:x.Tokens[to-1].End]; got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
