package extract

import (
	"slices"
	"strings"
	"testing"

	"orgmem/brain/extract/calendar"
)

// A holiday is an event, whoever it is named after, and no guest; who is called like one
// stays a person.
func TestAHolidayIsNoPerson(t *testing.T) {
	for text, want := range map[string]string{
		"We celebrate Christmas at home.":                  "Christmas",
		"Christmas was cold, and Easter was warm.":         "Christmas Easter",
		"Merry Christmas, Ann!":                            "Christmas",
		"Happy Easter to everyone!":                        "Easter",
		"On Halloween the kids visit Tom.":                 "Halloween",
		"Hanukkah starts on Sunday.":                       "Hanukkah",
		"Ramadan begins in March.":                         "Ramadan",
		"Diwali and Eid fall on the same week.":            "Diwali Eid",
		"Passover with the Levys was lovely.":              "Passover",
		"Pentecost and Whitsun are the same day.":          "Pentecost Whitsun",
		"Juneteenth and Kwanzaa are in the calendar.":      "Juneteenth Kwanzaa",
		"Saint Patrick's Day is on 17 March.":              "Saint Patrick's Day",
		"The office is closed on Labor Day.":               "Labor Day",
		"Rosh Hashanah is early this year.":                "Rosh Hashanah",
		"Our team in Pune takes Diwali off.":               "Diwali",
		"For Midsummer we drive to the lake with Ingrid.":  "Midsummer",
		"Ask Priya whether the shop opens on Boxing Day.":  "",
		"Noel came to dinner.":                             "",
		"Mary Christmas joined the board in Leeds.":        "",
		"The deadline of Heron is 4 May.":                  "",
		"Jane Lee flew to Lisbon.":                         "",
		"Natalie asked about Lent, so we explained it all": "",
	} {
		var events []string
		for _, m := range Extract(Document{Text: text}).Mentions {
			if calendar.Feast(strings.ToLower(m.Name)) && m.Type != Event {
				t.Errorf("%q: %s %s", text, m.Type, m.Name)
			}
			if m.Type == Event && strings.Contains(want, m.Name) {
				events = append(events, m.Name)
			}
		}
		if want != "" && strings.Join(events, " ") != want {
			t.Errorf("%q: %q, want %q: %q", text, events, want, namesOf(Extract(Document{Text: text})))
		}
	}
	for _, text := range []string{"Mary Christmas joined the board in Leeds.", "Noel came to dinner with Jane Lee."} {
		if got := namesOf(Extract(Document{Text: text})); !slices.ContainsFunc(got, func(s string) bool {
			return strings.HasPrefix(s, "person ")
		}) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// What heads a part of a text in plain words names nothing; a name that heads one does.
func TestAHeadingIsNoName(t *testing.T) {
	for _, head := range []string{
		"Goals", "Notes", "Action Items", "Next Steps", "Summary", "Agenda", "Open Questions", "TODO", "Decisions",
		"Attendees", "Key Takeaways",
		"Meeting Notes", "Follow-Up", "Risks", "Background", "Overview", "Lessons Learned", "Parking Lot", "Weekly Update",
		"Shopping List", "Minutes",
		"ACTION ITEMS", "To Do", "Pros and Cons", "Q & A",
	} {
		for _, text := range []string{
			head + "\n\nJane Lee calls the bank in Berlin tomorrow, before noon.",
			"# " + head + "\n- Jane Lee calls the bank in Berlin\n- Tom Hardy writes the letter",
			"**" + head + "**\n\nJane Lee calls the bank in Berlin.",
			head + ": Jane Lee calls the bank in Berlin.",
			"The garden is green.\n\n2. " + head + "\nJane Lee calls the bank in Berlin.",
		} {
			got := namesOf(Extract(Document{Text: text}))
			for _, name := range got {
				if _, name, _ := strings.Cut(name, " "); strings.Contains(strings.ToLower(name), strings.ToLower(head)) ||
					strings.Contains(head, name) {
					t.Errorf("%q names %q", text, got)
				}
			}
			if !slices.Contains(got, "place Berlin") {
				t.Errorf("%q lost Berlin: %q", text, got)
			}
		}
	}
	for text, want := range map[string]string{
		"# Board of the Lindenhof\n\nPresent: Agnes Keller.": "organization Board of the Lindenhof",
		"Project Atlas\n\nThe deadline is near.":             "project Project Atlas",
		"Alice Munro\n\nShe wrote stories.":                  "person Alice Munro",
	} {
		if got := namesOf(Extract(Document{Text: text})); !slices.Contains(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
