// Command adverse says how much worse disturbed text is read than the same text in plain: with typos, in capitals, with
// emoji, look-alike letters or invisible marks, as speech, code or a table, and with orders to who reads it.
//
//	go run ./bench/adverse [-v] train/data/own_test/adverse-{pairs,qa,spans,times}.jsonl.gz
//
// A line is a record of train/data; what is disturbed has base, the plain record that it was made of, and how. The
// reader inside the binary reads, and what is behind it decides as in the service. Right is: a pair that is reported as
// a contradiction, or is not, as its label says; a question with the answer and nothing wrong, or with none where there
// is none; a text of which every name is found, and nothing else; a note of which every date is, and nothing else.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"

	"orgmem/bench/internal/data"
	"orgmem/brain/claim"
	"orgmem/brain/conflict"
	"orgmem/brain/embed"
	"orgmem/brain/reader"
)

// The kinds of records, by what a line has, and what is measured of each.
const (
	pairs     = "pairs"
	labels    = "labels" // of pairs: whether the reader alone gives each its label
	questions = "questions"
	names     = "names"
	times     = "times"
)

var tasks = []string{pairs, labels, questions, names, times}

// record is a line of any kind.
type record struct {
	ID, Base, How string

	A, B, Label string

	Question string
	Passages []struct{ Text, Who, At string }
	Answer   *struct {
		Passage int
		Span    string
	}
	Also, Wrong []string

	Text, At string
	Spans    []struct {
		Type, Text string
		N          int
	}
	Events []struct{ Phrase, Start, End string }
}

// result is how well a record is read by a measure, from 0 to 1.
type result struct {
	task, id, base, how string
	right               float64
}

// bench reads with the reader that is shipped.
type bench struct {
	reader  *reader.Worker
	encoder *embed.Encoder
	search  *data.Search
	dim     int
	judge   conflict.Judge
	claims  claim.Reader
	verbose bool

	results []result
}

func newBench() (*bench, error) {
	model, err := embed.Load(nil)
	if err != nil {
		return nil, err
	}
	r, err := reader.Load(model, nil)
	if err != nil {
		return nil, err
	}
	return &bench{reader: r.NewWorker(), encoder: model.NewEncoder(), search: data.NewSearch(model), dim: model.Dim()}, nil
}

func main() {
	verbose := flag.Bool("v", false, "print what is wrong")
	flag.Parse()
	b, err := newBench()
	if err != nil {
		log.Fatal(err)
	}
	b.verbose = *verbose
	for _, file := range flag.Args() {
		if err := data.Lines(file, b.line); err != nil {
			log.Fatal(err)
		}
	}
	for _, line := range table(b.results) {
		fmt.Println(line)
	}
}

// line reads a record.
func (b *bench) line(line []byte) error {
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	all := []*record{&r}
	if r.Question != "" && r.Base == "" {
		all = append(all, steered(&r))
	}
	for _, x := range all {
		said := b.read(x, strings.Contains(string(line), `"events":`))
		if b.verbose && said != "" {
			fmt.Println(x.ID, cmp.Or(x.How, "plain")+":", said)
		}
	}
	return nil
}

// read adds what becomes of a record, and says what is wrong.
func (b *bench) read(r *record, dated bool) string {
	add := func(task string, right float64) {
		b.results = append(b.results, result{task: task, id: r.ID, base: r.Base, how: r.How, right: right})
	}
	switch {
	case r.Label != "":
		found, verdict := b.pair(r)
		add(pairs, one(found == (r.Label == "contradict")))
		add(labels, one(labelOf(verdict) == r.Label))
		if found != (r.Label == "contradict") {
			return fmt.Sprintf("%s, found %v, %+.2v\n    %q\n    %q", r.Label, found, verdict, r.A, r.B)
		}
	case r.Question != "":
		told, right := b.question(r)
		if add(questions, one(right)); !right {
			return fmt.Sprintf("%q: %q\n    want %+v", r.Question, told, r.Answer)
		}
	case dated:
		found, right := b.dates(r)
		if add(times, one(right)); !right {
			return fmt.Sprintf("%q: %v\n    want %v", r.Text, found, r.Events)
		}
	default:
		found, right := b.names(r)
		if add(names, right); right < 1 {
			return fmt.Sprintf("%q: %q\n    want %v", r.Text, found, r.Spans)
		}
	}
	return ""
}

func one(right bool) float64 {
	if right {
		return 1
	}
	return 0
}

// loss is how well the records of a task that were disturbed in a way are read, beside the plain ones that they were
// made of.
type loss struct {
	records, plain, disturbed float64
}

func (l *loss) add(plain, disturbed float64) {
	l.records, l.plain, l.disturbed = l.records+1, l.plain+plain, l.disturbed+disturbed
}

// shares are of the plain records and of the disturbed ones.
func (l *loss) shares() (plain, disturbed float64) {
	return l.plain / max(1, l.records), l.disturbed / max(1, l.records)
}

// losses are those of each task, and of each way of disturbing; "" is of all ways together.
func losses(results []result) map[string]map[string]*loss {
	plain := map[[2]string]float64{}
	for _, x := range results {
		if x.base == "" {
			plain[[2]string{x.task, x.id}] = x.right
		}
	}
	all := map[string]map[string]*loss{}
	for _, x := range results {
		was, known := plain[[2]string{x.task, x.base}]
		if !known {
			continue
		}
		of := all[x.task]
		if of == nil {
			of = map[string]*loss{}
			all[x.task] = of
		}
		for _, how := range []string{"", x.how} {
			if of[how] == nil {
				of[how] = &loss{}
			}
			of[how].add(was, x.right)
		}
	}
	return all
}

// table is the losses as lines of Markdown: of each way and task how many records, and the shares that are right in
// plain and disturbed.
func table(results []result) []string {
	all := losses(results)
	ways := map[string]bool{}
	for _, of := range all {
		for how := range of {
			ways[how] = true
		}
	}
	lines := []string{"| | " + strings.Join(tasks, " | ") + " |", "|" + strings.Repeat("---|", len(tasks)+1)}
	for _, how := range slices.Sorted(maps.Keys(ways)) {
		cells := []string{cmp.Or(how, "all")}
		for _, task := range tasks {
			l := all[task][how]
			if l == nil {
				cells = append(cells, "")
				continue
			}
			plain, disturbed := l.shares()
			cells = append(cells, fmt.Sprintf("%.2f → %.2f (%.0f)", plain, disturbed, l.records))
		}
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
	}
	return lines
}
