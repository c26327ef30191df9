package extract

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// names lists the mentions as "type name".
func namesOf(x Extraction) []string {
	var out []string
	for _, m := range x.Mentions {
		out = append(out, string(m.Type)+" "+m.Name)
	}
	return out
}

func TestNames(t *testing.T) {
	for text, want := range map[string][]string{
		"Jane Lee and Tom Hardy joined Acme Corp in Berlin, Germany.": {
			"person Jane Lee", "person Tom Hardy", "organization Acme Corp", "place Berlin", "place Germany",
		},
		"She teaches at the University of Helsinki.": {
			"organization University of Helsinki",
		},
		"The 1961 Turkish general election was held in October.": {
			"event 1961 Turkish general election",
		},
		"We moved the build from Jenkins to GitHub last week.": {"product GitHub"},
		"# Board of the Lindenhof\n\nPresent: Agnes Keller.\n\n## Money\n\nThe city of Lindenhof pays.": {
			"organization Board of the Lindenhof", "person Agnes Keller",
		},
		"The deadline of Heron is 4 May.":    {"product Heron"},
		"Nothing is named here, and nobody.": nil,
		"On Monday I will think about it.":   nil,
	} {
		got := namesOf(Extract(Document{Text: text}))
		for _, w := range want {
			if !slices.Contains(got, w) {
				t.Errorf("%q: %q, want %q", text, got, w)
			}
		}
		if want == nil && len(got) > 0 {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestShapes(t *testing.T) {
	for text, want := range map[string][]string{
		"INC-4521 and CVE-2024-3094 are open.": {"identifier INC-4521", "identifier CVE-2024-3094"},
		"See PEP 484, issue #12 and #345.": {
			"identifier PEP 484", "identifier issue #12", "identifier #345",
		},
		"Fixed in v1.2.3 by 8804415abf.":                     {"identifier v1.2.3", "identifier 8804415abf"},
		"Read https://www.example.com/docs/a?b=1#c, please.": {"url example.com/docs/a?b=1"},
		"It leads to http://bit.ly/2Fa3x or so.":             nil,
		"See https://video.example.com/watch?v=Ab3_x&t=29m00s&utm_source=mail.": {
			"url video.example.com/watch?v=Ab3_x",
		},
		"See https://groups.example.com/forum/#!topic/boats/Ab3, please.": {"url groups.example.com/forum#!topic/boats/Ab3"},
		"See https://docs.example.com/Log.html?q=log#wtf there.":          {"url docs.example.com/Log.html"},
		"It is at https://a.example.com/in?id=7&token=s3cret now.":        {"url a.example.com/in?id=7"},
		"New (<https://example.org/lists/17>), ~~old [one](https://example.org/lists/16)~~": {
			"url example.org/lists/17", "url example.org/lists/16",
		},
		"Call `parse_args` or ``run``, then os.path.join().": {"code parse_args", "code run", "code os.path.join"},
		"The file src/main.go has --max-conns and user_id.": {
			"code src/main.go", "code user_id",
		},
		"It is 24-7, 50-50, and-or, e.g. this, 1999-2001 and so on.": nil,
	} {
		if got := namesOf(Extract(Document{Text: text})); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestHandles are people where people talk, and strangers' accounts elsewhere.
func TestHandles(t *testing.T) {
	if got := namesOf(Extract(Document{Text: "<@jane> could you look at this?"})); !slices.Equal(got,
		[]string{"person jane"}) {
		t.Errorf("%q", got)
	}
	if got := namesOf(Extract(Document{Text: "@jane could you look at this?", Speaker: "tom"})); !slices.Equal(got,
		[]string{"person jane"}) {
		t.Errorf("%q", got)
	}
	if got := namesOf(Extract(Document{Text: "@jane could you look at this?"})); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestOneNameHasOneType, whatever stands around it.
func TestOneNameHasOneType(t *testing.T) {
	x := Extract(Document{
		Text: "Jane Lee came. Lee was late. We asked Lee about Acme Corp. Acme Corp is in Berlin. Then Acme Corp left.",
	})
	types := map[string]Type{}
	for _, m := range x.Mentions {
		if old, ok := types[m.Name]; ok && old != m.Type {
			t.Errorf("%s is %s and %s", m.Name, old, m.Type)
		}
		types[m.Name] = m.Type
	}
	if types["Lee"] != Person || types["Acme Corp"] != Organization {
		t.Errorf("%v", types)
	}
}

// check holds what every extraction promises.
func check(t interface{ Fatalf(string, ...any) }, d Document, x Extraction) {
	within := func(sp Span) bool {
		return sp.Start >= 0 && sp.Start < sp.End && sp.End <= len(d.Text) && border(d.Text, sp.Start) &&
			border(d.Text, sp.End)
	}
	end := 0
	for _, m := range x.Mentions {
		if !within(m.Span) || m.Span.Start < end || m.Name == "" || len(m.Name) > MaxName || m.Type == "" ||
			!(m.Confidence >= MinConfidence && m.Confidence <= 1) {
			t.Fatalf("mention %+v of %q", m, d.Text)
		}
		end = m.Span.End
	}
	for _, r := range x.Relations {
		if r.From == r.To || r.From >= len(x.Mentions) || r.To >= len(x.Mentions) || !within(r.Evidence) ||
			!(r.Confidence >= MinConfidence && r.Confidence <= 1) {
			t.Fatalf("relation %+v of %q", r, d.Text)
		}
		for _, m := range []Mention{x.Mentions[r.From], x.Mentions[r.To]} {
			if m.Span.Start < r.Evidence.Start || m.Span.End > r.Evidence.End {
				t.Fatalf("%q is outside of its evidence in %q", m.Name, d.Text)
			}
		}
	}
	for _, date := range x.Dates {
		if !within(date.Span) || date.FromMs >= date.UntilMs || d.AtMs == 0 && date.Relative {
			t.Fatalf("date %+v of %q", date, d.Text)
		}
	}
	for _, s := range x.Statements {
		if !within(s.Span) || !within(s.Object) || s.Object.End > s.Span.End || s.Polarity != 1 && s.Polarity != -1 {
			t.Fatalf("statement %+v of %q", s, d.Text)
		}
	}
	for _, turn := range x.Turns {
		if !within(turn.Name) || !within(turn.Span) || turn.Speaker == "" {
			t.Fatalf("turn %+v of %q", turn, d.Text)
		}
	}
}

// border tells whether a character begins at i, as far as s has characters.
func border(s string, i int) bool {
	return !utf8.ValidString(s) || i == len(s) || utf8.RuneStart(s[i])
}

var pieces = strings.Split("Jane Lee|Acme Corp|joined|I think that|is in|Berlin|(|)|: |\n|. |, |'s "+
	"|INC-12|`x_y`|https://a.example/b|2024-03-05|March 5|yesterday|in two weeks|"+
	"@ann|#tag|<|>|**|…|é|世界|\xff|\u0301|1961|general election|of|the|don't|I|prefer|{|\"|``|--flag|next "+
	"Tuesday|Tom:|[10:30]|"+
	"3 days ago|a couple of|last|Q3|2024|13/05/2024|end of|in|since|between|and|to|-|5th of|May|1990s|at 10:30|third "+
	"quarter|my favorite|is|no longer|am|can't|stand|Mr.|**|PEP 484|#12|v1.2|`|Ｍａｙ|３|М\u200bау|\u00ad|：", "|")

func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"),
			rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		d := Document{
			Text: text, AtMs: rapid.SampledFrom([]int64{0, wednesday.UnixMilli(), -1, math.MaxInt64 / 2}).Draw(t, "at"),
			Speaker: rapid.SampledFrom([]string{"", "ann"}).Draw(t, "speaker"),
		}
		x := Extract(d)
		check(t, d, x)
		if again := Extract(d); !reflect.DeepEqual(x, again) {
			t.Fatalf("%q is read in two ways", text)
		}
	})
}

func FuzzExtract(f *testing.F) {
	for _, p := range pieces {
		f.Add(p+" "+p, int64(0))
	}
	f.Add("1000-01-", int64(0)) // a range without its end
	f.Fuzz(func(t *testing.T, text string, at int64) {
		d := Document{Text: text, AtMs: at}
		check(t, d, Extract(d))
	})
}

// TestLists are bounded.
func TestLists(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		most int
		n    func(Extraction) int
	}{
		"mentions": {
			strings.Repeat("INC-12 ", MaxMentions+5), MaxMentions, func(x Extraction) int { return len(x.Mentions) },
		},
		"dates": {strings.Repeat("2024-03-05 ", MaxDates+5), MaxDates, func(x Extraction) int { return len(x.Dates) }},
		"statements": {
			strings.Repeat("I prefer tea. ", MaxStatements+5), MaxStatements,
			func(x Extraction) int { return len(x.Statements) },
		},
		"relations": {
			strings.Repeat("INC-12 blocks INC-13. ", MaxRelations+5), MaxRelations,
			func(x Extraction) int { return len(x.Relations) },
		},
		"turns": {strings.Repeat("Ann: hi\n", MaxTurns+5), MaxTurns, func(x Extraction) int { return len(x.Turns) }},
	} {
		x := Extract(Document{Text: c.text})
		check(t, Document{Text: c.text}, x)
		if n := c.n(x); n != c.most {
			t.Errorf("%s: %d, want %d", name, n, c.most)
		}
	}
}

// TestBlobs are read like any text: a long word, and what looks like the beginning
// of something again and again.
func TestBlobs(t *testing.T) {
	for _, piece := range []string{
		"A", "Ab.", "`", "``a", "a@", "Ann: ", "Jane ", "https://", "<@", "#1 ", "{", "I think that ", "in the ", "世", "\xff",
	} {
		d := Document{Text: strings.Repeat(piece, 4000), AtMs: 1}
		check(t, d, Extract(d))
	}
}

// chunk is about as long as one that is ingested.
var chunk = strings.Repeat("Jane Lee of Acme Corp said yesterday that INC-4521 was fixed in v1.2.3, and I think she "+
	"is right about the cache. ", 6)

// TestAllocations: an extraction costs what it answers, not what it looks at.
func TestAllocations(t *testing.T) {
	words := strings.Repeat("there is nothing at all to be named in this long and plain text of words. ", 12)
	least := math.Inf(1) // a pool forgets at times what it was given; under -race often
	for range 20 {
		least = min(least, testing.AllocsPerRun(1, func() { Extract(Document{Text: words}) }))
	}
	if least > 20 {
		t.Errorf("%v allocations for a text that names nothing", least)
	}
}

func BenchmarkExtract(b *testing.B) {
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		Extract(Document{Text: chunk, AtMs: 1_700_000_000_000})
	}
}

// A sentence in small letters that says what something is names nothing.
func TestASentenceIsNoName(t *testing.T) {
	for _, text := range []string{
		"The garden is large and green.", "The garden is small and green.", "The lake was cold and is deep.",
	} {
		for _, m := range Extract(Document{Text: text}).Mentions {
			if strings.Contains(m.Name, " is ") || strings.Contains(m.Name, " was ") {
				t.Errorf("%q names %q", text, m.Name)
			}
		}
	}
}
