package insight

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/brain/claim"
	"orgmem/brain/temporal"
)

// monday is when the notes of these tests are written: 2 November 2026.
var monday = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC).UnixMilli()

// tell is what is shown of notes that are written on days that follow each other, by
// nobody who is known.
func tell(kind string, texts ...string) (titles []string) {
	var r claim.Reader
	var notes []temporal.Note
	for i, s := range texts {
		notes = append(notes, asNote(&r, s, "", monday+int64(i)*dayMS))
	}
	for _, x := range Rank(Gather(notes), ByRules, monday) {
		if x.Kind == kind {
			titles = append(titles, x.Title)
		}
	}
	return titles
}

func TestWhoIsResponsibleForWhat(t *testing.T) {
	for said, want := range map[string]string{
		"Nadia is responsible for the payroll.": "Nadia is responsible for the payroll",
		"Tom Bakker is in charge of the warehouse keys now.": "Tom Bakker is in charge of the " +
			"warehouse keys",
		"Since Monday Nadia takes care of the complaints.": "Nadia takes care of the complaints",
		"Mrs Adeyemi looks after the garden, as always.":   "Mrs Adeyemi looks after the garden",
		"Robin handles the contracts with suppliers, so please send them to him.": "Robin handles the contracts with " +
			"suppliers",
		"I take care of the rota from now on.": "I take care of the rota",
		"The facilities team is responsible for the lifts.": "The facilities team is responsible " +
			"for the lifts",
		"Pavel has taken over the newsletter.":    "Pavel has taken over the newsletter",
		"From next week Anna writes the minutes.": "Anna writes the minutes",
		"Fatima is the new treasurer of the club.": "Fatima is the new treasurer of " +
			"the club",
		"Our contact at the city is Lars Holm.":                                       "Our contact at the city is Lars Holm",
		"The onboarding is Robin's job.":                                              "The onboarding is Robin",
		"Nadia manages the budget, Tom manages the staff.":                            "Tom manages the staff",
		"The archive is looked after by Lars.":                                        "The archive is looked after by Lars",
		"Ada looks after the tickets, Piet runs the bar.":                             "Piet runs the bar",
		"Anna cooks the lunch and Ben does the dishes.":                               "Ben does the dishes",
		"Always ask Dana first, since Dana approves all holidays from now on, please": "Dana approves all holidays",
	} {
		got := tell(KindResponsibility, said)
		if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	for _, said := range []string{
		"Nadia is not responsible for the payroll.",
		"Who is responsible for the payroll?",
		"Somebody should take care of the plants.",
		"He takes care of it.",
		"We will see who takes care of the plants.",
		"If Tom takes over the shop, we have to talk.",
		"Nadia does well at school.",
		"Tom runs every morning.",
		"Rain does the rest.",
		"The new phone handles well.",
		"She asked Tom to look after the cat.",
		"Nobody is in charge of anything here.",
		"Nadia manages to be late every day.",
		"Tom does not run the shop.",
		"Anna is a teacher.",
		"I own a bicycle.",
		"Ben wants to lead the team.",
		"Maybe Lars is in charge of it.",
		"Nadia takes care of herself.",
		"The film is about a man who runs a bar.",
		"Tom sends his regards.",
	} {
		if got := tell(KindResponsibility, said); len(got) != 0 {
			t.Errorf("%q: %q", said, got)
		}
	}
	// Who took it over is shown, and who had it is not.
	if got := tell(KindResponsibility, "Nadia handles the invoices.", "The weather is fine.",
		"Tom handles the invoices now."); !slices.Equal(got, []string{"Tom handles the invoices"}) {
		t.Errorf("%q", got)
	}
}

func TestWhatHasChanged(t *testing.T) {
	for _, c := range [][]string{
		{"The workshop has been moved from 4 March to 11 March.", "The workshop has been moved from 4 March to 11 March"},
		{"The opening has been postponed to 12 December.", "The opening has been postponed to 12 December"},
		{"Our rent was raised from 900 to 950 euros.", "Our rent was raised from 900 to 950 euros"},
		{"The fee goes up to 40 euros in spring.", "The fee goes up to 40 euros in spring"},
		{"The choir meets on Tuesdays now, not on Mondays.", "The choir meets on Tuesdays now, not on Mondays"},
		{"We use Postgres now instead of MySQL.", "We use Postgres now instead of MySQL"},
		{
			"The deadline of Atlas is 3 May.", "", "The deadline of Atlas is 9 June.",
			"Deadline of Atlas: now 9 June, before that 3 May",
		},
		{
			"We used to meet in the library. Now we meet at the school.",
			"We used to meet in the library. Now we meet at the school",
		},
		{"The office no longer accepts cash, cards only from now on.", "The office no longer accepts cash"},
		{"The bus was at 7:40. Now it is at 7:25.", "The bus is at 7:25"},
		{"We switched from paper forms to the tablet.", "We switched from paper forms to the tablet"},
		{"The speed limit on our street was lowered to 30.", "The speed limit on our street was lowered to 30"},
		{"Dana's last day was moved from 30 June to 31 July.", "Dana's last day was moved from 30 June to 31 July"},
	} {
		said, want := []string{c[0]}, c[1]
		if len(c) > 2 {
			said, want = []string{c[0], c[2]}, c[3]
		}
		if got := tell(KindChange, said...); !slices.ContainsFunc(got, func(s string) bool {
			return strings.HasPrefix(s, want)
		}) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	for _, said := range []string{
		"We should use tea instead of coffee.",
		"Maybe the party will be moved to June.",
		"She went from room to room.",
		"I moved the sofa to the window.",
		"It rained instead of snowing.",
		"Was the meeting moved to 3 May?",
		"He is used to the noise now.",
		"The film was long. It is 9 o'clock.",
		"They want to raise the fee to 40 euros.",
		"The price did not rise to 40 euros.",
		"I fell down the stairs to the cellar.",
		"We went to Rome in May.",
		"It goes from bad to worse.",
		"I changed the bulb.",
		"He put the 3 boxes back to the shelf.",
		"The train goes from Basel to Bern.",
		"The temperature fell to 3 degrees at night.",
	} {
		if got := tell(KindChange, said); len(got) != 0 {
			t.Errorf("%q: %q", said, got)
		}
	}
}

func TestWhatIsDue(t *testing.T) {
	for said, want := range map[string]string{
		"The report must be in by 20 November.":                  "The report must be in by 20 November",
		"Nadia will send the contract by Friday.":                "Nadia will send the contract by Friday",
		"The passport expires on 3 January.":                     "The passport expires on 3 January",
		"Please pay the second half before 15 November.":         "Please pay the second half before 15 November",
		"The inspection of the roof is on 18 November at 10:00.": "The inspection of the roof is on 18 November",
		"Dentist on 12 November.":                                "Dentist on 12 November",
		"The application has to be handed in until 30 November.": "The application has to be handed in until 30 " +
			"November",
		"The deadline of the grant is 1 December.":                       "The deadline of the grant is 1 December",
		"Their lease is long. It ends on 31 December, and they know it.": "Their lease is long. It ends on 31 December",
		"The movers come on 9 December and need the keys.":               "The movers come on 9 December",
		"The workshop has been moved from 4 November to 11 November.":    "The workshop: 11 November 2026",
		"We have to answer the insurance by the end of the month, he says.": "We have to answer the insurance by the end " +
			"of the month",
	} {
		if got := tell(KindDue, said); !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	for _, said := range []string{
		"The report was due on 20 October.",
		"Maybe we go to the lake on 15 November.",
		"Is the report due on 20 November?",
		"Lars is on leave until 22 November.",
		"We met on 30 October.",
		"It will be warm tomorrow, they say, but who knows whether it will.",
		"We could finish it by Friday.",
		"The report is not due on 20 November.",
		"In spring we start again.",
		"She was born on 12 December 1980.",
	} {
		if got := tell(KindDue, said); len(got) != 0 {
			t.Errorf("%q: %q", said, got)
		}
	}
	for _, done := range []string{"The report is sent.", "Sent the report to the board.", "Report for the board: done."} {
		if got := tell(KindDue, "The report for the board must be sent by 20 November.", "Nice weather.",
			done); len(got) != 0 {
			t.Errorf("%q behind %q", got, done)
		}
	}
	if got := tell(KindDue, "The report for the board must be sent by 20 November.",
		"The report for the board is not sent yet."); len(got) != 1 {
		t.Errorf("%q", got)
	}
	// What has got another day is due then only.
	if got := tell(KindDue, "The opening of the shop is on 20 November.",
		"The opening of the shop has been moved to 27 November."); len(got) != 1 || !strings.Contains(got[0], "27") {
		t.Errorf("%q", got)
	}
}

func TestWhoHasPromisedWhat(t *testing.T) {
	for said, want := range map[string]string{
		"I will order a new kettle.":                 "I will order a new kettle",
		"Nadia will ring the landlord.":              "Nadia will ring the landlord",
		"I'll fix the gutter of the shed.":           "I'll fix the gutter of the shed",
		"TODO: renew the certificate of the gateway": "Renew the certificate of the gateway",
		"I'm going to write the summary.":            "I'm going to write the summary",
	} {
		if got := tell(KindCommitment, said); !slices.Contains(got, want) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
	for _, said := range []string{
		"I'll keep it in mind.", "I will bear in mind that the shop is shut.", "We'll see.", "I'll be there.",
		"It will rain.", "I will fix it.",
		"We'll cross that bridge when we come to it.", "I'll keep you posted.", "I will not order the kettle.",
		"The weather will get better.",
		"I'll pursue that, but can't provoke anything wrong.", "I will think about the offer.", "I would order a kettle.",
		"Maybe I will order a kettle.",
		"You will find the key under the mat.", "I'll never understand the tax form.", "We will have a good time.",
		"I'll have the soup.",
	} {
		if got := tell(KindCommitment, said); len(got) != 0 {
			t.Errorf("%q: %q", said, got)
		}
	}
	if got := tell(KindCommitment, "I will order a new kettle.", "The kettle is here, it is red."); len(got) != 0 {
		t.Errorf("%q is kept", got)
	}
}

func TestWhatKeepsComingBack(t *testing.T) {
	filler := []string{
		"Lunch with Nadia.", "The invoice is paid.", "A quiet day, and some rain.", "New chairs for the office.",
		"Tom bought stamps.",
	}
	among := func(said ...string) (all []string) {
		for i, s := range said {
			all = append(all, s, filler[i%len(filler)])
		}
		return all
	}
	for want, said := range map[string][]string{
		"Keeps coming back: printer": among("The printer is out of order.", "printer again, paper jam",
			"Waited for the printer.", "Printer stuck again this morning."),
		"Keeps coming back: parking": among("Somebody complained about the parking.",
			"Parking: the third complaint this month.", "Parking is the topic of the house meeting, again."),
		"Keeps coming back: router": among("The router lost the connection.", "Router down again.",
			"No wifi, the router again."),
	} {
		if got := tell(KindRecurrence, said...); len(got) != 1 || !strings.EqualFold(got[0], want) {
			t.Errorf("%q: %q", want, got)
		}
	}
	for _, said := range [][]string{
		among("The printer is old.", "The printer is grey.", "The printer is loud."),
		among("The shop is open again.", "The shop sells bread.", "The shop is closed on Sundays."),
		among("See you again soon.", "Nadia was here again.", "Nadia likes tea.", "Nadia sings."),
	} {
		if got := tell(KindRecurrence, said...); len(got) != 0 {
			t.Errorf("%q: %q", said, got)
		}
	}
}

// Of what begins in a week or a month no day is known.
func TestWhatIsDueInAWeek(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"The audit of the warehouse starts next week.": "In the week of 9 November 2026: ",
		"Dentist on 12 November.":                      "On 12 November 2026: ",
		"The report must be in by next week.":          "By 15 November 2026: ",
	} {
		var r claim.Reader
		all := Rank(Gather([]temporal.Note{asNote(&r, said, "", monday)}), ByRules, monday)
		if len(all) != 1 || !strings.HasPrefix(all[0].Detail, want) {
			t.Errorf("%q: %+v, want %q", said, all, want)
		}
	}
}
