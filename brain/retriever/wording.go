package retriever

import (
	"math"
	"slices"
)

// wording is what a walk takes out of a question's text: its words with what they tell,
// and the concepts that it names.
type wording struct {
	lex      lexer
	sight    sight
	concepts []found
	stems    []uint32
	words    int
	info     []float32 // of each stem
	total    float32   // of all
}

// read finds the names and the words of the question.
func (w *wording) read(q string) {
	w.concepts = w.concepts[:0]
	words := w.lex.words(q)
	w.words = len(words)
	w.stems = append(w.stems[:0], stemsOf(words)...)
	w.info, w.total = w.info[:0], 0
	for _, s := range w.stems {
		r := w.sight.g.rarityOf(s)
		w.info = append(w.info, r)
		w.total += r
	}
	w.sight.find(words, false, func(f found) {
		for _, c := range w.concepts {
			if c.concept == f.concept {
				return
			}
		}
		w.concepts = append(w.concepts, f)
	})
}

// overlap is the share of the question's information that a sentence holds.
func (w *wording) overlap(sentence int32) float32 {
	if w.total == 0 {
		return 0
	}
	s := w.sight.g.sentences.of(sentence)
	var sum float32
	for i, t := range w.stems {
		if _, ok := slices.BinarySearch(s, t); ok {
			sum += w.info[i]
		}
	}
	return sum / w.total
}

// seedFeatures are what a concept that the question names weighs by.
func (w *wording) seedFeatures(c found) []float64 {
	plain := 0.0
	if !w.sight.subject(c.concept) {
		plain = 1
	}
	return []float64{1, float64(w.sight.g.spread[c.concept]), math.Log(float64(c.words)), plain}
}
