package answer_test

import (
	"strings"
	"testing"
)

// retold is what is told of a passage; span is what answers.
func retold(question, chunk, span string) string {
	return told(question, false, note(chunk, span, "2025-10-03", "", .9)).GetAnswer()
}

// TestDatesStayWhole: the day of a date is neither the number of a list nor the end of a sentence.
func TestDatesStayWhole(t *testing.T) {
	const question = "Wann ist das Fest und wo?"
	for _, x := range []struct{ chunk, span, want string }{
		{"24. Dezember: Das Fest beginnt.", "24. Dezember", "24. Dezember: Das Fest beginnt."},
		{"- 3. Oktober, im Hof", "3. Oktober", "3. Oktober, im Hof."},
		{"1. 24. Dezember im Hof", "24. Dezember", "24. Dezember im Hof."},
		{"24. und 25. Dezember im Hof", "Hof", "24. und 25. Dezember im Hof."},
		{"24. 12. 2025 im Hof", "Hof", "24. 12. 2025 im Hof."},
		{"Das Fest ist am 24. 12. 2025 im Hof.", "Hof", "Das Fest ist am 24. 12. 2025 im Hof."},
		{"5. Sept. im Hof", "Hof", "5. Sept. im Hof."},
		{"Das Fest ist am 24. Dezember um acht. Bringt Kuchen mit.", "acht", "Das Fest ist am 24. Dezember um acht."},
		{"Das Fest ist am 24. Dezember um acht. Bringt Kuchen mit.", "24", "Das Fest ist am 24. Dezember um acht."},
		{"Feste:\n1. Oktober, im Hof\n2. November, im Garten", "Garten", "Feste: 2. November, im Garten."},
		{"17. toukokuuta pihalla", "pihalla", "17. toukokuuta pihalla."},

		{"1. Kuchen mitbringen", "Kuchen", "Kuchen mitbringen."},
		{"24. Dezernat im dritten Stock", "Stock", "Dezernat im dritten Stock."},
		{"2) Jan bringt Kuchen.", "Kuchen", "Jan bringt Kuchen."},
		{"2. Jan bringt Kuchen.", "Kuchen", "Jan bringt Kuchen."},
		{"42. Dezember-Rechnung bezahlen", "bezahlen", "Dezember-Rechnung bezahlen."},
		{"Wir waren 24. Hans kam mit Kuchen.", "Kuchen", "Hans kam mit Kuchen."},
	} {
		if got := retold(question, x.chunk, x.span); got != x.want {
			t.Errorf("%q: %q, want %q", x.chunk, got, x.want)
		}
	}
}

// TestAddressesStayWhole: the address of a link is told where the link answers, and no mark within an address is taken
// for one of Markdown.
func TestAddressesStayWhole(t *testing.T) {
	const question = "Where is it?"
	for _, x := range []struct{ chunk, span, want string }{
		{"The plan is [on a wiki](https://w.example/p_1).", "on a wiki", "The plan is on a wiki (https://w.example/p_1)."},
		{"The plan is at [https://w.example](https://w.example)", "https://w.example](", "The plan is at https://w.example."},
		{
			"Bonn is [here](https://w.example/Bonn_(city) \"Bonn\"), I think.", "https://w.example/Bonn",
			"Bonn is here (https://w.example/Bonn_(city)), I think.",
		},
		{"The plan ([map](https://w.example)) is in the drawer.", "in the drawer", "The plan (map) is in the drawer."},
		{"**See https://w.example/_old_/a**", "https", "See https://w.example/_old_/a."},
		{"See <https://w.example/*a*/-> today", "https", "See <https://w.example/*a*/-> today."},
		{"![plan](https://w.example/x.png) The plan is upstairs.", "upstairs", "plan The plan is upstairs."},
		{"| plan | https://w.example/_a_/b |", "https", "plan, https://w.example/_a_/b."},
	} {
		if got := retold(question, x.chunk, x.span); got != x.want {
			t.Errorf("%q: %q, want %q", x.chunk, got, x.want)
		}
	}
	c := told(question, false, note("It is [here](https://w.example).", "here", "2025-10-03", "", .9)).GetCitations()[0]
	if !strings.HasPrefix(c.GetChunk()[c.GetSpanStart():], "here](") {
		t.Errorf("%v", c)
	}
}
