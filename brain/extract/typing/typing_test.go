package typing

import (
	"slices"
	"testing"

	"orgmem/brain/extract/tagger/taggertest"
)

// read is a text with the tokens of a name in it.
func read(tb testing.TB, s, name string) (t Text, from, to int) {
	tb.Helper()
	n, err := taggertest.Read(s, name)
	if err != nil {
		tb.Fatal(err)
	}
	return Text{Model: n.Model, Text: s, Tokens: n.Tokens, Lows: n.Lows}, n.From, n.To
}

// TestHeaviest: of plain sentences the clues alone tell what is named.
func TestHeaviest(t *testing.T) {
	t.Parallel()
	const per, org, pro, pla, prj, eve = "person", "organization", "product", "place", "project", "event"
	for _, c := range []struct{ text, name, want string }{
		{"The game was called Quillon Dawn, and we had a blast.", "Quillon Dawn", pro},
		{"We took it at a waterfall in a town called Quillon.", "Quillon", pla},
		{"Please ask Nurse Tamsin Okell about it.", "Tamsin Okell", per},
		{"Gwendolen thinks the roof will hold.", "Gwendolen", per},
		{"I met Mr Varga.", "Varga", per},
		{"The quote from Pellham Roofing Ltd came in.", "Pellham Roofing Ltd", org},
		{"Brackwater Solutions pays in sixty days.", "Brackwater Solutions", org},
		{"She works at the University of Tromsø.", "University of Tromsø", org},
		{"We moved to Lisbon.", "Lisbon", pla},
		{"The van waits near Larch Street.", "Larch Street", pla},
		{"It is stored in Room 14.", "Room 14", pla},
		{"He bought a used Mavvik 300.", "Mavvik 300", pro},
		{"The ferry Ondine was late.", "Ondine", pro},
		{"We meet during the Velden Festival.", "Velden Festival", eve},
		{"See you after the Quarry Half Marathon.", "Quarry Half Marathon", eve},
		{"Operation Lark is on hold.", "Operation Lark", prj},
		{"Project Wren needs a budget.", "Project Wren", prj},
	} {
		x, from, to := read(t, c.text, c.name)
		seen, own := x.Clues(nil, from, to)
		if own == 0 || own > len(seen) {
			t.Fatalf("%q: %d of %d clues are the name's own", c.text, own, len(seen))
		}
		var sum [Types]float64
		Add(&sum, seen)
		names := []string{per, org, pro, pla, prj, eve}
		if got := names[slices.Index(sum[:], slices.Max(sum[:]))]; got != c.want {
			var told []string
			for _, s := range seen {
				told = append(told, Names[s])
			}
			t.Errorf("%q: %s, want %s, by %q", c.text, got, c.want, told)
		}
	}
}

// TestTable: every clue has a name of its own, and no word is of two minds.
func TestTable(t *testing.T) {
	t.Parallel()
	if len(Names) != int(clues) {
		t.Errorf("%d names of %d clues", len(Names), clues)
	}
	seen := map[string]bool{}
	for _, n := range Names {
		if seen[n] {
			t.Errorf("two clues %q", n)
		}
		seen[n] = true
	}
	for i, want := range map[Clue]string{
		onlyFirst: "onlyFirst", firm: "firm", afterVia: "afterVia", ends: "ends", head0: "head.person",
		theAfter: "afterInThe", afterComma: "after.comma", beforeComma: "before.comma", lastOf: "last.first",
	} {
		if Names[i] != want {
			t.Errorf("clue %d is %q, want %q", i, Names[i], want)
		}
	}
}

// TestFit: what is always seen of one type speaks for it.
func TestFit(t *testing.T) {
	t.Parallel()
	var all []Example
	for range 20 {
		all = append(all, Example{[]Clue{always, firm, afterFrom}, organization},
			Example{[]Clue{always, twoWords, afterFrom}, person})
	}
	all = append(all, Example{[]Clue{always, camel}, event})
	w, err := Fit(all)
	if err != nil {
		t.Fatal(err)
	}
	if w[firm][organization] < 1 || w[firm][person] > 0 || w[twoWords][person] < 1 {
		t.Errorf("%v, %v", w[firm], w[twoWords])
	}
	if w[camel] != [Types]float64{} {
		t.Errorf("seen once, and weighs %v", w[camel])
	}
	if n := Right(w, all); n != len(all)-1 {
		t.Errorf("%d of %d right", n, len(all))
	}
}
