package extract

import (
	"testing"

	reading "orgmem/brain/reader"
)

// TestMisspelledTimes: a time's name with a letter wrong is read where nothing else fits.
func TestMisspelledTimes(t *testing.T) {
	for text, want := range map[string][]string{
		"It was fixed on 5 Octobar 2023.":         {"5 Octobar 2023 2023-10-05"},
		"The lease ended on Februry 12th.":        {"Februry 12th 2024-02-12"},
		"Paid in Septmber 2023.":                  {"Septmber 2023 2023-09-01"},
		"We will meet on Thurday.":                {"Thurday 2024-05-16"},
		"The offsite is next Wednezday.":          {"next Wednezday 2024-05-22"},
		"Tomas starts tomorow.":                   {"tomorow 2024-05-16"},
		"It was tested yesteerday.":               {"yesteerday 2024-05-14"},
		"It opens on 3 octobre.":                  {"3 octobre 2024-10-03"},
		"Augusta and Julie came.":                 nil,
		"Frida met Mr. Munday.":                   nil,
		"Octobers are wet, and Mondays are grey.": nil,
		"There were 12 matches and 3 jules.":      nil,
		"The Sundy Times has it.":                 nil,
		"Everything else is fine on Sunda.":       nil,
	} {
		var got []string
		for _, d := range Extract(Document{Text: text, AtMs: wednesday.UnixMilli()}).Dates {
			got = append(got, text[d.Span.Start:d.Span.End]+" "+show(d.FromMs))
		}
		if len(got) != len(want) || len(got) == 1 && got[0] != want[0] {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestMisspelledWithAReader: the name of a day is one where the reader takes it for a time; of tomorrow it need not
// know.
func TestMisspelledWithAReader(t *testing.T) {
	for _, x := range []struct {
		text string
		said []said
		want int
	}{
		{"Call Wednezday about it", []said{{text: "Wednezday", kind: reading.Time, tense: reading.Future}}, 1},
		{"Call Wednezday about it", []said{{text: "Wednezday", kind: reading.Person}}, 0},
		{"Room 5 Octobre is free", nil, 0},
		{"Tomas starts tomorow", nil, 1},
		{"It says \"tomorow\" there", nil, 0},
	} {
		d := Document{Text: x.text, AtMs: wednesday.UnixMilli(), Tagged: taggedAs(t, x.text, x.said...)}
		if got := Extract(d).Dates; len(got) != x.want {
			t.Errorf("%q: %+v, want %d", x.text, got, x.want)
		}
	}
}

// TestDaysInTables: what stands alone in a column of days is one, though no sentence gives it a tense.
func TestDaysInTables(t *testing.T) {
	untold := []said{{text: "2024-06-01", kind: reading.Time}}
	for text, want := range map[string]int{
		"| what | when |\n|---|---|\n| new entrance opens | 2024-06-01 |": 1,
		"| task | Due date |\n|---|---|\n| audit | **2024-06-01** |":      1,
		"| task | version |\n|---|---|\n| audit | 2024-06-01 |":           0,
		"| task | when |\n|---|---|\n| audit | build 2024-06-01 |":        0,
		"The build 2024-06-01": 0,
	} {
		d := Document{Text: text, AtMs: wednesday.UnixMilli(), Tagged: taggedAs(t, text, untold...)}
		if got := Extract(d).Dates; len(got) != want {
			t.Errorf("%q: %+v, want %d", text, got, want)
		}
	}
}
