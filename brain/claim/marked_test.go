package claim

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/text"
)

// What an address spells is no value, and negates nothing; what stands beside it is read as ever.
func TestAddressesAreNoValues(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"Notes: <https://tracker.example/boards/7/cards/812>":                        "",
		"The [plan](https://plans.example/2019/3) was read.":                         "",
		"See www.example.com/no/500-things, please.":                                 "",
		"The build took 7 minutes (https://ci.example/runs/4411).":                   "5 7 minutes",
		"The dose is 20 mg, says ftp://files.example/30mg.":                          "4 20 mg",
		"Card #812 waits for 3 people.":                                              "10 812|1 3 people",
		"The hall has 40 chairs: https://a.example/50_(chairs), and 12 tables.":      "1 40 chairs|1 12 tables",
		"It moved from https://a.example/1 to https://b.example/2 on 3 May.":         "9 3 May",
		"The office has 3 rooms, and [https://a.example/4](https://a.example/4) is.": "1 3 rooms",
	} {
		if got := strings.Join(written(said), "|"); got != want {
			t.Errorf("%q has %q, want %q", said, got, want)
		}
		for _, c := range new(Reader).Read(Source{Text: said}) {
			for _, w := range c.Words {
				if w.Not || w.Kind == Negation {
					t.Errorf("%q: %q denies, or is denied", said, w.Form)
				}
			}
		}
	}
	denied := only(t, Source{Text: "The wiki is not at https://wiki.example/start."})
	if w := denied.Words[len(denied.Words)-1]; !w.Not || w.Link != 1 {
		t.Errorf("%+v", w)
	}
}

// A number behind # is the name of an entry, which may be another one.
func TestEntriesAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want Relation
	}{
		{"#42", "#43", Apart}, {"#42", "#42", Same}, {"#42", "42", Incomparable}, {"42", "43", Apart},
	} {
		a, b := only(t, Source{Text: "We spoke of " + c.a + "."}), only(t, Source{Text: "We spoke of " + c.b + "."})
		v, w := Values(a.Words, "We spoke of "+c.a+"."), Values(b.Words, "We spoke of "+c.b+".")
		if len(v) != 1 || len(w) != 1 || v[0].Against(&w[0]) != c.want {
			t.Errorf("%q and %q: %+v and %+v, want %d", c.a, c.b, v, w, c.want)
		}
	}
}

// Which sentences are but code, and which but an address.
func TestCodeIsShownAndAddressesPoint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, shows, points string }{
		{"The port is `8080`. Run `make serve`.", "", ""},
		{"`make serve --port 8080`", "`make serve --port 8080`", ""},
		{"Try this:\n```sh\nmake serve\n```\nIt listens at once.", "```sh\nmake serve", ""},
		{"When I do: ``` (open door) ``` it rings.", "", ""},
		{"``` A door may be shut. ``` That is what the manual has.", "``` A door may be shut.", ""},
		{"Then:\n~~~\nx := 1\n~~~\nDone it is.", "~~~\nx := 1", ""},
		{"return door\n```\nSo it opens.\n```go\nopen(door)\n```\nThat is all.", "return door|```go\nopen(door)", ""},
		{"The block is not closed:\n```\nopen(door)\nshut(door)", "```\nopen(door)\nshut(door)", ""},
		{"It's the `door' and not the `gate' that rings.", "", ""},
		{"A ` stands alone here, and ` again.", "", ""},
		{"* **Recording**: <https://video.example/v/91>", "", "* **Recording**: <https://video.example/v/91>"},
		{"https://video.example/v/91", "", "https://video.example/v/91"},
		{"Slides: https://a.example/1, https://a.example/2", "", "Slides: https://a.example/1, https://a.example/2"},
		{"The recording is at https://video.example/v/91.", "", ""},
		{"Recording: https://video.example/v/91 has no sound.", "", ""},
		{"Fixed in https://code.example/c/91", "", ""},
		{"Present:\n* Ilse Brandt @ilse (chair)\n* Bruno leads the choir.", "", "* Ilse Brandt @ilse (chair)"},
	} {
		var shows, points []string
		for _, x := range new(Reader).Read(Source{Text: c.text}) {
			if said := c.text[x.Span.Start:x.Span.End]; x.Shows {
				shows = append(shows, said)
			} else if x.Points {
				points = append(points, said)
			}
		}
		if got := strings.Join(shows, "|"); got != c.shows {
			t.Errorf("%q shows %q, want %q", c.text, got, c.shows)
		}
		if got := strings.Join(points, "|"); got != c.points {
			t.Errorf("%q points by %q, want %q", c.text, got, c.points)
		}
	}
}

// A word of code denies nothing, and is denied as any other.
func TestCodeDeniesNothing(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"The flag `not-now` and `no` stop it.":   "",
		"It does not know the word `door` here.": "know the word door here",
	} {
		var denied []string
		for _, w := range only(t, Source{Text: said}).Words {
			if w.Not {
				denied = append(denied, w.Form)
			}
		}
		if got := strings.Join(denied, " "); got != want {
			t.Errorf("%q denies %q, want %q", said, got, want)
		}
	}
}

// Whatever the marks, what they mark are pieces of the text, one behind the other.
func TestMarksHoldForAnyText(t *testing.T) {
	t.Parallel()
	marks := []string{
		"`", "``", "```", "~~~", "\n", " ", "a", "go", "http://", "www.", "x.example/1", ")", "(", "](", "<", ">", ".",
		"é", "\xff",
	}
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(marks), 0, 40).Draw(t, "marks"), "")
		m := markedIn(s)
		for _, spans := range [][]text.Span{m.code, m.links} {
			end := 0
			for _, sp := range spans {
				if sp.Start < end || sp.End < sp.Start || sp.End > len(s) {
					t.Fatalf("%q: %v", s, spans)
				}
				end = sp.End
			}
		}
		if !slices.IsSortedFunc(m.code, func(a, b text.Span) int { return a.Start - b.Start }) {
			t.Fatalf("%q: %v", s, m.code)
		}
	})
}
