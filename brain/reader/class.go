package reader

import (
	"math"
	"slices"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/text"
)

// HeadClassLook tells how much each token of a sentence counts in each of some weighted means of its states;
// HeadClassHidden and HeadClassOut are the layers on these means that tell the sentence's class. They read the states
// that tags are read from. A pack may lack them.
const (
	HeadClassLook   = "class.look"
	HeadClassHidden = "class.hidden"
	HeadClassOut    = "class.out"
)

// Class is what a sentence is for.
type Class uint8

// The classes of sentences, in the order of the head.
const (
	Happening   Class = iota // something happened, or will
	Commitment               // somebody is to do something, or says that they will
	Preference               // somebody likes or wants something rather than something else
	Belief                   // somebody holds something to be so
	Decision                 // something was decided
	Question                 // something is asked
	Instruction              // the reader is told to do something
	Plain                    // none of these
	classes
)

// Classes is how many classes there are.
const Classes = int(classes)

// Sentence is a sentence of a text, with how likely it is of each class.
type Sentence struct {
	text.Span
	P [Classes]float32
}

// looks is how many weighted means of a sentence's states its class is read from, and classHidden the width of the
// layer on them, as in training.
const looks, classHidden = 4, 48

type classHeads struct{ look, hidden, out packfile.Linear }

// loadClasses returns nil where a pack has none of the heads.
func loadClasses(tower *embed.Tower) (*classHeads, error) {
	if !tower.HasHead(HeadClassLook) && !tower.HasHead(HeadClassHidden) && !tower.HasHead(HeadClassOut) {
		return nil, nil
	}
	h, dim := &classHeads{}, tower.Dim()
	var err error
	if h.look, err = tower.Head(HeadClassLook, dim, looks); err != nil {
		return nil, err
	}
	if h.hidden, err = tower.Head(HeadClassHidden, looks*dim, classHidden); err != nil {
		return nil, err
	}
	if h.out, err = tower.Head(HeadClassOut, classHidden, Classes); err != nil {
		return nil, err
	}
	return h, nil
}

// CanClassify tells whether what the reader makes of a text has its sentences.
func (r *Reader) CanClassify() bool { return r.tag != nil && r.tag.class != nil }

// classify adds the sentences of a window, which end at some of its tokens.
func (w *Worker) classify(to *Tagged, ends []int, places []text.Span, states []float32) {
	h := w.r.tag.class
	if h == nil {
		return
	}
	dim, from := w.r.tag.tower.Dim(), 0
	for _, end := range ends {
		s := Sentence{Span: text.Span{Start: places[from].Start, End: places[end-1].End}}
		w.classOf(&s, h, states[(1+from)*dim:(1+end)*dim], end-from)
		to.Sentences = append(to.Sentences, s)
		from = end
	}
}

// classOf reads the class of a sentence from the states of its tokens.
func (w *Worker) classOf(s *Sentence, h *classHeads, states []float32, tokens int) {
	t, dim := &w.tagging, len(states)/tokens
	t.looks = slices.Grow(t.looks[:0], tokens)[:tokens]
	t.means = slices.Grow(t.means[:0], looks*dim)[:looks*dim]
	clear(t.means)
	most := [looks]float32{}
	for i := range t.looks {
		dense(t.looks[i][:], &h.look, states[i*dim:(i+1)*dim])
		for j, v := range t.looks[i] {
			if most[j] = max(most[j], v); i == 0 {
				most[j] = v
			}
		}
	}
	for j := range looks {
		mean, sum := t.means[j*dim:(j+1)*dim], 0.0
		for i := range t.looks {
			sum += math.Exp(float64(t.looks[i][j] - most[j]))
		}
		for i := range t.looks {
			p := float32(math.Exp(float64(t.looks[i][j]-most[j])) / sum)
			for d, v := range states[i*dim : (i+1)*dim] {
				mean[d] += float32(p * v)
			}
		}
	}
	var hidden [classHidden]float32
	dense(hidden[:], &h.hidden, t.means)
	for i, v := range hidden {
		hidden[i] = float32(math.Tanh(float64(v)))
	}
	var logits [Classes]float32
	var p [Classes]float64
	dense(logits[:], &h.out, hidden[:])
	softmax(p[:], logits[:])
	for i, v := range p {
		s.P[i] = float32(v)
	}
}
