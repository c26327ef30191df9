package recurrence

import (
	"cmp"
	"slices"

	pb "orgmem/proto"
)

// rule is what is said of a recurrence, as far as it is read.
type rule struct {
	length          length // of "every two weeks"; no unit: only the days are told
	times           int
	weekdays        []int32
	whole           bool    // the weekdays are a range, or all that people work on
	nth             []int32 // of the weekdays in the month
	monthDays       []int32
	months          []int32
	monthsAt        [2]int // where the months are told
	at              []int32
	end             int32 // -1: not told
	afternoon, part bool
	clocked         bool
	doubtful        bool // biweekly
}

// join takes what another fragment tells; false where it tells another thing.
func (r *rule) join(o *rule) bool {
	m := *r
	switch {
	case m.length.unit == "":
		m.length = o.length
	case o.length.unit != "" && m.length.unit != o.length.unit, m.length.n > 1 && o.length.n > 1 && m.length != o.length:
		return false
	case o.length.unit != "":
		m.length.n = max(m.length.n, o.length.n)
	}
	for _, x := range []struct{ to, more *[]int32 }{
		{&m.weekdays, &o.weekdays},
		{&m.nth, &o.nth},
		{&m.monthDays, &o.monthDays},
		{&m.months, &o.months},
		{&m.at, &o.at},
	} {
		if len(*x.to) > 0 && len(*x.more) > 0 {
			return false
		}
		if len(*x.to) == 0 {
			*x.to = *x.more
		}
	}
	if m.times > 0 && o.times > 0 || r.clocked && o.clocked || r.part && o.part {
		return false
	}
	m.doubtful = m.doubtful || o.doubtful
	m.times, m.whole = max(m.times, o.times), m.whole || o.whole
	m.clocked, m.part, m.afternoon = m.clocked || o.clocked, m.part || o.part, m.afternoon || o.afternoon
	if len(o.months) > 0 {
		m.monthsAt = o.monthsAt
	}
	if o.clocked {
		m.end = o.end
	}
	if !m.sound() {
		return false
	}
	*r = m
	return true
}

// sound tells whether what is said goes together.
func (r *rule) sound() bool {
	days, dates := len(r.weekdays) > 0, len(r.monthDays) > 0
	switch {
	case days && dates:
		return false
	case len(r.nth) > 0 && !days:
		return false
	case r.length.unit == Hour:
		return !dates && len(r.nth) == 0
	case r.length.unit == Day:
		return !dates && len(r.nth) == 0 && (!days || r.whole)
	case r.length.unit == Week:
		return !dates && len(r.nth) == 0
	case r.length.unit == Month && dates:
		return len(r.months) == 0
	}
	return true
}

// every is the normal form; nil where nothing is left that says how often.
func (r *rule) every() *pb.Every {
	out := &pb.Every{
		Times: uint32(r.times), Weekdays: sorted(r.weekdays), Nth: r.nth, MonthDays: sorted(r.monthDays),
		Months: r.months,
	}
	l := r.length
	switch {
	case r.doubtful && len(r.weekdays)+len(r.monthDays) != 1:
		return nil
	case l.unit == "" && len(r.nth)+len(r.monthDays) > 0:
		if l = (length{Month, 1}); len(r.months) > 0 {
			l.unit = Year
		}
	case l.unit == "" && len(r.weekdays) > 0, l == length{Day, 1} && len(r.weekdays) > 0 && r.times == 0:
		l = length{Week, 1}
	case l.unit == "" && len(r.months) > 0:
		l = length{Year, 1}
	case l.unit == "" && r.part:
		l = length{Day, 1}
	case l.unit == "":
		return nil
	}
	const fortnight, week = 15, 7
	switch { // eight days, they say, and fifteen
	case l.unit == Day && l.n == fortnight:
		l = length{Week, 2}
	case l.unit == Day && l.n%week == 0:
		l = length{Week, l.n / week}
	case l.unit == Month && l.n%12 == 0:
		l = length{Year, l.n / 12}
	}
	out.Unit, out.Interval = l.unit, uint32(l.n)
	for _, at := range r.at {
		out.At = append(out.At, uint32(r.minute(at)))
	}
	if r.end >= 0 && r.clocked && len(out.GetAt()) == 1 {
		end := r.minute(r.end)
		if start := int32(out.GetAt()[0]); end <= start && end+noonMinute > start && end < noonMinute {
			end += noonMinute // from 9 to 5
		}
		out.End = new(uint32(end))
	}
	return out
}

// minute is a minute of the day where the part of the day is told, too: at 8 in the evening.
func (r *rule) minute(at int32) int32 {
	if r.afternoon && at < noonMinute && at >= minutesPerHour {
		return at + noonMinute
	}
	return at
}

func sorted(of []int32) []int32 {
	out := slices.Clone(of)
	slices.SortFunc(out, func(a, b int32) int { // the last one behind the others
		if (a < 0) != (b < 0) {
			return cmp.Compare(b, a)
		}
		return cmp.Compare(a, b)
	})
	return slices.Compact(out)
}
