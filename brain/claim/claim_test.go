package claim

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func only(t *testing.T, src Source) Claim {
	t.Helper()
	var r Reader
	claims := r.Read(src)
	if len(claims) != 1 {
		t.Fatalf("%q: %d claims, want 1", src.Text, len(claims))
	}
	return claims[0]
}

func TestFacts(t *testing.T) {
	for _, c := range []struct {
		src                       Source
		subject, attribute, value string
	}{
		{Source{Text: "Atlas (the new importer): the owner is Dana."}, "Atlas (the new importer)", "owner", "Dana"},
		{Source{Text: "For INC-4521, the root cause is a full disk."}, "INC-4521", "root cause", "a full disk"},
		{Source{Text: "The deadline of Atlas is 3 May."}, "Atlas", "deadline", "3 May"},
		{Source{Text: "The launch date for Atlas has been moved from March to June."}, "Atlas", "launch date", "June"},
		{Source{Text: "Atlas's budget is now 40,000 euros."}, "Atlas", "budget", "40,000 euros"},
		{Source{Text: "The status of Atlas is postponed."}, "Atlas", "status", "postponed"},
		{Source{Text: "My favourite editor is Acme.", Speaker: "Dana"}, "Dana", "favourite editor", "Acme"},
		{Source{Text: "Status: Final", Title: "Atlas"}, "Atlas", "Status", "Final"},
		{
			Source{Text: "The plan of Atlas at https://a.example/is/6 is final."},
			"Atlas at https://a.example/is/6", "plan", "final",
		},
		// What is no fact of a nameable thing.
		{Source{Text: "Status: Final"}, "", "", ""},
		{Source{Text: "The film's sets were designed by Ada."}, "", "", ""},
		{Source{Text: "The deadline of Atlas is not 3 May."}, "", "", ""},
		{Source{Text: "The trouble with Atlas is that it is slow."}, "", "", ""},
		{Source{Text: "Is the deadline of Atlas 3 May?"}, "", "", ""},
		{Source{Text: "The owner of the car is Dana."}, "", "", ""},
	} {
		f := only(t, c.src).Fact
		if f.Subject != c.subject || f.Attribute != c.attribute || f.Value != c.value {
			t.Errorf("%q: %q / %q / %q, want %q / %q / %q", c.src.Text, f.Subject, f.Attribute, f.Value, c.subject,
				c.attribute, c.value)
		}
		if (f.Key == 0) != (c.subject == "") {
			t.Errorf("%q: key %d", c.src.Text, f.Key)
		}
	}
}

// What people say in turns is no list of attributes, however short it is.
func TestTurnsAreNoFacts(t *testing.T) {
	var r Reader
	for said, want := range map[string]int{
		"Owner: Dana\nStatus: final":                        2,
		"Dana: Right.\nRobin: Mm-hm.\nDana: Who is next?":   0,
		"Dana: Right.\nRobin: Mm-hm.\nDana: Next.":          0,
		"Dana: Right.\nDana: The deadline of Atlas is May.": 1,
	} {
		facts := 0
		for _, c := range r.Read(Source{Text: said, Title: "Weekly"}) {
			if c.Fact.Key != 0 {
				facts++
			}
		}
		if facts != want {
			t.Errorf("%q: %d facts, want %d", said, facts, want)
		}
	}
}

// However an attribute of a subject is worded, it has one key.
func TestKeys(t *testing.T) {
	same := []Source{
		{Text: "The deadline of Atlas is 3 May."},
		{Text: "Atlas: the deadline is 4 May."},
		{Text: "Atlas (phase two): the deadline is 5 May."},
		{Text: "Atlas's deadlines are 3 May and 4 May."},
		{Text: "Deadline: 6 May", Title: "Atlas"},
		{Text: "The deadline for Atlas has moved to July."},
	}
	first := only(t, same[0]).Fact.Key
	for _, src := range same {
		if k := only(t, src).Fact.Key; k != first {
			t.Errorf("%q has another key than %q", src.Text, same[0].Text)
		}
	}
	for _, text := range []string{"The budget of Atlas is 5 May.", "The deadline of Borealis is 3 May."} {
		if only(t, Source{Text: text}).Fact.Key == first {
			t.Errorf("%q has the key of %q", text, same[0].Text)
		}
	}
	if a, b := only(t, Source{Text: "The owner of Atlas is the platform team."}).Fact,
		only(t, Source{Text: "Atlas: the owner is Platform Team"}).Fact; a.Same != b.Same {
		t.Error("one value, written in two ways, is two")
	}
}

func TestNegationReach(t *testing.T) {
	for text, want := range map[string]string{
		"The door is not locked.":                         "locked",
		"Nobody has opened the door.":                     "opened door",
		"The door isn't locked, the window is open.":      "locked",
		"We did not ship on Monday but wrote the report.": "ship monday",
		"The cat can't reach the shelf.":                  "reach shelf",
		"The door is locked.":                             "",
	} {
		var got []string
		for _, w := range only(t, Source{Text: text}).Words {
			if w.Not && w.Kind != Function {
				got = append(got, w.Form)
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("%q: negated are %q, want %q", text, g, want)
		}
	}
}

func TestWords(t *testing.T) {
	c := only(t, Source{Text: "INC-4521 took 1,500 of three servers down at 10:30."})
	want := map[string]Kind{
		"inc-4521": Content, "1,500": Number, "three": Number, "servers": Content, "10:30": Time, "of": Function,
	}
	for _, w := range c.Words {
		if kind, ok := want[w.Form]; ok {
			delete(want, w.Form)
			if w.Kind != kind {
				t.Errorf("%s is of kind %d, want %d", w.Form, w.Kind, kind)
			}
		}
		if w.Form == "1,500" && w.Stem != "1500" {
			t.Errorf("1,500 reads as %q", w.Stem)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}

// check asserts what holds of every text.
func check(t interface{ Errorf(string, ...any) }, s string, claims []Claim) {
	end := 0
	if len(claims) > maxClaims {
		t.Errorf("%d claims", len(claims))
	}
	for _, c := range claims {
		if c.Span.Start < end || c.Span.End > len(s) || c.Span.Start >= c.Span.End {
			t.Errorf("span %v after %d of %d bytes", c.Span, end, len(s))
		}
		end = c.Span.End
		at := int32(c.Span.Start)
		for _, w := range c.Words {
			if w.Start < at || w.End <= w.Start || int(w.End) > c.Span.End {
				t.Errorf("word [%d, %d) after %d in %v", w.Start, w.End, at, c.Span)
			}
			at = w.End
		}
		if c.Fact.Key != 0 && (c.Fact.Subject == "" || c.Fact.Attribute == "" || c.Fact.Value == "") {
			t.Errorf("a fact with an empty part: %+v", c.Fact)
		}
	}
}

var pieces = []string{
	"the ", "The ", "of ", "Atlas", "'s ", "deadline ", "is ", "not ", "no ", "n't ", "3 May", "1,5", "moved ", "to ",
	"from ", ": ", ", ", "(", ") ",
	". ", "?\n", "’ll ", "é", "\xff", "中文", "-", "_", "1", "INC-1 ", "my ", "for ", "\n\n", "- ", "has been ", "“", "”",
	"Ｍ", "\u200b", "Тhe ", "：", "\u00ad",
}

func TestReadHoldsForAnyText(t *testing.T) {
	var shared Reader
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
		src := Source{Text: s, Title: rapid.SampledFrom([]string{"", "Atlas", "the"}).Draw(t, "title")}
		var fresh Reader
		claims := fresh.Read(src)
		check(t, s, claims)
		again := shared.Read(src) // with whatever it remembers
		if len(again) != len(claims) {
			t.Fatalf("%d claims with a memory, %d without", len(again), len(claims))
		}
		for i := range claims {
			if again[i].Fact.Key != claims[i].Fact.Key || again[i].Fact.Same != claims[i].Fact.Same ||
				len(again[i].Words) != len(claims[i].Words) {
				t.Fatalf("claim %d differs with a memory", i)
			}
		}
	})
}

func FuzzRead(f *testing.F) {
	f.Add("The deadline of Atlas isn't 3 May.", "Plan")
	f.Add("Status: Final\n\n- a list: of 1,000,000.5 things’ll", "\xff")
	f.Fuzz(func(t *testing.T, s, title string) {
		var r Reader
		check(t, s, r.Read(Source{Text: s, Title: title, Speaker: title}))
	})
}

func BenchmarkRead(b *testing.B) {
	s := strings.Repeat("The deadline of Atlas has been moved from 3 May to 9 June, since the importer could not read "+
		"old files. ", 5)
	var r Reader
	b.ReportAllocs()
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		r.Read(Source{Text: s})
	}
}

// TestDisguisedText: what is written in look-alike letters or with marks that nobody sees is the same claim, and is
// quoted as it was written.
func TestDisguisedText(t *testing.T) {
	plain := only(t, Source{Text: "The deadline of Atlas is 3 May."})
	for text, want := range map[string][3]string{
		"Тhe dеadlinе of Аtlas is 3 Мay.":                   {"Аtlas", "dеadlinе", "3 Мay"},
		"Ｔｈｅ ｄｅａｄｌｉｎｅ ｏｆ Ａｔｌａｓ ｉｓ ３ Ｍａｙ．":                   {"Ａｔｌａｓ", "ｄｅａｄｌｉｎｅ", "３ Ｍａｙ"},
		"The dead\u00adline of At\u200blas is 3 M\u2060ay.": {"At\u200blas", "dead\u00adline", "3 M\u2060ay"},
	} {
		got := only(t, Source{Text: text})
		if got.Fact.Key != plain.Fact.Key || got.Fact.Same != plain.Fact.Same {
			t.Errorf("%q: not the same fact: %+v", text, got.Fact)
		}
		if f := got.Fact; [3]string{f.Subject, f.Attribute, f.Value} != want {
			t.Errorf("%q: %+v", text, f)
		}
		if text[got.Span.Start:got.Span.End] != text {
			t.Errorf("%q: %v", text, got.Span)
		}
		for i, w := range got.Words {
			if p := plain.Words[i]; w.Form != p.Form || w.Kind != p.Kind || w.Name != p.Name {
				t.Errorf("%q: %+v, want %+v", text, w, p)
			}
		}
	}
	if by := only(t, Source{Text: "Owner: Dana", Title: "Ａtlas"}); by.Fact.Key !=
		only(t, Source{Text: "Owner: Dana", Title: "Atlas"}).Fact.Key {
		t.Error("a title in other letters is another subject")
	}
}
