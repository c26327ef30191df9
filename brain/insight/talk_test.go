package insight

import (
	"slices"
	"strings"
	"testing"

	"orgmem/brain/claim"
	"orgmem/brain/temporal"
)

// TestNoDutyOfTalk: what somebody does while they speak of something else, and a picture that is shown, are no duties.
func TestNoDutyOfTalk(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"My cat always sits beside me while I write. [shares image: a cat on a blue sofa]",
		"I love the desk, I always keep it tidy when I draw maps.",
		"He always calls when I cook dinner.",
		"I write. [shares photo: the minutes of every week]",
		"It's always loud where I plan the trips.",
	} {
		if got := tell(KindResponsibility, said); len(got) != 0 {
			t.Errorf("%q: %q", said, got)
		}
	}
	for said, want := range map[string]string{
		"Anna writes the minutes from now on. [shares image: a notebook]": "Anna writes the minutes",
		"From now on I water the plants in the hall.":                     "I water the plants in the hall",
		"Every week Tom orders the paper.":                                "Tom orders the paper",
		"[Urgent] Nadia is responsible for the payroll.":                  "Nadia is responsible for the payroll",
		"Nadia is responsible for [the payroll](https://example.org).":    "Nadia is responsible for",
	} {
		got := tell(KindResponsibility, said)
		if !slices.ContainsFunc(got, func(s string) bool {
			return strings.HasPrefix(s, want) && !strings.Contains(s, "[shares")
		}) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// chat is a conversation of two people on some days, one of the given ones on each, in which they speak in turn.
func chat(days int, apartMS int64, talks ...[]string) (notes []temporal.Note) {
	var r claim.Reader
	for d := range days {
		for i, s := range talks[d%len(talks)] {
			n := asNote(&r, s, []string{"Ines", "Jakob"}[i%2], monday+int64(3*d)*dayMS+int64(i)*apartMS)
			n.Source = int32(len(notes))
			notes = append(notes, n)
		}
	}
	return notes
}

// TestTurnsAreNoNotes: where two take turns, what is asked is answered by the other, and what both like to say comes up
// often without being news. Notes that two people write on the same days are still notes.
func TestTurnsAreNoNotes(t *testing.T) {
	t.Parallel()
	talks := [][]string{
		{"Your hard work paid off, what a concert.", "Thanks! The hard work was worth the wait."},
		{"The sea was calm today.", "I made soup.", "Snow is coming.", "Good night."},
		{"How did the rehearsal for the concert feel?", "Lovely.", "Sleep well then.", "Same here."},
	}
	told := func(apartMS int64) (titles []string) {
		notes := chat(18, apartMS, talks...)
		for _, x := range Rank(Gather(notes), ByRules, notes[len(notes)-1].AtMs) {
			titles = append(titles, x.Title)
		}
		return titles
	}
	if got := told(40_000); len(got) != 0 {
		t.Errorf("%q is told of a chat", got)
	}
	if got := told(4 * 3600_000); len(got) < 2 {
		t.Errorf("%q is told of notes", got)
	}
}

// TestWhatOnlySharesAWord: places that have only a word of a trade in common are not one thing that comes back.
func TestWhatOnlySharesAWord(t *testing.T) {
	t.Parallel()
	among := func(said ...string) (all []string) {
		for i, s := range said {
			all = append(all, s, []string{"Lunch with Nadia.", "A quiet day, and some rain."}[i%2])
		}
		return all
	}
	for want, said := range map[string][]string{
		"": among("Upgrading the oven firmware, but every time they try we find corner cases.",
			"The lock of the shed has corner cases for visitors.", "Corner cases on the old tills are ironed out."),
		"Keeps coming back: door handle": among("The door handle of room 4 is loose.", "Door handle loose again.",
			"Somebody mended the door handle."),
		"Keeps coming back: phone line": among("The phone line was dead again.", "Phone line: again no tone.",
			"A man from the phone company looked at the phone line."),
	} {
		got := strings.Join(tell(KindRecurrence, said...), "; ")
		if !strings.EqualFold(got, want) {
			t.Errorf("%q: %q", want, got)
		}
	}
	congratulated := among("Congrats, Nadia!", "Congrats on the prize.", "Many congrats to the team!", "Congrats!",
		"And congrats to Tom.", "Congrats, all of you.", "Congrats to the winners.")
	got := strings.ToLower(strings.Join(tell(KindRecurrence, congratulated...), "; "))
	if strings.Contains(got, "congrats") {
		t.Errorf("%q", got)
	}
}
