package locale

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/extract/calendar"
)

// Chinese and Japanese dates stand without spaces between them and what is around them. Numbers are written in figures
// of either width, or spelled out.
const easternFigures = `[0-9０-９〇零一二三四五六七八九十两]`

var (
	easternDay = regexp.MustCompile(`(?:(?:(令和|平成|昭和)(` + easternFigures + `{1,3}|元)|(` + easternFigures +
		`{4}))年|(去年|昨年|今年|来年|明年)の?)?` +
		`(` + easternFigures + `{1,3})月(?:(` + easternFigures + `{1,4})[日号號])?|(` + easternFigures + `{4})年`)
	easternEnd  = regexp.MustCompile(`(先|上个?|今|这个?|本|来|下个?)?(?:月の?末|月底)`)
	easternWord = regexp.MustCompile(`(先週|来週|今週|上个?|下个?|这个?|本)?の?(?:星期|周|礼拜)([一二三四五六日天])|` +
		`(先週|来週|今週)?の?([月火水木金土日])曜日?|` +
		`(一昨日|昨日|今日|明日|明後日|前天|昨天|今天|明天|后天)|(先週|来週|今週|上周|下周|本周|先月|来月|今月|上个月|下个月|去年|来年|明年|今年)`)
	easternAgo = regexp.MustCompile(`(` + easternFigures + `{1,3})(日|天|週間|周|个?星期|[ヶケかカヵ]月|个月|個月|年)` +
		`(?:間)?(前|之前|以前|後|后|之后|以后)`)
	easternClock = regexp.MustCompile(`^(?:[(（][月火水木金土日][)）])?[の 、,，（(]{0,2}(午前|午後|朝|夜|夕方|上午|` +
		`下午|晚上|早上)?(` + easternFigures + `{1,3})(?:時|时|点|點|:|：)(` + easternFigures + `{1,3})?(半)?分?`)
	easternSpan = regexp.MustCompile(`(?:[月火水木金土日]曜日?|(?:星期|周|礼拜)[一二三四五六日天])(?:から|到|至|〜|～|-|–)` +
		`(?:[月火水木金土日]曜日?|(?:星期|周|礼拜)?[一二三四五六日天])`)
	easternUntil  = regexp.MustCompile(`^(?:まで|之前|以前|前|为止)`)
	easternSince  = regexp.MustCompile(`^(?:から|以降|以来|起)`)
	easternPast   = regexp.MustCompile(`ました|でした|だった|了[。！，]?`)
	easternBefore = regexp.MustCompile(`^(?:之前|以前|前)`)
)

// easternEras are the years before the first one of an era.
var easternEras = map[string]int{"令和": 2018, "平成": 1988, "昭和": 1925}

// easternUnits are the units of a length of time, by their first characters.
var easternUnits = []struct {
	begins string
	unit   int
}{{"日天", 1}, {"週周星", 2}, {"ヶケかカヵ", 3}, {"年", 4}}

var easternShifts = map[string]int{
	"一昨日": -2, "昨日": -1, "今日": 0, "明日": 1, "明後日": 2, "前天": -2, "昨天": -1, "今天": 0, "明天": 1, "后天": 2,
}

// easternNumber reads a number in figures of either width or spelled out: 二十一, 二〇二六.
func easternNumber(s string) (n int) {
	tens := false
	for _, r := range s {
		v := strings.IndexRune("〇一二三四五六七八九", r) / len("一")
		switch {
		case r == '十':
			n, tens = 10*max(n, 1), true
			continue
		case unicode.IsDigit(r):
			v = digit(r)
		case r == '零':
			v = 0
		case r == '两':
			v = 2
		}
		if tens {
			n, tens = n+v, false
		} else {
			n = 10*n + v
		}
	}
	return n
}

// easternMatch is a place that a pattern was found at, with its groups.
type easternMatch struct {
	s      string
	groups []int
	read   func(d *Date, group func(k int) string) bool
}

func (m easternMatch) group(k int) string {
	if m.groups[2*k] < 0 {
		return ""
	}
	return m.s[m.groups[2*k]:m.groups[2*k+1]]
}

// easternDates reads the dates of a sentence in Chinese or Japanese.
func easternDates(s string, today int, known bool) (out []Date) {
	side := 0
	if easternPast.MatchString(s) {
		side = -1
	}
	var found []easternMatch
	add := func(pattern *regexp.Regexp, read func(d *Date, group func(k int) string) bool) {
		for _, m := range pattern.FindAllStringSubmatchIndex(s, maxTokens) {
			found = append(found, easternMatch{s, m, read})
		}
	}
	add(easternDay, func(d *Date, group func(k int) string) bool {
		year := easternNumber(group(3) + group(7))
		if era := group(1); era != "" {
			year = easternEras[era] + max(easternNumber(group(2)), 1)
		}
		month, day := -1, -1
		if w := group(4); w != "" && known {
			year, _, _ = calendar.Civil(today)
			year += easternStep(w)
			d.Relative = true
		}
		if group(5) != "" {
			month = easternNumber(group(5))
		}
		if group(6) != "" {
			day = easternNumber(group(6))
		}
		return d.numbered(year, month, day, side, today, known)
	})
	if known {
		add(easternAgo, func(d *Date, group func(k int) string) bool {
			return d.apart(easternNumber(group(1)), group(2), easternBefore.MatchString(group(3)), today)
		})
		add(easternEnd, func(d *Date, group func(k int) string) bool {
			y, m, _ := calendar.Civil(today)
			d.From, d.Relative = calendar.Days(y, m+easternStep(group(1))+1, 1)-1, true
			d.Until = d.From + 1
			return true
		})
		add(easternWord, func(d *Date, group func(k int) string) bool {
			weekday := group(2) + group(4)
			d.named(group(1)+group(3), weekday, group(5), group(6), side, today)
			return weekday == "" || !d.Guessed || !easternDays(s, d.Start, d.End)
		})
	}
	slices.SortStableFunc(found, func(a, b easternMatch) int { return a.groups[0] - b.groups[0] })
	end := 0
	for _, m := range found {
		d := Date{Start: m.groups[0], End: m.groups[1], Minute: -1}
		if d.Start < end || !m.read(&d, m.group) {
			continue
		}
		d.clocked(s)
		behind := s[d.End:]
		bounded := easternBefore.MatchString(behind) || easternUntil.MatchString(behind)
		if d.Guessed && d.From == today && bounded && d.Grain == Day { // who means today says so
			d.From, d.Until = d.From+7, d.Until+7
		}
		switch {
		case d.Grain != Day || d.Until-d.From != 1:
		case easternBefore.MatchString(behind):
			d.From, d.Until, d.Minute = Always, d.From, -1
			d.End += len(easternBefore.FindString(behind))
		case easternUntil.MatchString(behind):
			d.From = Always
			d.End += len(easternUntil.FindString(behind))
		case d.Minute < 0 && easternSince.MatchString(behind):
			d.Until = Ever
			d.End += len(easternSince.FindString(behind))
		}
		end = d.End
		out = append(out, d)
	}
	return out
}

// easternDays tells whether the day of the week at [start, end) is one end of days that are open: 月曜日から金曜日まで.
func easternDays(s string, start, end int) bool {
	for _, m := range easternSpan.FindAllStringIndex(s, maxTokens) {
		if m[0] <= start && end <= m[1] {
			return true
		}
	}
	return false
}

// clocked reads the time of day that stands behind a day.
func (d *Date) clocked(s string) {
	groups := easternClock.FindStringSubmatchIndex(s[d.End:])
	if groups == nil || d.Grain != Day || d.Until-d.From != 1 {
		return
	}
	m := easternMatch{s: s[d.End:], groups: groups}
	minute := easternNumber(m.group(2))*minutesPerHour + easternNumber(m.group(3))
	if m.group(4) != "" {
		minute += minutesPerHour / 2
	}
	switch m.group(1) {
	case "午後", "下午", "晚上", "夜", "夕方":
		if minute < noon {
			minute += noon
		}
	}
	if minute < 2*noon {
		d.Minute, d.End = minute, d.End+groups[1]
	}
}

// apart makes a date of how long before or after today something is.
func (d *Date) apart(count int, unit string, before bool, today int) bool {
	if count < 1 || count > maxApart {
		return false
	}
	first := []rune(strings.TrimPrefix(unit, "个"))[0]
	kind := 3 // 个月, 個月
	for _, u := range easternUnits {
		if strings.ContainsRune(u.begins, first) {
			kind = u.unit
		}
	}
	if before {
		count = -count
	}
	d.Relative = true
	d.shiftBy(kind, count, today)
	return true
}

// numbered makes a date of a year, a month and a day in figures, each of which may be left out.
// What is left out is -1, and a year 0.
func (d *Date) numbered(y, m, n, side, today int, known bool) bool {
	if y == 0 {
		if !known {
			return false
		}
		y, d.Relative = nearestYear(today, min(max(m, 1), 12), max(n, 1), side), true
	}
	switch {
	case y < minYear || y > maxYear || m >= 0 && (m < 1 || m > 12):
		return false
	case m < 0:
		d.From, d.Until, d.Grain = calendar.Days(y, 1, 1), calendar.Days(y+1, 1, 1), Year
	case n < 0:
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
func (d *Date) named(week, weekday, day, unit string, side, today int) {
	d.Relative = true
	monday := today - calendar.Weekday(today)
	switch {
	case weekday != "":
		n := 0
		for i, names := range []string{"一月", "二火", "三水", "四木", "五金", "六土", "日天"} {
			if strings.Contains(names, weekday) {
				n = i
			}
		}
		if d.From = monday + 7*easternStep(week) + n; week == "" {
			d.From, d.Guessed = today+calendar.FloorMod(n-calendar.Weekday(today), 7), true
			if side < 0 && d.From > today {
				d.From -= 7
			}
		}
	case day != "":
		d.From = today + easternShifts[day]
	default:
		y, m, _ := calendar.Civil(today)
		n := easternStep(unit)
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

// easternStep is on which side of this week, month or year a word is.
func easternStep(w string) int {
	switch {
	case strings.HasPrefix(w, "先"), strings.HasPrefix(w, "上"), strings.HasPrefix(w, "去"), strings.HasPrefix(w, "昨"):
		return -1
	case strings.HasPrefix(w, "来"), strings.HasPrefix(w, "下"), strings.HasPrefix(w, "明"):
		return 1
	}
	return 0
}
