package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/extract/typing"
	"orgmem/brain/text"
)

// One block of ten records in seven is left out, as in the training of the reader (train/tasks.py).
const blockOf, heldEvery, heldAt = 10, 7, 3

// typesOrder are the labels in the order of a reader's types.
var typesOrder = []string{"person", "organization", "product", "place", "project", "event"}

// fitTypes fits what the clues to a name's type weigh to the English notes of files of lines of train/data's spans, by
// multinomial logistic regression, and says how often the heaviest type is right on what was left out.
func fitTypes(stdout io.Writer, paths []string) ([]byte, error) {
	model, err := tagger.Load()
	if err != nil {
		return nil, err
	}
	var seen, held []typing.Example
	for _, path := range paths {
		raw, err := readFile(path)
		if err != nil {
			return nil, err
		}
		n := 0
		if err := eachRecord(bytes.NewReader(raw), func(line []byte) error {
			names, err := examples(model, line)
			if n++; (n-1)/blockOf%heldEvery == heldAt {
				held = append(held, names...)
			} else {
				seen = append(seen, names...)
			}
			return err
		}); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	weights, err := typing.Fit(seen)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(stdout, "%d of %d names right, and of those left out %d of %d\n", typing.Right(weights, seen), len(seen),
		typing.Right(weights, held), len(held))
	var b strings.Builder
	for c, name := range typing.Names {
		row := weights[c][:]
		if slices.IndexFunc(row, func(w float64) bool { return math.Round(w*100) != 0 }) < 0 {
			continue
		}
		b.WriteString(name)
		for _, w := range row {
			fmt.Fprintf(&b, "\t%d", int(math.Round(w*100)))
		}
		b.WriteByte('\n')
	}
	return []byte(b.String()), nil
}

// examples are the names of a record.
func examples(model *tagger.Model, line []byte) ([]typing.Example, error) {
	var r struct {
		Text, Lang string
		Spans      []struct {
			Type, Text string
			N          int
		}
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	if r.Lang != "" && r.Lang != "en" {
		return nil, nil
	}
	t := typing.Text{Model: model, Text: r.Text}
	for sentence := range text.Sentences(r.Text) {
		t.Tokens = tagger.Tokens(t.Tokens, r.Text, sentence)
	}
	for _, x := range t.Tokens {
		t.Lows = append(t.Lows, strings.ToLower(r.Text[x.Start:x.End]))
	}
	var all []typing.Example
	for _, s := range r.Spans {
		kind, at := slices.Index(typesOrder, s.Type), 0
		for range max(1, s.N) {
			i := strings.Index(r.Text[at:], s.Text)
			if i < 0 {
				kind = -1
				break
			}
			at += i + len(s.Text)
		}
		if kind < 0 {
			continue
		}
		from := slices.IndexFunc(t.Tokens, func(x tagger.Token) bool { return x.End > at-len(s.Text) })
		to := from
		for to >= 0 && to < len(t.Tokens) && t.Tokens[to].Start < at {
			to++
		}
		for to > from+1 && t.Lows[from] == "the" {
			from++
		}
		if to > from && from >= 0 {
			clues, _ := t.Clues(nil, from, to)
			all = append(all, typing.Example{Clues: clues, Type: kind})
		}
	}
	return all, nil
}
