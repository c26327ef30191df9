package extract

import "orgmem/brain/extract/calendar"

const (
	msPerMinute = 60_000
	msPerDay    = 24 * 60 * msPerMinute
	// The years that a date may lie in: others are numbers of something else.
	minYear, maxYear = 1000, 2999
)

// DayOf is the date, in UTC, of a time in Unix milliseconds.
func DayOf(ms int64) (year, month, day int) { return calendar.Civil(int(dayIndex(ms))) }

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
	year, m, day := calendar.Civil(p.from)
	switch p.grain {
	case Day:
		return dayPeriod(calendar.Days(year+1, m, day))
	case Month:
		return monthPeriod(year+1, m)
	default:
		return p
	}
}

// nextMonth is the same day of the next month.
func (p period) nextMonth() period {
	year, m, day := calendar.Civil(p.from)
	return dayPeriod(calendar.Days(year, m+1, min(day, calendar.MonthDays(year, m+1))))
}

// monthDay is a day of a month, or its last where it is shorter.
func monthDay(year, month, day int) period {
	return dayPeriod(calendar.Days(year, month, min(day, calendar.MonthDays(year, month))))
}

func dayPeriod(days int) period { return period{days, days + 1, Day} }
func yearPeriod(year int) period {
	return period{calendar.Days(year, 1, 1), calendar.Days(year+1, 1, 1), Year}
}

func monthPeriod(year, month int) period {
	return period{calendar.Days(year, month, 1), calendar.Days(year, month+1, 1), Month}
}

func quarterPeriod(year, quarter int) period {
	return period{calendar.Days(year, 3*quarter-2, 1), calendar.Days(year, 3*quarter+1, 1), Quarter}
}

// weekPeriod is the week from Monday that holds a day.
func weekPeriod(days int) period {
	monday := days - calendar.Weekday(days)
	return period{monday, monday + 7, Week}
}
