package topic

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func passages(texts ...string) []Passage {
	out := make([]Passage, len(texts))
	for i, t := range texts {
		out[i] = Passage{Text: t}
	}
	return out
}

var (
	sailing = Group{Passages: passages(
		"We should reef the mainsail before the wind picks up near the harbour.",
		"The harbour master says the wind will turn; keep the mainsail small.",
		"New ropes for the mainsail arrived. The wind was strong yesterday.",
		"Leaving the harbour at nine with a light wind from the west.",
	)}
	baking = Group{Passages: passages(
		"The sourdough starter needs feeding twice before baking.",
		"I bake with rye flour; the sourdough starter likes it.",
		"Rye flour makes the dough heavy, so give the oven more time.",
		"Our oven runs hot. The sourdough starter was fine.",
	)}
	databases = Group{Passages: passages(
		"PostgreSQL keeps its write-ahead log on another disk now.",
		"The replica of PostgreSQL lags when vacuum runs.",
		"We tuned vacuum in PostgreSQL and the replica recovered.",
		"A replica was promoted after the disk failed.",
	)}
)

func TestGroupsAreToldApart(t *testing.T) {
	ls := Describe([]Group{sailing, baking, databases})
	for i, want := range [][]string{
		{"mainsail", "wind", "harbour"}, {"sourdough starter", "rye flour", "oven"}, {"PostgreSQL", "replica", "vacuum"},
	} {
		for _, w := range want {
			if !slices.Contains(ls[i].Keywords, w) {
				t.Errorf("group %d lacks %q: %q", i, w, ls[i].Keywords)
			}
		}
		if len(strings.Split(ls[i].Text, ", ")) != labelWords {
			t.Errorf("label %q", ls[i].Text)
		}
	}
	if !strings.HasPrefix(ls[2].Text, "PostgreSQL") || ls[0].Text[0] < 'A' || ls[0].Text[0] > 'Z' {
		t.Errorf("labels %q and %q", ls[0].Text, ls[2].Text)
	}
}

// A group whose label is given keeps it, and tells the others apart as if it were named
// anew: by the words that it has in common with them.
func TestAGivenLabelTellsOthersApart(t *testing.T) {
	regatta := Group{Passages: passages(
		"The harbour of the regatta was closed, and the wind was weak.",
		"The regatta begins at the harbour when the wind allows it.",
		"The regatta was won by a boat from the north.",
	)}
	all := []Group{sailing, regatta, baking, databases}
	anew := Describe(all)
	for i := range all {
		given := slices.Clone(all)
		for k := range given {
			if k != i {
				given[k].Before, given[k].Given = anew[k], true
			}
		}
		if got := Describe(given); got[i].Text != anew[i].Text || !slices.Equal(got[i].Keywords, anew[i].Keywords) {
			t.Errorf("%v among given labels, %v among none", got[i], anew[i])
		} else if got[(i+1)%4].Text != anew[(i+1)%4].Text {
			t.Errorf("a given label %q has become %q", anew[(i+1)%4].Text, got[(i+1)%4].Text)
		}
	}
	given := slices.Clone(all) // no group takes the label of one that is given
	given[3].Before, given[3].Given = anew[0], true
	if got := Describe(given); got[0].Text == anew[0].Text || got[3].Text != anew[0].Text {
		t.Errorf("%q and %q", got[0].Text, got[3].Text)
	}
}

func TestLabelStays(t *testing.T) {
	was := Describe([]Group{sailing, baking, databases})
	more := sailing
	more.Before = Label{Text: "Wind, harbour, mainsail"}
	other := baking
	other.Before = Label{Text: "Gardening, roses"}
	ls := Describe([]Group{more, other, databases})
	if ls[0].Text != "Wind, harbour, mainsail" {
		t.Errorf("a label that holds became %q", ls[0].Text)
	}
	if ls[1].Text != was[1].Text {
		t.Errorf("a label that does not hold became %q, anew %q", ls[1].Text, was[1].Text)
	}
	gone := sailing
	gone.Before = Label{Text: "Wind, harbour, marmalade"}
	if got := Describe([]Group{gone, baking, databases})[0].Text; strings.Contains(got, "marmalade") {
		t.Errorf("a word that no passage holds any more stays in %q", got)
	}
	told := sailing
	told.Before = Label{Text: "Wind, harbour, mainsail (2)"}
	if got := Describe([]Group{told, baking, databases})[0].Text; got != told.Before.Text {
		t.Errorf("a label with a number became %q", got)
	}
	kept := Describe([]Group{{Before: was[2]}})
	if kept[0].Text != was[2].Text || !slices.Equal(kept[0].Keywords, was[2].Keywords) {
		t.Errorf("a group that nothing is told of became %+v", kept[0])
	}
}

func TestLabelsDiffer(t *testing.T) {
	ls := Describe([]Group{sailing, sailing, baking})
	if ls[0].Text == ls[1].Text {
		t.Errorf("two groups are called %q", ls[0].Text)
	}
}

func TestPersonsDoNotNameGroups(t *testing.T) {
	g := Group{Passages: passages(
		"Anselm repaired the greenhouse roof.", "Ask Anselm for the greenhouse key.",
		"Anselm waters the seedlings in the greenhouse.", "Seedlings for Anselm.",
	), Names: []Name{{Title: "Anselm Vogt", Person: true}}}
	l := Describe([]Group{g, baking})[0]
	if strings.Contains(l.Text, "Anselm") || !strings.Contains(strings.ToLower(l.Text), "greenhouse") {
		t.Errorf("label %q", l.Text)
	}
	if !slices.Contains(l.Keywords, "Anselm") {
		t.Errorf("keywords %q", l.Keywords)
	}
}

// Who is named in a group's passages names it no more than who belongs to it does, and a
// label that was given before that was known is given up. What a person is called after
// is still a word.
func TestWhomPassagesNameIsNoTopic(t *testing.T) {
	g := Group{Passages: passages(
		"Mina repaired the gate of the park.", "Ask Mina for the key of the park.", "Mina waters the seedlings in the park.",
		"Mina closes the gate of the park.", "Seedlings for Mina.",
	), People: []string{"Mina Park"}, Before: Label{
		Text: "Mina, seedlings, gate", Keywords: []string{"Mina", "seedlings", "gate"},
	}}
	l := Describe([]Group{g, baking})[0]
	if low := strings.ToLower(l.Text); strings.Contains(low, "mina") || !strings.Contains(low, "seedlings") ||
		!strings.Contains(low, "park") {
		t.Errorf("label %q", l.Text)
	}
}

func TestNamesAreWrittenAsNames(t *testing.T) {
	g := Group{
		Passages: passages("The bank of north harbour lends money.", "Ask the Bank of North Harbour.",
			"money from the bank of north harbour"),
		Names: []Name{{Title: "Bank of North Harbour"}},
	}
	if l := Describe([]Group{g, baking})[0]; !slices.Contains(l.Keywords, "Bank of North Harbour") {
		t.Errorf("keywords %q", l.Keywords)
	}
}

func TestOtherLanguages(t *testing.T) {
	german := Group{Passages: passages(
		"Der Vertrag mit der Gemeinde wird am Freitag unterschrieben, und die Brücke ist dann fertig.",
		"Die Brücke über den Fluss ist für den Vertrag mit der Gemeinde wichtig.",
		"Wir haben den Vertrag nicht gesehen, aber die Brücke wird von der Gemeinde bezahlt.",
	)}
	chinese := Group{Passages: passages("我们需要修复数据库的索引", "数据库的索引太慢了", "重建数据库索引")}
	ls := Describe([]Group{german, chinese, sailing})
	for _, w := range []string{"Brücke", "Vertrag", "Gemeinde"} {
		if !slices.Contains(ls[0].Keywords, w) {
			t.Errorf("keywords %q lack %q", ls[0].Keywords, w)
		}
	}
	for _, w := range ls[0].Keywords {
		if slices.Contains([]string{"der", "die", "den", "und", "mit"}, strings.ToLower(w)) {
			t.Errorf("keyword %q", w)
		}
	}
	if !slices.Contains(ls[1].Keywords, "索引") || !slices.Contains(ls[1].Keywords, "数据") {
		t.Errorf("keywords %q", ls[1].Keywords)
	}
}

// Markup, mentions, addresses, speakers and code are no topics.
func TestWhatIsNoTopic(t *testing.T) {
	g := Group{Passages: passages(
		"Bertram: <@U1234> look at https://example.org/path :tada:\n```\nrandomcode()\n```\nthe compiler is slow",
		"Bertram: <@U1234> see https://example.org/path :tada:\n```\nrandomcode()\n```\nour compiler again",
		"Bertram: compiler",
	)}
	for _, l := range Describe([]Group{g, baking})[:1] {
		if !slices.Equal(l.Keywords, []string{"compiler", "slow"}) && !slices.Equal(l.Keywords, []string{"compiler"}) {
			t.Errorf("keywords %q", l.Keywords)
		}
	}
}

func checkLabels(t interface{ Fatalf(string, ...any) }, groups []Group, ls []Label) {
	if len(ls) != len(groups) {
		t.Fatalf("%d labels of %d groups", len(ls), len(groups))
	}
	for i, l := range ls {
		if len(l.Text) > MaxLabel || len(l.Keywords) > MaxKeywords {
			t.Fatalf("group %d: %+v", i, l)
		}
		for k, w := range l.Keywords {
			if w == "" || slices.Contains(l.Keywords[:k], w) {
				t.Fatalf("keywords %q", l.Keywords)
			}
		}
	}
}

func TestAnyTextHasALabelOrNone(t *testing.T) {
	word := rapid.OneOf(rapid.SampledFrom(strings.Fields("harbour wind the a Vertrag 数据库 PostgreSQL x y_z 12 don't")),
		rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Group {
			var g Group
			for _, ws := range rapid.SliceOfN(rapid.SliceOfN(word, 0, 12), 0, 6).Draw(t, "passages") {
				g.Passages = append(g.Passages, Passage{Text: strings.Join(ws, " ")})
			}
			for _, n := range rapid.SliceOfN(word, 0, 3).Draw(t, "names") {
				g.Names = append(g.Names, Name{Title: n})
			}
			return g
		}), 0, 5).Draw(t, "groups")
		ls := Describe(groups)
		checkLabels(t, groups, ls)
		again := Describe(groups)
		for i := range ls {
			if ls[i].Text != again[i].Text || !slices.Equal(ls[i].Keywords, again[i].Keywords) {
				t.Fatalf("the same groups are described as %+v and %+v", ls[i], again[i])
			}
		}
	})
}

func FuzzDescribe(f *testing.F) {
	f.Add("We should reef the mainsail", "Title: x", "Bank of North")
	f.Add("```\nа `b` <@c> :d: http://e\x80", "数据库", "'")
	f.Fuzz(func(t *testing.T, body, title, name string) {
		both := []Passage{{Title: title, Text: body}, {Title: body, Text: title}}
		groups := []Group{{Passages: both, Names: []Name{{Title: name}}}, sailing}
		checkLabels(t, groups, Describe(groups))
	})
}

func BenchmarkDescribe(b *testing.B) {
	base := []Group{sailing, baking, databases}
	groups := make([]Group, 60)
	for i := range groups {
		for k := range MaxPassages {
			p := base[(i+k/30)%3].Passages
			// some 100 words
			groups[i].Passages = append(groups[i].Passages, Passage{Text: strings.Repeat(p[k%len(p)].Text+" ", 8)})
		}
	}
	for b.Loop() {
		Describe(groups)
	}
}

// Words that stand beside each other once say nothing together, and a verb behind a
// person's name makes no topic of it.
func TestLabelsAreNoAccidents(t *testing.T) {
	labels := Describe([]Group{
		{
			Passages: []Passage{
				{Text: "Customers pressed the button again and were charged twice."},
				{Text: "Carmen Ruiz believes that the refunds are late."},
				{Text: "Ruiz believes in refunds."},
			},
			Names: []Name{{Title: "Carmen Ruiz", Person: true}},
		},
		{Passages: []Passage{{Text: "The remote control has a green case."}, {Text: "A remote control costs twelve euros."}}},
	})
	for _, w := range append(strings.Split(labels[0].Text, ", "), strings.Split(labels[1].Text, ", ")...) {
		if strings.Contains(w, " ") && !strings.EqualFold(w, "remote control") || strings.Contains(w, "elieves") {
			t.Errorf("%q is a part of %q, %q", w, labels[0].Text, labels[1].Text)
		}
	}
	if !strings.EqualFold(strings.Split(labels[1].Text, ", ")[0], "remote control") {
		t.Errorf("%q", labels[1].Text)
	}
}
