package extract

import (
	"slices"
	"testing"

	reading "orgmem/brain/reader"
)

// What is written as code is code, or nothing where only the room between two words is missing; marks of chats and
// forms name nothing.
func TestWrittenAsCode(t *testing.T) {
	t.Parallel()
	for s, want := range map[string][]string{
		"The behaviour of readFile and writeFile differs.":                 {"code readFile", "code writeFile"},
		"A walking buddy forMax will be great.":                            nil,
		"That was what it was designed to do. :wink:":                      nil,
		"**Minutes Google Doc**: <https://docs.example.com/d/7>":           {"url docs.example.com/d/7"},
		"It is at <http://pkgs.example.com|pkgs.example.com> as you know.": {"url pkgs.example.com"},
	} {
		if got := namedIn(Extract(Document{Text: s, Tagged: taggedAs(t, s)})); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// Where minutes name accounts, the reader is asked about the lines without one.
func TestMinutesWithAccounts(t *testing.T) {
	t.Parallel()
	s := "## Present\n\n* Karim Adeleke Osei @kosei (TSC)\n* Lena Voss @lvoss (TSC)\n\n## Agenda\n\n" +
		"* We wait until August for the others, since nobody of them is there before that.\n" +
		"* Version numbers of the parser are moved by the Kestrel Foundation Committee then, as they always were.\n" +
		"* Re-enable the link in the documentation of the parser, and say so to all of those who asked for it.\n" +
		"* Node.js is what the parser runs on, and nobody wants to change that before the end of the year.\n" +
		"* The lists of those who were there stand above, and what they said of it stands below for all to see.\n"
	got := namedIn(Extract(Document{Text: s, Tagged: taggedAs(t, s,
		said{text: "August", kind: reading.Person, p: 0.7},
		said{text: "Kestrel", kind: reading.Product},
		said{text: "Foundation", kind: reading.Organization},
		said{text: "enable", kind: reading.Person},
		said{text: "Node.js", kind: reading.Product},
	)}))
	for _, want := range []string{
		"person Karim Adeleke Osei", "person Lena Voss", "organization Kestrel Foundation Committee", "product Node.js",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	for _, none := range []string{"person August", "person Re-enable", "person Re", "person enable"} {
		if slices.Contains(got, none) {
			t.Errorf("%s in %q", none, got)
		}
	}
}
