package conflict

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/claim"
)

// near is a pair of nearest neighbours in a small partition.
var near = Near{Cosine: 0.85, Rank: 1, Of: 100}

func passage(s string) *Passage {
	var r claim.Reader
	return &Passage{Text: s, Claims: r.Read(claim.Source{Text: s})}
}

// Two statements that oppose each other in other words.
const (
	opposedA = "Nightly restarts of all workers improve the stability of the importer."
	opposedB = "After we had introduced restarts, the stability of the importer was impaired in three of four weeks, " +
		"and two of the workers failed."
)

func TestFindings(t *testing.T) {
	for _, c := range []struct {
		a, b string
		kind Kind
		says []string // the explanation quotes
	}{
		{
			"The backup job runs every night.", "The backup job does not run every night.", Negation,
			[]string{"does not run every night", "denies"},
		},
		{
			"Nobody is watching the deploy dashboard.", "Two engineers are watching the deploy dashboard.", Negation,
			[]string{"Nobody is watching"},
		},
		{"The server room isn't locked during the day.", "The server room is locked during the day.", Negation, nil},
		{
			"The deadline of Atlas is 3 May.", "Atlas: the deadline is 9 June.", Temporal,
			[]string{"“Atlas”", "“3 May”", "“9 June”"},
		},
		{"The owner of Atlas is Dana.", "Atlas's owner is Robin.", Value, []string{"owner", "“Dana”", "“Robin”"}},
		{"The Lisbon office has 40 desks.", "The Lisbon office has 55 desks.", Value, []string{"“40”", "“55”"}},
		{
			"The planning meeting takes place on Monday, as was agreed with Lisbon.",
			"The planning meeting takes place on Friday, as was agreed with Lisbon.", Temporal, nil,
		},
		{
			"The planning meeting with Lisbon is on Monday.", "The planning meeting with Lisbon is on Friday.", Temporal,
			[]string{"“Monday”", "“Friday”"},
		},
		{
			"The audit of the Malmo plant begins on 4 March 2026.", "The audit of the Malmo plant begins on 11 March 2026.",
			Temporal,
			[]string{"“4 March”", "“11 March”"},
		},
		{
			"The lease of the Turin shop ends on 31 December 2027.", "The lease of the Turin shop ends on 30 June 2027.",
			Temporal,
			[]string{"“31 December”", "“30 June”"},
		},
		{
			"The cooling tower of the plant was built in 1974.", "The cooling tower of the plant was built in 1981.", Temporal,
			nil,
		},
		{
			"The notice period for the garage is three months.", "The notice period for the garage is six weeks.", Value,
			[]string{"“three months”", "“six weeks”"},
		},
		{
			"The contact at Nordwind Energie is Herr Paulsen.", "The contact at Nordwind Energie is Frau Kremer.", Value,
			[]string{"“Herr Paulsen”"},
		},
		{
			"A pallet of tiles weighs 820 kilograms.", "A pallet of tiles weighs 640 kilograms.", Value,
			[]string{"“820 kilograms”", "“640 kilograms”"},
		},
		{
			"Each team gets 12 licences of the drawing program.", "Each team gets 20 licences of the drawing program.", Value,
			nil,
		},
		{"Project Larch is written in Kotlin.", "Project Larch is written in Go.", Value, []string{"“Kotlin”", "“Go”"}},
		{"The staging database is empty.", "The staging database is full.", Antonym, []string{"“empty”", "“full”"}},
		{"Memory use increased after the rollout.", "Memory use decreased after the rollout.", Antonym, nil},
		{
			opposedA, opposedB, Semantic, []string{"opposite conclusions", "importer"},
		},
	} {
		var j Judge
		f, ok := j.Compare(passage(c.a), passage(c.b), near)
		if f.Kind != c.kind || ok != (c.kind != "") {
			t.Errorf("%q against %q: %q %q", c.a, c.b, f.Kind, f.Explanation)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(f.Explanation, s) {
				t.Errorf("%q against %q: %q does not say %q", c.a, c.b, f.Explanation, s)
			}
		}
	}
}

// What looks alike and is no conflict.
func TestNoFinding(t *testing.T) {
	for _, c := range [][2]string{
		{"A man is sitting on a bench.", "A man is standing on a bench."},                         // another man
		{"Somebody is not eating an apple under a tree.", "Somebody is eating an apple."},         // perhaps elsewhere
		{"The firm Nordwind has an office in Paris.", "The firm Nordwind has an office in Rome."}, // it may have two
		{"A crate of the supplier holds tiles.", "A crate of the supplier holds bricks."},         // another crate
		{"Version 2 of the importer is stable.", "Version 3 of the importer is stable."},          // another version
		{"The deadline of Atlas is 3 May.", "The deadline of Atlas is 3 May in Lisbon."},          // says more
		{"The deadline of Atlas is 3 May.", "The deadline of Borealis is 9 June."},                // another thing
		{"Is the backup job not running?", "The backup job is running."},                          // asks
		{"It does not work.", "It works."},                                                        // could be anything
		{"I don't think so.", "I think so, yes."},                                                 // same
		// something else is denied
		{"The old server is not locked, the new one is.", "The old server is slow, the new one is."},
		// something else is full
		{"The staging database is empty on most days of the week.", "The production queue is full."},
		{"Karim has a key to the server room.", "Nadine has no key to the server room."}, // another person
		{"The lift in the north wing was inspected.", "The lift in the south wing has not been inspected."},
		{"The lift in the north wing has been repaired.", "The lift in the south wing has been repaired."},
		{"The board decided to open on Sundays from April on.", "The board did not decide."}, // of something else
		{"Flat 4 of the house on the hill has two rooms.", "Flat 5 of the house on the hill has three rooms."},
		{"The importer of the archive is written by hand.", "The importer of the archive is used by Robin."},
		{"The committee did not approve the budget.", "The committee did not approve of the budget."}, // both deny
	} {
		var j Judge
		if f, ok := j.Compare(passage(c[0]), passage(c[1]), near); ok {
			t.Errorf("%q against %q: %s, %s", c[0], c[1], f.Kind, f.Explanation)
		}
	}
}

// TestEntries: what an entry says of "it" is of what the entry is about, and another
// entry says it of something else. What either names, or does not leave to its entry, is
// compared as ever.
func TestEntries(t *testing.T) {
	for _, c := range []struct {
		a, b string
		kind Kind
	}{
		{
			"Gohar is a village in the Central District. At the 2006 census, its population was 85, in 11 families.",
			"Dameh is a village in the Central District. At the 2006 census, its population was 87, in 12 families.", "",
		},
		{
			"Gohar is a village in the Central District. At the 2006 census, its population was 85, in 11 families.",
			"Gohar is a village in the Central District. At the 2006 census, its population was 87, in 12 families.", Value,
		},
		{
			"Gohar\n\nGohar is a village in Andika. The village school was founded in 2006.",
			"Dameh is a village in Andika. The village school was founded in 2000.", "",
		},
		{
			"Gohar (also Gowhar) is a village in Andika. The village school was founded in 2006.",
			"Gohar is a village in Andika. The village school was founded in 2000.", Temporal,
		},
		{
			"Atlas is a service of the billing team. It does not run in the Lisbon cluster at night.",
			"Borealis is a service of the search team. It does run in the Lisbon cluster at night.", "",
		},
		{
			"Atlas is a service of the billing team. The staging database is empty.",
			"Borealis is a service of the search team. The staging database is full.", Antonym,
		},
		{
			"Atlas is a service of the billing team. The Lisbon office has 40 desks.",
			"Borealis is a service of the search team. The Lisbon office has 55 desks.", Value,
		},
		{
			"The meeting was a success. It was agreed that the Lisbon office has 40 desks.",
			"The workshop was a success. It was agreed that the Lisbon office has 55 desks.", Value,
		},
		{
			"Ilmo Rask was a Finnish skater. With her sister Aune, she won the silver medal in 1958.",
			"Bo Dahl was a Danish skater. With her sister Tove, she won no silver medal in 1958.", "",
		},
		{
			"The ferry of Low Hill is a boat with one deck.",
			"The ferry of Low Hill is a ship from Bergen.", "",
		},
		{
			"Like its predecessor, the film is set in Lisbon.",
			"Like its predecessor, the film is set in Munich and Graz.", "",
		},
		{
			"Dana opened the meeting. The notice period for the garage is three months.",
			"Karim opened the meeting. The notice period for the garage is six weeks.", Value,
		},
	} {
		for _, pair := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			var j Judge
			if f, ok := j.Compare(passage(pair[0]), passage(pair[1]), near); f.Kind != c.kind || ok != (c.kind != "") {
				t.Errorf("%q against %q: %q %q", pair[0], pair[1], f.Kind, f.Explanation)
			}
		}
	}
}

// An update is reported, but as the lesser matter.
func TestUpdate(t *testing.T) {
	a, b := passage("The owner of Atlas is Dana."), passage("The owner of Atlas is Robin.")
	var j Judge
	atOnce, _ := j.Compare(a, b, near)
	a.FromMs, b.FromMs = 1000, 2000
	later, ok := j.Compare(a, b, near)
	if !ok || later.Severity >= atOnce.Severity {
		t.Errorf("an update has severity %.2f, a conflict %.2f", later.Severity, atOnce.Severity)
	}
	const day = 24 * 60 * 60 * 1000
	for _, at := range [][2]int64{{day, 20 * day}, {20 * day, day}} {
		a.FromMs, b.FromMs = at[0], at[1]
		want := "“Dana” on 2 January 1970 and “Robin” on 21 January 1970"
		if at[0] > at[1] {
			want = "“Robin” on 2 January 1970 and “Dana” on 21 January 1970"
		}
		if f, _ := j.Compare(a, b, near); !strings.Contains(f.Explanation, want) {
			t.Errorf("%q does not say %q", f.Explanation, want)
		}
	}
}

// The statement is found wherever it stands, and the spans say where.
func TestSpans(t *testing.T) {
	a := passage("We met on Tuesday. The staging database is empty. Nothing else was said.")
	b := passage("Long day. Coffee was fine. The staging database is full.")
	var j Judge
	f, ok := j.Compare(a, b, near)
	if !ok {
		t.Fatal("not found")
	}
	if got := a.Text[f.A.Start:f.A.End]; got != "The staging database is empty." {
		t.Errorf("A is %q", got)
	}
	if got := b.Text[f.B.Start:f.B.End]; got != "The staging database is full." {
		t.Errorf("B is %q", got)
	}
}

// The word of the model counts for less where more passages are near by chance,
// and for nothing where they are not near.
func TestOpposedNeedsMoreInALargePartition(t *testing.T) {
	a, b := passage(opposedA), passage(opposedB)
	for _, c := range []struct {
		near Near
		want bool
	}{
		{Near{Cosine: 0.85, Rank: 1, Of: 100}, true},
		{Near{Cosine: 0.85, Rank: 1, Of: 1_000_000}, false},
		{Near{Cosine: 0.85, Rank: 1, Of: 1_000_000, Clear: 0.4}, false},
		{Near{Cosine: 0.85, Rank: 1, Of: 1_000_000, Clear: 0.5}, true}, // it stands out
		{Near{Cosine: 0.85, Rank: maxRank + 1, Of: 100}, false},
		{Near{}, false},
	} {
		var j Judge
		if _, ok := j.Compare(a, b, c.near); ok != c.want {
			t.Errorf("%+v: %t", c.near, ok)
		}
	}
}

var words = strings.Fields(`
the a Atlas Borealis not no nobody is are was deadline owner of server door open closed increased
reduced empty full 3 40 May Monday engineers Dana run runs running but without, every
risk of incidents. higher lower effective`)

func anyPassage(t *rapid.T, label string) *Passage {
	p := passage(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(t, label), " "))
	p.FromMs = int64(rapid.IntRange(0, 2).Draw(t, label+" at"))
	return p
}

func TestCompareIsSymmetric(t *testing.T) {
	var j Judge
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyPassage(t, "a"), anyPassage(t, "b")
		n := Near{
			Cosine: rapid.Float64Range(-1, 1).Draw(t, "cosine"), Rank: rapid.IntRange(0, 4).Draw(t, "rank"),
			Of: rapid.IntRange(0, 100_000).Draw(t, "of"),
		}
		f, ok := j.Compare(a, b, n)
		g, back := j.Compare(b, a, n)
		if ok != back || f.Severity != g.Severity {
			t.Fatalf("%q against %q: %t %v, the other way round %t %v", a.Text, b.Text, ok, f, back, g)
		}
		if !ok {
			return
		}
		if f.Severity <= 0 || f.Severity > 1 || f.Explanation == "" || f.Kind == "" {
			t.Fatalf("%+v", f)
		}
		if f.A.End > len(a.Text) || f.A.Start >= f.A.End || f.B.End > len(b.Text) || f.B.Start >= f.B.End {
			t.Fatalf("spans %v and %v", f.A, f.B)
		}
	})
}

// Who speaks, and what a transcript notes of a noise, is nothing that is said.
func TestSpeakersAndMarksSayNothing(t *testing.T) {
	var j Judge
	for _, c := range [][2]string{
		{"Project Manager: Why not ? {vocalsound}", "Project Manager: {vocalsound} Right ."},
		{"Industrial Designer: Yeah I think so too .", "Industrial Designer: Mm I don't think so , no ."},
		{
			"Designer: {vocalsound} Yeah\nMarketing: Yeah", "Designer: {vocalsound}\nMarketing: This is not mine . {vocalsound}",
		},
	} {
		if f, ok := j.Compare(passage(c[0]), passage(c[1]), near); ok {
			t.Errorf("%q against %q: %+v", c[0], c[1], f)
		}
	}
	if f, ok := j.Compare(passage("Dana: the staging database is empty."),
		passage("Robin: {laugh} the staging database is not empty."), near); !ok || f.Kind != Negation {
		t.Errorf("%+v", f)
	}
}

func TestClearance(t *testing.T) {
	if few := Clearance([]float64{0.9, 0.5, 0.5, 0.5, 0.5, 0.4}); slices.ContainsFunc(few, func(c float64) bool {
		return c != 0
	}) {
		t.Errorf("of few: %v", few)
	}
	got := Clearance([]float64{0.8, 0.8, 0.6, 0.6, 0.5, 0.5, 0.4, 0.2, 0, -0.1})
	want := []float64{0.6875, 0.6875, 0.5833, 0.5833, 0.5, 0.5, 0.375, -0.25, 0, 0} // above a quarter
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-3 {
			t.Errorf("%v, want %v", got, want)
			break
		}
	}
	if wide := Clearance([]float64{0.6, 0.5, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3}); wide[0] != 0.5 {
		t.Errorf("half as near as the nearest are the others: %v", wide)
	}
}

// Among the many statements of two long passages some look opposed by chance.
func TestOpposedNeedsMoreAmongManyStatements(t *testing.T) {
	var j Judge
	if f, ok := j.Compare(passage(opposedA), passage(opposedB), near); !ok || f.Kind != Semantic {
		t.Fatalf("%+v", f)
	}
	beside := " The minutes of last week were read. Nobody had seen the garden before. The plumber comes on Tuesday " +
		"with two new valves. Lisbon hires."
	if f, ok := j.Compare(passage(opposedA+beside), passage(opposedB+beside), near); ok && f.Kind == Semantic {
		t.Errorf("%+v", f)
	}
}

// One sentence is never at odds with itself, whatever it says.
func TestSameStatementIsNoConflict(t *testing.T) {
	var j Judge
	rapid.Check(t, func(t *rapid.T) {
		s := strings.NewReplacer(".", "", ",",
			"").Replace(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 30).Draw(t, "words"), " "))
		if f, ok := j.Compare(passage(s), passage(s), near); ok && f.Kind != Semantic {
			t.Fatalf("%q: %+v", s, f)
		}
	})
}

func TestAntonymList(t *testing.T) {
	for line := range strings.Lines(antonymList) {
		a, b, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || a == "" || b == "" || a >= b || strings.Contains(b, " ") {
			t.Errorf("line %q", line)
		}
	}
	for _, p := range []stemPair{{"empty", "full"}, {"open", "closed"}, {"increase", "decrease"}} {
		if !antonyms()[pairOf(claim.Stem(p.a), claim.Stem(p.b))] {
			t.Errorf("%s and %s are no opposites", p.a, p.b)
		}
	}
	if antonyms()[pairOf(claim.Stem("man"), claim.Stem("woman"))] {
		t.Error("man and woman are opposites")
	}
}

func BenchmarkCompare(b *testing.B) {
	x := passage(strings.Repeat("The deadline of Atlas has been moved from 3 May to 9 June, since the importer could "+
		"not read old files. ", 8))
	y := passage(strings.Repeat("Old files were read by the importer without trouble, and the deadline of Borealis "+
		"was kept. ", 8))
	var j Judge
	b.ReportAllocs()
	for b.Loop() {
		j.Compare(x, y, near)
	}
}

// An explanation names what both passages speak of once, and nothing where that is but
// letters.
func TestExplainOpposed(t *testing.T) {
	for said, want := range map[string]string{
		"The api w makes the Api complex": "The passages draw opposite conclusions about the same: api, makes, complex.",
		"w x":                             "The passages draw opposite conclusions.",
	} {
		x := &passage(said).prepare()[0]
		var al alignment
		align(&al, x, x)
		if got := explainOpposed(x, &al); got != want {
			t.Errorf("%q: %q", said, got)
		}
	}
}

// Words whose hashes share a bit are different words: three of these were counted as two,
// which are too few for two dates. One that is stuttered is one.
func TestWordsThatShareABitAreTwo(t *testing.T) {
	var j Judge
	for _, c := range []struct {
		a, b string
		at   bool
	}{
		{"The cooling tower was built in 1974.", "The cooling tower was built in 1981.", true},
		{"The tower tower was built in 1974.", "The tower tower was built in 1981.", false},
		// Two words in common are too few for two dates.
		{"Atlas-2 is due on 30 June.", "The report on Atlas-1 is due on 31 July.", false},
		{"The board meeting is on Monday.", "The board meeting is on Friday.", false},
	} {
		if f, ok := j.Compare(passage(c.a), passage(c.b), near); ok != c.at || ok && f.Kind != Temporal {
			t.Errorf("%q against %q: %v %v", c.a, c.b, f, ok)
		}
	}
}
