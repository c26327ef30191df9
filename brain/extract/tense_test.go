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
			// Of all sorts.
			"We shipped version 2 in July and version 3 ships in February.":               "2025-07-01 2026-02-01",
			"The board approved the budget on 15 December.":                               "2024-12-15",
			"Status: migration done on Friday, rollout starts Monday.":                    "2025-11-07 2025-11-17",
			"Hey, are we still on for Thursday?":                                          "2025-11-13",
			"My parents visited us in April.":                                             "2025-04-01",
			"My parents are visiting us in April.":                                        "2026-04-01",
			"My parents visit us in April.":                                               "2026-04-01",
			"The invoice is payable by 30 November.":                                      "2025-11-30",
			"The invoice was payable by 30 November.":                                     "2024-11-30",
			"Payment received on 3 January.":                                              "2025-01-03",
			"Your parcel was delivered on Tuesday.":                                       "2025-11-11",
			"Your parcel will be delivered on Tuesday.":                                   "2025-11-18",
			"Your parcel is being delivered on Tuesday.":                                  "2025-11-18",
			"Sorry I missed your call on Monday.":                                         "2025-11-10",
			"I had my hair cut on Saturday.":                                              "2025-11-08",
			"Can someone cover my shift on Saturday?":                                     "2025-11-15",
			"I quit in March.":                                                            "2025-03-01",
			"We broke up in May, he moved out in June.":                                   "2025-05-01 2025-06-01",
			"Anna's wedding is on 20 June.":                                               "2026-06-20",
			"Anna's wedding was on 20 June.":                                              "2025-06-20",
			"The baby is due in April.":                                                   "2026-04-01",
			"The baby was born in April.":                                                 "2025-04-01",
			"Flights booked for 4 May.":                                                   "2026-05-04",
			"The flat becomes free in March.":                                             "2026-03-01",
			"The tenant gave notice in August.":                                           "2025-08-01",
			"The patient was admitted on Sunday and discharged on Tuesday.":               "2025-11-09 2025-11-11",
			"Next check-up on 14 December.":                                               "2025-12-14",
			"The warranty expired in February.":                                           "2025-02-01",
			"The warranty expires in February.":                                           "2026-02-01",
			"The domain has to be renewed in February.":                                   "2026-02-01",
			"He will have finished his thesis by June.":                                   "2026-06-01",
			"They would have arrived on Saturday.":                                        "2025-11-08",
			"I might be late on Friday.":                                                  "2025-11-14",
			"I'd rather meet on Monday.":                                                  "2025-11-17",
			"We'd met in March.":                                                          "2025-03-01",
			"She'd been ill since Sunday.":                                                "2025-11-09",
			"The new CEO takes over in January.":                                          "2026-01-01",
			"The new CEO took over in January.":                                           "2025-01-01",
			"From January the new CEO runs the company.":                                  "2026-01-01",
			"Applications close on 28 February.":                                          "2026-02-28",
			"Doors open at 7 on Friday.":                                                  "2025-11-14",
			"No trains run on 25 December.":                                               "2025-12-25",
			"Nothing worked on Monday.":                                                   "2025-11-10",
			"Everything works again since Monday.":                                        "2025-11-10",
			"I need the slides by Thursday, the client comes on Friday.":                  "2025-11-13 2025-11-14",
			"The client came on Friday and wants the slides by Thursday.":                 "2025-11-07 2025-11-13",
			"Since we moved in March the commute is shorter.":                             "2025-03-01",
			"After the outage in June we bought a second line.":                           "2025-06-01",
			"Before the holidays in July we have to hand in the taxes.":                   "2026-07-01",
			"Remember when the river froze in February?":                                  "2025-02-01",
			"Did you know that the museum reopens in May?":                                "2026-05-01",
			"The museum, closed since May, reopens in February.":                          "2025-05-01 2026-02-01",
			"Between March and June we lost three clients.":                               "2025-03-01",
			"Between March and June we will be abroad.":                                   "2026-03-01",
			"Ms Okoye started as an intern in September and became team lead in October.": "2025-09-01 2025-10-01",
			"It looks like we can start in December.":                                     "2025-12-01",
			"According to Ben the audit starts on Monday.":                                "2025-11-17",
			"According to Ben the audit started on Monday.":                               "2025-11-10",
			"He hasn't called since Friday.":                                              "2025-11-07",
			"He hasn't paid the rent for November.":                                       "2025-11-01",
			"The rent for December is paid.":                                              "2025-12-01",
			"I paid the rent for December.":                                               "2025-12-01",
			"The gym membership, which ends in May, cost too much.":                       "2026-05-01",
			"The gym membership, which ended in May, cost too much.":                      "2025-05-01",
			"Ran 10k on Sunday, legs still hurt.":                                         "2025-11-09",
			"Meeting with Farid on Monday: he agreed to the price.":                       "2025-11-10",
			"Agenda for Monday: budget, hiring.":                                          "2025-11-17",
			"bday party at Jo's on saturday":                                              "2025-11-15",
			"lunch w/ Kim on Thu?":                                                        "2025-11-13",
			"Back on 3 January.":                                                          "2026-01-03",
			"Out of office until 3 January.":                                              "2026-01-03",
			"I am out of office until 3 January.":                                         "2026-01-03",
			"Closed from 24 December to 6 January.":                                       "2025-12-24",
			"We were closed from 24 December to 6 January.":                               "2024-12-24",
			"It has been raining since Saturday and it will stop by Tuesday.":             "2025-11-08 2025-11-18",
			"The lease began in October and runs until September.":                        "2025-10-01 2026-09-01",
			"Let me know by Friday whether you can come on 6 December.":                   "2025-11-14 2025-12-06",
			"On Friday I talked to the lawyer, she will file it on Monday.":               "2025-11-07 2025-11-17",
			"What did you do on Sunday?":                                                  "2025-11-09",
			"What are you doing on Sunday?":                                               "2025-11-16",
			"Leo's school play went well on Friday.":                                      "2025-11-07",
			"The report covers sales in June.":                                            "2025-06-01",
			"Sales in June were weak.":                                                    "2025-06-01",
			"Sales in June will be weak.":                                                 "2026-06-01",
			"Interest rates rose in March and are expected to fall in April.":             "2025-03-01 2026-04-01",
			"Interest rates are to fall in April.":                                        "2026-04-01",
			"The ministry announced in March that the tax ends in April.":                 "2025-03-01 2026-04-01",
			"She read the whole book on Sunday.":                                          "2025-11-09",
			"The kids have swimming on Thursday.":                                         "2025-11-13",
			"Grandpa turns 80 on 2 March.":                                                "2026-03-02",
			"Grandpa turned 80 on 2 March.":                                               "2025-03-02",
			"Happy to chat on Monday.":                                                    "2025-11-17",
			"Great talking to you on Monday.":                                             "2025-11-10",
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
			"The bus pass is valid until 30 September.":                         "2025-09-30",
			"We stayed in Kyoto until October.":                                 "2024-10-01",
			"From December 20 to January 5 we were at my mother's.":             "2024-12-20",
			"We will be in Spain from December 20 to January 5.":                "2025-12-20",
		},
		"2026-03-18": { // a Wednesday
			"I agreed to the offer in December.":                                              "2025-12-01",
			"The landlord raised the rent in October and wants to raise it again in October.": "2025-10-01 2026-10-01",
			"We've decided to sell the van in June.":                                          "2026-06-01",
			"He refused to sign on Friday.":                                                   "2026-03-13",
			"The order was placed on 2 November, " +
				"shipped on 5 November and arrived on 9 November.": "2025-11-02 2025-11-05 2025-11-09",
			"As of 1 December the price rose.":                                         "2025-12-01",
			"As of 1 December the price will rise.":                                    "2026-12-01",
			"Effective 1 July, the canteen charges 5 euros.":                           "2026-07-01",
			"The canteen has charged 5 euros since July.":                              "2025-07-01",
			"I remember that it snowed in November.":                                   "2025-11-01",
			"Our first date was on 14 December.":                                       "2025-12-14",
			"Nina's exam is on 14 December.":                                           "2026-12-14",
			"The contract may be terminated on 30 September.":                          "2026-09-30",
			"The heating was off from Friday to Sunday.":                               "2026-03-13",
			"The heating will be off from Friday to Sunday.":                           "2026-03-20",
			"Mum fell on Saturday and is having surgery on Monday.":                    "2026-03-14 2026-03-23",
			"Note to self: cancel the gym in August.":                                  "2026-08-01",
			"Cancelled the gym in August.":                                             "2025-08-01",
			"Bob quit on Monday.":                                                      "2026-03-16",
			"Bob quits on Monday.":                                                     "2026-03-23",
			"Bob is quitting on Monday.":                                               "2026-03-23",
			"Where were you on Monday?":                                                "2026-03-16",
			"Where will you be on Monday?":                                             "2026-03-23",
			"They asked whether we could come on Sunday.":                              "2026-03-22",
			"She wrote on Sunday that she is coming on Sunday.":                        "2026-03-15 2026-03-22",
			"The strike, announced in November, begins in April.":                      "2025-11-01 2026-04-01",
			"The minister resigned in November after the vote in October.":             "2025-11-01 2025-10-01",
			"In November, after months of talks, the two sides signed.":                "2025-11-01",
			"In November, after months of talks, the two sides will sign.":             "2026-11-01",
			"By the time she retired in October she had trained 40 people.":            "2025-10-01",
			"Refund requested on 4 November, still nothing.":                           "2025-11-04",
			"Still waiting for the refund I requested on 4 November.":                  "2025-11-04",
			"Got the results on Tuesday, all fine.":                                    "2026-03-17",
			"Getting the results on Tuesday.":                                          "2026-03-24",
			"Next up: the demo on Tuesday.":                                            "2026-03-24",
			"Let us postpone the demo to Tuesday.":                                     "2026-03-24",
			"Demo postponed to Tuesday.":                                               "2026-03-24",
			"The demo, which had been moved to Tuesday, was a success.":                "2026-03-24",
			"The river flooded in November and twice in December.":                     "2025-11-01 2025-12-01",
			"Winter tyres must be on by November.":                                     "2026-11-01",
			"Winter tyres were on by November.":                                        "2025-11-01",
			"Can't make it on Thursday, how about Friday?":                             "2026-03-19 2026-03-20",
			"Anna can tell you what was said on Friday.":                               "2026-03-13",
			"Anna, could you tell me what was said on Friday?":                         "2026-03-13",
			"The cat has to go to the vet on Friday.":                                  "2026-03-20",
			"The cat had to go to the vet on Friday.":                                  "2026-03-13",
			"The cat went to the vet on Friday.":                                       "2026-03-13",
			"The cat goes to the vet on Friday.":                                       "2026-03-20",
			"Revenue fell 3% in Q4, and we expect growth in Q2.":                       "2025-10-01 2026-04-01",
			"The class of 2019 meets in October.":                                      "2019-01-01 2026-10-01",
			"We installed the panels in October, so the first bill comes in November.": "2025-10-01 2026-11-01",
			"You said on Monday you'd send it by Wednesday.":                           "2026-03-16 2026-03-18",
			"I am writing about my stay in October.":                                   "2025-10-01",
			"I'm calling about the letter you sent on 3 November.":                     "2025-11-03",
			"We look forward to the conference in October.":                            "2026-10-01",
			"The concert on 12 December was sold out.":                                 "2025-12-12",
			"The concert on 12 December is sold out.":                                  "2026-12-12",
			"The concert on 12 December has been cancelled.":                           "2026-12-12",
			"The bridge they closed in October opens in May.":                          "2025-10-01 2026-05-01",
			"Had a call with Lea on Monday.":                                           "2026-03-16",
			"Have a call with Lea on Monday.":                                          "2026-03-23",
			"I have a call with Lea on Monday.":                                        "2026-03-23",
			"Spent all of Sunday in the garden.":                                       "2026-03-15",
			"Going to the garden on Sunday.":                                           "2026-03-22",
			"Was at the garden on Sunday.":                                             "2026-03-15",
			"It's my birthday on Sunday!":                                              "2026-03-22",
			"It was my birthday on Sunday!":                                            "2026-03-15",
			"Voted on Sunday.":                                                         "2026-03-15",
			"Vote on Sunday!":                                                          "2026-03-22",
			"Don't think we met in October.":                                           "2025-10-01",
			"I doubt that we will meet in October.":                                    "2026-10-01",
			"Neither of them came on Friday.":                                          "2026-03-13",
		},
		"2025-05-03": { // a Saturday
			"We were in Rome from 28 April to 9 May.":       "2025-04-28",
			"It rained from Friday to Monday.":              "2025-05-02",
			"The tram did not run from April to June.":      "2025-04-01",
			"We will be in Rome from 28 April to 9 May.":    "2025-04-28",
			"The fair has been moved from 4 May to 11 May.": "2025-05-04 2025-05-11",
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
		verbs := []string{
			"will repaint the hall", "is going to move", "must be paid", "wants to leave", "'ll be back", "is to be sold",
			"has to renew it", "should call the landlord",
		}
		if was {
			verbs = []string{
				"repainted the hall", "moved", "was paid", "wanted a rest and left", "has been sold", "did not come",
				"had to renew it", "went to see the landlord",
			}
		}
		says := rapid.SampledFrom([]string{"the neighbour", "Lena", "Mr Okafor of Acme Corp", "she", "the team"}).Draw(t,
			"subject") + " " + rapid.SampledFrom(verbs).Draw(t, "verb")
		says = strings.ReplaceAll(says, " '", "'")
		when := rapid.SampledFrom([]string{
			"in January", "in February", "in April", "in June", "in August", "in October", "in December", "on 3 March",
			"on the 28th of July",
			"on November 30", "on Monday", "on Thursday", "on Sunday",
		}).Draw(t, "when")
		text := rapid.SampledFrom([]string{
			says + " " + when + ".", when + " " + says + ".", when + ", as far as I know, " + says + ".",
			"Good news: " + says + " " + when + ", at last.",
		}).Draw(t, "order")
		text = strings.ToUpper(text[:1]) + text[1:]
		dates := Extract(Document{Text: text, AtMs: at.UnixMilli()}).Dates
		if len(dates) != 1 {
			t.Fatalf("%q: %+v", text, dates)
		}
		today := at.Truncate(24 * time.Hour).UnixMilli()
		if d := dates[0]; was && d.FromMs > today || !was && d.UntilMs <= today-lateNote*msPerDay ||
			d.UntilMs-today > 367*msPerDay || today-d.FromMs > 367*msPerDay {
			t.Fatalf("%q, written %s: %s to %s", text, at.Format(time.DateOnly), show(d.FromMs), show(d.UntilMs))
		}
	})
}
