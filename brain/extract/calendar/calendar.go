// Package calendar counts days without a clock and without zones.
//
// Days are counted from 1970-01-01 in the proleptic Gregorian calendar; package time is not used here, since it knows
// clocks and zones that a pure computation must not see.
package calendar

// Days is the day of a civil date; months beyond 1 to 12 count into other years
// (Hinnant, "chrono-compatible low-level date algorithms").
func Days(year, month, day int) int {
	year += FloorDiv(month-1, 12)
	month = month - 1 - 12*FloorDiv(month-1, 12) + 1
	if month <= 2 {
		year--
	}
	era := FloorDiv(year, 400)
	yoe := year - era*400
	mp := (month + 9) % 12
	doy := (153*mp+2)/5 + day - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// Civil is the inverse of Days.
func Civil(days int) (year, month, day int) {
	days += 719468
	era := FloorDiv(days, 146097)
	doe := days - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	month = mp + 3
	year = yoe + era*400
	if month > 12 {
		month -= 12
	}
	if month <= 2 {
		year++
	}
	return year, month, day
}

// FloorDiv and FloorMod round down, also below zero.
func FloorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Weekday of a day, Monday 0 to Sunday 6.
func Weekday(days int) int { return FloorMod(days+3, 7) }

// FloorMod is what FloorDiv leaves.
func FloorMod(a, b int) int { return a - b*FloorDiv(a, b) }

// MonthDays is how many days a month has.
func MonthDays(year, month int) int { return Days(year, month+1, 1) - Days(year, month, 1) }
