package extract

import (
	"strings"
	"testing"

	reading "orgmem/brain/reader"
)

// TestDaysFromTo: days whose month or year is told once are one stretch from the first to the last; two days that
// "and" joins, a room and a day, and a move from one day to another are no stretch.
func TestDaysFromTo(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"TillerConf will be held 10th - 13th November 2019": "10th - 13th November 2019 2019-11-10 2019-11-14",
		"The fair is on the 10th – 13th of November.":       "the 10th – 13th of November 2024-11-10 2024-11-14",
		"Dates: 10–13 November 2019.":                       "10–13 November 2019 2019-11-10 2019-11-14",
		"Dates: 10-13 November 2019.":                       "10-13 November 2019 2019-11-10 2019-11-14",
		"The fair was from the 3rd to the 5th of May.":      "the 3rd to the 5th of May 2024-05-03 2024-05-06",
		"It runs from 3 to 5 June 2024.":                    "3 to 5 June 2024 2024-06-03 2024-06-06",
		"It runs between the 3rd and the 5th of June.":      "the 3rd and the 5th of June 2024-06-03 2024-06-06",
		"The camp is Monday 10 - Thursday 13 June.":         "Monday 10 - Thursday 13 June 2024-06-10 2024-06-14",
		"We meet May 3 to 7, 2023.":                         "May 3 to 7, 2023 2023-05-03 2023-05-08",
		"The fair is 30 April - 2 May 2019.":                "30 April - 2 May 2019 2019-04-30 2019-05-03",
		"We are away from December 20 to January 3, 2025.":  "December 20 to January 3, 2025 2024-12-20 2025-01-04",
		"From 28 April to the 3rd of May we were away.":     "28 April to the 3rd of May 2024-04-28 2024-05-04",

		"We met on 3 and 5 May.":       "5 May 2024-05-05 2024-05-06",
		"Room 4 - 13 May":              "13 May 2024-05-13 2024-05-14",
		"We meet at 10 until 30 June.": "until 30 June … 2024-07-01",
		"Come on June 3 at 5.":         "June 3 2024-06-03 2024-06-04",
		"The fair was moved from the 3rd to the 5th of June.": "the 3rd 2024-06-03 2024-06-04; " +
			"5th of June 2024-06-05 2024-06-06",
		"The 2nd - 4th graders left.":          "",
		"There is no 29 - 31 February 2024.":   "February 2024 2024-02-01 2024-03-01",
		"The 13th - 10th November 2019 is no.": "10th November 2019 2019-11-10 2019-11-11",
	} {
		if got := datesIn(text, nil); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestDaysFromToWithAReader: also where a reader is sure of the time, who would have "the 10th" alone be one of a
// month near the text's own.
func TestDaysFromToWithAReader(t *testing.T) {
	t.Parallel()
	const text = "The regatta will be held the 10th - 13th November 2025, all week."
	tagged := taggedAs(t, text, said{text: "the 10th - 13th November 2025", kind: reading.Time, tense: reading.Future})
	if got := datesIn(text, tagged); got != "the 10th - 13th November 2025 2025-11-10 2025-11-14" {
		t.Error(got)
	}
}

// datesIn shows what dates are read of a text.
func datesIn(text string, tagged *reading.Tagged) string {
	var all []string
	for _, d := range Extract(Document{Text: text, AtMs: wednesday.UnixMilli(), Tagged: tagged}).Dates {
		all = append(all, text[d.Span.Start:d.Span.End]+" "+show(d.FromMs)+" "+show(d.UntilMs))
	}
	return strings.Join(all, "; ")
}
