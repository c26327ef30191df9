package insight

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orgmem/brain/claim"
	"orgmem/brain/extract"
	"orgmem/brain/moments"
	"orgmem/brain/text"
)

// corpus is a set of notes of two people with what a careful reader signs.
type corpus struct {
	name   string
	nowMS  int64
	notes  []moments.Note
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
func asNote(r *claim.Reader, s, speaker string, atMS int64) moments.Note {
	n := moments.Note{Text: s, AtMs: atMS, Speaker: speaker, Claims: r.Read(claim.Source{Text: s})}
	for _, d := range extract.Extract(extract.Document{Text: s, AtMs: atMS, Speaker: speaker}).Dates {
		n.Dates = append(n.Dates, moments.Date{Span: text.Span(d.Span), FromMs: d.FromMs, UntilMs: d.UntilMs})
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

// score counts what is told of a corpus: how much of it a reader signs, and how much of
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

// shown is what a reader goes by: of what comes back it is the name alone.
func shown(r Ranked) string {
	if r.Kind == KindRecurrence {
		return r.Title
	}
	return r.Title + " " + r.Detail
}

func TestNotes(t *testing.T) {
	for _, name := range strings.Split(cmp.Or(os.Getenv("SETS"), "company,household,software"), ",") {
		c := readCorpus(t, name, true)
		told, signed, wanted, found, report := c.score()
		t.Logf("%s: %d told, %d signed; %d wanted, %d found\n%s", name, told, signed, wanted, found, report)
	}
}

func TestWalks(t *testing.T) {
	for _, name := range []string{"notes", "minutes", "incidents"} {
		raw, _ := os.ReadFile("../../docs/examples/" + name + ".jsonl")
		var r claim.Reader
		var notes []moments.Note
		last := int64(0)
		for line := range strings.Lines(string(raw)) {
			var x struct{ Text, Title, Timestamp, Scope string }
			if err := json.Unmarshal([]byte(line), &x); err != nil {
				t.Fatal(err)
			}
			at, _ := time.Parse(time.RFC3339, x.Timestamp)
			if at.IsZero() {
				at, _ = time.Parse("2006-01-02", x.Timestamp)
			}
			last = max(last, at.UnixMilli())
			n := asNote(&r, x.Text, x.Scope, at.UnixMilli())
			n.Source = int32(len(notes))
			notes = append(notes, n)
		}
		out := ""
		for _, x := range Rank(Gather(notes), ByRules, last) {
			out += fmt.Sprintf("%v %-14s %.2f %s — %s\n", x.UntilMS == 0 || x.UntilMS > last, x.Kind, x.Confidence, x.Title, x.Detail)
		}
		t.Logf("%s %d\n%s", name, len(notes), out)
	}
}
