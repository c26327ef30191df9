package conflict

import (
	"strings"
	"testing"
)

// demanded is which logit a reader must give two statements that no rule finds, in a memory of two.
func demanded(t *testing.T, a, b string) (c Candidate) {
	t.Helper()
	got := candidates(a, b, 2)
	if len(got) != 1 {
		t.Fatalf("%q and %q make %d candidates", a, b, len(got))
	}
	back := candidates(b, a, 2)
	if len(back) != 1 || back[0].least != got[0].least {
		t.Errorf("%q and %q are demanded %v, turned %v", a, b, got[0].least, back)
	}
	return got[0]
}

func TestOneValueThatDiffersNeedsLessOfAReader(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b, valueA, valueB string
		kind                 Kind
	}{
		{"Anna is the CFO.", "Peter is the CFO.", "Anna", "Peter", Value},
		{"The CFO is Anna Berg.", "Peter Holm is the CFO.", "Anna Berg", "Peter Holm", Value},
		{"Our HQ is in Berlin.", "Our HQ is now in Munich.", "Berlin", "Munich", Value},
		{"supplier of the canteen: Fenwick", "supplier of the canteen: Oduya", "Fenwick", "Oduya", Value},
		{"Marla's dentist is in Lund.", "Marla's dentist is in Ystad.", "Lund", "Ystad", Value},
		{
			"The weekly meeting falls on Wednesdays.",
			"The weekly meeting falls on Thursdays.", "Wednesdays", "Thursdays", Temporal,
		},
		{"Choir practice begins at half past seven.", "Choir practice begins at 8 pm.", "half past seven", "8 pm", Temporal},
		{"The audit report goes out on 3 May.", "The audit report goes out on May 17th.", "3 May", "May 17th", Temporal},
		{
			"The limit stands at 5,000 requests.",
			"The limit stands at 10,000 requests.", "5,000 requests", "10,000 requests", Value,
		},
		{"The Harbour room hire comes to €300.", "The Harbour room hire comes to 350 euros.", "€300", "350 euros", Value},
		{"Visa processing takes two weeks.", "Visa processing takes 20 days.", "two weeks", "20 days", Value},
		{"The boiler is serviced every six months.", "The boiler is serviced yearly.", "every six months", "yearly", Value},
		{"Mrs Oyelaran gets 5 mg of ramipril.", "Mrs Oyelaran gets 10 mg of ramipril.", "5 mg", "10 mg", Value},
		{
			"The discount for members stands at 10%.",
			"The discount for members stands at 15 per cent.", "10%", "15 per cent", Value,
		},
	} {
		c := demanded(t, test.a, test.b)
		if c.ruled {
			continue // nothing is asked of a structure that a rule knows
		}
		f, ok := c.Decide(sure(readLogit - clashLogit + 0.1))
		if !ok {
			t.Errorf("%q against %q is not found", test.a, test.b)
			continue
		}
		if f.Kind != test.kind {
			t.Errorf("%q against %q is of kind %s, want %s", test.a, test.b, f.Kind, test.kind)
		}
		for _, quoted := range []string{test.a, test.b, test.valueA, test.valueB} {
			if !strings.Contains(f.Explanation, "“"+quoted+"”") {
				t.Errorf("%q does not quote %q", f.Explanation, quoted)
			}
		}
		if _, ok := c.Decide(sure(readLogit - clashLogit - 0.1)); ok {
			t.Errorf("%q against %q is found although the reader denies it", test.a, test.b)
		}
	}
}

func TestWhatOnlyLooksLikeOneValueNeedsAsMuchAsAnything(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"Visa processing takes two weeks.", "Visa processing takes 14 days."},                       // the same
		{"The audit report goes out on 3 May.", "The audit report goes out in May."},                 // nested
		{"The Munich team sits in Schwabing, Munich.", "The Munich team sits in Munich."},            //
		{"The limit stands at 5,000 requests.", "The limit for partners stands at 10,000 messages."}, // of something else
		{"The room in the north seats 8 people.", "The room with windows seats 12 people."},          // two things
		{"Room 1 seats 8 people.", "Room 2 seats 12 people."},                                        //
		{
			"Anna is a developer.", "Peter is a developer.",
		}, // of whom there are several
		{"One of our couriers is Anna.", "One of our couriers is Peter."},                                //
		{"The meeting falls on Wednesdays.", "The meeting might fall on Thursdays."},                     // supposed
		{"The meeting falls on Wednesdays.", "Rosa asked whether the meeting falls on Thursdays."},       // asked for
		{"The price stands at 300 euros.", "Until March the price stood at 280 euros, formerly."},        // changed
		{"The boiler is serviced in May.", "The boiler is not serviced in June."},                        // denied
		{"The weekly meeting falls on Wednesdays.", "The weekly meeting falls on Thursdays in Leipzig."}, // one more value
		{
			"The hall holds at least 200 people.", "The hall holds 240 people.",
		}, // a bound that is kept
	} {
		c := demanded(t, pair[0], pair[1])
		if _, ok := c.Decide(sure(readLogit - 0.1)); ok && !c.ruled {
			t.Errorf("%q against %q is found by less", pair[0], pair[1])
		}
	}
}

func TestStructureThatSpeaksAgainstItNeedsMore(t *testing.T) {
	t.Parallel()
	for _, pair := range []struct {
		a, b string
		more float64
	}{
		{"Visa processing takes two weeks.", "You wait 14 days for the visa.", 0},
		{"Room 1 seats 8 people.", "Room 2 seats 12 people.", 0},
		{"The Vandermolen order is firm.", "The Vandermeer order was for forty units.", 0},
		{"The scheduler runs in 7 stores.", "The planner runs in 17 stores.", 0},
		{"The bakery closes on Mondays.", "Somebody suggested that the bakery open all week.", strangerLogit},
		{"A woman slices a pepper.", "A woman washes dishes.", strangerLogit}, // another one, perhaps
	} {
		c := demanded(t, pair.a, pair.b)
		least := readLogit + doubtLogit + pair.more
		if _, ok := c.Decide(sure(least - 0.1)); ok {
			t.Errorf("%q against %q is found", pair.a, pair.b)
		}
		if _, ok := c.Decide(sure(least + 0.1)); !ok {
			t.Errorf("%q against %q is not found although the reader is sure", pair.a, pair.b)
		}
	}
}

func TestOfTwoTimesTheLaterIsToldFirst(t *testing.T) {
	t.Parallel()
	const day = 24 * 60 * 60 * 1000
	a, b := passage("The limit stands at 5,000 requests."), passage("The limit stands at 10,000 requests.")
	a.FromMs, b.FromMs = 20_000*day, 20_031*day
	for _, turned := range []bool{false, true} {
		got := new(Judge).Candidates(nil, a, b, Near{Cosine: 0.6, Rank: 1, Of: 2})
		if len(got) != 1 {
			t.Fatalf("%d candidates", len(got))
		}
		if turned {
			got[0].Turn()
		}
		f, ok := got[0].Decide(sure(2))
		const want = "Two values are given for the same, “10,000 requests” and “5,000 requests”: “The limit stands at " +
			"10,000 requests.” on 4 November 2024, “The limit stands at 5,000 requests.” on 4 October 2024."
		if !ok || f.Explanation != want || f.Severity > updateSeverity {
			t.Errorf("found %v with severity %v:\n%s\nwant\n%s", ok, f.Severity, f.Explanation, want)
		}
	}
}
