package temporal

import (
	"math"
	"testing"

	"orgmem/brain/extract/calendar"
)

// What is only known as a week or a month keeps its end; what it is still to bring is not shown before it was said.
func TestPrecision(t *testing.T) {
	t.Parallel()
	ms := func(y, m, d int) int64 { return int64(calendar.Days(y, m, d)) * day }
	const said = day / 2
	for _, c := range []struct {
		text, phrase    string
		from, until     int64
		at              int64
		precision, open string
	}{
		{"I won my first tournament last week.", "last week", ms(2022, 1, 10), ms(2022, 1, 17), ms(2022, 1, 10), Week, ""},
		{"A tournament is on next month.", "next month", ms(2022, 2, 1), ms(2022, 3, 1), ms(2022, 2, 1), Month, ""},
		{"The meeting is expected this week.", "this week", ms(2022, 1, 17), ms(2022, 1, 24), ms(2022, 1, 20), Week, ""},
		{"The parser: PR up this week.", "this week", ms(2022, 1, 17), ms(2022, 1, 24), ms(2022, 1, 20), Week, ""},
		{"They are shredded as of this month.", "this month", ms(2022, 1, 1), ms(2022, 2, 1), ms(2022, 1, 1), Month, ""},
		{"The boat shed opens this month.", "this month", ms(2022, 1, 1), ms(2022, 2, 1), ms(2022, 1, 20), Month, ""},
		{"The fix was released this week.", "this week", ms(2022, 1, 17), ms(2022, 1, 24), ms(2022, 1, 17), Week, ""},
		{"We finished the roof this month.", "this month", ms(2022, 1, 1), ms(2022, 2, 1), ms(2022, 1, 1), Month, ""},
		{"It happens in Q2.", "Q2", ms(2022, 4, 1), ms(2022, 7, 1), ms(2022, 4, 1), Quarter, ""},
		{"The fair is held 10th - 13th May.", "10th - 13th May", ms(2022, 5, 10), ms(2022, 5, 14), ms(2022, 5, 10), Day, ""},
		{"The house is from 1912.", "1912", ms(1912, 1, 1), ms(1913, 1, 1), ms(1912, 1, 1), Year, ""},
		{"The switch happens before May.", "before May", math.MinInt64, ms(2022, 5, 1), ms(2022, 5, 1), "", Latest},
		{"The lift is broken since May.", "since May", ms(2021, 5, 1), math.MaxInt64, ms(2021, 5, 1), "", Earliest},
	} {
		n := dated(c.text, c.phrase, 0)
		n.AtMs, n.Dates[0].FromMs, n.Dates[0].UntilMs = ms(2022, 1, 20)+said, c.from, c.until
		got := Timeline([]Note{n})
		if len(got) != 1 || got[0].AtMs != c.at || got[0].UntilMs != c.until || got[0].Precision != c.precision ||
			got[0].Bound != c.open {
			t.Errorf("%s: %+v, want at %d, %s %s", c.text, got, c.at, c.precision, c.open)
		}
	}
}

// What is promised by a day may come before it; what is promised on a day comes then.
func TestBoundOfAPromise(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][2]string{
		"I'll send the contract by Friday.": {"", Latest},
		"I'll send the contract on Friday.": {Day, ""},
	} {
		n := dated(said, "Friday", 0)
		n.Dates[0].FromMs, n.Dates[0].UntilMs = day, 2*day
		got := Tell([]Note{n})
		if len(got) != 1 || got[0].Kind != Due || got[0].Precision != want[0] || got[0].Bound != want[1] {
			t.Errorf("%s: %+v, want %q", said, got, want)
		}
	}
}
