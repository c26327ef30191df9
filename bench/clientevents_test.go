package main

import (
	"strconv"
	"testing"
	"time"
)

// A comparison that could not find an untold event would prove nothing.
func TestMissing(t *testing.T) {
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(s float64) time.Time { return begin.Add(time.Duration(s * float64(time.Second))) }
	for name, tc := range map[string]struct {
		lost           func(second int) bool
		gaps           []time.Time
		missed, untold int
		late           int
	}{
		"all came":                {func(int) bool { return false }, nil, 0, 0, 0},
		"a gap for nothing":       {func(int) bool { return false }, []time.Time{at(10)}, 0, 0, 0},
		"told":                    {func(s int) bool { return s >= 10 && s < 20 }, []time.Time{at(9)}, 10, 0, 0},
		"begun late by a commit":  {func(s int) bool { return s >= 10 && s < 20 }, []time.Time{at(11.9)}, 10, 2, 0},
		"told too late":           {func(s int) bool { return s >= 10 && s < 20 }, []time.Time{at(15)}, 10, 5, 0},
		"not told":                {func(s int) bool { return s >= 10 && s < 20 }, nil, 10, 10, 0},
		"one after the gap":       {func(s int) bool { return s >= 10 && s < 20 || s == 30 }, []time.Time{at(9)}, 11, 1, 0},
		"one before the gap":      {func(s int) bool { return s >= 10 && s < 20 || s == 5 }, []time.Time{at(9)}, 11, 1, 0},
		"begun at the event":      {func(s int) bool { return s == 10 }, []time.Time{at(10)}, 1, 0, 0},
		"one behind the end":      {func(s int) bool { return s >= 10 && s < 20 || s == 21 }, []time.Time{at(9)}, 11, 0, 1},
		"one far behind it":       {func(s int) bool { return s >= 10 && s < 20 || s == 23 }, []time.Time{at(9)}, 11, 1, 0},
		"to the end":              {func(s int) bool { return s >= 50 }, []time.Time{at(49)}, 10, 0, 0},
		"two gaps, one untold":    {func(s int) bool { return s >= 10 && s < 12 || s >= 40 && s < 42 }, []time.Time{at(9)}, 4, 2, 0},
		"two gaps, told together": {func(s int) bool { return s >= 10 && s < 12 || s >= 40 && s < 42 }, []time.Time{at(9), at(39)}, 4, 0, 0},
	} {
		var all []occurrence
		has := map[string]bool{}
		for second := range 60 {
			id := strconv.Itoa(second)
			all = append(all, occurrence{id, at(float64(second))})
			has[id] = !tc.lost(second)
		}
		if missed, untold, late := missing(all, has, tc.gaps); missed != tc.missed || untold != tc.untold || late != tc.late {
			t.Errorf("%s: %d missed, %d untold, %d late", name, missed, untold, late)
		}
	}
}
