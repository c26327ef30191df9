package calendar

// Holiday is the day of each year that has a name in small letters; nil where no such day is known.
func Holiday(name string) func(year int) int { return holidays[name] }

// holidays are the days of the year whose names say when they are, as a day of each year. Of those that countries
// keep on different days the most common is meant.
var holidays = func() map[string]func(year int) int {
	m := map[string]func(int) int{}
	fixed := func(month, day int, names ...string) {
		for _, n := range names {
			m[n] = func(y int) int { return Days(y, month, day) }
		}
	}
	easter := func(days int, names ...string) {
		for _, n := range names {
			m[n] = func(y int) int { return Easter(y) + days }
		}
	}
	nth := func(month, weekday, n, days int, names ...string) {
		for _, name := range names {
			m[name] = func(y int) int {
				return NthWeekday(Days(y, month, 1), Days(y, month+1, 1), n, weekday) + days
			}
		}
	}
	fixed(1, 1, "new year", "new year's", "new year's day", "new years day", "new years")
	fixed(1, 6, "epiphany", "three kings day", "three kings")
	fixed(1, 25, "burns night")
	fixed(1, 26, "australia day")
	fixed(3, 25, "lady day")
	fixed(4, 25, "anzac day")
	fixed(9, 29, "michaelmas", "michaelmas day")
	fixed(2, 2, "candlemas", "groundhog day")
	fixed(2, 14, "valentine's", "valentine's day", "valentines day", "valentines")
	fixed(3, 8, "women's day", "international women's day")
	fixed(3, 17, "st patrick's day", "st. patrick's day", "saint patrick's day", "st patrick's")
	fixed(3, 14, "pi day")
	fixed(3, 20, "equinox", "spring equinox", "vernal equinox", "first day of spring")
	fixed(6, 21, "solstice", "summer solstice", "longest day", "longest day of the year", "first day of summer")
	fixed(9, 22, "autumn equinox", "autumnal equinox", "first day of autumn")
	fixed(12, 21, "winter solstice", "shortest day", "shortest day of the year", "first day of winter")
	fixed(4, 27, "king's day", "kings day")
	fixed(4, 23, "st george's day", "saint george's day")
	fixed(3, 1, "st david's day", "saint david's day")
	fixed(11, 5, "fireworks night")
	fixed(10, 10, "world mental health day")
	fixed(12, 10, "human rights day")
	fixed(4, 1, "april fools' day", "april fool's day")
	fixed(4, 22, "earth day")
	fixed(5, 1, "may day", "labour day")
	fixed(6, 19, "juneteenth")
	fixed(6, 24, "midsummer", "midsummer day", "st john's")
	fixed(7, 4, "independence day", "fourth of july")
	fixed(7, 14, "bastille day")
	fixed(8, 15, "assumption day", "assumption")
	fixed(10, 31, "halloween", "hallowe'en", "reformation day")
	fixed(11, 1, "all saints", "all saints'", "all saints' day", "all saints day")
	fixed(11, 2, "all souls", "all souls'", "all souls' day", "all souls day")
	fixed(11, 5, "bonfire night", "guy fawkes night")
	fixed(11, 11, "armistice day", "remembrance day", "martinmas", "st martin's day", "st martin's", "veterans day")
	fixed(11, 30, "st andrew's day", "st andrew's")
	fixed(12, 6, "st nicholas day", "saint nicholas day", "st nicholas")
	fixed(12, 24, "christmas eve", "xmas eve")
	fixed(12, 25, "christmas", "christmas day", "xmas", "xmas day")
	fixed(12, 26, "boxing day", "st stephen's day", "stephen's day", "second christmas day")
	fixed(12, 31, "new year's eve", "new years eve", "nye", "hogmanay", "silvester")
	easter(-47, "shrove tuesday", "pancake day", "mardi gras")
	easter(-46, "ash wednesday")
	easter(-7, "palm sunday")
	easter(-3, "maundy thursday", "holy thursday")
	easter(-2, "good friday")
	easter(-1, "easter saturday", "holy saturday")
	easter(0, "easter", "easter sunday", "easter day")
	easter(1, "easter monday")
	easter(39, "ascension", "ascension day")
	easter(49, "whit sunday", "whitsun", "pentecost")
	easter(50, "whit monday", "pentecost monday")
	easter(60, "corpus christi")
	nth(1, 1, 3, 0, "martin luther king day", "mlk day")
	nth(2, 1, 3, 0, "presidents' day", "presidents day")
	nth(5, 7, 2, 0, "mother's day", "mothers day")
	nth(5, 1, 1, 0, "early may bank holiday")
	nth(5, 1, -1, 0, "memorial day", "spring bank holiday")
	nth(8, 1, -1, 0, "summer bank holiday", "august bank holiday")
	nth(6, 7, 3, 0, "father's day", "fathers day")
	nth(9, 1, 1, 0, "labor day")
	nth(10, 1, 2, 0, "columbus day", "indigenous peoples' day")
	nth(11, 4, 4, 0, "thanksgiving", "thanksgiving day")
	nth(11, 4, 4, 1, "black friday")
	nth(11, 4, 4, 4, "cyber monday")
	advent := func(y int) int { // four Sundays before Christmas
		christmas := Days(y, 12, 25)
		return christmas - 1 - FloorMod(Weekday(christmas-1)-6, 7) - 21
	}
	for i, which := range []string{"first", "second", "third", "fourth"} {
		for _, name := range []string{" of advent", " advent", " sunday in advent", " sunday of advent"} {
			m[which+name] = func(y int) int { return advent(y) + 7*i }
		}
	}
	m["advent sunday"] = advent
	return m
}()

// NthWeekday is the nth such weekday, 1 to 7, of the days [from, until), or their last where n is -1.
func NthWeekday(from, until, n, day int) int {
	if n < 0 {
		last := until - 1
		return last - FloorMod(Weekday(last)-day+1, 7)
	}
	return from + FloorMod(day-1-Weekday(from), 7) + 7*(n-1)
}

// Easter is the Sunday of Easter in the Gregorian calendar (Meeus, Jones, Butcher).
func Easter(y int) int {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	return Days(y, (h+l-7*m+114)/31, (h+l-7*m+114)%31+1)
}
