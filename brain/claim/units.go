package claim

import (
	"maps"
	"strings"

	"orgmem/brain/text"
)

// weekdays have a bit each, Monday the lowest.
var weekdays = map[string]uint8{
	"monday": 1, "tuesday": 2, "wednesday": 4, "thursday": 8, "friday": 16, "saturday": 32, "sunday": 64,
	"weekday": 31, "weekend": 96,
}

// shortDays are days where they are written with a capital inside a sentence.
var shortDays = map[string]uint8{
	"mon": 1, "tue": 2, "tues": 2, "wed": 4, "thu": 8, "thur": 8, "thurs": 8, "fri": 16, "sat": 32, "sun": 64,
}

// months are the first and the last month that a word means.
var months = func() map[string][2]int {
	m := map[string][2]int{
		"q1": {1, 3}, "q2": {4, 6}, "q3": {7, 9}, "q4": {10, 12}, "spring": {3, 5}, "summer": {6, 8}, "autumn": {9, 11},
		"sept": {9, 9},
	}
	for i, name := range strings.Fields(`january february march april may june july august september october november
december`) {
		m[name], m[name[:3]] = [2]int{i + 1, i + 1}, [2]int{i + 1, i + 1}
	}
	return m
}()

var (
	// numbered are things of which there are several that have numbers.
	numbered = text.Set(`version release room hall line floor gate platform chapter step phase level ward bay shed unit
		number
no track lane berth block container module part section volume`)
	ordinals = map[string]int{
		"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
		"tenth": 10,
	}
	ordinalEnds = text.Set(`st nd rd th`)
	clockWords  = text.Set(`at until till`)
	yearsAfter  = text.Set(`in since by until till from of during before after`)
	adverbs     = map[string]float64{"once": 1, "twice": 2, "thrice": 3}
	aboutWords  = text.Set(`about around roughly approximately circa ca nearly almost some`)
	leastWords  = phrases(`at least|more than|no less|over|above|minimum|minimum of|from`)
	mostWords   = phrases(`up to|at most|less than|no more|not more|under|below|maximum|maximum of|within`)
)

// scales are what numbers are multiples of.
var scales = map[string]float64{
	"hundred": 100, "thousand": 1e3, "k": 1e3, "million": 1e6, "mio": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9,
	"dozen": 12,
}

// starters are the words in letters that values begin with beside names, numerals and times.
var starters = func() map[string]bool {
	m := text.Set(`noon midday midnight half quarter every each a an one dozen`)
	for _, forms := range []func(func(string) bool){
		maps.Keys(ordinals), maps.Keys(adverbs), maps.Keys(regular), maps.Keys(months), maps.Keys(shortDays),
		maps.Keys(numbered),
	} {
		for form := range forms {
			m[form] = true
		}
	}
	for form := range weekdays {
		m[form], m[form+"s"] = true, true
	}
	return m
}()

// regular are words for how often, as so many of a unit of time.
var regular = map[string]unit{
	"hourly": {basic: "hour", size: 1}, "daily": {basic: "day", size: 1}, "nightly": {basic: "day", size: 1},
	"weekly": {basic: "week", size: 1}, "fortnightly": {basic: "week", size: 2}, "monthly": {basic: "month", size: 1},
	"quarterly": {basic: "month", size: 3}, "yearly": {basic: "year", size: 1}, "annually": {basic: "year", size: 1},
	"annual": {basic: "year", size: 1},
}

// signs are units that are no words. One before a number counts more than one behind it, as in rows of prices.
var signs = []struct {
	sign string
	unit
}{
	{"€", unit{kind: Money, basic: "eur", size: 1}},
	{"$", unit{kind: Money, basic: "usd", size: 1}},
	{"£", unit{kind: Money, basic: "gbp", size: 1}},
	{"¥", unit{kind: Money, basic: "jpy", size: 1}},
	{"%", unit{kind: Percent, size: 1}},
	{"°", unit{kind: Measure, basic: "°", size: 1}},
}

// year is in seconds, and a month is its twelfth.
const (
	minuteSeconds = 60.0
	hourSeconds   = 60 * minuteSeconds
	daySeconds    = 24 * hourSeconds
	yearSeconds   = 365.25 * daySeconds
)

// units are the words that amounts are counted in.
var units = func() map[string]unit {
	m := map[string]unit{}
	for _, u := range []struct {
		words string
		unit
	}{
		{"second seconds sec secs s", unit{Duration, "s", 1, false}},
		{"millisecond milliseconds ms", unit{Duration, "s", 1e-3, false}},
		{"minute minutes min mins", unit{Duration, "s", minuteSeconds, false}},
		{"hour hours h hr hrs", unit{Duration, "s", hourSeconds, false}},
		{"day days night nights", unit{Duration, "s", daySeconds, false}},
		{"week weeks wk wks", unit{Duration, "s", 7 * daySeconds, false}},
		{"fortnight fortnights", unit{Duration, "s", 14 * daySeconds, false}},
		{"month months", unit{Duration, "s", yearSeconds / 12, true}},
		{"quarter quarters", unit{Duration, "s", yearSeconds / 4, true}},
		{"year years yr yrs", unit{Duration, "s", yearSeconds, true}},
		{"decade decades", unit{Duration, "s", 10 * yearSeconds, true}},
		{"euro euros eur", unit{Money, "eur", 1, false}},
		{"dollar dollars usd", unit{Money, "usd", 1, false}},
		{"pound pounds gbp quid", unit{Money, "gbp", 1, false}},
		{"franc francs chf", unit{Money, "chf", 1, false}},
		{"cent cents", unit{Money, "cent", 1, false}},
		{"percent pct", unit{Percent, "", 1, false}},
		{"mcg µg", unit{Measure, "g", 1e-6, false}},
		{"mg milligram milligrams milligramme milligrammes", unit{Measure, "g", 1e-3, false}},
		{"g gram grams gramme grammes", unit{Measure, "g", 1, false}},
		{"kg kilo kilos kilogram kilograms", unit{Measure, "g", 1e3, false}},
		{"ton tons tonne tonnes", unit{Measure, "g", 1e6, false}},
		{"ml millilitre millilitres milliliter milliliters", unit{Measure, "l", 1e-3, false}},
		{"cl", unit{Measure, "l", 1e-2, false}},
		{"l litre litres liter liters", unit{Measure, "l", 1, false}},
		{"mm millimetre millimetres millimeter millimeters", unit{Measure, "m", 1e-3, false}},
		{"cm centimetre centimetres centimeter centimeters", unit{Measure, "m", 1e-2, false}},
		{"metre metres meter meters", unit{Measure, "m", 1, false}},
		{"km kilometre kilometres kilometer kilometers", unit{Measure, "m", 1e3, false}},
		{"mile miles", unit{Measure, "m", 1609.344, false}},
		{"kb kilobyte kilobytes", unit{Measure, "byte", 1e3, false}},
		{"mb megabyte megabytes", unit{Measure, "byte", 1e6, false}},
		{"gb gigabyte gigabytes", unit{Measure, "byte", 1e9, false}},
		{"tb terabyte terabytes", unit{Measure, "byte", 1e12, false}},
		{"w watt watts", unit{Measure, "w", 1, false}},
		{"kw kilowatt kilowatts", unit{Measure, "w", 1e3, false}},
		{"mw megawatt megawatts", unit{Measure, "w", 1e6, false}},
		{"kwh", unit{Measure, "wh", 1e3, false}},
		{"degree degrees", unit{Measure, "°", 1, false}},
		{"tablet tablets pill pills", unit{Measure, "tablet", 1, false}},
		{"time times", unit{Count, "time", 1, false}},
	} {
		for w := range strings.FieldsSeq(u.words) {
			m[w] = u.unit
		}
	}
	return m
}()

func phrases(list string) map[string]bool {
	m := map[string]bool{}
	for p := range strings.SplitSeq(list, "|") {
		m[p] = true
	}
	return m
}
