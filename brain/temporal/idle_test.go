package temporal

import (
	"math"
	"strings"
	"testing"
)

// TestWhatHappensAtATime: a time of which is said that nothing happened, that something is put off to it without saying
// what, or that nobody knows, is nothing on a timeline; what is put off by its name, closed or cancelled is.
func TestWhatHappensAtATime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, phrase string
		told         bool
	}{
		{"* Build: no update since last week (all were ill).", "since last week", false},
		{"* Dario away, no updates available today", "today", false},
		{"* Heating: nothing to report this week.", "this week", false},
		{"* Website: not much news this month, as expected.", "this month", false},
		{"* Parser: Not since last week.", "last week", false},
		{"* Deferred until next week so that Lena can be there.", "until next week", false},
		{"* We agreed to defer until next week.", "until next week", false},
		{"* Let's leave it for next week.", "next week", false},
		{"* Also, let's keep this on the agenda for next month in case nobody answers.", "next month", false},
		{"* skip as we don't have Lena this week", "this week", false},
		{"* Defer to next week and ask @lena.", "next week", false},
		{"* Few are here, so we should push to next week.", "next week", false},
		{"* Dario suggested that we postpone it until next quarter.", "until next quarter", false},
		{"* Let's wait until next week to decide.", "until next week", false},
		{"* Look at the ticket and talk next week if necessary.", "next week", false},
		{"* Index: some work left, question of whether it will be ready for next week.", "next week", false},
		{"* Not clear whether Dario is back next week.", "next week", false},
		{"* Perhaps next week.", "next week", false},
		{"* Scanner, nothing to report maybe next week", "next week", false},

		{"* Release: the first beta came out last week.", "last week", true},
		{"The launch was postponed to 3 May.", "3 May", true},
		{"The launch was postponed until next month.", "until next month", true},
		{"We pushed the release to next week.", "next week", true},
		{"Let's postpone the picnic to next week.", "next week", true},
		{"Lena left last week.", "last week", true},
		{"Lena is on leave until next week.", "until next week", true},
		{"The vote was held last week.", "last week", true},
		{"The meeting on 3 May is cancelled.", "3 May", true},
		{"No water until Friday.", "until Friday", true},
		{"No school next week.", "next week", true},
		{"The hall is closed this week, no exceptions.", "this week", true},
		{"* No updates, but the vote is next week.", "next week", true},
		{"We decided last week whether to renew the lease.", "last week", true},
		{"The update came last week.", "last week", true},
		{"The scan of last week shows no change of the shoulder.", "last week", true},
		{"Dario skipped the gym last week.", "last week", true},
		{"Lena leaves for Rome next week.", "next week", true},
		{"* Summary by Lena next week", "next week", true},
	} {
		n := dated(c.text, c.phrase, 9*day)
		n.AtMs = 9*day + 1
		switch first, _, _ := strings.Cut(c.phrase, " "); first {
		case "next":
			n.AtMs = 8 * day
		case "until":
			n.Dates[0].FromMs = math.MinInt64
		}
		if got := Timeline([]Note{n}); (len(got) == 1) != c.told {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
}

// TestACancelledOccasion: what a note is the minutes of did not happen where the note says so.
func TestACancelledOccasion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, phrase string
		told         int
	}{
		{"# Board Meeting 2031-04-09\n\nMeeting cancelled.\n\n## Agenda\n\n* Budget", "2031-04-09", 0},
		{"# Weekly call 9 April\n\nToday's call was called off, since nobody could come.", "9 April", 0},
		{"# Board Meeting 2031-04-09\n\n* The concert was cancelled.", "2031-04-09", 1},
		{"# Board Meeting 2031-04-09\n\n* Last month's meeting was cancelled.", "2031-04-09", 1},
		{"The meeting on 9 April was cancelled.", "9 April", 1},
	} {
		n := dated(c.text, c.phrase, 9*day)
		n.AtMs = 9*day + 1
		if got := Timeline([]Note{n}); len(got) != c.told {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
}

// TestAMomentSaysWhatHappened: a sentence that does not, is told with the one beside it that does.
func TestAMomentSaysWhatHappened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, phrase, title string }{
		{
			"Something wonderful happened last Friday! My sister had twins.", "last Friday",
			"Something wonderful happened last Friday! My sister had twins.",
		},
		{"Something wonderful happened last Friday!", "last Friday", ""},
		{
			"The museum opens its new wing. It will happen in May.", "in May",
			"The museum opens its new wing. It will happen in May.",
		},
		{"The sale closed. It was last Friday.", "last Friday", "The sale closed. It was last Friday."},
		{"We sold the boat last Friday. It was old.", "last Friday", "We sold the boat last Friday."},
		{"Guess what happened yesterday!\nThe lift is fixed.", "yesterday", ""},
	} {
		title := ""
		for _, m := range Timeline([]Note{dated(c.text, c.phrase, 9*day)}) {
			title = m.Title
		}
		if title != c.title {
			t.Errorf("%q: %q, want %q", c.text, title, c.title)
		}
	}
}

// TestAgesAreNoMoments: "from the 1900s" says how old a thing is.
func TestAgesAreNoMoments(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, phrase string
		years        int64
		told         bool
	}{
		{"I found a map from the 1900s in the attic.", "1900s", 100, false},
		{"The bells are from the 1950s.", "1950s", 10, false},
		{"The mill burned down in the 1950s.", "1950s", 10, true},
	} {
		n := dated(c.text, c.phrase, 0)
		n.Dates[0].UntilMs = c.years * 365 * day
		if got := Timeline([]Note{n}); (len(got) == 1) != c.told {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
}
