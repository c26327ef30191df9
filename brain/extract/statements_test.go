package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestStatements(t *testing.T) {
	for text, want := range map[string]string{
		"I really prefer tabs over spaces.":              "preference me +1 tabs over spaces",
		"I don't like meetings on Monday.":               "preference me -1 meetings on Monday",
		"I can't stand slow builds.":                     "preference me -1 slow builds",
		"I'm a big fan of small tools.":                  "preference me +1 small tools",
		"My favourite editor is Vim.":                    "preference me +1 editor is Vim",
		"I'd rather walk than drive.":                    "preference me +1 walk than drive",
		"I never use emojis.":                            "preference me -1 emojis",
		"I think that we should ship on Friday.":         "belief me +1 we should ship on Friday",
		"I don't think the index is at fault.":           "belief me -1 the index is at fault",
		"I'm convinced that caching will hurt us.":       "belief me +1 caching will hurt us",
		"I doubt the numbers are right.":                 "belief me -1 the numbers are right",
		"In my opinion the rollout was too fast.":        "belief me +1 the rollout was too fast",
		"Jane Lee prefers short meetings.":               "preference Jane Lee +1 short meetings",
		"Jane Lee doesn't like long meetings.":           "preference Jane Lee -1 long meetings",
		"Jane Lee believes that the plan will work out.": "belief Jane Lee +1 the plan will work out",
		"I would like to order two pizzas.":              "",
		"Do I like pizza?":                               "",
		"I think so.":                                    "",
		"I like it.":                                     "",
		"If I prefer tea, what happens?":                 "",
		"The build was slow again today.":                "",
	} {
		got := ""
		for _, s := range Extract(Document{Text: text, Speaker: "me"}).Statements {
			if s.Confidence <= 0 || s.Confidence > 1 || s.Object.Start < s.Span.Start || s.Object.End > s.Span.End {
				t.Errorf("%q: %+v", text, s)
			}
			got += fmt.Sprintf("%s %s %+d %s", s.Kind, s.Speaker, s.Polarity, text[s.Object.Start:s.Object.End])
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTurns(t *testing.T) {
	for text, want := range map[string][]string{
		"Jane Lee: I prefer tea.\nTom: I think coffee is better.\nand cheaper": {
			"Jane Lee: I prefer tea.", "Tom: I think coffee is better.\nand cheaper",
		},
		"Grad A: Yes.\nGrad A: No.":                               {"Grad A: Yes.", "Grad A: No."},
		"[10:30] <ann> hello\n[10:31] <bob> hi\n[10:32] <ann> so": {"ann: hello", "bob: hi", "ann: so"},
		"**Ann**: hello\n**Bob:** hi\n":                           {"Ann: hello", "Bob: hi"},
		"10:30:12 Ann: hello\n10:31:15 Bob: hi":                   {"Ann: hello", "Bob: hi"},
		"Note: this is it.\nWarning: it is hot.":                  nil,
		"Status: Final\nType: Process\nCreated: 2001":             nil,
		"There is one thing: it works.\nNothing else.":            nil,
		"See http://example.com: it is there.":                    nil,
		"It is prose, and long.\nIt has many lines.\nJane: once.": nil,
	} {
		var got []string
		x := Extract(Document{Text: text})
		for _, turn := range x.Turns {
			got = append(got, turn.Speaker+": "+text[turn.Span.Start:turn.Span.End])
			if text[turn.Name.Start:turn.Name.End] != turn.Speaker {
				t.Errorf("%q: the name is at %v", text, turn.Name)
			}
			if !slices.ContainsFunc(x.Mentions, func(m Mention) bool { return m.Span == turn.Name && m.Type == Person }) {
				t.Errorf("%q: %s is not mentioned", text, turn.Speaker)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestAStatementIsOfOneTurn: also where the next speaker's name begins no sentence.
func TestAStatementIsOfOneTurn(t *testing.T) {
	const text = "Ann Lee: And on Friday\nzsuzsa: I prefer tea to coffee\nbob: good"
	x := Extract(Document{Text: text, Speakers: []string{"Ann Lee", "zsuzsa", "bob"}})
	if len(x.Statements) != 1 {
		t.Fatalf("%+v", x.Statements)
	}
	s := x.Statements[0]
	if said, object := text[s.Span.Start:s.Span.End],
		text[s.Object.Start:s.Object.End]; s.Speaker != "zsuzsa" || said != "I prefer tea to coffee" ||
		object != "tea to coffee" {
		t.Errorf("%s: %q, %q", s.Speaker, said, object)
	}
}

// TestKnownSpeakers: who is known to speak is a person in each line that they begin,
// whatever the name looks like, and however seldom they speak.
func TestKnownSpeakers(t *testing.T) {
	for _, c := range []struct {
		speakers []string
		text     string
		want     []string // speaker of each turn, and what it is
	}{
		{
			[]string{"Lee, Ann"},
			"It began late.\nLee, Ann: Hello.\nWhat: nobody knows.\nIt went on.",
			[]string{"Ann Lee person"},
		},
		{
			[]string{"Ann Lee (she/her)", "ann lee [Acme]"},
			"Ann Lee (she/her): Hello.\nann lee [Acme]: Hi.",
			[]string{"Ann Lee person", "ann lee person"},
		},
		{
			[]string{"Maria del Carmen", "Juan Carlos Alfonso de Borbón y Dos Sicilias"},
			"Maria del Carmen: Hello.\nJuan Carlos Alfonso de Borbón y Dos Sicilias: Hi.",
			[]string{"Maria del Carmen person", "Juan Carlos Alfonso de Borbón y Dos Sicilias person"},
		},
		{
			[]string{"Ann Lee, PhD", "Lee, M.D.", "Note"},
			"Ann Lee, PhD: Hello.\nLee, M.D.: Hi.\nNote: this.",
			[]string{"Ann Lee, PhD person", "Lee, M.D. person", "Note person"},
		},
		{
			[]string{"Jordan"},
			"Jordan: Hello.\nShe went to Jordan. In Jordan it is hot. The capital of Jordan is Amman.",
			[]string{"Jordan person"},
		},
		{[]string{"R2: D2"}, "R2: D2: Hello.\nR2: no.", []string{"R2: D2 person"}},
		{[]string{strings.Repeat("x", MaxName+1)}, strings.Repeat("x", MaxName+1) + ": Hello.", nil},
		{
			[]string{"Speaker 1", "SPEAKER_00", "Unknown", "Unidentified Male Speaker"},
			"Speaker 1: Hello.\nSPEAKER_00: Hi.\nUnknown: Ho.\nUnidentified Male Speaker: Ha.",
			[]string{"Speaker 1 nobody", "SPEAKER_00 nobody", "Unknown nobody", "Unidentified Male Speaker nobody"},
		},
	} {
		x := Extract(Document{Text: c.text, Speakers: c.speakers})
		var got []string
		for _, turn := range x.Turns {
			what := "nobody"
			for _, m := range x.Mentions {
				if m.Span.Start < turn.Name.End && m.Span.End > turn.Name.Start {
					what = string(m.Type)
				}
			}
			if strings.Contains(c.text[turn.Span.Start:turn.Span.End], "\n") {
				t.Errorf("%q: a turn of %q", c.text, c.text[turn.Span.Start:turn.Span.End])
			}
			got = append(got, turn.Speaker+" "+what)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestWhoSaysIt: a statement in a turn is its speaker's, before any turn the
// document's.
func TestWhoSaysIt(t *testing.T) {
	const text = "Jane Lee: I prefer tea in the morning.\nTom Hardy: I think that coffee is better."
	x := Extract(Document{Text: text, Speaker: "me"})
	if len(x.Statements) != 2 || x.Statements[0].Speaker != "Jane Lee" || x.Statements[1].Speaker != "Tom Hardy" {
		t.Fatalf("%+v", x.Statements)
	}
	if s := x.Statements[0]; text[s.Span.Start:s.Span.End] != "I prefer tea in the morning." {
		t.Errorf("quoted as %q", text[s.Span.Start:s.Span.End])
	}
}
