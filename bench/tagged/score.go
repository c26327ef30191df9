package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"orgmem/brain/claim"
	"orgmem/brain/extract"
	"orgmem/brain/reader"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
)

// normal is a name for comparing: its words in small letters, without the article.
func normal(name string) string {
	all := words.FindAllString(strings.ToLower(name), -1)
	all = slices.DeleteFunc(all, func(w string) bool { return strings.Trim(w, `.,;:'"’!?()&-/`) == "" })
	return strings.TrimPrefix(strings.Join(all, " "), "the ")
}

// overlap tells whether one name's words are part of the other's, or half of all are shared.
func overlap(a, b string) bool {
	x, y := map[string]bool{}, map[string]bool{}
	for w := range strings.FieldsSeq(a) {
		x[w] = true
	}
	for w := range strings.FieldsSeq(b) {
		y[w] = true
	}
	common := 0
	for w := range x {
		if y[w] {
			common++
		}
	}
	return common > 0 && (common == min(len(x), len(y)) || 2*common >= len(x)+len(y)-common)
}

// namesOf compares the names of a text with its labels, each name once.
func (b *bench) namesOf(r *record, found *extract.Extraction) {
	gold, got := map[string]string{}, map[string]string{}
	for _, s := range r.Spans {
		if k := typeOf[s.Type]; k <= typeOf["identifier"] {
			gold[normal(s.Text)] = s.Type
		}
	}
	for _, m := range found.Mentions {
		if m.Type != extract.URL && m.Type != extract.Code {
			got[normal(m.Name)] = string(m.Type)
		}
	}
	var wrong []string
	for name, kind := range gold {
		if kind == "identifier" {
			continue
		}
		b.names.labels++
		near := ""
		for _, other := range slices.Sorted(maps.Keys(got)) {
			if other == name {
				near = other
				break
			}
			if near == "" && overlap(name, other) {
				near = other
			}
		}
		if near == "" {
			wrong = append(wrong, "missed "+name)
			continue
		}
		b.names.hit++
		b.byType[kind]++
		if near == name {
			b.names.exact++
		} else {
			wrong = append(wrong, fmt.Sprintf("%q for %q", near, name))
		}
		if got[near] == kind {
			b.names.typed++
			b.typedOf[kind]++
		} else {
			wrong = append(wrong, fmt.Sprintf("%s %q, a %s", got[near], near, kind))
		}
	}
	false_ := 0
	for name, kind := range got {
		if kind == "identifier" {
			continue
		}
		b.names.found++
		if slices.ContainsFunc(slices.Collect(maps.Keys(gold)), func(g string) bool { return overlap(name, g) }) {
			b.names.right++
		} else {
			false_++
			wrong = append(wrong, fmt.Sprintf("no %s: %q", kind, name))
		}
	}
	if len(gold) == 0 {
		b.nameless++
		if false_ == 0 {
			b.clean++
		}
	}
	b.say(r, wrong)
}

// timesOf compares the moments of a note with the labelled days.
func (b *bench) timesOf(r *record, d *extract.Document, found *extract.Extraction) {
	note := temporal.Note{Text: r.Text, AtMs: d.AtMs, Claims: b.claims.Read(claim.Source{Text: r.Text})}
	for _, x := range found.Dates {
		note.Dates = append(note.Dates, temporal.Date{Span: text.Span(x.Span), FromMs: x.FromMs, UntilMs: x.UntilMs})
	}
	moments := temporal.Tell([]temporal.Note{note})
	var wrong []string
	hits := make([]bool, len(r.Events))
	false_ := 0
	for _, m := range moments {
		day, right := time.UnixMilli(m.AtMs).UTC().Format(time.DateOnly), false
		for i, e := range r.Events {
			if start := dayOf(e.Start); start <= day && day <= max(start, dayOf(e.End)) {
				hits[i], right = true, true
			}
		}
		if !right {
			false_++
			wrong = append(wrong, "no "+day)
		}
	}
	b.times.found += len(moments)
	b.times.right += len(moments) - false_
	b.times.labels += len(hits)
	all := true
	for i, hit := range hits {
		if all = all && hit; hit {
			b.times.hit++
		} else {
			e := r.Events[i]
			wrong = append(wrong, fmt.Sprintf("missed %q %s %s %s", e.Phrase, e.Start, e.End, e.Tense))
		}
	}
	switch {
	case len(hits) == 0:
		b.undated++
		if false_ == 0 {
			b.keptFree++
		}
	default:
		b.dated++
		if all && false_ == 0 {
			b.allRight++
		}
	}
	if len(wrong) > 0 && d.Tagged != nil {
		for _, s := range d.Tagged.Spans {
			if s.Type == reader.Time {
				wrong = append(wrong, fmt.Sprintf("~ %q %.2f tense %d %.2f of %.2f",
					r.Text[s.Start:s.End], s.P, s.Tense, s.TenseP, s.Told))
			}
		}
	}
	b.say(r, wrong)
}

// dayOf is a label's day without its hour.
func dayOf(s string) string { return s[:min(len(s), len(time.DateOnly))] }

func (b *bench) say(r *record, wrong []string) {
	if b.verbose && len(wrong) > 0 {
		slices.Sort(wrong)
		fmt.Printf("%s at %s: %s\n    %q\n", r.ID, r.At, strings.Join(wrong, "; "), r.Text)
	}
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }

func (t *tally) f1() (p, r, f float64) {
	p, r = share(t.right, t.found), share(t.hit, t.labels)
	return p, r, 2 * p * r / max(p+r, 1e-9)
}

// statementsOf counts the labelled sentences in which a preference or a belief is found.
func (b *bench) statementsOf(r *record, found *extract.Extraction) {
	for sentence, class := range r.Classes {
		at := strings.Index(r.Text, sentence)
		if at < 0 {
			continue
		}
		for kind, t := range b.statements {
			said := slices.ContainsFunc(found.Statements, func(s extract.Statement) bool {
				return s.Kind == kind && s.Span.Start < at+len(sentence) && at < s.Span.End
			})
			if class == string(kind) {
				t.labels++
			}
			if said {
				t.found++
			}
			if said && class == string(kind) {
				t.right, t.hit = t.right+1, t.hit+1
			} else if said && b.verbose {
				fmt.Printf("%s: %s, no %s: %s\n", r.ID, class, kind, sentence)
			}
		}
	}
}

func (b *bench) report() {
	if b.names.labels > 0 {
		p, r, f := b.names.f1()
		fmt.Printf("names: P %.3f R %.3f F1 %.3f, exact %.3f, type %.3f, clean %.3f of %d\n", p, r, f,
			share(b.names.exact, b.names.hit), share(b.names.typed, b.names.hit), share(b.clean, b.nameless), b.nameless)
		for _, k := range slices.Sorted(maps.Keys(b.byType)) {
			fmt.Printf("  %s %.3f of %d", k, share(b.typedOf[k], b.byType[k]), b.byType[k])
		}
		fmt.Println()
	}
	for _, k := range slices.Sorted(maps.Keys(b.statements)) {
		if t := b.statements[k]; t.labels > 0 {
			p, r, f := t.f1()
			fmt.Printf("%s: P %.3f of %d, R %.3f of %d, F1 %.3f\n", k, p, t.found, r, t.labels, f)
		}
	}
	if b.times.labels > 0 {
		p, r, f := b.times.f1()
		fmt.Printf("times: P %.3f R %.3f F1 %.3f, all right %.3f of %d, kept empty %.3f of %d\n", p, r, f,
			share(b.allRight, b.dated), b.dated, share(b.keptFree, b.undated), b.undated)
	}
}
