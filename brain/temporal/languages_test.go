package temporal

import (
	"testing"

	"orgmem/brain/claim"
	"orgmem/brain/extract"
	"orgmem/brain/extract/calendar"
)

// What a note of another language says of a day is a moment of that day, called by the note's own words.
func TestTellOfOtherLanguages(t *testing.T) {
	t.Parallel()
	const dayMs = 24 * 60 * 60 * 1000
	at := int64(calendar.Days(2026, 5, 13)) * dayMs // a Wednesday
	for text, day := range map[string]int{
		"Die Sitzung des Beirats ist am 3. Juni um 14 Uhr.":          calendar.Days(2026, 6, 3),
		"La réunion du conseil est lundi prochain à 10 h.":           calendar.Days(2026, 5, 18),
		"La reunión del consejo será el 3 de junio a las 10.":        calendar.Days(2026, 6, 3),
		"La riunione del consiglio è domani alle 15.":                calendar.Days(2026, 5, 14),
		"A reunião do conselho é na próxima segunda-feira às 10h.":   calendar.Days(2026, 5, 18),
		"De vergadering van de raad is op 3 juni om 15 uur.":         calendar.Days(2026, 6, 3),
		"Spotkanie rady jest 3 czerwca 2026 r. i będzie w Krakowie.": calendar.Days(2026, 6, 3),
		"理事会は6月3日に開かれます。":                                            calendar.Days(2026, 6, 3),
	} {
		var r claim.Reader
		n := Note{Text: text, Claims: r.Read(claim.Source{Text: text}), AtMs: at}
		for _, d := range extract.Extract(extract.Document{Text: text, AtMs: at}).Dates {
			n.Dates = append(n.Dates, Date{Span: d.Span, FromMs: d.FromMs, UntilMs: d.UntilMs})
		}
		moments := Tell([]Note{n})
		if len(moments) != 1 || moments[0].AtMs/dayMs != int64(day) && (moments[0].UntilMs-1)/dayMs != int64(day) {
			t.Errorf("%s: %+v of %+v", text, moments, n.Dates)
			continue
		}
		if title := moments[0].Title; len(title) < len(text)-len("。") {
			t.Errorf("%s: called %q", text, title)
		}
	}
}
