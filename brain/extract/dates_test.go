package extract

import (
	"math"
	"testing"
	"time"
)

// wednesday is when the texts of the tests were written.
var wednesday = time.Date(2024, 5, 15, 10, 0, 0, 0, time.UTC)

func show(ms int64) string {
	switch ms {
	case math.MinInt64:
		return "…"
	case math.MaxInt64:
		return "…"
	}
	at := time.UnixMilli(ms).UTC()
	if at.Hour() == 0 && at.Minute() == 0 {
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02T15:04")
}

func TestDates(t *testing.T) {
	for text, want := range map[string][]string{
		"It was fixed on 2024-03-05.": {"2024-03-05 2024-03-05 2024-03-06 day"},
		"It was fixed on March 5, 2024 at 10:30.": {
			"March 5, 2024 at 10:30 2024-03-05T10:30 2024-03-05T10:31 minute",
		},
		"Born on 29 February 2024.":                  {"29 February 2024 2024-02-29 2024-03-01 day"},
		"There is no 30 February 2023.":              {"February 2023 2023-02-01 2023-03-01 month"},
		"We met on the 5th of March.":                {"5th of March 2024-03-05 2024-03-06 day"},
		"From March 3 to March 7, 2024 we are away.": {"March 3 to March 7, 2024 2024-03-03 2024-03-08 day"},
		"Between 2019 and 2021 it grew.":             {"2019 and 2021 2019-01-01 2022-01-01 year"},
		"It has run since March 2023.":               {"since March 2023 2023-03-01 … month"},
		"It ran until 2020.":                         {"until 2020 … 2021-01-01 year"},
		"Anna will count them until 9 February.":     {"until 9 February … 2024-02-10 day"},
		"They are away from 3 May until 9 May.":      {"3 May until 9 May 2024-05-03 2024-05-10 day"},
		"It is open until 9 May at 10:30.":           {"until 9 May at 10:30 … 2024-05-09T10:31 minute"},
		"It must be sent before 9 May at 10:30.":     {"before 9 May at 10:30 … 2024-05-09T10:30 minute"},
		"It is down since 9 May at 10:30.":           {"since 9 May at 10:30 2024-05-09T10:30 … minute"},
		"It runs from 3 May to 7 May at 10:30.":      {"3 May to 7 May at 10:30 2024-05-03 2024-05-08 day"},
		"It must be sent before 9 May.":              {"before 9 May … 2024-05-09 day"},
		"It does not open, and not until 9 June.":    {"not until 9 June 2024-06-09 … day"},
		"In the 1990s nobody knew.":                  {"1990s 1990-01-01 2000-01-01 decade"},
		"It is a relic of the 1800s.":                {"1800s 1800-01-01 1900-01-01 century"},
		"We read a lot in the past week.":            {"past week 2024-05-09 2024-05-16 week"},
		"The past month was wet.":                    {"past month 2024-04-16 2024-05-16 month"},
		"We met this past Monday.":                   {"past Monday 2024-05-13 2024-05-14 day"},
		"The plan for Q3 2024 is set.":               {"Q3 2024 2024-07-01 2024-10-01 quarter"},
		"In the third quarter of 2023 it fell.":      {"third quarter of 2023 2023-07-01 2023-10-01 quarter"},
		"Yesterday it rained, and tomorrow it will.": {
			"Yesterday 2024-05-14 2024-05-15 day", "tomorrow 2024-05-16 2024-05-17 day",
		},
		"Three days ago we shipped.": {"Three days ago 2024-05-12 2024-05-13 day"},
		"We ship in two weeks.":      {"two weeks 2024-05-29 2024-05-30 week"},
		"Last month was good, next year will be better.": {
			"Last month 2024-04-01 2024-05-01 month", "next year 2025-01-01 2026-01-01 year",
		},
		"Let us talk next Tuesday.":              {"next Tuesday 2024-05-21 2024-05-22 day"},
		"We will deliver by Friday.":             {"Friday 2024-05-17 2024-05-18 day"},
		"On Monday it broke.":                    {"Monday 2024-05-13 2024-05-14 day"},
		"Please answer by the end of the month.": {"end of the month 2024-05-31 2024-06-01 day"},
		"It happened on 13/05/2024 and on 13.05.2023.": {
			"13/05/2024 2024-05-13 2024-05-14 day", "13.05.2023 2023-05-13 2023-05-14 day",
		},
		"At 2024-03-05T10:00:00Z it started.": {
			"2024-03-05T10:00:00Z 2024-03-05T10:00 2024-03-05T10:01 minute",
		},
		"In December we rest.":                                    {"December 2023-12-01 2024-01-01 month"},
		"Over the weekend he painted the hall.":                   {"weekend 2024-05-11 2024-05-13 day"},
		"She will paint it over the weekend.":                     {"weekend 2024-05-18 2024-05-20 day"},
		"We want to open by the end of Q3.":                       {"end of Q3 2024-09-30 2024-10-01 day"},
		"They left at the end of March.":                          {"end of March 2024-03-31 2024-04-01 day"},
		"It ends at the end of next month.":                       {"end of next month 2024-06-30 2024-07-01 day"},
		"Half a year ago I moved.":                                {"a year ago 2023-11-15 2023-11-16 month"},
		"It sold out within a day, he learnt it in two weeks.":    nil,
		"The choir sings every Friday and each Monday.":           nil,
		"We are closed on Good Friday and Easter Monday.":         nil,
		"Version 2025.10.3 is out.":                               nil,
		"May I march in? It is 3/4 full, costs 2024 dollars, 12.": nil,
		"Version 1.2.3 has 1999 users.":                           nil,
		"Order 05/06/2024 has two readings.":                      nil,
	} {
		var got []string
		for _, d := range Extract(Document{Text: text, AtMs: wednesday.UnixMilli()}).Dates {
			got = append(got, text[d.Span.Start:d.Span.End]+" "+show(d.FromMs)+" "+show(d.UntilMs)+" "+string(d.Grain))
		}
		if len(got) != len(want) {
			t.Errorf("%q: %q, want %q", text, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%q: %q, want %q", text, got[i], want[i])
			}
		}
	}
}

// TestDatesWithoutATime: what needs the document's time is left out.
func TestDatesWithoutATime(t *testing.T) {
	x := Extract(Document{Text: "Yesterday, next week, on Friday, in March, in two days, on March 5 and on 2024-03-05."})
	if len(x.Dates) != 1 || x.Dates[0].Relative || show(x.Dates[0].FromMs) != "2024-03-05" {
		t.Errorf("%+v", x.Dates)
	}
}
