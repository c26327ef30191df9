package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"orgmem/brain/claim"
	"orgmem/brain/extract"
	"orgmem/brain/extract/locale"
	"orgmem/brain/extract/recurrence"
	"orgmem/brain/insight"
	"orgmem/brain/reader"
	"orgmem/brain/temporal"
)

// note is a text with what a person expects of it and what was told.
type note struct {
	atMs          int64
	speaker, text string
	wants         []want
	told          []item
}

// item is something that was told of a note.
type item struct {
	kind, typ, said, who string
	dayMs                int64
	polarity             int
	number               float64
}

// want is something that a person expects, or would not mind.
type want struct {
	line, kind, typ, who string
	words                [][]string // groups of alternatives
	days                 []int64
	polarity             int
	number               float64
	optional             bool
}

const dayMs = 24 * 60 * 60 * 1000

// matches tells whether what was told is what is expected.
func (w *want) matches(x *item) bool {
	promise := func(kind string) bool { return kind == insight.KindDue || kind == insight.KindCommitment }
	if w.kind != x.kind && !(w.optional && promise(w.kind) && promise(x.kind)) {
		return false
	}
	switch groupOf(w.kind) {
	case "values":
		return w.number == x.number && (w.typ == "" || w.typ == x.typ)
	case "names":
		a, b := strings.ToLower(w.words[0][0]), strings.ToLower(x.said)
		return strings.Contains(b, a) || strings.Contains(a, b) && 2*len(b) >= len(a)
	}
	said := strings.ToLower(x.said)
	for _, group := range w.words {
		if !slices.ContainsFunc(group, func(s string) bool { return strings.Contains(said, s) }) {
			return false
		}
	}
	return (len(w.days) == 0 || slices.Contains(w.days, x.dayMs)) && (w.who == "" || w.who == x.who) &&
		(w.polarity == 0 || w.polarity == x.polarity)
}

// notesOf reads a file of notes.
func notesOf(raw string) (notes []note, err error) {
	for line := range strings.Lines(raw) {
		line = strings.TrimSpace(line)
		if head, rest, ok := strings.Cut(line, " | "); ok {
			at, err := time.Parse("2006-01-02 15:04", head[:16])
			if err != nil {
				return nil, err
			}
			notes = append(notes, note{atMs: at.UnixMilli(), speaker: head[17:], text: rest})
			continue
		}
		mark, rest, _ := strings.Cut(line, " ")
		if len(notes) == 0 || mark != ">" && mark != "~" {
			return nil, fmt.Errorf("a line is neither a note nor what is expected: %s", line)
		}
		w, err := wantOf(rest)
		if err != nil {
			return nil, err
		}
		w.optional = mark == "~"
		n := &notes[len(notes)-1]
		n.wants = append(n.wants, w)
	}
	return notes, nil
}

// wantOf reads what is expected.
func wantOf(line string) (want, error) {
	kind, rest, _ := strings.Cut(line, " ")
	w := want{line: line, kind: kind}
	switch groupOf(kind) {
	case "names":
		w.typ, rest, _ = strings.Cut(rest, " ")
		w.words = [][]string{{rest}}
		return w, nil
	case "values":
		number, unit, _ := strings.Cut(rest, " ")
		var err error
		w.number, err = strconv.ParseFloat(number, 64)
		w.typ = unit
		return w, err
	}
	for f := range strings.FieldsSeq(rest) {
		days, dated := strings.CutPrefix(f, "@")
		who, named := strings.CutPrefix(f, "who=")
		switch {
		case dated:
			for day := range strings.SplitSeq(days, "/") {
				at, err := time.Parse(time.DateOnly, day)
				if err != nil {
					return w, err
				}
				w.days = append(w.days, at.UnixMilli())
			}
		case named:
			w.who = who
		case f == "+":
			w.polarity = 1
		case f == "-":
			w.polarity = -1
		default:
			for group := range strings.SplitSeq(strings.ToLower(f), ";") {
				w.words = append(w.words, strings.Split(group, "/"))
			}
		}
	}
	return w, nil
}

// read notes down what is found in the notes of one language.
func read(notes []note, worker *reader.Worker) error {
	var claims claim.Reader
	said := make([]temporal.Note, len(notes))
	for i := range notes {
		n := &notes[i]
		d := extract.Document{Text: n.text, AtMs: n.atMs, Speaker: n.speaker}
		if err := tag(&d, worker); err != nil {
			return err
		}
		found, _, err := recurrence.While(d, func() error { return nil })
		if err != nil {
			return err
		}
		said[i] = temporal.Note{
			Text: n.text, AtMs: n.atMs, Speaker: n.speaker, Source: int32(i), Claims: claims.Read(claim.Source{Text: n.text}),
		}
		for _, x := range found.Dates {
			said[i].Dates = append(said[i].Dates, temporal.Date{Span: x.Span, FromMs: x.FromMs, UntilMs: x.UntilMs})
		}
		n.told = append(n.told, opinions(n.text, &found)...)
		n.told = append(n.told, names(&found)...)
		n.told = append(n.told, values(n.text)...)
	}
	for _, x := range insight.Rank(insight.Gather(said), insight.ByRules, notes[0].atMs) {
		n := &notes[x.Notes[0]]
		one := item{kind: x.Kind, said: x.Title + " — " + x.Detail, who: x.Who}
		if x.UntilMS > 0 {
			one.dayMs = (x.UntilMS - 1) / dayMs * dayMs
		}
		n.told = append(n.told, one)
	}
	return nil
}

// tag has the reader read a text, unless worker is nil.
func tag(d *extract.Document, worker *reader.Worker) error {
	if worker == nil {
		return nil
	}
	all, err := worker.Tags([]string{d.Text}, func() error { return nil })
	if err == nil {
		d.Tagged = &all[0]
	}
	return err
}

func opinions(s string, found *extract.Extraction) (out []item) {
	for _, x := range found.Statements {
		out = append(out, item{
			kind: string(x.Kind), said: s[x.Span.Start:x.Span.End], who: x.Speaker, polarity: x.Polarity,
		})
	}
	return out
}

// names are told once for each note.
func names(found *extract.Extraction) (out []item) {
	for _, m := range found.Mentions {
		if m.Type == extract.URL || m.Type == extract.Code ||
			slices.ContainsFunc(out, func(x item) bool { return x.said == m.Name }) {
			continue
		}
		out = append(out, item{kind: "name", typ: string(m.Type), said: m.Name})
	}
	return out
}

// values are the amounts and numbers of a text, as statements are compared by them.
func values(s string) (out []item) {
	code := locale.Guess(s)
	if code == "" {
		return nil
	}
	st := locale.StatementIn(code, s)
	for _, v := range st.Values {
		one := item{kind: "money", typ: v.Unit, number: v.Number, said: s[v.Start:v.End]}
		if v.Kind == locale.Count && v.Number > 12 { // smaller ones are articles and words as often
			one.kind, one.typ = "number", ""
		} else if v.Kind != locale.Money {
			continue
		}
		out = append(out, one)
	}
	return out
}
