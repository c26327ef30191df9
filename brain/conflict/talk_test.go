package conflict

import (
	"slices"
	"strings"
	"testing"

	"orgmem/brain/claim"
)

// clashes are the kinds of the values in which candidates differ.
func clashes(of []Candidate) (kinds []claim.ValueKind) {
	for _, c := range of {
		if c.clash.kind != claim.NoValue {
			kinds = append(kinds, c.clash.kind)
		}
	}
	return kinds
}

// A line that points somewhere states nothing, as each meeting has its own recording; a sentence that says where
// something is does.
func TestWhatPointsIsNoCandidate(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		a, b string
		want int
	}{
		{"* **Recording**: <https://video.example/v/812>", "* **Recording**: <https://video.example/v/977>", 0},
		{"Tracker card: https://cards.example/boards/7/812", "Tracker card: https://cards.example/boards/7/977", 0},
		{"https://docs.example/printing.html", "The driver is in `~/.config/printing`.", 0},
		{"The wiki of the choir is at https://wiki.example/a.", "The wiki of the choir is at https://b.example.", 1},
		{"The manual is on https://docs.example/1, says Ann.", "The manual is on https://docs.example/2, says Ann.", 1},
	} {
		if got := candidates(x.a, x.b, 2); len(got) != x.want {
			t.Errorf("%q and %q: %d candidates, want %d", x.a, x.b, len(got), x.want)
		}
	}
}

// An attribute of one thing that is an address, given at one time, is compared as any other; what stands under a title
// that comes again is of that time.
func TestAddressesUnderOneTitle(t *testing.T) {
	t.Parallel()
	read := func(s string, at int64) *Passage {
		return &Passage{Text: s, Claims: new(claim.Reader).Read(claim.Source{Text: s, Title: "Choir"}), FromMs: at}
	}
	const one, other = "Score: https://scores.example/1", "Score: https://scores.example/2"
	for _, x := range []struct {
		at    int64
		found bool
	}{{0, true}, {1, true}, {2, false}} {
		_, ok := new(Judge).Compare(read(one, 1), read(other, x.at), near)
		if got := new(Judge).Candidates(nil, read(one, 1), read(other, x.at), near); ok != x.found || len(got) > 0 != ok {
			t.Errorf("at 1 and %d: found %t, %d candidates", x.at, ok, len(got))
		}
	}
}

// To whom something is said is not what is said.
func TestWhoIsAddressedSaysNothing(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		a, b string
		want int
	}{
		{"<@dana>: done", "<@dana> thanks", 0},
		{"@dana @robin ok", "@dana is the treasurer.", 0},
		{"@robin is the treasurer.", "@dana is the treasurer.", 1},
		{"@robin the hall is open", "@dana the hall is closed", 1},
	} {
		if got := candidates(x.a, x.b, 2); len(got) != x.want {
			t.Errorf("%q and %q: %d candidates, want %d", x.a, x.b, len(got), x.want)
		}
	}
}

// What an address spells is no value in which two statements could clash, nor an entry's number an amount; what stands
// beside them, and what stands in code, is.
func TestClashesBesideAddressesAndInCode(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		a, b string
		want []claim.ValueKind
	}{
		{"We watched the talk https://video.example/v/812.", "We watched the talk https://video.example/v/977.", nil},
		{"We spoke of card #812 again.", "We spoke of card #977 again.", nil},
		{
			"The hall has 40 chairs (https://hall.example/1).", "The hall has 60 chairs (https://hall.example/2).",
			[]claim.ValueKind{claim.Count},
		},
		{"The blocker of the release is #812.", "The blocker of the release is #977.", []claim.ValueKind{claim.Named}},
		{"The port of the proxy is `8080`.", "The port of the proxy is `9090`.", []claim.ValueKind{claim.Count}},
	} {
		got := candidates(x.a, x.b, 2)
		if len(got) != 1 || !slices.Equal(clashes(got), x.want) {
			t.Errorf("%q and %q: %d candidates that clash in %v, want %v", x.a, x.b, len(got), clashes(got), x.want)
		}
	}
}

// Code is no statement, and a word in it has no direction; what is said with it is compared.
func TestCodeIsNoCandidate(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		a, b string
		want int
	}{
		{"It is still open: (shut 'door)", "If I write\n```\n(shut 'door)\n```\nit is shut at once.", 1},
		{"```\ndoor.shut(true)\n```", "```\ndoor.shut(false)\n```", 0},
		{"`door.shut(true)`", "`door.shut(false)`", 0},
		{"`door.shut` takes one argument.", "`door.shut` takes two arguments.", 1},
	} {
		if got := candidates(x.a, x.b, 2); len(got) != x.want {
			t.Errorf("%q and %q: %d candidates, want %d", x.a, x.b, len(got), x.want)
		}
	}
}

// Who says again what was said contradicts nothing, unless it is to deny it.
func TestWhatIsSaidAgainIsNoCandidate(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		a, b string
		want int
	}{
		{"The lift is out of order.", "As I said, the lift is out of order, so take the stairs.", 0},
		{"The lift is out of order.", "It is false that the lift is out of order.", 1},
		{"The fee is 5", "The fee is 5 thousand", 1},
		{"The lift is out of order.", "It is not true that the lift is out of order.", 1},
		{"The lift is out of order.", "The lift is not out of order.", 1},
		{"The budget is 5 euros.", "The budget is 50 euros.", 1},
		{"The clock is set to 1 pm.", "The clock is set to 1 pm on no day.", 1},
		{"* Boiler room", "* Boiler room: nothing new", 0},
		{"The boiler room is dry", "The boiler room: it is not dry", 1},
	} {
		for _, pair := range [][2]string{{x.a, x.b}, {x.b, x.a}} {
			if got := candidates(pair[0], pair[1], 2); len(got) != x.want {
				t.Errorf("%q and %q: %d candidates, want %d", pair[0], pair[1], len(got), x.want)
			}
		}
	}
}

// The rule of opposite conclusions speaks of findings, and not of what people tell each other.
func TestOppositeConclusionsAreOfFindings(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		how   func(string) string
		ruled bool
	}{
		{func(s string) string { return s }, true},
		{func(s string) string { return "RESULTS: " + s }, true},
		{func(s string) string { return "Dana: " + s }, false},
		{func(s string) string { return "@dana " + s }, false},
		{func(s string) string { return strings.Replace(s, "importer", "`importer`", 1) }, false},
		{func(s string) string { return strings.TrimSuffix(s, ".") + " (https://runs.example/8)." }, false},
	} {
		a, b := x.how(opposedA), passage(opposedB)
		f, ok := new(Judge).Compare(passage(a), b, near)
		if ok != x.ruled || ok && f.Kind != Semantic {
			t.Errorf("%q: a rule finds it: %t %+v", a, ok, f)
		}
		if got := candidates(a, opposedB, 2); len(got) == 0 {
			t.Errorf("%q is left to nobody", a)
		}
	}
}

// Of two turns of one conversation the one answers the other, and more is demanded of what only looks opposed; what
// denies the other, or gives another value, is at odds with it as anywhere.
func TestTurnsOfOneConversation(t *testing.T) {
	t.Parallel()
	with := func(s, title string) *Passage {
		p := passage(s)
		p.Title = title
		return p
	}
	const one, other = "Marla runs the choir these days.", "Nobody but Otto conducts our singers."
	for _, x := range []struct {
		a, b, titleA, titleB string
		by                   float64
	}{
		{one, other, "The choir", "Re: The choir", turnLogit},
		{one, other, "RE: Re: the  choir", "AW: The choir", turnLogit},
		{one, other, "Fwd: The choir", "The choir", turnLogit},
		{one, other, "The choir", "The choir", 0}, // two meetings
		{one, other, "The choir", "Re: The hall", 0},
		{one, other, "Re: ", "", 0},
		{one, other, "", "", 0},
		{"The key of the hall is with Ann.", "No, the key of the hall is with Ben.", "The key", "Re: The key", -clashLogit},
		{"The rehearsal is on Monday.", "The rehearsal is on Friday.", "When?", "Re: When?", -clashLogit},
		{"The hall is dark at night.", "The hall is not dark at night.", "Light", "Re: Light", deniedLogit - readLogit},
	} {
		got := new(Judge).Candidates(nil, with(x.a, x.titleA), with(x.b, x.titleB), Near{Cosine: 0.6, Rank: 1, Of: 2})
		if len(got) != 1 {
			t.Errorf("%q and %q: %d candidates", x.a, x.b, len(got))
			continue
		}
		if by := got[0].least - readLogit; by < x.by-1e-9 || by > x.by+1e-9 {
			t.Errorf("%q under %q and %q under %q: %.2f more is demanded, want %.2f", x.a, x.titleA, x.b, x.titleB, by, x.by)
		}
	}
	const minute = 60 * 1000
	for at, by := range map[int64]float64{0: 0, 1: 0, 1 + minute: turnLogit, 1 + 24*60*minute: 0} { // of one or two days
		a, b := with(one, ""), with(other, "")
		a.FromMs, b.FromMs = 1, at
		got := new(Judge).Candidates(nil, a, b, Near{Cosine: 0.6, Rank: 1, Of: 2})
		if len(got) != 1 || got[0].least != readLogit+by {
			t.Errorf("said at 1 and %d: %+v", at, got)
		}
	}
	f, ok := new(Judge).Compare(with(opposedA, "Importer"), with(opposedB, "Re: Importer"), near)
	if ok {
		t.Errorf("opposite conclusions in one conversation: %+v", f)
	}
	if _, ok := new(Judge).Compare(with(opposedA, "Importer"), with(opposedB, "Importer"), near); !ok {
		t.Error("two texts of one title are not compared")
	}
}

// Two stretches of prose conclude nothing: of their many statements some pair always looks opposed.
func TestProseConcludesNothing(t *testing.T) {
	t.Parallel()
	finding, against := "Lack of sleep leads to bad marks in school.", "Sleep protects pupils against bad marks in school."
	prose := " Schools begin at eight. Lessons last three quarters of an hour. The buses come twice."
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{finding, against, true},
		{finding + prose, against, true},
		{finding + prose, against + prose, false},
	} {
		ruled := slices.ContainsFunc(candidates(x.a, x.b, 2), func(c Candidate) bool {
			return c.ruled && c.finding.Kind == Semantic
		})
		if ruled != x.want {
			t.Errorf("%q and %q: opposite conclusions %t, want %t", x.a, x.b, ruled, x.want)
		}
	}
}
