package conflict

import (
	"math"
	"strings"
	"testing"
)

// candidates are those of two texts in a memory of so many passages.
func candidates(a, b string, of int) []Candidate {
	return new(Judge).Candidates(nil, passage(a), passage(b), Near{Cosine: 0.6, Rank: 1, Of: of})
}

// sure is the probability of a logit.
func sure(logit float64) float64 { return 1 / (1 + math.Exp(-logit)) }

func TestStatementsThatShareNoWordAreCandidates(t *testing.T) {
	t.Parallel()
	got := candidates("Marla runs the choir these days.", "Nobody but Otto conducts our singers.", 2)
	if len(got) != 1 || got[0].TextA != "Marla runs the choir these days." {
		t.Fatalf("candidates %+v", got)
	}
	if _, ok := got[0].Decide(sure(readLogit + 0.1)); !ok {
		t.Error("a sure reader is not believed")
	}
	if _, ok := got[0].Decide(sure(readLogit - 0.1)); ok {
		t.Error("an unsure reader is believed")
	}
	got = candidates("Marla runs the choir these days.", "Nobody but Otto conducts our singers.", 1_000)
	if _, ok := got[0].Decide(sure(readLogit + 0.1)); ok {
		t.Error("among a thousand passages it takes no more")
	}
	got = candidates("Marla runs the choir these days.", "Nobody but Otto conducts our singers.", 10_000)
	if len(got) != 0 {
		t.Errorf("among ten thousand, where nothing would do, these are asked about: %+v", got)
	}
}

// A statement is not set against itself in other marks, nor a heading against anything; a mark within a value is part
// of it.
func TestDoublesAndHeadingsAreNoCandidates(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want int
	}{
		{"The dose is 1.5 mg.", "The dose is 15 mg.", 1},
		{"The freezer runs at -10 °C.", "The freezer runs at 10 °C.", 1},
		{"The importer is written in C#.", "The importer is written in C++.", 1},
		{"* The *importer* is slow.", "The importer is slow", 0},
		{"# Meeting of 6 June", "The meeting was on 7 June.", 0},
		{"#42 is assigned to Anna.", "#42 is assigned to Peter.", 1},
	} {
		if got := candidates(x.a, x.b, 2); len(got) != x.want {
			t.Errorf("%q and %q: %d candidates, want %d", x.a, x.b, len(got), x.want)
		}
	}
}

// What people say to each other is no finding that the rule of opposite conclusions could set against another.
func TestChatterIsLeftToTheReader(t *testing.T) {
	for _, x := range []struct {
		a, b  string
		ruled bool
	}{
		{"Lack of sleep leads to bad marks in school.", "Sleep protects pupils against bad marks in school.", true},
		{"For me the lack of sleep leads to bad marks in school.", "Sleep protects pupils against bad marks.", false},
	} {
		ruled := false
		for _, c := range candidates(x.a, x.b, 2) {
			ruled = ruled || c.ruled
		}
		if ruled != x.ruled {
			t.Errorf("%q and %q: a rule finds them: %t, want %t", x.a, x.b, ruled, x.ruled)
		}
	}
}

func TestCandidatesTellWhatLeadsUpToThem(t *testing.T) {
	t.Parallel()
	note := "The hall is being painted. The meeting moves upstairs."
	for _, c := range candidates(note, "The meeting stays where it was.", 2) {
		at := strings.Index(note, c.TextA)
		if c.LeadA != note[:at] || c.LeadB != "" {
			t.Errorf("%q stands behind %q, and %q behind %q", c.TextA, c.LeadA, c.TextB, c.LeadB)
		}
		c.Turn()
		if c.LeadB != note[:at] || c.LeadA != "" {
			t.Errorf("turned, %q stands behind %q", c.TextB, c.LeadB)
		}
	}
}

func TestReaderOverrulesARuleOnWhatIsLikeItsTraining(t *testing.T) {
	t.Parallel()
	raises, lowers := "The vaccine raises the risk of infection.", "The vaccine lowers the risk of infection."
	long := " vaccine " + strings.Repeat("of the old red brick warehouse ", 5)
	for _, test := range []struct {
		a, b  string
		of    int
		stand bool
	}{
		{raises, lowers, 2, false},
		{strings.Replace(raises, " vaccine ", long, 1), strings.Replace(lowers, " vaccine ", long, 1), 2, true},
		{strings.Replace(raises, " vaccine ", long, 1), strings.Replace(lowers, " vaccine ", long, 1), 900, false},
	} {
		got := candidates(test.a, test.b, test.of)
		if len(got) != 1 {
			t.Fatalf("%d candidates of %q", len(got), test.a)
		}
		if _, ok := got[0].Unread(); !ok {
			t.Fatalf("no rule finds %q", test.a)
		}
		if _, ok := got[0].Decide(sure(-9)); ok != test.stand {
			t.Errorf("%q of %d stands against the reader: %v", test.a, test.of, ok)
		}
	}
}
