package calendar

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestCalendar: our days are those of package time, there and back.
func TestCalendar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.IntRange(-400_000, 400_000).Draw(t, "days")
		at := time.Unix(int64(days)*86400, 0).UTC()
		y, m, d := Civil(days)
		if y != at.Year() || m != int(at.Month()) || d != at.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %s", days, y, m, d, at.Format(time.DateOnly))
		}
		if Days(y, m, d) != days {
			t.Fatalf("%d-%d-%d is day %d, want %d", y, m, d, Days(y, m, d), days)
		}
		if want := (int(at.Weekday()) + 6) % 7; Weekday(days) != want {
			t.Fatalf("%s has weekday %d", at, Weekday(days))
		}
		shift := rapid.IntRange(-30, 30).Draw(t, "months")
		if want := time.Date(y, time.Month(m+shift), 1, 0, 0, 0, 0, time.UTC).Unix() / 86400; Days(y, m+shift,
			1) != int(want) {
			t.Fatalf("%d months from %d-%d", shift, y, m)
		}
	})
}

// TestEaster: the days that the other feasts are counted from.
func TestEaster(t *testing.T) {
	t.Parallel()
	for year, want := range map[int]string{1999: "04-04", 2000: "04-23", 2024: "03-31", 2025: "04-20", 2038: "04-25"} {
		if got := time.Unix(int64(Easter(year))*86400, 0).UTC().Format("01-02"); got != want {
			t.Errorf("Easter of %d on %s, want %s", year, got, want)
		}
	}
}
