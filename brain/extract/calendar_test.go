package extract

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
		y, m, d := civil(days)
		if y != at.Year() || m != int(at.Month()) || d != at.Day() {
			t.Fatalf("day %d is %d-%d-%d, want %s", days, y, m, d, at.Format(time.DateOnly))
		}
		if daysOf(y, m, d) != days {
			t.Fatalf("%d-%d-%d is day %d, want %d", y, m, d, daysOf(y, m, d), days)
		}
		if want := (int(at.Weekday()) + 6) % 7; weekday(days) != want {
			t.Fatalf("%s has weekday %d", at, weekday(days))
		}
		shift := rapid.IntRange(-30, 30).Draw(t, "months")
		if want := time.Date(y, time.Month(m+shift), 1, 0, 0, 0, 0, time.UTC).Unix() / 86400; daysOf(y, m+shift,
			1) != int(want) {
			t.Fatalf("%d months from %d-%d", shift, y, m)
		}
	})
}
