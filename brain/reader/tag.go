package reader

import (
	"fmt"
	"math"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/text"
	"orgmem/brain/text/undress"
)

// HeadTags tells what each word of a text belongs to, HeadTense when the times among them are. They may be read before
// the last layer, which is quicker. HeadSpelling has what each token gains by how its word is spelt, since the
// vocabulary knows no capitals; a pack may lack it.
const (
	HeadTags     = "tag.out"
	HeadTense    = "tense.out"
	HeadSpelling = "tag.spelling"
)

// Type is what a span of a text is.
type Type uint8

// The types of spans, in the order of the head.
const (
	Person Type = iota
	Organization
	Product
	Place
	Project
	Event
	Identifier
	Quantity
	Money
	Duration
	Time
	types
)

// Types is how many types there are.
const Types = int(types)

// Tense is when a time is, as its sentence tells.
type Tense uint8

// The tenses, in the order of the head; Untold is no time, or one whose sentence does not say.
const (
	Untold Tense = iota
	Past
	Present
	Future
	Recurring // again and again: it is no date
	tenses
)

// Span is a stretch of a text that is of one type.
type Span struct {
	text.Span
	Type Type
	P    float64 // of the type, from 0 to 1

	// Of a time, how likely Tense is, and how likely any of its words has one: what looks like a time and is none has
	// none.
	Tense        Tense
	TenseP, Told float64
}

// Names is how many types name something; they come first.
const Names = int(Identifier)

// Word is a word or mark of a text, [Start, End), with how likely it is part of a name (of an identifier, too) and of a
// time.
type Word struct {
	Start, End int32
	Name, Time float32
	Of         [Names]float32 // how likely it is part of a name of each type
}

// Tagged is what the reader makes of a text, in order.
type Tagged struct {
	Until int // as far as was read
	Spans []Span
	Words []Word
	// Sentences are empty where the pack has no head for their classes. One that is longer than is read at once stands
	// there in parts.
	Sentences []Sentence
}

// MaxTagged is how many bytes of a text are tagged. What a longer one speaks of is said by then: no more of its names
// become part of a graph than some hundreds.
const MaxTagged = 128 << 10

const (
	// maxWindow is how many tokens of a text are read at once, as in training.
	maxWindow = 200
	// windowsAtOnce are read between two questions whether to go on: at most some tenths of a second.
	windowsAtOnce = 8
	outside       = 0
	tagLabels     = 1 + 2*Types // outside, and of each type its begin and what follows
)

type tagHeads struct {
	tower      *embed.Tower // as far as the heads need it
	tag, tense packfile.Linear
	spellings  []float32   // [spellings][dim]; nil: spelling tells nothing
	class      *classHeads // nil: it tells nothing of sentences
}

// loadTags returns nil where a pack has none of the heads. One with a part of them is damaged.
func loadTags(tower *embed.Tower) (*tagHeads, error) {
	if !tower.HasHead(HeadTags) && !tower.HasHead(HeadTense) {
		return nil, nil
	}
	h, dim := &tagHeads{tower: tower.Before(HeadTags)}, tower.Dim()
	var err error
	if h.tag, err = tower.Head(HeadTags, dim, tagLabels); err != nil {
		return nil, err
	}
	if h.tense, err = tower.Head(HeadTense, dim, int(tenses)); err != nil {
		return nil, err
	}
	if tower.HasHead(HeadSpelling) {
		l, err := tower.Head(HeadSpelling, int(spellings), dim)
		if err != nil {
			return nil, err
		}
		h.spellings = make([]float32, len(l.W))
		for i, v := range l.W {
			h.spellings[i%int(spellings)*dim+i/int(spellings)] = v
		}
	}
	if h.class, err = loadClasses(tower); err != nil {
		return nil, err
	}
	if least := maxWindow + 2; tower.MaxTokens() < least {
		return nil, fmt.Errorf("%w: %d tokens, want %d", embed.ErrPack, tower.MaxTokens(), least)
	}
	return h, nil
}

// CanTag tells whether the reader tags texts.
func (r *Reader) CanTag() bool { return r.tag != nil }

// tagging is the scratch space of Tags.
type tagging struct {
	// The window that is being filled, and where in it a paragraph begins that may move into the next.
	ids       []int32
	spans     []text.Span
	kinds     []uint8 // how the words of the tokens are spelt
	parts     []int   // where the sentences end
	paragraph int

	// The windows that are read next, whose tokens are the worker's ids.
	spelt  []uint8     // of the tokens, marks included
	places []text.Span // of the tokens between the marks
	closed []int       // where the sentences end among the tokens of their window
	ends   []window

	logits [tagLabels]float32
	looks  [][looks]float32 // of a sentence: how much each token counts
	means  []float32        // [looks][dim]
	words  []taggedWord
	back   [][tagLabels]uint8
}

// window is where one ends among all windows.
type window struct {
	text, places, parts int
}

// taggedWord is a word of a window.
type taggedWord struct {
	at    text.Span
	state []float32
	p     [tagLabels]float64
}

// Tags reads texts, each up to MaxTagged bytes. goOn is asked now and then whether to go on; its error ends the reading
// and is returned, and nothing else is. A text has the same spans alone and among others.
func (w *Worker) Tags(texts []string, goOn func() error) ([]Tagged, error) {
	out := make([]Tagged, len(texts))
	if !w.r.CanTag() {
		return out, nil
	}
	t := &w.tagging
	t.ids, t.spans, t.kinds, t.parts = t.ids[:0], t.spans[:0], t.kinds[:0], t.parts[:0]
	w.none()
	for i, s := range texts {
		s = text.Truncate(s, MaxTagged)
		out[i].Until = len(s)
		if err := w.windows(i, s, out, goOn); err != nil {
			return nil, err
		}
	}
	if err := w.flush(out, goOn); err != nil {
		return nil, err
	}
	return out, nil
}

// windows cuts a text into windows: paragraphs as they fit in, and sentences where one does not.
func (w *Worker) windows(of int, s string, out []Tagged, goOn func() error) error {
	t, last, read := &w.tagging, 0, undress.InPlace(s)
	t.paragraph = 0
	for sentence := range text.Sentences(s) {
		if blank(s[last:sentence.Start]) {
			t.paragraph = len(t.ids)
		}
		last = sentence.End
		for at := sentence.Start; at < sentence.End; {
			first := len(t.ids)
			t.ids, t.spans = w.r.tag.tower.AppendTokenSpans(t.ids, t.spans, read[at:sentence.End], maxWindow+1)
			next := sentence.End
			if len(t.ids)-first > maxWindow { // between two words
				n := wordBegin(w.r.tag.tower, t.ids, len(t.ids)-1, first+1)
				next = at + t.spans[n].Start
				t.ids, t.spans = t.ids[:n], t.spans[:n]
			}
			for i := first; i < len(t.spans); i++ {
				t.spans[i].Start, t.spans[i].End = t.spans[i].Start+at, undress.EndOf(s, t.spans[i].End+at)
				t.kinds = append(t.kinds, uint8(spellingAt(s, t.spans[i].Start)))
			}
			if len(t.ids) > first {
				t.parts = append(t.parts, len(t.ids))
			}
			if len(t.ids) > maxWindow && t.paragraph > 0 && t.paragraph <= first {
				if err := w.close(of, t.paragraph, out, goOn); err != nil {
					return err
				}
				first -= t.paragraph
				t.paragraph = 0
			}
			if len(t.ids) > maxWindow {
				if err := w.close(of, first, out, goOn); err != nil {
					return err
				}
				t.paragraph = 0
			}
			at = next
		}
	}
	return w.close(of, len(t.ids), out, goOn)
}

// blank tells whether a gap between two sentences parts two paragraphs.
func blank(gap string) bool {
	lines := 0
	for i := range len(gap) {
		if gap[i] == '\n' {
			lines++
		}
	}
	return lines > 1
}

// close makes a window of the first n tokens, and leaves the others.
func (w *Worker) close(of, n int, out []Tagged, goOn func() error) error {
	if n == 0 {
		return nil
	}
	t := &w.tagging
	begin, end := w.r.tag.tower.Marks()
	w.ids = append(append(append(w.ids, begin), t.ids[:n]...), end)
	w.ends = append(w.ends, len(w.ids))
	t.spelt = append(append(append(t.spelt, 0), t.kinds[:n]...), 0)
	t.places = append(t.places, t.spans[:n]...)
	parts := 0
	for parts < len(t.parts) && t.parts[parts] <= n {
		parts++
	}
	t.closed = append(t.closed, t.parts[:parts]...)
	t.parts = append(t.parts[:0], t.parts[parts:]...)
	for i := range t.parts {
		t.parts[i] -= n
	}
	t.ends = append(t.ends, window{of, len(t.places), len(t.closed)})
	t.ids, t.spans = append(t.ids[:0], t.ids[n:]...), append(t.spans[:0], t.spans[n:]...)
	t.kinds = append(t.kinds[:0], t.kinds[n:]...)
	if len(t.ends) < windowsAtOnce {
		return nil
	}
	return w.flush(out, goOn)
}

// flush reads the windows that were closed.
func (w *Worker) flush(out []Tagged, goOn func() error) error {
	t := &w.tagging
	if len(t.ends) == 0 {
		return nil
	}
	if err := goOn(); err != nil {
		return err
	}
	first := window{}
	w.tag.Marked(w.sequencesOf(), t.spelt, w.r.tag.spellings, func(i int, states []float32) {
		x := t.ends[i]
		places := t.places[first.places:x.places]
		w.decode(&out[x.text], w.sequences[i], places, states)
		w.classify(&out[x.text], t.closed[first.parts:x.parts], places, states)
		first = x
	})
	w.none()
	return nil
}

// none leaves no windows to be read.
func (w *Worker) none() {
	t := &w.tagging
	w.ids, w.ends, t.spelt, t.places = w.ids[:0], w.ends[:0], t.spelt[:0], t.places[:0]
	t.closed, t.ends = t.closed[:0], t.ends[:0]
}

// decode adds the words and spans of a window. A word is what its first token is.
func (w *Worker) decode(to *Tagged, ids []int32, places []text.Span, states []float32) {
	t, dim := &w.tagging, w.r.tag.tower.Dim()
	t.words = t.words[:0]
	for i, at := range places {
		if w.r.tag.tower.ContinuesWord(ids[1+i]) && i > 0 {
			t.words[len(t.words)-1].at.End = at.End
			continue
		}
		t.words = append(t.words, taggedWord{at: at, state: states[(1+i)*dim : (2+i)*dim]})
		x := &t.words[len(t.words)-1]
		dense(t.logits[:], &w.r.tag.tag, x.state)
		softmax(x.p[:], t.logits[:])
	}
	for i := range t.words {
		x := &t.words[i]
		word := Word{Start: int32(x.at.Start), End: int32(x.at.End), Time: float32(x.of(Time))}
		name := x.of(Identifier)
		for k := range word.Of {
			p := x.of(Type(k))
			word.Of[k] = float32(p)
			name += p
		}
		word.Name = float32(name)
		to.Words = append(to.Words, word)
	}
	labels := w.path()
	for i := 0; i < len(labels); {
		if labels[i] == outside {
			i++
			continue
		}
		end, k := i+1, Type((labels[i]-1)/2)
		for end < len(labels) && labels[end] == inside(k) {
			end++
		}
		to.Spans = append(to.Spans, w.spanOf(t.words[i:end], k))
		i = end
	}
}

// of is how likely a word is of a type.
func (x *taggedWord) of(k Type) float64 { return x.p[begins(k)] + x.p[inside(k)] }

func begins(k Type) uint8 { return uint8(1 + 2*k) }
func inside(k Type) uint8 { return uint8(2 + 2*k) }

// spanOf is the span of words that are of one type.
func (w *Worker) spanOf(words []taggedWord, k Type) Span {
	s := Span{Span: text.Span{Start: words[0].at.Start, End: words[len(words)-1].at.End}, Type: k}
	for i := range words {
		s.P += words[i].of(k)
	}
	s.P /= float64(len(words))
	if k != Time {
		return s
	}
	var sum, p [tenses]float64
	for i := range words {
		dense(w.tagging.logits[:tenses], &w.r.tag.tense, words[i].state)
		softmax(p[:], w.tagging.logits[:tenses])
		for j, v := range p {
			sum[j] += v
		}
		s.Told = max(s.Told, 1-p[Untold])
	}
	for j := Past; j < tenses; j++ {
		if v := sum[j] / float64(len(words)); v > s.TenseP {
			s.Tense, s.TenseP = j, v
		}
	}
	return s
}

// path is the likeliest sequence of labels of the words in which nothing goes on that has not begun (Viterbi).
func (w *Worker) path() []uint8 {
	t := &w.tagging
	if len(t.words) == 0 {
		return nil
	}
	for len(t.back) < len(t.words) {
		t.back = append(t.back, [tagLabels]uint8{})
	}
	var score, next [tagLabels]float64
	for i := range t.words {
		best := uint8(outside)
		for l, v := range score {
			if v > score[best] {
				best = uint8(l)
			}
		}
		step := func(to, from uint8) {
			next[to] = score[from] + math.Log(max(t.words[i].p[to], math.SmallestNonzeroFloat64))
			t.back[i][to] = from
		}
		step(outside, best)
		for k := range types {
			step(begins(k), best)
			from := inside(k) // goes on with what its begin began
			if score[begins(k)] >= score[from] {
				from = begins(k)
			}
			if step(inside(k), from); i == 0 {
				next[inside(k)] = math.Inf(-1)
			}
		}
		score = next
	}
	labels := make([]uint8, len(t.words))
	last := uint8(0)
	for l := range score {
		if score[l] > score[last] {
			last = uint8(l)
		}
	}
	for i := len(labels) - 1; i >= 0; i-- {
		labels[i] = last
		last = t.back[i][last]
	}
	return labels
}
