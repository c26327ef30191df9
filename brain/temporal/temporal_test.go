package temporal

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"orgmem/brain/claim"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

const day = int64(24 * 3600 * 1000)

func note(s string) Note {
	var r claim.Reader
	return Note{Text: s, Claims: r.Read(claim.Source{Text: s})}
}

// dated is a note in which a phrase means a day.
func dated(s, phrase string, fromMs int64) Note {
	n := note(s)
	at := indexOf(s, phrase)
	n.Dates = []Date{{Span: text.Span{Start: at, End: at + len(phrase)}, FromMs: fromMs, UntilMs: fromMs + day}}
	return n
}

// until is a note in which a phrase means all time up to the end of a day.
func until(s, phrase string, dayMs int64) Note {
	n := dated(s, phrase, dayMs)
	n.Dates[0].FromMs = math.MinInt64
	return n
}

func endless(s, phrase string) Note {
	n := dated(s, phrase, 9*day)
	n.Dates[0].UntilMs = math.MaxInt64
	return n
}

func indexOf(s, phrase string) int {
	for i := range s {
		if len(s)-i >= len(phrase) && s[i:i+len(phrase)] == phrase {
			return i
		}
	}
	panic("no " + phrase + " in " + s)
}

func TestTimeline(t *testing.T) {
	notes := []Note{
		dated("Long week. The importer ships on 9 June. Nothing else.", "9 June", 9*day),
		dated("We met on 3 May.", "3 May", 3*day),
		dated("Do we ship on 4 May?", "4 May", 4*day), // a question tells of nothing
		until("Robin is on leave until 12 June.", "until 12 June", 12*day),
		dated("Minutes. * No questions today.", "today", 0), // nothing has happened
		endless("No heating since Tuesday.", "since Tuesday"),
		dated("No meeting on Friday.", "on Friday", 20*day), // which is worth telling
	}
	for i := range notes {
		notes[i].AtMs = day / 2
	}
	want := []Moment{
		{Note: 1, AtMs: 3 * day, UntilMs: 4 * day, Title: "We met on 3 May.", Kind: Mentioned, Precision: Day},
		{Note: 0, AtMs: 9 * day, UntilMs: 10 * day, Title: "The importer ships on 9 June.", Kind: Mentioned, Precision: Day},
		{
			Note: 5, AtMs: 9 * day, UntilMs: math.MaxInt64, Title: "No heating since Tuesday.", Kind: Mentioned,
			Bound: Earliest,
		},
		{
			Note: 3, AtMs: 13*day - 1, UntilMs: 13 * day, Title: "Robin is on leave until 12 June.", Kind: Mentioned,
			Bound: Latest,
		},
		{Note: 6, AtMs: 20 * day, UntilMs: 21 * day, Title: "No meeting on Friday.", Kind: Mentioned, Precision: Day},
	}
	if diff := cmp.Diff(want, Timeline(notes)); diff != "" {
		t.Errorf("moments (-want +got):\n%s", diff)
	}
}

// What is to be done before a day is told on it, also as due; a question tells of a day that it proposes, or that
// stands in a part before it.
// recurring is a note in which some words say that something recurs.
func recurring(s, phrase string, times int) Note {
	n := note(s)
	at := indexOf(s, phrase)
	for range times {
		n.Recurs = append(n.Recurs, Recurring{
			Span: text.Span{Start: at, End: at + len(phrase)}, Every: &pb.Every{Unit: "week", Interval: 1},
		})
	}
	return n
}

func TestRecurrences(t *testing.T) {
	t.Parallel()
	got := Recurrences([]Note{
		recurring("Long week. The choir meets every  Tuesday at six. Nothing else.", "every  Tuesday", 1),
		recurring("Do we ship every Tuesday?", "every Tuesday", 1), // a question tells of nothing
		recurring("Shall we meet every Friday?", "every Friday", 1),
		recurring("Bells ring every hour.", "every hour", maxRecurrences+3),
	})
	if len(got) != 2+maxRecurrences {
		t.Fatalf("%d recurrences", len(got))
	}
	first := got[0]
	first.Recurring = Recurring{}
	want := Recurrence{Note: 0, Title: "The choir meets every Tuesday at six.", Text: "every Tuesday"}
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got[1].Note != 2 || got[2].Note != 3 {
		t.Errorf("of the notes %d and %d", got[1].Note, got[2].Note)
	}
}

func TestDaysOfMoments(t *testing.T) {
	before := until("We need it before 9 May.", "before 9 May", 8*day)
	promised := until("I will send the report before 9 May.", "before 9 May", 8*day)
	for _, c := range []struct {
		note Note
		kind string
		at   int64 // 0: none
	}{
		{before, Mentioned, 9 * day},
		{promised, Due, 9 * day},
		{dated("Shall we say 9 May?", "9 May", 9*day), Mentioned, 9 * day},
		{dated("Lunch on 9 May?", "9 May", 9*day), Mentioned, 9 * day},
		{dated("Did it come on 9 May?", "9 May", 9*day), "", 0},
		{dated("It came on 9 May; will you look at it?", "9 May", 9*day), Mentioned, 9 * day},
	} {
		got := Tell([]Note{c.note})
		if c.at == 0 != (len(got) == 0) || len(got) > 1 || c.at > 0 && (got[0].AtMs != c.at || got[0].Kind != c.kind) {
			t.Errorf("%q: %+v", c.note.Text, got)
		}
	}
}

func TestCommitments(t *testing.T) {
	for _, c := range []struct {
		note Note
		who  string
		due  int64
		is   bool
	}{
		{note("I will send the report."), "Dana", 0, true},
		{dated("We'll fix the importer by 9 June.", "9 June", 9*day), "Dana", 10 * day, true},
		{endless("I will work from home from June on.", "from June on"), "Dana", 0, true},
		{dated("Robin is going to review the plan on 3 May.", "3 May", 3*day), "Robin", 4 * day, true},
		{dated("Robin Hale will send the plan by 3 May.", "3 May", 3*day), "Robin Hale", 4 * day, true},
		{dated("On Monday Robin Hale will send the plan by 3 May.", "3 May", 3*day), "Robin Hale", 4 * day, true},
		{dated("Atlas-2 will be moved on 3 May.", "3 May", 3*day), "", 4 * day, true},
		{until("Robin Hale will count them until 9 June.", "until 9 June", 9*day), "Robin Hale", 10 * day, true},
		{note("TODO: renew the certificate"), "", 0, true},
		{note("- [ ] Action item: call the landlord"), "", 0, true},
		{note("I'm going to write the summary."), "Dana", 0, true},
		{note("I will not send the report."), "", 0, false},
		{note("Will I send the report?"), "", 0, false},
		{note("The weather will be fine."), "", 0, false},
		{note("We shipped the importer."), "", 0, false},
	} {
		c.note.Speaker = "Dana"
		got := Commitments([]Note{c.note})
		if (len(got) == 1) != c.is {
			t.Errorf("%q: %+v", c.note.Text, got)
			continue
		}
		if c.is && (got[0].Who != c.who || got[0].DueMs != c.due) {
			t.Errorf("%q: %+v", c.note.Text, got)
		}
		if c.is && (got[0].Confidence <= 0 || got[0].Confidence > 1) {
			t.Errorf("%q: confidence %v", c.note.Text, got[0].Confidence)
		}
	}
}

func TestOpenQuestions(t *testing.T) {
	ask := note("Which database does the importer write to?")
	for name, c := range map[string]struct {
		later []Note
		open  bool
	}{
		"nothing more":   {nil, true},
		"something else": {[]Note{note("Lunch is at noon."), note("The landlord has called.")}, true},
		"answered": {
			[]Note{note("Lunch is at noon."), note("The importer writes to the staging database.")}, false,
		},
		"only asked again": {[]Note{note("Does the importer write to a database at all?")}, true},
		"answered by meaning": {
			[]Note{{Text: "Postgres.", Claims: note("Postgres it is.").Claims, Vector: []float32{1, 0}}}, false,
		},
		"the next speaker": {[]Note{{Text: "Postgres.", Claims: note("Postgres it is.").Claims, Speaker: "Robin"}}, false},
	} {
		first := ask
		first.Speaker, first.Vector = "Dana", []float32{1, 0}
		got := OpenQuestions(append([]Note{first}, c.later...))
		if open := slices.ContainsFunc(got, func(q Question) bool { return q.Note == 0 }); open != c.open {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := OpenQuestions([]Note{note("Really?"), note("What do you think?")}); len(got) != 0 {
		t.Errorf("empty questions stay open: %+v", got)
	}
}

func TestTrends(t *testing.T) {
	var all, up, even []int64
	for d := range int64(100) {
		for range 4 {
			all = append(all, d*day)
		}
		for range d / 25 {
			up = append(up, d*day)
		}
		if d%4 == 0 {
			even = append(even, d*day)
		}
	}
	down := make([]int64, len(up))
	for i, at := range up {
		down[i] = 99*day - at
	}
	got := Trends([]Series{{"up", up}, {"even", even}, {"down", down}, {"rare", all[:leastTouches-1]}}, all, 0, 100*day)
	var directions []string
	for _, tr := range got {
		directions = append(directions, tr.Direction)
	}
	if !slices.Equal(directions, []string{Rising, Steady, Falling}) {
		t.Errorf("%+v", got)
	}
	if got[0].Change <= 0 || got[2].Change >= 0 {
		t.Errorf("changes %v and %v", got[0].Change, got[2].Change)
	}
	// What comes up twice as often, and may do so by chance, neither rises nor stays.
	burst := []int64{10 * day, 60 * day, 61 * day, 62 * day, 63 * day}
	if got := Trends([]Series{{"burst", burst}}, all, 0, 100*day); len(got) != 0 {
		t.Errorf("by chance: %+v", got)
	}
	// When all write more, no topic rises.
	if got := Trends([]Series{{"all", up}}, up, 0, 100*day); got[0].Direction != Steady {
		t.Errorf("%+v", got)
	}
}

func TestTrendsHoldForAnyTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(-10*day, 200*day), 0, 60)
		s, all := times.Draw(t, "series"), times.Draw(t, "all")
		from, until := rapid.Int64Range(-5*day, 50*day).Draw(t, "from"), rapid.Int64Range(-5*day, 150*day).Draw(t, "until")
		for _, tr := range Trends([]Series{{"x", s}}, append(all, s...), from, until) {
			if math.IsNaN(tr.Change) || tr.Change < -1 || tr.Change > maxChange || tr.Confidence < 0 || tr.Confidence > 1 {
				t.Fatalf("%+v", tr)
			}
			if tr.Direction == Rising && tr.Change <= 0 || tr.Direction == Falling && tr.Change >= 0 {
				t.Fatalf("%+v", tr)
			}
		}
	})
}

func TestCadence(t *testing.T) {
	weekly := []int64{0, 7 * day, 14 * day, 21 * day, 28 * day, 49 * day} // with a holiday
	if r, ok := Cadence(weekly); !ok || r.EveryMs != 7*day || r.Regularity < 0.9 {
		t.Errorf("%+v %t", r, ok)
	}
	if r, ok := Cadence([]int64{0, day, 2 * day, 30 * day, 31 * day, 90 * day, 200 * day}); !ok || r.Regularity > 0.5 {
		t.Errorf("%+v %t", r, ok)
	}
	if _, ok := Cadence([]int64{5, 5, 5, 5, 5}); ok {
		t.Error("one time has a rhythm")
	}
}

func stated(atMs int64, keysAndValues ...uint64) Stated {
	s := Stated{AtMs: atMs}
	for i := 0; i < len(keysAndValues); i += 2 {
		s.Facts = append(s.Facts, claim.Fact{Key: claim.Key(keysAndValues[i]), Same: keysAndValues[i+1]})
	}
	return s
}

func TestCurrency(t *testing.T) {
	history := []Stated{
		stated(30, 1, 300),       // 0: the newest value of 1
		stated(10, 1, 100),       // 1: the oldest
		stated(20, 1, 200),       // 2
		stated(5),                // 3: states nothing
		stated(15, 1, 150, 2, 7), // 4: also the newest of 2
		stated(1, 3, 9),          // 5
		stated(2, 3, 9),          // 6: says it again
	}
	if got, want := newest(history, 100), []int{-1, 0, 0, -1, -1, 6, -1}; !slices.Equal(got, want) {
		t.Errorf("newer now: %v, want %v", got, want)
	}
	if got, want := newest(history, 25), []int{-1, 2, -1, -1, -1, 6, -1}; !slices.Equal(got, want) {
		t.Errorf("newer at 25: %v, want %v", got, want)
	}
	ranking := []Stated{history[1], history[3], history[0], history[2]}
	if got, want := Current(ranking, 100), []int{2, 1, 3, 0}; !slices.Equal(got, want) {
		t.Errorf("order %v, want %v", got, want)
	}
}

// Current only exchanges places, and leaves nothing before what replaces it.
func TestCurrentHoldsForAnyRanking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ranking := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Stated {
			s := Stated{AtMs: rapid.Int64Range(0, 8).Draw(t, "at")}
			for range rapid.IntRange(0, 3).Draw(t, "facts") {
				s.Facts = append(s.Facts, claim.Fact{
					Key: claim.Key(rapid.IntRange(0, 3).Draw(t, "key")), Same: uint64(rapid.IntRange(0, 3).Draw(t, "value")),
				})
			}
			return s
		}), 0, 20).Draw(t, "ranking")
		asOf := rapid.Int64Range(0, 9).Draw(t, "as of")
		order := Current(ranking, asOf)
		place := make([]int, len(ranking))
		seen := slices.Clone(order)
		slices.Sort(seen)
		for i, k := range seen {
			if i != k {
				t.Fatalf("%v is no order", order)
			}
		}
		for at, i := range order {
			place[i] = at
		}
		for i, k := range newest(ranking, asOf) {
			if k < 0 {
				continue
			}
			if place[i] < place[k] {
				t.Fatalf("%d stands before %d, which replaces it", i, k)
			}
			if ranking[k].AtMs > asOf || ranking[k].AtMs <= ranking[i].AtMs {
				t.Fatalf("%d is replaced by %d, which is not newer", i, k)
			}
		}
		for i, s := range ranking {
			if len(s.Facts) == 0 && place[i] != i {
				t.Fatalf("%d states nothing and was moved to %d", i, place[i])
			}
		}
	})
}
