package answer

import (
	"strings"
	"testing"
)

// What stands in a list of the newest texts tells something: courtesies, nods and what a chat shows are left out.
func TestGist(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{
			"Woah, that's great, Tom! You must be so proud. The kiln of the shop is repaired.",
			"The kiln of the shop is repaired.",
		},
		{"Thanks, Mia! I really appreciate it.", ""},
		{"Haha, totally agree!", ""},
		{"Hey Tom! How've you been?", ""},
		{"Hi Tom, the kiln of the pottery is cold again. Bye!", "The kiln of the pottery is cold again."},
		{"Wow! [shares a photo of a kiln] The glaze is blue.", "Wow! The glaze is blue."},
		{"What was the hardest glaze?", ""}, // what is asked tells nothing
		{"Sounds good.\nWe fire the second batch on Thursday.", "We fire the second batch on Thursday."},
		{"- [x] order clay from the quarry", "[x] order clay from the quarry"},
		{"Milk", "Milk"},
		{"Great!", ""},
		{"Danke, Mia!", ""},
		{"Vielen Dank! Der Ofen der Töpferei ist repariert.", "Der Ofen der Töpferei ist repariert."},
		{"谢谢！陶艺工作室的窑终于修好了。", "陶艺工作室的窑终于修好了。"},
		{"I guess the kiln of the shop is broken.", ""},
		{"Not surprised that your hard work at the wheel paid off.", ""},
		{"", ""},
		{":)", ""},
	} {
		if got := Gist(x.text, ""); got != x.want {
			t.Errorf("%q tells %q, want %q", x.text, got, x.want)
		}
	}
	long := "The kiln " + strings.Repeat("and the wheel ", 40) + "are old."
	if got := Gist(long, "Mia"); len(got) > maxGist+2 || !strings.HasPrefix(got, "Mia: The kiln") ||
		!strings.HasSuffix(got, "…") || strings.HasSuffix(got, " …") {
		t.Errorf("%q", got)
	}
}

// What is told from the day of writing has that beside it.
func TestDated(t *testing.T) {
	const day = 1_700_000_000_000
	for s, want := range map[string]string{
		"The kiln came yesterday.": "The kiln came yesterday. (14 November 2023)", "The kiln is dear.": "The kiln is dear.",
	} {
		if got := Dated(s, day); got != want || Dated(s, 0) != s {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestTells(t *testing.T) {
	for title, tells := range map[string]bool{
		"Kiln repair": true, "Hello!": false, "Thanks, Mia!": false, "": false, "Q3": true,
		"Oh wow": false, "R7": true, "Besprechung": true, "Does the kiln reach the": false,
		"Kiln, and the glaze of the": false, "What the kiln needs": true,
	} {
		if got := Tells(title); got != tells {
			t.Errorf("%q tells what it is about: %v", title, got)
		}
	}
}

// A directory that is called by a common word is not what every text with that word is about.
func TestNames(t *testing.T) {
	for _, x := range []struct {
		dir, text string
		named     bool
	}{
		{"walk", "We went for a walk by the river.", false},
		{"walk", "It takes a nice walking buddy.", false},
		{"walk", "Walk the dog at six.", false},
		{"walk", "The walk's long.", false},
		{"walk", "The tests of `walk` fail.", true},
		{"walk", "See services/walk/main.go for that.", true},
		{"walk", "Who takes over the walk service?", true},
		{"walk", "We moved the repo walk to the new host.", true},
		{"walk", "The team of Walk meets on Mondays.", true},
		{"walk", "We release Walk2 today.", false},
		{"orchard-api", "The orchard api answers slowly.", true},
		{"orchard-api", "The orchard answers slowly.", false},
		{"m365", "M365 is down again.", true},
		{"orchard", "", false},
		{"-", "a - b", false},
	} {
		if got := Names(x.text, x.dir); got != x.named {
			t.Errorf("%q names %q: %v", x.text, x.dir, got)
		}
	}
	if !Holds("The Orchard papers", "orchard") || Holds("The orchards", "orchard") {
		t.Error("a title holds a name as a word")
	}
	text := "Hi Ben! We went for a walk. The walk service is slow since Monday, thanks!"
	got := GistOf(text, "Mia", func(s string) bool { return Names(s, "walk") })
	if got != "Mia: The walk service is slow since Monday." && got != "Mia: The walk service is slow since Monday" {
		t.Errorf("%q", got)
	}
}
