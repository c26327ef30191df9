package reader_test

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the reference
	"encoding/json"
	"errors"
	"math"
	"testing"
	"unicode/utf8"

	"orgmem/brain/embed"
	"orgmem/brain/reader"
)

// reference is what torch made of 200 held-out pairs, 200 questions with passages and 200 texts, with the weights
// before they were rounded and packed (train/reference.py).
//
//go:embed testdata/reference.json.gz
var reference []byte

// apart is how far a probability may be from torch's, whose weights have 32 bits and not eight.
const apart = 0.06

// TestReadsAsTorchDoes: the readers inside the binary give what they gave where they were trained.
func TestReadsAsTorchDoes(t *testing.T) {
	t.Parallel()
	var want struct {
		Pairs []struct {
			A, B string
			P    [3]float64
		}
		Questions []struct {
			Question, Passage, Span string
			Answers                 float64
		}
		Texts []struct {
			Text  string
			Words [][3]float64 // where a word begins in characters, and how likely it is of a name and of a time
			// Where a sentence begins and ends, and how likely it is of each class.
			Sentences [][2 + reader.Classes]float64
		}
	}
	z, err := gzip.NewReader(bytes.NewReader(reference))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&want); err != nil {
		t.Fatal(err)
	}
	base, err := embed.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reader.Load(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := r.NewWorker()
	far, other := 0.0, 0
	for _, p := range want.Pairs {
		v := w.Read(nil, []reader.Pair{{A: p.A, B: p.B}})[0]
		got := [3]float64{v.Contradict, v.Entail, v.Neutral}
		for i := range got {
			far = max(far, math.Abs(got[i]-p.P[i]))
		}
		if most(got) != most(p.P) {
			other++
		}
	}
	t.Logf("pairs: at most %.4f apart, %d of %d are something else", far, other, len(want.Pairs))
	if len(want.Pairs) < 200 || far > apart || other > 2 {
		t.Error("pairs are read otherwise")
	}
	far, other = 0, 0
	for _, q := range want.Questions {
		got := readings(w, q.Question, []reader.Passage{{Text: q.Passage}})[0]
		far = max(far, math.Abs(got.Answers-q.Answers))
		if q.Passage[got.Span.Start:got.Span.End] != q.Span {
			other++
		}
	}
	t.Logf("questions: at most %.4f apart, %d of %d spans are others", far, other, len(want.Questions))
	if len(want.Questions) < 200 || far > apart || other > 8 {
		t.Error("questions are read otherwise")
	}
	words, distant := 0, 0
	far = 0
	var classes classed
	for _, x := range want.Texts {
		got, err := w.Tags([]string{x.Text}, onward)
		if err != nil {
			t.Fatal(err)
		}
		if len(got[0].Words) != len(x.Words) {
			t.Fatalf("%d words in %q, want %d", len(got[0].Words), x.Text, len(x.Words))
		}
		for i, word := range got[0].Words {
			if begins := utf8.RuneCountInString(x.Text[:word.Start]); begins != int(x.Words[i][0]) {
				t.Fatalf("word %d of %q begins at %d, want %g", i, x.Text, begins, x.Words[i][0])
			}
			d := max(math.Abs(float64(word.Name)-x.Words[i][1]), math.Abs(float64(word.Time)-x.Words[i][2]))
			if far = max(far, d); d > apart {
				distant++
			}
			words++
		}
		classes.compare(x.Text, got[0].Sentences, x.Sentences)
	}
	t.Logf("texts: at most %.4f apart, %d of %d words by more than %g", far, distant, words, apart)
	if len(want.Texts) < 200 || distant > words/500 {
		t.Error("texts are read otherwise")
	}
	t.Logf("sentences: at most %.4f apart, %d of %d are something else", classes.far, classes.other, classes.many)
	if classes.many < 200 || classes.far > apart || classes.other > 3 {
		t.Error("sentences are read otherwise")
	}
}

// classed are sentences that were compared with torch's.
type classed struct {
	far         float64
	many, other int
}

// compare compares those that end where a labelled one does.
func (c *classed) compare(text string, got []reader.Sentence, want [][2 + reader.Classes]float64) {
	for _, s := range got {
		from := utf8.RuneCountInString(text[:s.Start])
		to := from + utf8.RuneCountInString(text[s.Start:s.End])
		for _, w := range want {
			if int(w[0]) != from || int(w[1]) != to {
				continue
			}
			c.many++
			most, best := 0, 0
			for k, p := range s.P {
				c.far = max(c.far, math.Abs(float64(p)-w[2+k]))
				if p > s.P[most] {
					most = k
				}
				if w[2+k] > w[2+best] {
					best = k
				}
			}
			if most != best {
				c.other++
			}
		}
	}
}

func most(p [3]float64) (at int) {
	for i := range p {
		if p[i] > p[at] {
			at = i
		}
	}
	return at
}

// abroadReference is what torch made of 200 held-out questions with passages in seventeen languages, with the weights
// as they are shipped (train/reference_abroad.py).
//
//go:embed testdata/abroad.json.gz
var abroadReference []byte

// TestReadsAbroadAsTorchDoes: the reader of all languages gives what it gave where it was trained, but for what eight
// bits of its inputs are worth, and two of words that had four there: .037 of a probability in the mean.
func TestReadsAbroadAsTorchDoes(t *testing.T) {
	t.Parallel()
	var want []struct {
		Question, Passage, Span string
		Answers                 float64
	}
	z, err := gzip.NewReader(bytes.NewReader(abroadReference))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&want); err != nil {
		t.Fatal(err)
	}
	base, err := embed.LoadMultilingual(nil)
	if err != nil {
		t.Fatal(err)
	}
	unloaded := false
	r, err := reader.LoadAbroad(base, nil, func() { unloaded = true })
	if err != nil {
		t.Fatal(err)
	}
	if !r.AsksAbroad() || unloaded {
		t.Fatal("it is loaded before it is asked")
	}
	w := r.NewWorker()
	far, sum, spans, sides := 0.0, 0.0, 0, 0
	for _, q := range want {
		got := readings(w, q.Question, []reader.Passage{{Text: q.Passage}})[0]
		d := math.Abs(got.Answers - q.Answers)
		far, sum = max(far, d), sum+d
		if (got.Answers > 0.5) != (q.Answers > 0.5) {
			sides++
		}
		if said := q.Passage[got.Span.Start:got.Span.End]; q.Answers > 0.5 && said != q.Span {
			spans++
		}
	}
	mean := sum / float64(len(want))
	t.Logf("%.4f apart, %.4f at most; %d of %d on the other side of a half; %d spans of those that answer are others",
		mean, far, sides, len(want), spans)
	if len(want) != 200 || !unloaded || mean > 0.045 || sides > 14 || spans > 14 {
		t.Error("questions are read otherwise")
	}
	_, err = reader.LoadAbroad(must(embed.Load(nil)), nil, func() {})
	if !errors.Is(err, embed.ErrPack) {
		t.Errorf("over another model: %v", err)
	}
}

func must(m *embed.Model, err error) *embed.Model {
	if err != nil {
		panic(err)
	}
	return m
}
