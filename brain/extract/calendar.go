package extract

// Days are counted from 1970-01-01 in the proleptic Gregorian calendar; package
// time is not used here, since it knows clocks and zones that a pure computation
// must not see.

const (
	msPerMinute = 60_000
	msPerDay    = 24 * 60 * msPerMinute
	// The years that a date may lie in: others are numbers of something else.
	minYear, maxYear = 1000, 2999
)

// daysOf is the day of a civil date; months beyond 1 to 12 count into other years
// (Hinnant, "chrono-compatible low-level date algorithms").
func daysOf(year, month, day int) int {
	year += floorDiv(month-1, 12)
	month = month - 1 - 12*floorDiv(month-1, 12) + 1
	if month <= 2 {
		year--
	}
	era := floorDiv(year, 400)
	yoe := year - era*400
	mp := (month + 9) % 12
	doy := (153*mp+2)/5 + day - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// DayOf is the date, in UTC, of a time in Unix milliseconds.
func DayOf(ms int64) (year, month, day int) { return civil(int(dayIndex(ms))) }

// civil is the inverse of daysOf.
func civil(days int) (year, month, day int) {
	days += 719468
	era := floorDiv(days, 146097)
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

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// weekday of a day, Monday 0 to Sunday 6.
func weekday(days int) int { return floorMod(days+3, 7) }

func floorMod(a, b int) int { return a - b*floorDiv(a, b) }

func monthDays(year, month int) int { return daysOf(year, month+1, 1) - daysOf(year, month, 1) }

// period is a stretch of whole days, until exclusive.
type period struct {
	from, until int
	grain       Grain
}

// next is the same period a week later, or a year.
func (p period) next(week bool) period {
	if week {
		return period{p.from + 7, p.until + 7, p.grain}
	}
	year, m, day := civil(p.from)
	switch p.grain {
	case Day:
		return dayPeriod(daysOf(year+1, m, day))
	case Month:
		return monthPeriod(year+1, m)
	default:
		return p
	}
}

func dayPeriod(days int) period  { return period{days, days + 1, Day} }
func yearPeriod(year int) period { return period{daysOf(year, 1, 1), daysOf(year+1, 1, 1), Year} }

func monthPeriod(year, month int) period {
	return period{daysOf(year, month, 1), daysOf(year, month+1, 1), Month}
}

func quarterPeriod(year, quarter int) period {
	return period{daysOf(year, 3*quarter-2, 1), daysOf(year, 3*quarter+1, 1), Quarter}
}

// weekPeriod is the week from Monday that holds a day.
func weekPeriod(days int) period {
	monday := days - weekday(days)
	return period{monday, monday + 7, Week}
}
