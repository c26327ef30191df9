package claim

import (
	"fmt"
	"strings"
	"testing"
)

// valuesOf are the values that a sentence gives.
func valuesOf(s string) []Value {
	c := new(Reader).Read(Source{Text: s})
	if len(c) != 1 {
		return nil
	}
	return Values(c[0].Words, s)
}

// written is what a value was read from.
func written(s string) (all []string) {
	c := new(Reader).Read(Source{Text: s})
	for _, v := range Values(c[0].Words, s) {
		all = append(all, fmt.Sprint(v.Kind, " ", s[c[0].Words[v.First].Start:c[0].Words[v.Last].End]))
	}
	return all
}

func TestValuesHaveOneFormHoweverTheyAreWorded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want Relation
	}{
		{"it takes two weeks", "it takes 14 days", Same},
		{"it takes a fortnight", "it takes 2 weeks", Same},
		{"it takes 90 minutes", "it takes an hour and a half", Same},
		{"it takes half an hour", "it takes 30 min", Same},
		{"it takes 12 months", "it takes one year", Same},
		{"it takes 30 days", "it takes a month", Same},
		{"it takes 30 days", "it takes 31 days", Apart},
		{"it takes 2 to 3 days", "it takes 3 days", Within},
		{"it takes 2-3 days", "it takes 4 days", Apart},
		{"the limit is 10k requests", "the limit is 10,000 requests", Same},
		{"the limit is ten thousand requests", "the limit is 10 000 requests", Same},
		{"the limit is 5,000 requests", "the limit is 10,000 requests", Apart},
		{"the limit is 5,000 requests", "the limit is 5,000", Same},
		{"the limit is 300 requests per minute", "the limit is five requests per second", Same},
		{"the limit is 300 requests a minute", "the limit is 300 sockets", Incomparable},
		{"it costs €1.2 million", "it costs 1,200,000 euros", Same},
		{"it costs $300", "it costs 300 USD", Same},
		{"it costs $300", "it costs €300", Incomparable},
		{"it costs 300 euros a month", "it costs 3,600 euros a year", Same},
		{"it costs about 300 euros", "it costs 310 euros", Same},
		{"it holds at least 20 people", "it holds 24 people", Incomparable},
		{"it holds up to 20 people", "it holds up to 24 people", Apart},
		{"it is twenty five percent", "it is 25%", Same},
		{"it is two hundred and ten metres", "it is 210 m", Incomparable},
		{"it is 0.5 g", "it is 500mg", Same},
		{"she takes 5 mg", "she takes 10 mg", Apart},
		{"the oven is at 212 °F", "the oven is at 100 °C", Same},
		{"it opens at noon", "it opens at 12:00", Same},
		{"it opens at half past six", "it opens at 18:30", Same},
		{"it opens at quarter to nine", "it opens at 8:45 am", Same},
		{"it opens at 9", "it opens at 9 p.m.", Same},
		{"it opens at 9am", "it opens at 9 p.m.", Apart},
		{"it opens at 09:00", "it opens at 21:00", Apart},
		{"it opens at nine o'clock", "it opens at ten o'clock", Apart},
		{"it meets every two weeks", "it meets fortnightly", Same},
		{"it meets twice a week", "it meets 2 times a week", Same},
		{"it meets every other week", "it meets weekly", Apart},
		{"it meets every 8 hours", "it meets three times a day", Same},
		{"it meets on Wednesdays", "it meets every Wednesday", Same},
		{"it meets on Wednesdays", "it meets on Thursdays", Apart},
		{"it meets on Wed", "it meets on Wednesday", Same},
		{"it is open Monday to Friday", "it is open on weekdays", Same},
		{"it is open Monday to Friday", "it is open on Tuesday", Within},
		{"it is open Mon-Fri", "it is open at weekends", Apart},
		{"it ends on 3 May", "it ends on May 3rd", Same},
		{"it ends on the 3rd of May", "it ends on 2024-05-03", Within},
		{"it ends on 3 May", "it ends in May", Within},
		{"it ends in Q2", "it ends in May", Within},
		{"it ends in Q3", "it ends in May", Apart},
		{"it ends on 3 May", "it ends on 4 May", Apart},
		{"it ends on May 3, 2024", "it ends on 3.5.2024", Same},
		{"it ends in May", "it ends on the 14th", Incomparable},
		{"it began in 2019", "it began in 2020", Apart},
		{"it is run by Ines Okafor", "it is run by Okafor", Within},
		{"it is run by Ines Okafor", "it is run by Ines Okafor", Same},
		{"it is run by Ines Okafor", "it is run by Dmitri Lang", Apart},
		{"it takes two weeks", "it costs 14 euros", Incomparable},
	} {
		a, b := valuesOf(test.a), valuesOf(test.b)
		if len(a) != 1 || len(b) != 1 {
			t.Errorf("%q and %q have the values %q and %q", test.a, test.b, written(test.a), written(test.b))
			continue
		}
		if got, back := a[0].Against(&b[0]), b[0].Against(&a[0]); got != test.want || back != got {
			t.Errorf("%q against %q: %d and turned %d, want %d", test.a, test.b, got, back, test.want)
		}
	}
}

func TestValuesOfASentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The Quillon API allows up to 300 requests a minute.": "10 Quillon API|1 300 requests a minute",
		"On Tuesday 3 May at 9:30 Ana Costa rowed twice.":     "8 Tuesday|9 3 May|7 9:30|10 Ana Costa",
		"We pay 3 a week, on the 14th floor.":                 "1 3 a week",
		"The meeting moved from 9:00-17:00 to the evening.":   "7 9:00-17:00",
		"She may come, and version 2 is out.":                 "10 version 2",
		"It is one of the best.":                              "",
		"Five hundred and twelve nurses work nights":          "1 Five hundred and twelve nurses",
		"The 1.250,00 or so, see 3/5/2024 and 10.0.0.1":       "",
		"": "",
	} {
		got := ""
		if text != "" {
			got = strings.Join(written(text), "|")
		}
		if got != want {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func FuzzValues(f *testing.F) {
	for _, s := range []string{
		"from 9:00-17:00 on 3 May", "twenty five and a half hours", "half past", "every other", "\xff1 k",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range new(Reader).Read(Source{Text: s}) {
			last := -1
			for _, v := range Values(c.Words, s) {
				if v.First <= last || v.Last < v.First || v.Last >= len(c.Words) {
					t.Fatalf("%q: a value from word %d to %d, behind one to %d, of %d words", s, v.First, v.Last, last,
						len(c.Words))
				}
				if v.Against(&v) == Apart {
					t.Errorf("%q: a value differs from itself: %+v", s, v)
				}
				last = v.Last
			}
		}
	})
}

func BenchmarkValues(b *testing.B) {
	const s = "The Quillon API allows up to 300 requests a minute to each of the twelve partners since 3 May 2024."
	c := new(Reader).Read(Source{Text: s})
	for b.Loop() {
		Values(c[0].Words, s)
	}
}
