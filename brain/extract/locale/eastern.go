package locale

import (
	"regexp"
	"strings"

	"orgmem/brain/extract/calendar"
)

// Chinese and Japanese dates stand without spaces between them and what is around them.
var (
	easternDay  = regexp.MustCompile(`(?:([0-9０-９]{4})年)?([0-9０-９]{1,2})月(?:([0-9０-９]{1,2})[日号號])?|([0-9０-９]{4})年`)
	easternWord = regexp.MustCompile(`(先週|来週|今週|上个?|下个?|这个?|本)?の?(?:星期|周|礼拜)([一二三四五六日天])|` +
		`(先週|来週|今週)?の?([月火水木金土日])曜日?|` +
		`(一昨日|昨日|今日|明日|明後日|前天|昨天|今天|明天|后天)|(先週|来週|今週|上周|下周|本周|先月|来月|今月|上个月|下个月|去年|来年|明年|今年)`)
	easternClock = regexp.MustCompile(`^[の 、,，（(]{0,2}(午前|午後|上午|` +
		`下午|晚上|早上)?([0-9０-９]{1,2})(?:時|点|點|:|：)([0-9０-９]{1,2})?(半)?分?`)
)

var easternShifts = map[string]int{
	"一昨日": -2, "昨日": -1, "今日": 0, "明日": 1, "明後日": 2, "前天": -2, "昨天": -1, "今天": 0, "明天": 1, "后天": 2,
}

// easternNumber reads digits of either width.
func easternNumber(s string) (n int) {
	for _, r := range s {
		n = 10*n + digit(r)
	}
	return n
}

func easternDates(s string, today int, known bool) (out []Date) {
	end := 0
	days, words := easternDay.FindAllStringSubmatchIndex(s, -1), easternWord.FindAllStringSubmatchIndex(s, -1)
	group := func(m []int, k int) string {
		if m[2*k] < 0 {
			return ""
		}
		return s[m[2*k]:m[2*k+1]]
	}
	for len(days) > 0 || len(words) > 0 {
		var d Date
		ok := false
		if len(words) == 0 || len(days) > 0 && days[0][0] <= words[0][0] {
			m := days[0]
			days = days[1:]
			if m[0] < end {
				continue
			}
			d.Start, d.End = m[0], m[1]
			ok = d.numbered(group(m, 1)+group(m, 4), group(m, 2), group(m, 3), today, known)
		} else {
			m := words[0]
			words = words[1:]
			if m[0] < end || !known {
				continue
			}
			d.Start, d.End = m[0], m[1]
			ok = true
			d.named(group(m, 1)+group(m, 3), group(m, 2)+group(m, 4), group(m, 5), group(m, 6), today)
		}
		if !ok {
			continue
		}
		d.Minute = -1
		if m := easternClock.FindStringSubmatchIndex(s[d.End:]); m != nil && d.Grain == Day && d.Until-d.From == 1 {
			part := func(k int) string {
				if m[2*k] < 0 {
					return ""
				}
				return s[d.End+m[2*k] : d.End+m[2*k+1]]
			}
			minute := easternNumber(part(2))*minutesPerHour + easternNumber(part(3))
			if part(4) != "" {
				minute += minutesPerHour / 2
			}
			if late := part(1); minute < noon && (late == "午後" || late == "下午" || late == "晚上") {
				minute += noon
			}
			if minute < 2*noon {
				d.Minute, d.End = minute, d.End+m[1]
			}
		}
		end = d.End
		out = append(out, d)
	}
	return out
}

// numbered makes a date of a year, a month and a day in figures, each of which may be left out.
func (d *Date) numbered(year, month, day string, today int, known bool) bool {
	y, m, n := easternNumber(year), easternNumber(month), easternNumber(day)
	if year == "" {
		if !known {
			return false
		}
		r := reader{words: languages[0], today: today}
		y, d.Relative = r.nearest(min(max(m, 1), 12), max(n, 1)), true
	}
	switch {
	case y < minYear || y > maxYear || month != "" && (m < 1 || m > 12):
		return false
	case month == "":
		d.From, d.Until, d.Grain = calendar.Days(y, 1, 1), calendar.Days(y+1, 1, 1), Year
	case day == "":
		d.From, d.Until, d.Grain = calendar.Days(y, m, 1), calendar.Days(y, m+1, 1), Month
	case n < 1 || n > calendar.MonthDays(y, m):
		return false
	default:
		d.From = calendar.Days(y, m, n)
		d.Until = d.From + 1
	}
	return true
}

// named makes a date of the words for a day of some week, for a day by today, and for a week, month or year by today's.
func (d *Date) named(week, weekday, day, unit string, today int) {
	d.Relative = true
	monday := today - calendar.Weekday(today)
	by := func(w string) int {
		switch {
		case strings.HasPrefix(w, "先"), strings.HasPrefix(w, "上"), strings.HasPrefix(w, "去"):
			return -1
		case strings.HasPrefix(w, "来"), strings.HasPrefix(w, "下"), strings.HasPrefix(w, "明"):
			return 1
		}
		return 0
	}
	switch {
	case weekday != "":
		n := 0
		for i, names := range []string{"一月", "二火", "三水", "四木", "五金", "六土", "日天"} {
			if strings.Contains(names, weekday) {
				n = i
			}
		}
		if d.From = monday + 7*by(week) + n; week == "" {
			d.From, d.Guessed = today+calendar.FloorMod(n-calendar.Weekday(today), 7), true
		}
	case day != "":
		d.From = today + easternShifts[day]
	default:
		y, m, _ := calendar.Civil(today)
		n := by(unit)
		switch {
		case strings.Contains(unit, "月"):
			d.From, d.Until, d.Grain = calendar.Days(y, m+n, 1), calendar.Days(y, m+n+1, 1), Month
		case strings.Contains(unit, "年"):
			d.From, d.Until, d.Grain = calendar.Days(y+n, 1, 1), calendar.Days(y+n+1, 1, 1), Year
		default:
			d.From, d.Until, d.Grain = monday+7*n, monday+7*n+7, Week
		}
		return
	}
	d.Until = d.From + 1
}
