// Command tagged says how well names, times and statements are read from labelled texts: by the rules of brain/extract,
// and by these with a reader.
//
//	go run ./bench/tagged [-reader PACK] [-gold] [-held] FILE.jsonl…
//
// A file holds lines of train/data's spans or times. With -gold the labels themselves are handed over as what a reader
// finds: the best that the rules behind it can do. With -held only what training leaves out counts. A name is found
// if its words overlap with those of a label; a date if a moment of the timeline lies within the labelled days; a
// statement if it is in a sentence that is labelled as one of its kind.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"regexp"
	"strings"
	"time"

	"orgmem/bench/internal/data"
	"orgmem/brain/claim"
	"orgmem/brain/embed"
	"orgmem/brain/extract"
	"orgmem/brain/extract/recurrence"
	"orgmem/brain/reader"
	"orgmem/brain/text"
)

// Held out of training is one block of ten records in seven.
const block, ofBlocks, heldOut = 10, 7, 3

// record is a line of either kind.
type record struct {
	ID, Text, At string
	Spans        []struct {
		Type, Text string
		N          int
	}
	Events []struct {
		Phrase, Start, End, Tense string
		N                         int
	}
	Recurring []string
	Classes   map[string]string // of sentences
}

// tally counts labels, what was found, and how much of that is right.
type tally struct{ labels, found, right, hit, exact, typed int }

type bench struct {
	reader  *reader.Worker // nil: the rules alone
	gold    bool
	verbose bool
	claims  claim.Reader

	names             tally
	nameless, clean   int
	byType, typedOf   map[string]int
	times             tally
	dated, allRight   int
	undated, keptFree int
	statements        map[extract.StatementKind]*tally
}

func main() {
	pack := flag.String("reader", "", "pack of a reader")
	gold := flag.Bool("gold", false, "hand over the labels as a reader's")
	held := flag.Bool("held", false, "count only what training leaves out")
	verbose := flag.Bool("v", false, "print what is wrong")
	flag.Parse()
	b := &bench{gold: *gold, verbose: *verbose, byType: map[string]int{}, typedOf: map[string]int{}}
	b.statements = map[extract.StatementKind]*tally{extract.Preference: {}, extract.Belief: {}}
	if *pack != "" {
		model, err := embed.Load(nil)
		if err != nil {
			log.Fatal(err)
		}
		r, err := data.Reader(*pack, model)
		if err != nil {
			log.Fatal(err)
		}
		if !r.CanTag() {
			log.Fatal("this reader does not tag")
		}
		b.reader = r.NewWorker()
	}
	for _, file := range flag.Args() {
		n := 0
		if err := data.Lines(file, func(line []byte) error {
			n++
			if *held && (n-1)/block%ofBlocks != heldOut {
				return nil
			}
			var r record
			if err := json.Unmarshal(line, &r); err != nil {
				return err
			}
			return b.read(&r, strings.Contains(string(line), `"events":`))
		}); err != nil {
			log.Fatal(err)
		}
	}
	b.report()
}

func (b *bench) read(r *record, times bool) error {
	d := extract.Document{Text: r.Text}
	if day, err := time.Parse(time.DateOnly, r.At); err == nil {
		d.AtMs = day.Add(12 * time.Hour).UnixMilli()
	}
	switch {
	case b.gold:
		d.Tagged = labelled(r, times)
	case b.reader != nil:
		tagged, err := b.reader.Tags([]string{r.Text}, func() error { return nil })
		if err != nil {
			return err
		}
		d.Tagged = &tagged[0]
	}
	found, _, err := recurrence.While(d, func() error { return nil })
	if err != nil {
		return err
	}
	if times {
		b.timesOf(r, &d, &found)
	} else {
		b.namesOf(r, &found)
		b.statementsOf(r, &found)
	}
	return nil
}

// place is where the nth occurrence of a phrase stands.
func place(s, phrase string, n int) (text.Span, bool) {
	at := 0
	for range max(1, n) {
		i := strings.Index(s[at:], phrase)
		if i < 0 {
			return text.Span{}, false
		}
		at += i + len(phrase)
	}
	return text.Span{Start: at - len(phrase), End: at}, phrase != ""
}

var typeOf = map[string]reader.Type{
	"person": reader.Person, "organization": reader.Organization, "product": reader.Product, "place": reader.Place,
	"project": reader.Project, "event": reader.Event, "identifier": reader.Identifier, "quantity": reader.Quantity,
	"money": reader.Money, "duration": reader.Duration, "time": reader.Time,
}

var tenseOf = map[string]reader.Tense{"past": reader.Past, "present": reader.Present, "future": reader.Future}

var words = regexp.MustCompile(`\w+|[^\w\s]`)

// labelled is what a reader would make of a text that is always right. Of a text with labels of times alone it knows no
// names.
func labelled(r *record, times bool) *reader.Tagged {
	t := &reader.Tagged{Until: len(r.Text)}
	add := func(phrase string, n int, k reader.Type, tense reader.Tense) {
		if at, ok := place(r.Text, phrase, n); ok {
			t.Spans = append(t.Spans, reader.Span{Span: at, Type: k, P: 1, Tense: tense, TenseP: 1, Told: 1})
		}
	}
	for _, s := range r.Spans {
		add(s.Text, s.N, typeOf[s.Type], reader.Untold)
	}
	for _, e := range r.Events {
		add(e.Phrase, e.N, reader.Time, tenseOf[e.Tense])
	}
	for _, phrase := range r.Recurring {
		add(phrase, 1, reader.Time, reader.Recurring)
	}
	sortSpans(t)
	for _, w := range words.FindAllStringIndex(r.Text, -1) {
		word := reader.Word{Start: int32(w[0]), End: int32(w[1])}
		if times {
			word.Name = 1
		}
		for _, s := range t.Spans {
			if s.Start < w[1] && w[0] < s.End {
				if s.Type == reader.Time {
					word.Time = 1
				} else if s.Type <= reader.Identifier {
					word.Name = 1
					if s.Type < reader.Identifier {
						word.Of[s.Type] = 1
					}
				}
			}
		}
		t.Words = append(t.Words, word)
	}
	return t
}

// sortSpans puts spans in order, and drops those that overlap with one before.
func sortSpans(t *reader.Tagged) {
	kept := t.Spans[:0:0]
	for len(t.Spans) > 0 {
		first := 0
		for i, s := range t.Spans {
			if s.Start < t.Spans[first].Start {
				first = i
			}
		}
		s := t.Spans[first]
		t.Spans = append(t.Spans[:first], t.Spans[first+1:]...)
		if n := len(kept); n == 0 || kept[n-1].End <= s.Start {
			kept = append(kept, s)
		}
	}
	t.Spans = kept
}
