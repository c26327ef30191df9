package extract

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The verb of a date's clause decides which May is meant, and which Monday: what was is
// behind the time of writing, what is planned or asked for lies ahead of it.
func TestTenseDecidesTheDate(t *testing.T) {
	for written, sentences := range map[string]map[string]string{
		"2025-11-12": { // a Wednesday
			// Reports and stories.
			"Lena joined the team in May.":                                   "2025-05-01",
			"In May Lena joined the team.":                                   "2025-05-01",
			"We hired two nurses in December.":                               "2024-12-01",
			"The roof was repaired in January.":                              "2025-01-01",
			"They got married in March and moved to Porto in April.":         "2025-03-01 2025-04-01",
			"Omar left on 20 November after nine years.":                     "2024-11-20",
			"The first customer signed on 3 December.":                       "2024-12-03",
			"Grandma was born on 2 December, my brother came on 30 January.": "2024-12-02 2025-01-30",
			"We flew to Crete in April, it rained all week.":                 "2025-04-01",
			"Back in February the pump had failed twice.":                    "2025-02-01",
			"I saw the doctor on Friday and she was happy.":                  "2025-11-07",
			"On Monday the server went down for an hour.":                    "2025-11-10",
			"Paid the electrician on Saturday.":                              "2025-11-08",
			"Didn't sleep well on Sunday.":                                   "2025-11-09",
			"She put the tree up on Sunday.":                                 "2025-11-09",
			"We couldn't reach him on Thursday.":                             "2025-11-06",
			"He should have called on Friday.":                               "2025-11-07",
			"Thanks for helping out on Saturday!":                            "2025-11-08",
			"Minutes of 28 November: nobody came.":                           "2024-11-28",
			"I've read the notes from Friday.":                               "2025-11-07",
			"The fair ran until Sunday.":                                     "2025-11-09",
			"By March we had finished the kitchen.":                          "2025-03-01",
			"It rained from 20 November to 3 December.":                      "2024-11-20",
			"Were you at the dentist on Friday?":                             "2025-11-07",
			"Did the parcel come on Thursday?":                               "2025-11-06",
			"When we met in March, she was still in Leeds.":                  "2025-03-01",
			"He told me in June that he was unwell.":                         "2025-06-01",
			"The audit, finished in April, found nothing.":                   "2025-04-01",
			"It used to open in April.":                                      "2025-04-01",
			"We had to cancel the trip in March.":                            "2025-03-01",
			"I managed to fix the boiler on Friday.":                         "2025-11-07",
			"She said the shop closed in March.":                             "2025-03-01",
			"The invoice of 30 November was never paid.":                     "2024-11-30",
			// The perfect.
			"Sara has been on leave since September.":  "2025-09-01",
			"Sara has been on leave since December.":   "2024-12-01",
			"The lights have been out since Thursday.": "2025-11-06",
			"I've worked here since Monday.":           "2025-11-10",
			"Her parents have sold the house in June.": "2025-06-01",
			"He's been away since Friday.":             "2025-11-07",
			// Plans, promises, requests.
			"We will move the office in March.":                                 "2026-03-01",
			"We'll launch in October.":                                          "2026-10-01",
			"Nadia is starting in September.":                                   "2026-09-01",
			"We are going to repaint the hall in August.":                       "2026-08-01",
			"I'm meeting Yusuf on Friday.":                                      "2025-11-14",
			"They want to close the branch in July.":                            "2026-07-01",
			"We agreed to meet on Monday.":                                      "2025-11-17",
			"Tom promised to send the list by Friday.":                          "2025-11-14",
			"Please send me the figures by 10 January.":                         "2026-01-10",
			"Call the plumber on Thursday.":                                     "2025-11-13",
			"Let's talk on Monday.":                                             "2025-11-17",
			"Don't forget the bins on Thursday.":                                "2025-11-13",
			"Could you water the plants on Saturday?":                           "2025-11-15",
			"I have to renew my passport by February.":                          "2026-02-01",
			"The report must be finished by Tuesday.":                           "2025-11-18",
			"The rent is due on Friday.":                                        "2025-11-14",
			"The sprint ends on Friday.":                                        "2025-11-14",
			"The course starts in September.":                                   "2026-09-01",
			"Our lease runs out in October.":                                    "2026-10-01",
			"School starts again on 7 January.":                                 "2026-01-07",
			"We are back on 7 January.":                                         "2026-01-07",
			"She's moving out in October.":                                      "2026-10-01",
			"The tickets need to be paid by Monday.":                            "2025-11-17",
			"If it snows on Friday, we stay at home.":                           "2025-11-14",
			"Dentist on Monday at 8:15, I must not eat before.":                 "2025-11-17",
			"See you on Tuesday!":                                               "2025-11-18",
			"Looking forward to seeing you on Saturday.":                        "2025-11-15",
			"TODO: book the hall by 1 June":                                     "2026-06-01",
			"The next meeting is in May.":                                       "2026-05-01",
			"Hi all, just a reminder that the kitchen will be closed on Friday": "2025-11-14",
			"We won't be open on 1 January.":                                    "2026-01-01",
			"Kick-off planned for Tuesday.":                                     "2025-11-18",
			"In April we move to Graz.":                                         "2026-04-01",
			"They leave on 2 February.":                                         "2026-02-02",
			// What was fixed for a time, or moved to it, is still to come.
			"The deadline was extended to 5 December.": "2025-12-05",
			"The match was postponed to Sunday.":       "2025-11-16",
			"We have moved the review to Thursday.":    "2025-11-13",
			"I booked a table for Saturday.":           "2025-11-15",
			"The visit is scheduled for 3 February.":   "2026-02-03",
			"Mira has asked for the draft by Friday.":  "2025-11-14",
			// The verb of the clause, not any verb of the sentence.
			"Lena, who will lead the team, joined in May.":               "2025-05-01",
			"The man who joined in May will leave in June.":              "2025-05-01 2026-06-01",
			"We will present what we built in March.":                    "2025-03-01",
			"I will tell you what happened on Friday.":                   "2025-11-07",
			"She said that she will move in March.":                      "2026-03-01",
			"I think the concert was on Saturday.":                       "2025-11-08",
			"It broke on Monday, so we will replace it on Thursday.":     "2025-11-10 2025-11-13",
			"We lost the case in January and will appeal in March.":      "2025-01-01 2026-03-01",
			"The contract that was signed on 3 December ends on 3 June.": "2024-12-03 2026-06-03",
			"Call Ann, she came back on Sunday.":                         "2025-11-09",
			"As we decided in June, the office will close in July.":      "2025-06-01 2026-07-01",
			"On Monday the plumber who will fix the sink came by.":       "2025-11-10",
		},
		"2025-04-16": { // a Wednesday
			"The lease was signed on October 1 and the keys came a week later.": "2024-10-01",
			"Kim started in September.":                                         "2024-09-01",
			"In Q4 we lost money.":                                              "2024-10-01",
			"We will hire in Q1.":                                               "2026-01-01",
			"The garden party was on the 5th of July.":                          "2024-07-05",
			"The garden party will be on the 5th of July.":                      "2025-07-05",
			"She was promoted on 30 April last year.":                           "2024-04-30",
			"He retires in March next year.":                                    "2026-03-01",
			"In October last year we had no heating.":                           "2024-10-01",
			"The bus pass is valid until 30 September.":                         "2025-09-30", // see below: its end
			"We stayed in Kyoto until October.":                                 "2024-10-31",
			"From December 20 to January 5 we were at my mother's.":             "2024-12-20",
			"We will be in Spain from December 20 to January 5.":                "2025-12-20",
		},
	} {
		at, err := time.Parse(time.DateOnly, written)
		if err != nil {
			t.Fatal(err)
		}
		for text, want := range sentences {
			var got []string
			for _, d := range Extract(Document{Text: text, AtMs: at.UnixMilli() + 10*3600_000}).Dates {
				ms := d.FromMs
				if show(ms) == "…" {
					ms = d.UntilMs - 1
				}
				got = append(got, time.UnixMilli(ms).UTC().Format(time.DateOnly))
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s, %q: %q, want %q", written, text, got, want)
			}
		}
	}
}

// Whatever is said of whom, and wherever the date stands: what was lies behind the time of
// writing, what will be ahead of it.
func TestTenseHoldsForAnyDate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMilli(rapid.Int64Range(1, 2_000_000_000_000).Draw(t, "written")).UTC()
		was := rapid.Bool().Draw(t, "past")
		verbs := []string{"will repaint the hall", "is going to move", "must be paid", "wants to leave", "'ll be back", "is to be sold", "has to renew it", "should call the landlord"}
		if was {
			verbs = []string{"repainted the hall", "moved", "was paid", "wanted a rest and left", "has been sold", "did not come", "had to renew it", "went to see the landlord"}
		}
		says := rapid.SampledFrom([]string{"the neighbour", "Lena", "Mr Okafor of Acme Corp", "she", "the team"}).Draw(t, "subject") + " " + rapid.SampledFrom(verbs).Draw(t, "verb")
		says = strings.ReplaceAll(says, " '", "'")
		when := rapid.SampledFrom([]string{
			"in January", "in February", "in April", "in June", "in August", "in October", "in December", "on 3 March", "on the 28th of July",
			"on November 30", "on Monday", "on Thursday", "on Sunday",
		}).Draw(t, "when")
		text := rapid.SampledFrom([]string{says + " " + when + ".", when + " " + says + ".", when + ", as far as I know, " + says + ".", "Good news: " + says + " " + when + ", at last."}).Draw(t, "order")
		text = strings.ToUpper(text[:1]) + text[1:]
		dates := Extract(Document{Text: text, AtMs: at.UnixMilli()}).Dates
		if len(dates) != 1 {
			t.Fatalf("%q: %+v", text, dates)
		}
		today := at.Truncate(24 * time.Hour).UnixMilli()
		if d := dates[0]; was && d.FromMs > today || !was && d.UntilMs <= today-lateNote*msPerDay || d.UntilMs-today > 367*msPerDay || today-d.FromMs > 367*msPerDay {
			t.Fatalf("%q, written %s: %s to %s", text, at.Format(time.DateOnly), show(d.FromMs), show(d.UntilMs))
		}
	})
}
