package asked_test

import (
	"slices"
	"testing"
	"time"

	"orgmem/brain/extract/asked"
)

// TestTimesThatQuestionsAskAbout reads times of questions of 27 November 2026.
func TestTimesThatQuestionsAskAbout(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC).UnixMilli()
	for question, want := range map[string][]string{
		"What did we plant last spring?":                {"2026-03-01 2026-06-01"},
		"Where were we last autumn?":                    {"2025-09-01 2025-12-01"},
		"What did we decide this autumn?":               {"2026-09-01 2026-12-01"},
		"What did we do in the summer?":                 {"2026-06-01 2026-09-01"},
		"What state did Joanna visit in summer 2021?":   {"2021-06-01 2021-09-01"},
		"Who came to us in the winter of 2023?":         {"2023-12-01 2024-03-01"},
		"What is planned next winter?":                  {"2026-12-01 2027-03-01"},
		"Was haben wir letzten Sommer gestrichen?":      {"2026-06-01 2026-09-01"},
		"Was war im Herbst 2024 mit dem Dach?":          {"2024-09-01 2024-12-01"},
		"Qu'avons-nous acheté l'été dernier ?":          {"2026-06-01 2026-09-01"},
		"¿Qué plantamos la primavera pasada?":           {"2026-03-01 2026-06-01"},
		"What did we talk about in May 2023?":           {"2023-05-01 2023-06-01"},
		"What did Ann say two weeks ago?":               {"2026-11-10 2026-11-17"},
		"Was hat Anna gestern gesagt?":                  {"2026-11-26 2026-11-27"},
		"Was sagte sie vor drei Tagen?":                 {"2026-11-24 2026-11-25"},
		"Qu'est-ce que Paul a dit hier ?":               {"2026-11-26 2026-11-27"},
		"¿Qué dijo Ana ayer?":                           {"2026-11-26 2026-11-27"},
		"What broke in March and last summer?":          {"2026-03-01 2026-04-01", "2026-06-01 2026-09-01"},
		"Where is the hot spring?":                      nil,
		"Which rope did fall 2019 metres?":              nil,
		"Where has he been, où a-t-il été ?":            nil,
		"How do we winterize the boat?":                 nil,
		"Who wrote the handbook for the summer school?": nil,
	} {
		var got []string
		for _, d := range asked.Times(question, at) {
			got = append(got, time.UnixMilli(d.FromMs).UTC().Format(time.DateOnly)+" "+
				time.UnixMilli(d.UntilMs).UTC().Format(time.DateOnly))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", question, got, want)
		}
	}
}
