package topic

import (
	"slices"
	"strings"
	"testing"
)

// thread is a thread of mails under one subject, each of whose texts is its own.
func thread(subject string, texts ...string) (g Group) {
	for i, t := range texts {
		g.Passages = append(g.Passages, Passage{Title: subject, Text: t, Of: i + 1})
		subject = "Re: " + strings.TrimPrefix(subject, "Re: ")
	}
	return g
}

func holds(l Label, word string) bool {
	return strings.Contains(strings.ToLower(l.Text+" "+strings.Join(l.Keywords, " ")), word)
}

// The subject of a thread is that of its first mail, whatever the others came to speak of.
func TestATitleCountsOnceForItsThread(t *testing.T) {
	g := thread("Question about the marmalade jars",
		"Where do the marmalade jars stand?", "On the shelf. By the way, the ferry is late again.",
		"The ferry had engine trouble, they say.", "Will the ferry run on Sunday with that engine?",
		"The engine was repaired, so the ferry runs.")
	l := Describe([]Group{g, baking})[0]
	if !holds(l, "ferry") || !holds(l, "engine") || strings.Contains(strings.ToLower(l.Text), "marmalade") {
		t.Errorf("%+v", l)
	}
}

// What stands in all texts of one form is the form: what they speak of is the rest.
func TestAFrameIsNoTopic(t *testing.T) {
	var g Group
	for i, said := range []string{
		"The orchard needs a new fence.", "The fence of the orchard was ordered.",
		"The fence came, and half of the orchard has it.", "The orchard is closed in by the fence.",
	} {
		g.Passages = append(g.Passages, Passage{Text: "# Weekly report\n## Attendance list\n* Everybody of the committee\n" +
			"Recording: https://example.org/" + strings.Repeat("x", i+1) + "\n" + said, Of: i + 1})
	}
	l := Describe([]Group{g, baking})[0]
	if !holds(l, "orchard") || !holds(l, "fence") {
		t.Errorf("%+v", l)
	}
	for _, frame := range []string{"report", "attendance", "committee", "recording"} {
		if holds(l, frame) {
			t.Errorf("%q is of the frame: %+v", frame, l)
		}
	}
	for i := range g.Passages { // of forms that nobody has filled in nothing is known
		g.Passages[i].Text, _, _ = strings.Cut(g.Passages[i].Text, "\nRecording")
	}
	if l := Describe([]Group{g, baking})[0]; l.Text != "" || len(l.Keywords) > 0 {
		t.Errorf("empty forms are named %+v", l)
	}
	list := Group{Passages: []Passage{{Text: "Oat milk", Of: 1}, {Text: "Oat milk", Of: 2}, {Text: "Oat milk", Of: 3}}}
	if l := Describe([]Group{list})[0]; !strings.EqualFold(l.Text, "oat milk") {
		t.Errorf("notes of a line each are named %+v", l)
	}
}

func TestCaptionsAndQuotesAreNoTopics(t *testing.T) {
	var g Group
	for i, said := range []string{
		"The kiln is hot [shares image: a photo of a zebra on a beach]",
		"My kiln cracked. ![a zebra on a beach](zebra.png)",
		"> The zebra is a beach animal.\nA new kiln costs a lot.",
		"The [kiln: a manual](https://example.org/kiln) says so.",
	} {
		g.Passages = append(g.Passages, Passage{Text: said, Of: i + 1})
	}
	l := Describe([]Group{g, baking})[0]
	if !strings.HasPrefix(l.Text, "Kiln") || holds(l, "zebra") || holds(l, "beach") {
		t.Errorf("%+v", l)
	}
	book := Group{Passages: passages("> The whale swims.", "> A whale is white.", "> The whale dives.")}
	if l := Describe([]Group{book, baking})[0]; !holds(l, "whale") { // who keeps quotes has nothing else
		t.Errorf("%+v", l)
	}
}

// Who writes, and is addressed in every text, names no group.
func TestWritersAreNoTopics(t *testing.T) {
	g := Group{Passages: passages(
		"Hey Ilse! The loom arrived today.", "Wow Ilse, a loom! Show me.", "Thanks Bruno! The loom is huge, Bruno.",
		"I'm proud of you, Ilse! Weave me a scarf on that loom.", "Bruno, the scarf is ready.",
	), Writers: []string{"Ilse Brandt", "bruno@example.org"}}
	l := Describe([]Group{g, baking})[0]
	if !strings.HasPrefix(l.Text, "Loom") || holds(l, "ilse") || holds(l, "bruno") {
		t.Errorf("%+v", l)
	}
	only := Group{Passages: passages("Hey Ilse!", "Hello Ilse, how are you?", "Thanks, Ilse!"), Writers: []string{"Ilse"}}
	if l := Describe([]Group{only, baking})[0]; l.Text != "" {
		t.Errorf("greetings are named %+v", l)
	}
}

// The minutes of a board are called after it, where nothing else is said in most of them.
func TestASeriesLendsItsName(t *testing.T) {
	said := []string{
		"The archive moves to the cellar.", "The archive was moved.",
		"The choir asks for a room.", "A room for the choir was found.",
		"The archive is dry.", "Nobody came.", "Nobody spoke.",
	}
	var g Group
	for i, s := range said {
		g.Passages = append(g.Passages, Passage{Title: "Board minutes 2024-0" + string(rune('1'+i)), Text: s, Of: i + 1})
	}
	if l := Describe([]Group{g, baking})[0]; !strings.HasPrefix(l.Text, "Board minutes, ") || !holds(l, "choir") {
		t.Errorf("%+v", l)
	}
	for i := range g.Passages {
		g.Passages[i].Text += " The harbour."
	}
	if l := Describe([]Group{g, baking})[0]; !strings.HasPrefix(l.Text, "Harbour") {
		t.Errorf("a series with a theme is named %+v", l)
	}
	var long Group // of long texts half share many a word
	for i := range 3 {
		for _, s := range said {
			p := Passage{Text: s + " The harbour.", Of: i + 1, Part: true}
			if s == said[0] {
				p.Title = "Board minutes 2024-0" + string(rune('1'+i))
			}
			long.Passages = append(long.Passages, p)
		}
	}
	if l := Describe([]Group{long, baking})[0]; l.Text != "Board minutes" {
		t.Errorf("a series of long texts is named %+v", l)
	}
	if l := Describe([]Group{long, long, baking}); !slices.Equal(OneTheme(l), []int{0, 0, 2}) {
		t.Errorf("two parts of a series are named %+v and %+v", l[0], l[1])
	}
}

// What two of thirty texts say does not name them all.
func TestALabelIsSaidByAFew(t *testing.T) {
	var g Group
	for i := range 30 {
		text := "That was fine with me."
		if i < 2 {
			text = "The accordion is broken."
		}
		g.Passages = append(g.Passages, Passage{Text: text + strings.Repeat(" Umbra"+string(rune('a'+i)), i%2), Of: i + 1})
	}
	l := Describe([]Group{g, baking})[0]
	if l.Text != "" || !slices.Contains(l.Keywords, "accordion") {
		t.Errorf("%+v", l)
	}
	long := Group{}
	for i := range 9 { // three texts, one of which says a word in every passage
		text := "The bakery opens at noon."
		if i%3 == 0 {
			text = "The turnstile squeaks, that turnstile."
		}
		long.Passages = append(long.Passages, Passage{Text: text, Of: i % 3})
	}
	if l := Describe([]Group{long, sailing})[0]; holds(l, "turnstile") || !holds(l, "bakery") {
		t.Errorf("%+v", l)
	}
}

// A thread is known by its subject, whatever mail programs put before it.
func TestSubject(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Re: Kiln repair": "Kiln repair", "RE: Fwd: AW: Kiln repair": "Kiln repair", "Re[2]: Kiln": "Kiln",
		"Repair: the kiln": "Repair: the kiln", "Re: ": "", "Kiln": "Kiln",
	} {
		if got := Subject(title); got != want {
			t.Errorf("%q is about %q, want %q", title, got, want)
		}
	}
}

// What somebody is behind their name in a list of who was there is no topic.
func TestWhoWasThereIsNoTopic(t *testing.T) {
	var g Group
	for i := range 5 {
		g.Passages = append(g.Passages, Passage{
			Text: "* Ilse Brandt @ilse (observer)\n* Bruno Vogt @bruno (observer, " + string(rune('a'+i)) +
				")\n\nThe kiln cracked.",
			Of: i + 1,
		})
	}
	if l := Describe([]Group{g, baking})[0]; !strings.HasPrefix(l.Text, "Kiln") || holds(l, "observer") {
		t.Errorf("%+v", l)
	}
}
