package insight

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/brain/claim"
	"orgmem/brain/extract"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
)

// corpus is a set of notes of two people with what a careful reader signs.
type corpus struct {
	name   string
	nowMS  int64
	notes  []temporal.Note
	expect []expected // what has to be found
	fine   []expected // what may be: a reader would not object
}

// expected is an insight by its kind and by words that its title or its detail has;
// those of one group are alternatives.
type expected struct {
	kind  string
	words [][]string
	line  string
}

func (e *expected) matches(kind, said string) bool {
	alike := e.kind == kind || e.kind == "question" && kind == KindQuestion ||
		(e.kind == KindDue || e.kind == KindCommitment) && (kind == KindDue || kind == KindCommitment)
	if !alike {
		return false
	}
	said = strings.ToLower(said)
	for _, group := range e.words {
		hit := false
		for _, w := range group {
			hit = hit || strings.Contains(said, w)
		}
		if !hit {
			return false
		}
	}
	return true
}

// asNote reads a text as a cycle does.
func asNote(r *claim.Reader, s, speaker string, atMS int64) temporal.Note {
	n := temporal.Note{Text: s, AtMs: atMS, Speaker: speaker, Claims: r.Read(claim.Source{Text: s})}
	for _, d := range extract.Extract(extract.Document{Text: s, AtMs: atMS, Speaker: speaker}).Dates {
		n.Dates = append(n.Dates, temporal.Date{Span: text.Span(d.Span), FromMs: d.FromMs, UntilMs: d.UntilMs})
	}
	return n
}

func readCorpus(t testing.TB, name string, speakers bool) (c corpus) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "notes", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(s string) int64 {
		v, err := time.Parse("2006-01-02 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return v.UnixMilli()
	}
	c.name = name
	part := ""
	var r claim.Reader
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		head, rest, _ := strings.Cut(line, " | ")
		switch {
		case line == "expect" || line == "fine":
			part = line
		case strings.HasPrefix(line, "now "):
			c.nowMS = at(line[4:])
		case part == "":
			speaker := head[17:]
			if !speakers {
				speaker = ""
			}
			n := asNote(&r, rest, speaker, at(head[:16]))
			n.Source = int32(len(c.notes))
			c.notes = append(c.notes, n)
		default:
			e := expected{kind: head, line: line}
			for group := range strings.SplitSeq(rest, ";") {
				e.words = append(e.words, strings.Split(strings.ToLower(strings.TrimSpace(group)), "/"))
			}
			if part == "expect" {
				c.expect = append(c.expect, e)
			} else {
				c.fine = append(c.fine, e)
			}
		}
	}
	return c
}

// score counts what is shown of a corpus: how much of it a reader signs, and how much of
// what the reader looks for is there.
func (c *corpus) score() (told, signed, wanted, found int, report string) {
	var b strings.Builder
	got := Rank(Gather(c.notes), ByRules, c.nowMS)
	hit := make([]bool, len(c.expect))
	for _, r := range got {
		if r.UntilMS != 0 && r.UntilMS <= c.nowMS {
			continue
		}
		told++
		mark := "  ??"
		for k := range c.fine {
			if c.fine[k].matches(r.Kind, shown(r)) {
				mark = "fine"
			}
		}
		for k := range c.expect {
			if c.expect[k].matches(r.Kind, shown(r)) {
				hit[k], mark = true, "  ok"
			}
		}
		if mark != "  ??" {
			signed++
		}
		fmt.Fprintf(&b, "%s %-14s %.2f %s — %s\n", mark, r.Kind, r.Confidence, r.Title, r.Detail)
	}
	for k := range hit {
		wanted++
		if hit[k] {
			found++
		} else {
			fmt.Fprintf(&b, "MISS %s\n", c.expect[k].line)
		}
	}
	return told, signed, wanted, found, b.String()
}

// shown is what a reader goes by: of what comes back, and of who is responsible, it is the
// title alone, since what is quoted may say more.
func shown(r Ranked) string {
	if r.Kind == KindRecurrence || r.Kind == KindResponsibility {
		return r.Title
	}
	return r.Title + " " + r.Detail
}

// Of sixty notes of two people nearly all that is shown is what a careful reader signs, and
// nearly all that the reader looks for is shown. The floors are what was measured, less two
// findings; the sets under "unseen" were written with the others and kept from the rules.
func TestNotesOfTwoPeople(t *testing.T) {
	for _, set := range []struct {
		of            string
		names         []string
		signed, found float64
	}{
		{"seen", []string{"company", "household", "software"}, 0.95, 0.95},
		{"unseen", []string{"carehome", "club", "agency"}, 0.90, 0.73},
	} {
		var told, signed, wanted, found int
		for _, name := range set.names {
			c := readCorpus(t, name, true)
			a, b, w, f, report := c.score()
			told, signed, wanted, found = told+a, signed+b, wanted+w, found+f
			if a < 8 || a > 25 {
				t.Errorf("%s: %d insights", name, a)
			}
			if testing.Verbose() && set.of == "seen" || os.Getenv("UNSEEN") != "" {
				t.Logf("%s: %d told, %d signed; %d wanted, %d found\n%s", name, a, b, w, f, report)
			}
		}
		t.Logf("%s: %d of %d told are signed, %d of %d wanted are found", set.of, signed, told, found, wanted)
		if float64(signed) < set.signed*float64(told) || float64(found) < set.found*float64(wanted) {
			t.Errorf("%s: %d of %d told are signed, %d of %d wanted are found", set.of, signed, told, found, wanted)
		}
	}
}

// Who wrote a note is not always known, and one of the two alone is shown less, and not
// other things.
func TestNotesWithoutTheirWriters(t *testing.T) {
	for _, name := range []string{"company", "household", "software"} {
		c := readCorpus(t, name, false)
		told, signed, wanted, found, report := c.score()
		if 10*signed < 9*told || 10*found < 9*wanted {
			t.Errorf("%s: %d of %d told are signed, %d of %d wanted are found\n%s", name, signed, told, found, wanted, report)
		}
	}
}

// The same notes give the same candidates, in the same order.
func TestGatheringIsDeterministic(t *testing.T) {
	c := readCorpus(t, "software", true)
	first := fmt.Sprintf("%+v", Rank(Gather(c.notes), ByRules, c.nowMS))
	for range 5 {
		if again := fmt.Sprintf("%+v", Rank(Gather(c.notes), ByRules, c.nowMS)); len(again) != len(first) {
			t.Fatal("other candidates")
		}
		var a, b []string
		for _, r := range Rank(Gather(c.notes), ByRules, c.nowMS) {
			a = append(a, r.Kind+r.Title+fmt.Sprint(r.Notes, r.About))
		}
		for _, r := range Rank(Gather(c.notes), ByRules, c.nowMS) {
			b = append(b, r.Kind+r.Title+fmt.Sprint(r.Notes, r.About))
		}
		if !slices.Equal(a, b) {
			t.Fatalf("%q, then %q", a, b)
		}
	}
}

// Talk, and courtesies, tell nothing, however often they come.
func TestTalkTellsNothing(t *testing.T) {
	var r claim.Reader
	var notes []temporal.Note
	talk := []string{
		"Hey! Good to see you again.", "Same here, how was the weekend?", "So nice, we went to the beach.",
		"Keep going, you will do great!", "Thanks, that means a lot.",
		"Got any plans for the summer?", "Not yet. We could go to the lake instead of the sea.", "I'll keep it in mind.",
		"We used to go there all the time.", "Haha, I know, right?",
		"Anyway, talk to you soon!", "Maybe we will move to the north one day.",
	}
	for day := range int64(12) {
		for i, s := range talk {
			n := asNote(&r, s, []string{"Ann", "Ben"}[i%2], monday+day*dayMS+int64(i)*60_000)
			n.Source = int32(len(notes))
			notes = append(notes, n)
		}
	}
	for _, x := range Rank(Gather(notes), ByRules, monday+12*dayMS) {
		t.Errorf("%s %.2f: %s — %s", x.Kind, x.Confidence, x.Title, x.Detail)
	}
}

// Whatever the texts are, candidates hold together.
func TestCandidatesHold(t *testing.T) {
	pieces := strings.Fields(`
Nadia Tom the The I we will is are was on by from to not no now , , . ? : ; 3 12 May 10:30 4,000
again third time moved handles takes care of
owner printer meeting Monday from now on instead no longer used keeps asking (a) "b"
— - 's 'll é 中文 \xff due until must sent`)
	rapid.Check(t, func(t *rapid.T) {
		var r claim.Reader
		var notes []temporal.Note
		for i := range rapid.IntRange(0, 12).Draw(t, "notes") {
			n := asNote(&r, strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 25).Draw(t, "pieces"), " "),
				rapid.SampledFrom([]string{"", "Tom"}).Draw(t, "speaker"), monday+int64(i)*dayMS)
			n.Source = int32(i)
			notes = append(notes, n)
		}
		counts, seen := map[string]int{}, map[string]bool{}
		for _, x := range Rank(Gather(notes), ByRules, monday) {
			key := x.Kind + strings.Join(x.About, " ")
			counts[x.Kind]++
			if seen[key] || counts[x.Kind] > MaxPerKind || x.Title == "" || x.Detail == "" || !Said(x.Kind) ||
				!(x.Confidence > 0 && x.Confidence <= 1) || len(x.About) == 0 || len(x.Notes) == 0 {
				t.Fatalf("%+v", x)
			}
			seen[key] = true
			for _, n := range x.Notes {
				if n < 0 || n >= len(notes) {
					t.Fatalf("note %d of %d", n, len(notes))
				}
			}
		}
	})
}
