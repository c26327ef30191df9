package main

import (
	"fmt"
	"testing"

	"orgmem/bench/internal/data"
)

// floor is what must be right of a task's plain records, and by how much less of those that were made of them.
type floor struct {
	records     float64 // disturbed ones, at least
	plain, loss float64
}

// floors lie some ten points below what the first reader that was measured does (brain/reader/DESIGN.md), and losses as
// much above: of a few hundred records one in twenty is chance, and a reader that was trained anew errs elsewhere.
var floors = map[string]floor{
	pairs:     {records: 160, plain: .80, loss: .14},
	labels:    {records: 160, plain: .76, loss: .16},
	questions: {records: 100, plain: .67, loss: .17},
	names:     {records: 32, plain: .86, loss: .10},
	times:     {records: 28, plain: .84, loss: .16},
}

// undressed are the ways that are taken off before anything is read, so that hardly anything may be lost.
var undressed = []string{"bold", "emoji", "fullwidth", "homoglyphs", "zero-width"}

// TestDisturbedTextIsReadNearlyAsWell: what is read of disturbed text with the reader that is shipped has a floor.
func TestDisturbedTextIsReadNearlyAsWell(t *testing.T) {
	t.Parallel()
	b, err := newBench()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"pairs", "qa", "spans", "times"} {
		file := fmt.Sprintf("../../train/data/own_test/adverse-%s.jsonl.gz", kind)
		if err := data.Lines(file, b.line); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range table(b.results) {
		t.Log(line)
	}
	all := losses(b.results)
	for _, task := range tasks {
		f, of := floors[task], all[task][""]
		if of == nil || of.records < f.records {
			t.Fatalf("%s: %+v, want %v records", task, of, f.records)
		}
		plain, disturbed := of.shares()
		if plain < f.plain || plain-disturbed > f.loss {
			t.Errorf("%s: %.3f in plain and %.3f disturbed, want %.2f and a loss of at most %.2f", task, plain, disturbed,
				f.plain, f.loss)
		}
	}
	if l := all[questions][besides]; l == nil || l.records < 30 {
		t.Errorf("with orders beside: %+v", l)
	} else if plain, disturbed := l.shares(); plain-disturbed > .22 {
		t.Errorf("%.3f of the questions, and %.3f with orders beside", plain, disturbed)
	}
	for _, how := range undressed {
		var of loss
		for _, task := range tasks {
			if l := all[task][how]; l != nil {
				of.records, of.plain, of.disturbed = of.records+l.records, of.plain+l.plain, of.disturbed+l.disturbed
			}
		}
		if plain, disturbed := of.shares(); of.records < 10 || plain-disturbed > .08 {
			t.Errorf("%s: %.3f in plain and %.3f disturbed, of %.0f", how, plain, disturbed, of.records)
		}
	}
}

// TestLosses: what is disturbed is set against the very record that it was made of, and what has none is left out.
func TestLosses(t *testing.T) {
	t.Parallel()
	got := losses([]result{
		{task: pairs, id: "1", right: 1},
		{task: pairs, id: "2", right: 0},
		{task: pairs, id: "1a", base: "1", how: "typos", right: 0},
		{task: pairs, id: "1b", base: "1", how: "upper", right: 1},
		{task: pairs, id: "2a", base: "2", how: "typos", right: 1},
		{task: pairs, id: "3a", base: "3", how: "typos", right: 1},
		{task: times, id: "1a", base: "1", how: "typos", right: 1},
	})
	for how, want := range map[string]loss{
		"": {records: 3, plain: 2, disturbed: 2}, "typos": {records: 2, plain: 1, disturbed: 1},
		"upper": {records: 1, plain: 1, disturbed: 1},
	} {
		if of := got[pairs][how]; of == nil || *of != want {
			t.Errorf("%q: %+v, want %+v", how, of, want)
		}
	}
	if got[times] != nil {
		t.Errorf("%+v of times without a plain one", got[times])
	}
}
