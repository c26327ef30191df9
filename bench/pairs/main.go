// Command pairs says how well labelled pairs of notes are told apart, each pair alone in a memory: by the rules of
// brain/conflict, and by these with a reader.
//
//	go run ./bench/pairs -reader PACK FILE.jsonl…
//
// A file holds lines of train/data's pairs: a and b, the statements; context_a and context_b, the notes that they stand
// in, if they do not stand alone; at_a and at_b, the days of writing; label. Found is what is reported of the two
// notes.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"orgmem/bench/internal/data"
	"orgmem/brain/claim"
	"orgmem/brain/conflict"
	"orgmem/brain/embed"
	"orgmem/brain/reader"
)

// pair is a record.
type pair struct {
	ID, A, B, Label, Kind string
	ContextA              string `json:"context_a"`
	ContextB              string `json:"context_b"`
	AtA                   string `json:"at_a"`
	AtB                   string `json:"at_b"`
}

// tally counts what was found of what is labelled a contradiction, and beside it.
type tally struct{ right, wrong int }

func main() {
	pack := flag.String("reader", "", "pack of a reader")
	verbose := flag.Bool("v", false, "print of each pair: contradiction, found, found by rules, probability, "+
		"candidates, id, kind, rule")
	flag.Parse()
	model, err := embed.Load(nil)
	if err != nil {
		log.Fatal(err)
	}
	b := &bench{encoder: model.NewEncoder(), dim: model.Dim(), verbose: *verbose}
	r, err := data.Reader(*pack, model)
	if err != nil {
		log.Fatal(err)
	}
	b.reader = r.NewWorker()
	for _, file := range flag.Args() {
		if err := data.Lines(file, b.line); err != nil {
			log.Fatal(err)
		}
	}
	b.report()
}

type bench struct {
	encoder *embed.Encoder
	dim     int
	claims  claim.Reader
	judge   conflict.Judge
	reader  *reader.Worker
	verbose bool

	pairs, contradictions int
	rules, both           tally
	candidates            int
	asked                 int // contradictions whose two statements are among the candidates
}

func (b *bench) line(line []byte) error {
	var p pair
	if err := json.Unmarshal(line, &p); err != nil {
		return err
	}
	texts := []string{cmp.Or(p.ContextA, p.A), cmp.Or(p.ContextB, p.B)}
	vectors := [][]float32{make([]float32, b.dim), make([]float32, b.dim)}
	b.encoder.Passages(vectors, texts)
	near := conflict.Near{Cosine: float64(data.Dot(vectors[0], vectors[1])), Rank: 1, Of: len(texts)}
	x, y := b.passage(texts[0], p.AtA), b.passage(texts[1], p.AtB)
	contradict := p.Label == "contradict"
	b.pairs++
	if contradict {
		b.contradictions++
	}
	rule, ruled := b.judge.Compare(x, y, near)
	found := false
	candidates := b.judge.Candidates(nil, x, y, near)
	var asked []reader.Pair
	for _, c := range candidates {
		asked = append(asked, reader.Pair{
			A: reader.InNote(c.LeadA, c.TextA), B: reader.InNote(c.LeadB, c.TextB),
		})
	}
	most := 0.0
	for i, v := range b.reader.Read(nil, asked) {
		_, ok := candidates[i].Decide(v.Contradict)
		found, most = found || ok, max(most, v.Contradict)
	}
	b.candidates += len(candidates)
	if contradict && slices.ContainsFunc(candidates, func(c conflict.Candidate) bool {
		return overlap(c.TextA, p.A) && overlap(c.TextB, p.B)
	}) {
		b.asked++
	}
	b.rules.add(ruled, contradict)
	b.both.add(found, contradict)
	if b.verbose {
		fmt.Printf("%v\t%v\t%v\t%.4f\t%d\t%s\t%s\t%s\n", contradict, found, ruled, most, len(candidates), p.ID, p.Kind,
			rule.Kind)
	}
	return nil
}

// overlap tells whether one of two pieces of a text is in the other.
func overlap(a, b string) bool { return strings.Contains(a, b) || strings.Contains(b, a) }

func (t *tally) add(found, contradict bool) {
	switch {
	case found && contradict:
		t.right++
	case found:
		t.wrong++
	}
}

func (b *bench) passage(text, at string) *conflict.Passage {
	p := &conflict.Passage{Text: text, Claims: claim.Stated(b.claims.Read(claim.Source{Text: text}))}
	if day, err := time.Parse(time.DateOnly, at); err == nil {
		p.FromMs = day.UnixMilli()
	}
	return p
}

func (b *bench) report() {
	fmt.Printf("%d pairs, %d contradictions, %d candidates read, among them %d of the contradictions\n", b.pairs,
		b.contradictions, b.candidates, b.asked)
	for _, x := range []struct {
		name string
		tally
	}{{"rules", b.rules}, {"with the reader", b.both}} {
		fmt.Printf("%-16s precision %.3f, recall %.3f (%d right, %d wrong)\n", x.name,
			float64(x.right)/float64(max(1, x.right+x.wrong)), float64(x.right)/float64(max(1, b.contradictions)), x.right,
			x.wrong)
	}
}
