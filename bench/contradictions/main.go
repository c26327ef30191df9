// Command contradictions fits the weights of brain/conflict's model of opposite
// meaning and prints them as Go source, with what they are worth on pairs that
// they were not fitted to.
//
//	go run ./bench/contradictions -pairs PAIRS.jsonl.gz -background CORPUS.jsonl.gz
//
// PAIRS holds lines of {a, b, label} where label is "contradiction" or anything
// else; the shipped weights come from the claims and rationale sentences of
// SciFact (CC BY 4.0). BACKGROUND holds lines of {text}: sentences that contradict
// nothing (passages of Wikipedia), of which the nearest pairs teach the model that
// nearness alone is no conflict. The result depends on the files only.
package main

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"slices"

	"orgmem/bench/internal/data"
	"orgmem/brain/claim"
	"orgmem/brain/conflict"
	"orgmem/brain/embed"
	"orgmem/brain/text"
)

const (
	// maxBackground bounds the background: its pairs are all compared.
	maxBackground = 4000
	// backgroundWeight makes all background pairs together about as heavy as the
	// labelled ones.
	backgroundWeight = 0.1
	// folds is into how many parts the claims are split for the held-out figures.
	folds = 10
)

// example is a pair as the model sees it.
type example struct {
	features conflict.Features
	opposed  bool
	weight   float64
	fold     int // −1: background
}

func main() {
	pairs := flag.String("pairs", "", "file of labelled pairs")
	background := flag.String("background", "", "file of texts that contradict nothing")
	flag.Parse()
	examples, err := load(*pairs, *background)
	if err != nil {
		log.Fatal(err)
	}
	heldOut(examples)
	fmt.Printf("var weights = Features{\n")
	for _, w := range fit(examples, folds) {
		fmt.Printf("\t%.3f,\n", w)
	}
	fmt.Println("}")
}

// maker turns texts into examples.
type maker struct {
	encoder *embed.Encoder
	dim     int
	reader  claim.Reader
	judge   conflict.Judge
}

func load(pairs, background string) ([]example, error) {
	model, err := embed.Load(nil)
	if err != nil {
		return nil, err
	}
	m := &maker{encoder: model.NewEncoder(), dim: model.Dim()}
	var out []example
	var labelled []struct{ A, B, Label string }
	err = data.Lines(pairs, func(line []byte) error {
		labelled = append(labelled, struct{ A, B, Label string }{})
		return json.Unmarshal(line, &labelled[len(labelled)-1])
	})
	if err != nil {
		return nil, err
	}
	opposed := 0
	for _, p := range labelled {
		vectors := m.vectors([]string{p.A, p.B})
		f, ok := m.judge.FeaturesOf(m.passage(p.A), m.passage(p.B), float64(data.Dot(vectors[0], vectors[1])))
		if !ok {
			continue
		}
		// A claim stands in several pairs: all of them fall into one fold.
		h := fnv.New32a()
		_, _ = io.WriteString(h, p.A)
		e := example{features: f, opposed: p.Label == "contradiction", weight: 1, fold: int(h.Sum32() % folds)}
		if e.opposed {
			opposed++
		}
		out = append(out, e)
	}
	for i := range out { // both classes weigh the same
		if out[i].opposed {
			out[i].weight = float64(len(out)-opposed) / float64(opposed)
		}
	}
	near, err := m.unrelated(background)
	return append(out, near...), err
}

// unrelated gives the pairs of neighbours among sentences of the background.
func (m *maker) unrelated(file string) ([]example, error) {
	var sentences []string
	err := data.Lines(file, func(line []byte) error {
		var doc struct{ Text string }
		if err := json.Unmarshal(line, &doc); err != nil {
			return err
		}
		for sp := range text.Sentences(doc.Text) {
			if s := doc.Text[sp.Start:sp.End]; len(s) > 30 && len(s) < 400 && len(sentences) < maxBackground {
				sentences = append(sentences, s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	vectors := m.vectors(sentences)
	passages := make([]*conflict.Passage, len(sentences))
	for i, s := range sentences {
		passages[i] = m.passage(s)
	}
	type neighbour struct {
		at     int
		cosine float64
	}
	var out []example
	for i := range sentences {
		var near []neighbour
		for k := range i {
			if c := float64(data.Dot(vectors[i], vectors[k])); c > 0.5 {
				near = append(near, neighbour{k, c})
			}
		}
		slices.SortFunc(near, func(a, b neighbour) int { return cmp.Compare(b.cosine, a.cosine) })
		for _, n := range near[:min(len(near), conflict.Neighbours)] {
			if f, ok := m.judge.FeaturesOf(passages[i], passages[n.at], n.cosine); ok {
				out = append(out, example{features: f, weight: backgroundWeight, fold: -1})
			}
		}
	}
	return out, nil
}

func (m *maker) passage(s string) *conflict.Passage {
	return &conflict.Passage{Text: s, Claims: claim.Stated(m.reader.Read(claim.Source{Text: s}))}
}

func (m *maker) vectors(texts []string) [][]float32 {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = make([]float32, m.dim)
	}
	const batch = 32
	for i := 0; i < len(texts); i += batch {
		end := min(i+batch, len(texts))
		m.encoder.Passages(out[i:end], texts[i:end])
	}
	return out
}

// heldOut prints precision (with as many opposed as other pairs) and recall by
// threshold, each fold judged by weights of the others.
func heldOut(examples []example) {
	type judged struct {
		z       float64
		opposed bool
	}
	var all []judged
	for fold := range folds {
		w := fit(examples, fold)
		for _, e := range examples {
			if e.fold == fold {
				all = append(all, judged{logit(w, e.features), e.opposed})
			}
		}
	}
	for z := -2.0; z <= 2; z += 0.5 {
		var hits, alarms, opposed, others float64
		for _, j := range all {
			switch {
			case j.opposed && j.z >= z:
				hits++
				opposed++
			case j.opposed:
				opposed++
			case j.z >= z:
				alarms++
				others++
			default:
				others++
			}
		}
		recall, alarm := hits/opposed, alarms/others
		fmt.Printf("// logit %4.1f: precision %.3f recall %.3f\n", z, recall/(recall+alarm), recall)
	}
}
