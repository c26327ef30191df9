package portrait

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// texts are the ids of n texts.
func texts(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("t%d", i))
	}
	return ids
}

func say(kind, node, said, object string, polarity int, sure float64, at int64, texts ...string) Statement {
	return Statement{
		Kind: kind, Said: said, Object: object, Polarity: polarity, Confidence: sure, AtMS: at, Node: node, Texts: texts,
	}
}

// known is a person of whom all that there is to tell is known.
func known() Memory {
	return Memory{
		Personal: true, Owner: "Ada King", Manner: "Writes short messages (typically 9 words; 50 messages).",
		Texts: 50, Latest: texts(30),
		Days:  []int64{4, 11, 18, 25, 32, 39, 46, 53, 60, 61, 67, 74, 81},
		Dated: texts(13),
		Themes: []Theme{
			{Label: "boiler, cellar", Place: 3, Texts: 20, Nodes: texts(20)},
			{Label: "choir", Place: 1, Texts: 12, Nodes: texts(12), Lately: texts(11)},
			{Label: "", Place: 0, Texts: 10, Nodes: texts(10)},
			{Label: "taxes", Place: 2, Texts: 2, Nodes: texts(2)},
		},
		Statements: []Statement{
			say(Preference, "s1", "I prefer tea to coffee.", "tea to coffee", 1, 0.8, 5, "t1"),
			say(Preference, "s2", "I still prefer tea to coffee", "tea to coffee", 1, 0.9, 9, "t2", "t3"),
			say(Preference, "s3", "I love the sea.", "the sea", 1, 0.9, 3, "t4"),
			say(Preference, "s4", "I hate parking.", "parking", -1, 0.7, 4, "t5"),
			say(Belief, "s5", "I think the roof will not last.", "the roof will not last", 1, 0.7, 4, "t6"),
		},
		Names: []Name{
			{Node: "e1", Name: "Mara Olsen", Type: "person", Texts: 9, Latest: texts(9)},
			{Node: "e2", Name: "Ada King", Type: "person", Texts: 8, Latest: texts(8)},
			{Node: "e3", Name: "ab12", Type: "", Texts: 7, Latest: texts(7)},
			{Node: "e4", Name: "Initech", Type: "organization", Texts: 3, Latest: texts(3)},
			{Node: "e5", Name: "Rome", Type: "place", Texts: 2, Latest: texts(2)},
		},
	}
}

func told(lines []Line) (all []string) {
	for _, l := range lines {
		all = append(all, l.Kind+": "+l.Text)
	}
	return all
}

func TestWhatIsKnownIsSaidInOrder(t *testing.T) {
	lines := Draw(known())
	want := []string{
		"manner: Writes short messages (typically 9 words; 50 messages).",
		"themes: Writes most about “boiler, cellar” (40% of 50 messages) and “choir” (24%).",
		"themes: Lately writes mostly about “choir” (11 of the last 20 messages).",
		"preference: Says: “I still prefer tea to coffee” (in 3 messages)",
		"preference: Says: “I love the sea.” “I hate parking.”",
		"people: Mentions most: Mara Olsen (person) in 9 messages and Initech (organization) in 3.",
		"rhythm: Writes mostly on Mondays (12 of 13 days).",
	}
	if got := told(lines); !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for at, evidence := range map[int][]string{
		2: texts(11), 3: {"s2", "t2", "t3", "t1", "s1"}, 4: {"s3", "t4", "s4", "t5"},
		5: {"e1", "t0", "t1", "t2", "e4"},
	} {
		if !slices.Equal(lines[at].Nodes, evidence) {
			t.Errorf("%s rests on %q, want %q", lines[at].Text, lines[at].Nodes, evidence)
		}
	}
	for at, quotes := range map[int][]string{
		0: nil, 1: {"boiler, cellar", "choir"}, 4: {"I love the sea.", "I hate parking."}, 5: {"Mara Olsen", "Initech"},
	} {
		if !slices.Equal(lines[at].Quotes, quotes) {
			t.Errorf("%s quotes %q, want %q", lines[at].Text, lines[at].Quotes, quotes)
		}
	}
	if !slices.Equal(lines[1].Themes, []int32{3, 1}) || !slices.Equal(lines[2].Themes, []int32{1}) {
		t.Errorf("themes %v, %v", lines[1].Themes, lines[2].Themes)
	}
}

func TestLittleIsKnown(t *testing.T) {
	m := Memory{
		Personal: true, Texts: 7, Latest: texts(7),
		Days: []int64{1, 2, 3, 4, 5, 6, 7}, Dated: texts(7),
		Themes: []Theme{{Label: "boiler", Texts: 7, Nodes: texts(7)}},
		Statements: []Statement{
			{Kind: Preference, Said: "I love tea.", Object: "tea", Polarity: 1, Node: "s1", Texts: []string{"t1"}},
			{Kind: Preference, Said: "I hate noise.", Object: "noise", Polarity: -1, Node: "s2", Texts: []string{"t1"}},
		},
		Names: []Name{{Node: "e1", Name: "Mara Olsen", Type: "person", Texts: 2, Latest: texts(2)}},
	}
	if got := told(Draw(m)); len(got) > 0 {
		t.Errorf("of one message of few: %q", got)
	}
}

// "Most" is said only of what is half of all, or more.
func TestManyThemesAreNotMost(t *testing.T) {
	m := Memory{Personal: true, Texts: 100, Latest: texts(20)}
	for i, label := range []string{"choir", "boiler", "figs"} {
		m.Themes = append(m.Themes, Theme{Label: label, Texts: 12 - i, Nodes: texts(5)})
	}
	want := "themes: Writes about many things; the largest themes are “choir” (12% of 100 messages), “boiler” (11%) " +
		"and “figs” (10%)."
	if got := told(Draw(m)); !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
	m.Personal, m.Themes = false, m.Themes[:1]
	want = "themes: What is written here is about many things; the largest theme is “choir” (12% of 100 messages)."
	if got := told(Draw(m)); !slices.Equal(got, []string{want}) {
		t.Errorf("%q", got)
	}
}

func TestOfSeveralPeopleOnlyThemesAreTold(t *testing.T) {
	m := known()
	m.Personal, m.Owner = false, ""
	want := []string{
		"themes: What is written here is mostly about “boiler, cellar” (40% of 50 messages) and “choir” (24%).",
	}
	if got := told(Draw(m)); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestWhatWasSaidSinceCounts(t *testing.T) {
	say := func(node, said, object string, polarity int, at int64) Statement {
		return say(Preference, node, said, object, polarity, 0.8, at, "of "+node)
	}
	for name, x := range map[string]struct {
		said []Statement
		want []string
	}{
		"the opposite": {
			[]Statement{
				say("a", "I like the new form.", "the new form", 1, 1),
				say("b", "I love the new form!", "the new form", 1, 2),
				say("c", "I don't like the new form.", "the new form", -1, 3),
				say("d", "I hate the new form.", "the new form", -1, 4),
			},
			[]string{"preference: Says: “I hate the new form.” (in 2 messages)"},
		},
		"the other way round": {
			[]Statement{
				say("a", "I prefer tea to coffee.", "tea to coffee", 1, 1),
				say("b", "I prefer coffee to tea.", "coffee to tea", 1, 2),
				say("c", "I now prefer coffee to tea.", "coffee to tea", 1, 3),
			},
			[]string{"preference: Says: “I now prefer coffee to tea.” (in 2 messages)"},
		},
		"a denial inside": {
			[]Statement{
				say("a", "I like plans that are not final.", "plans that are not final", 1, 1),
				say("b", "I like plans that are final.", "plans that are final", 1, 2),
			},
			nil,
		},
		"another thing": {
			[]Statement{
				say("a", "I like long walks along the river.", "long walks along the river", 1, 1),
				say("b", "I like the river.", "the river", 1, 2),
			},
			[]string{"preference: Says: “I like the river.” “I like long walks along the river.”"},
		},
	} {
		if got := told(Draw(Memory{Personal: true, Statements: x.said})); !slices.Equal(got, x.want) {
			t.Errorf("%s: %q, want %q", name, got, x.want)
		}
	}
}

func TestOthersWordsAreNotThePersons(t *testing.T) {
	two := []string{"t1", "t2"}
	m := Memory{Personal: true, Owner: "ada  king", Statements: []Statement{
		{Kind: Preference, Said: "I love rain.", Object: "rain", Node: "a", Speaker: "Bob Day", Texts: two},
		{Kind: Preference, Said: "I love snow.", Object: "snow", Node: "b", Speaker: "Ada King", Texts: two},
		{Kind: Preference, Said: "I love hail.", Object: "hail", Node: "c", Texts: nil},
		{Kind: Preference, Said: "I love " + strings.Repeat("very ", 50) + "long days.", Node: "d", Texts: two},
	}}
	if got := told(Draw(m)); !slices.Equal(got, []string{"preference: Says: “I love snow.” (in 2 messages)"}) {
		t.Errorf("%q", got)
	}
}

func TestOwner(t *testing.T) {
	by := func(n int, writer string, foreign bool) []Writing {
		return slices.Repeat([]Writing{{Writer: writer, Foreign: foreign}}, n)
	}
	for name, x := range map[string]struct {
		latest   []Writing
		owner    string
		personal bool
	}{
		"nothing":                  {nil, "", false},
		"no writer is named":       {by(9, "", false), "", true},
		"one writer":               {by(9, "Ada", false), "Ada", true},
		"one writer and some mail": {slices.Concat(by(18, "Ada", false), by(2, "Bob", false)), "Ada", true},
		"some mail that was kept":  {slices.Concat(by(18, "", false), by(1, "Bob", false), by(1, "Eve", false)), "", true},
		"two writers":              {slices.Concat(by(12, "Ada", false), by(8, "Bob", false)), "", false},
		"half is a mailbox":        {slices.Concat(by(10, "", false), by(5, "Ada", false), by(5, "Bob", false)), "", false},
		"transcripts":              {slices.Concat(by(5, "", false), by(5, "", true)), "", false},
	} {
		if owner, personal := Owner(x.latest); owner != x.owner || personal != x.personal {
			t.Errorf("%s: %q, %v", name, owner, personal)
		}
	}
}

func TestRhythm(t *testing.T) {
	every := func(n, gap int64) (days []int64) {
		for i := range n {
			days = append(days, i*gap, i*gap)
		}
		return days
	}
	for name, x := range map[string]struct {
		days []int64
		want []string
	}{
		"daily":          {every(20, 1), []string{"rhythm: Writes about every day (on 20 days)."}},
		"each third day": {every(20, 3), []string{"rhythm: Writes about every 3 days (on 20 days)."}},
		"weekly":         {every(12, 7), []string{"rhythm: Writes mostly on Thursdays (12 of 12 days)."}},
		"too few":        {every(11, 1), nil},
		"rarely":         {every(20, 40), nil},
		"bursts":         {slices.Concat(every(5, 1), []int64{100, 101, 102, 103, 104, 200, 201, 202, 203, 204}), nil},
		"any day":        {[]int64{1, 2, 6, 13, 14, 22, 23, 40, 48, 49, 63, 90, 91}, nil},
		"before 1970": {
			[]int64{-7, -14, -21, -28, -35, -42, -49, -56, -63, -70, -77, -84},
			[]string{"rhythm: Writes mostly on Thursdays (12 of 12 days)."},
		},
	} {
		if got := told(Draw(Memory{Personal: true, Days: x.days, Dated: texts(9)})); !slices.Equal(got, x.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Whatever is known: few lines, each of bounded length with some of its evidence, the same each time, in whatever
// order it is handed in.
func TestPortraitsAreBounded(t *testing.T) {
	words := rapid.SampledFrom([]string{"tea", "coffee", "the sea", "not rain", "", "“", "long walks, rain", "a\nb", "日本"})
	rapid.Check(t, func(t *rapid.T) {
		m := known()
		for i := range rapid.IntRange(0, 30).Draw(t, "statements") {
			m.Statements = append(m.Statements, Statement{
				Kind: rapid.SampledFrom([]string{Preference, Belief}).Draw(t, "kind"), Said: words.Draw(t, "said"),
				Object: words.Draw(t, "object"), Polarity: rapid.IntRange(-1, 1).Draw(t, "polarity"),
				AtMS: int64(i), Node: fmt.Sprint("n", i), Texts: texts(rapid.IntRange(0, 60).Draw(t, "texts")),
			})
			m.Names = append(m.Names, Name{
				Node: fmt.Sprint("e", i), Name: words.Draw(t, "name"), Type: "person", Texts: i, Latest: texts(i),
			})
			m.Themes = append(m.Themes, Theme{Label: words.Draw(t, "label"), Texts: i, Nodes: texts(i), Lately: texts(i)})
		}
		lines := Draw(m)
		if len(lines) > MaxLines {
			t.Fatalf("%d lines", len(lines))
		}
		for _, l := range lines {
			if len(l.Nodes) < 2 || len(l.Nodes) > MaxLineNodes || len(l.Text) > 1000 || strings.Contains(l.Text, "\n") {
				t.Fatalf("%q rests on %q", l.Text, l.Nodes)
			}
		}
		slices.Reverse(m.Statements)
		slices.Reverse(m.Days)
		if again := Draw(m); !reflect.DeepEqual(told(again), told(lines)) {
			t.Fatalf("%q, then %q", told(lines), told(again))
		}
	})
}
