package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	reading "orgmem/brain/reader"
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

// TestStatementsOfTheReader: where the rules find none, a sentence that the reader takes for a preference or a belief
// becomes one, if it tells whose it is and can be understood alone.
func TestStatementsOfTheReader(t *testing.T) {
	t.Parallel()
	const preference, belief = reading.Preference, reading.Belief
	for _, x := range []struct {
		text  string
		class reading.Class
		p     float32
		want  string
	}{
		{"Jane Lee wants the hedge cut in June.", preference, 0.9, "preference Jane Lee 1 the hedge cut in June"},
		{"Dr. Jane Lee thinks her form is wrong.", belief, 0.9, "belief Jane Lee 1 her form is wrong"},
		{"Jane Lee says the slab needs another day.", belief, 0.9, "belief Jane Lee 1 the slab needs another day"},
		{"Jane Lee would sooner run in the rain.", preference, 0.9, "preference Jane Lee 1 run in the rain"},
		{"Jane Lee does not want the hedge cut in June.", preference, 0.9, "preference Jane Lee -1 the hedge cut in June"},
		{"Jane Lee insists on cash for the hedge.", preference, 0.9, "preference Jane Lee 1 cash for the hedge"},
		{"Jane Lee wants to pay by card for it all.", preference, 0.9, "preference Jane Lee 1 to pay by card for it all"},
		{"Jane Lee refuses to cut the hedge in June.", preference, 0.9, "preference Jane Lee -1 to cut the hedge in June"},
		{"Jane Lee denies that the slab is dry.", belief, 0.9, "belief Jane Lee -1 the slab is dry"},
		// What the writer says of themselves the rules know, and do not take guesses and praise for more.
		{"I guess I would sooner run in the rain.", preference, 0.9, ""},
		{"I bet the slab is dry.", belief, 0.9, ""},
		// The reader is not sure enough, or sees something else.
		{"Jane Lee wants the hedge cut before June.", preference, 0.6, ""},
		{"Jane Lee says the slab needs another day.", belief, 0.7, ""},
		{"Jane Lee wants the hedge cut before June.", reading.Happening, 0.9, ""},
		// Somebody whom nothing names, or several.
		{"She wants the hedge cut before June.", preference, 0.9, ""},
		{"Would rather walk in the rain.", preference, 0.9, ""},
		{"Jane Lee wants the hedge cut, I want the tree.", preference, 0.9, ""},
		{"Jane Lee wants the aisle; the others want windows.", preference, 0.9, ""},
		{"Jane Lee, who likes tea, is early.", preference, 0.9, ""},
		// She is asked, and what she once wanted, or is shown, says too little.
		{"Jane Lee do we believe the slab is dry.", belief, 0.9, ""},
		{"Jane Lee wanted the hedge cut in June.", preference, 0.9, ""},
		{"Jane Lee loves the photo.", preference, 0.9, ""},
		{"Jane Lee trims the hedge in June.", preference, 0.9, ""},
		// What somebody else holds of her.
		{"Jane Lee is far too careful.", belief, 0.9, ""},
		// What points outside, asks, or is reported.
		{"Jane Lee wants it before June.", preference, 0.9, ""},
		{"I would like a date in writing.", preference, 0.9, ""},
		{"Does Jane Lee want the hedge cut?", preference, 0.9, ""},
		{"I'd put the shop on prepayment, said the bank.", preference, 0.9, ""},
		{"> I would sooner run in the rain.", preference, 0.9, ""},
	} {
		tagged := taggedAs(t, x.text)
		if strings.Contains(x.text, "Jane Lee") {
			tagged = taggedAs(t, x.text, said{text: "Jane Lee", kind: reading.Person})
		}
		s := reading.Sentence{Span: Span{Start: 0, End: len(x.text)}}
		s.P[x.class], s.P[reading.Plain] = x.p, 1-x.p
		tagged.Sentences = []reading.Sentence{s}
		got := ""
		for _, s := range Extract(Document{Text: x.text, Speaker: "me", Tagged: tagged}).Statements {
			if s.Object.Start < s.Span.Start || s.Object.End > s.Span.End {
				t.Errorf("%q: %+v", x.text, s)
			}
			got += fmt.Sprintf("%s %s %d %s", s.Kind, s.Speaker, s.Polarity, x.text[s.Object.Start:s.Object.End])
		}
		if got != x.want {
			t.Errorf("%q as %d at %g: %q, want %q", x.text, x.class, x.p, got, x.want)
		}
	}
}

// TestDisguisedStatements: the reader's sentences are found at their places in a text whose letters are disguised, too.
func TestDisguisedStatements(t *testing.T) {
	t.Parallel()
	const text = "🎉🎉 Hello.\nJane Lee would sooner run in the rain 🎉."
	at := strings.Index(text, "Jane Lee")
	s := reading.Sentence{Span: Span{Start: at, End: len(text)}}
	s.P[reading.Preference] = 0.9
	tagged := taggedAs(t, text, said{text: "Jane Lee", kind: reading.Person})
	tagged.Sentences = []reading.Sentence{{Span: Span{Start: 0, End: at - 1}}, s}
	got := Extract(Document{Text: text, Tagged: tagged}).Statements
	if len(got) != 1 || text[got[0].Object.Start:got[0].Object.End] != "run in the rain" {
		t.Errorf("%+v", got)
	}
}
