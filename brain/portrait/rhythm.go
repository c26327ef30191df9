package portrait

import (
	"fmt"
	"slices"

	"orgmem/brain/temporal"
)

const (
	// leastDays is on how many days somebody must have written before they have a rhythm.
	leastDays = 12
	// ofOneDay is the share of these days that must be one day of the week, and regular how regular the gaps must be
	// ([temporal.Rhythm]).
	ofOneDay = 0.6
	regular  = 0.7
	// maxEvery is the longest gap, in days, that is called a rhythm. Gaps of that length must make up spanned of the
	// whole time: twelve days of one week in each of two years are no rhythm.
	maxEvery = 31
	spanned  = 0.75
)

var weekdays = [7]string{"Thursdays", "Fridays", "Saturdays", "Sundays", "Mondays", "Tuesdays", "Wednesdays"}

// rhythm says when the person writes, where that is regular.
func (m *Memory) rhythm() []Line {
	days := slices.Clone(m.Days)
	slices.Sort(days)
	days = slices.Compact(days)
	if len(days) < leastDays || len(m.Dated) < 2 {
		return nil
	}
	line := Line{Kind: Rhythm, Nodes: capped(m.Dated)}
	var on [7]int
	most := 0
	for _, d := range days {
		at := int(((d % 7) + 7) % 7) // the first of January 1970 was a Thursday
		on[at]++
		if on[at] > on[most] {
			most = at
		}
	}
	if float64(on[most]) >= ofOneDay*float64(len(days)) {
		line.Text = fmt.Sprintf("Writes mostly on %s (%d of %d days).", weekdays[most], on[most], len(days))
		return []Line{line}
	}
	r, ok := temporal.Cadence(days)
	if span := float64(days[len(days)-1] - days[0]); !ok || r.Regularity < regular || r.EveryMs > maxEvery ||
		float64(r.EveryMs)*float64(len(days)-1) < spanned*span {
		return nil
	}
	every := "every day"
	if r.EveryMs > 1 {
		every = fmt.Sprintf("every %d days", r.EveryMs)
	}
	line.Text = fmt.Sprintf("Writes about %s (on %d days).", every, len(days))
	return []Line{line}
}
