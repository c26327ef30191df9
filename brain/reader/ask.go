package reader

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/text"
	"orgmem/brain/text/undress"
)

const (
	// MaxQuestion is at how many tokens a question is cut, as in training.
	MaxQuestion = 40
	// MaxPassage is at how many a passage is cut, its label included, as in training.
	MaxPassage = 200
	// maxLabel leaves most of a passage's tokens to its text, whatever somebody is called.
	maxLabel = 32
	// MaxSpan is the longest answer, in tokens.
	MaxSpan = 30
)

// AskHidden and AskOut are the heads that tell whether a passage answers, on its whole; AskSpan gives each token a
// logit for the begin of the answer, and one for its end.
const (
	AskHidden  = "ask.hidden"
	AskOut     = "ask.out"
	AskSpan    = "ask.span"
	askLabels  = 2 // answers, does not
	spanLabels = 2 // begins, ends
)

type askHeads struct {
	tower             *embed.Tower
	hidden, out, span packfile.Linear
}

// loadAsk returns nil where a pack has none of the heads. One with a part of them is damaged.
func loadAsk(tower *embed.Tower) (*askHeads, error) {
	if !tower.HasHead(AskHidden) && !tower.HasHead(AskOut) && !tower.HasHead(AskSpan) {
		return nil, nil
	}
	h, dim := &askHeads{tower: tower}, tower.Dim()
	width := tower.HeadOut(AskHidden)
	for _, x := range []struct {
		to      *packfile.Linear
		name    string
		in, out int
	}{{&h.hidden, AskHidden, 2 * dim, width}, {&h.out, AskOut, width, askLabels}, {&h.span, AskSpan, dim, spanLabels}} {
		var err error
		if *x.to, err = tower.Head(x.name, x.in, x.out); err != nil {
			return nil, err
		}
	}
	if width > dim {
		return nil, fmt.Errorf("%w: a head of %d values over %d", embed.ErrPack, width, dim)
	}
	if least := MaxQuestion + MaxPassage + 3; tower.MaxTokens() < least {
		return nil, fmt.Errorf("%w: %d tokens, want %d", embed.ErrPack, tower.MaxTokens(), least)
	}
	return h, nil
}

// Asks tells whether the reader answers questions.
func (r *Reader) Asks() bool { return r.ask != nil }

// AsksAbroad tells whether it answers those in other languages than English, and from texts in other languages.
func (r *Reader) AsksAbroad() bool { return r.abroad != nil }

// Asking is a question that passages are read beside. It is of use as long as its worker reads nothing else.
type Asking struct {
	w       *Worker
	text    string
	foreign bool // it is in another language than English
	ask     *askHeads
	run     *embed.TowerEncoder
}

// Asking returns a question beside which such passages are read. In English, it is read by a model that knows nothing
// else; where the question, or most of the passages, are in another language, by one that knows a hundred and English
// less well, if there is one: all passages of a question are read by the same model, or their readings could not be
// compared. The reader must be one that [Reader.Asks].
func (w *Worker) Asking(question string, passages []Passage) *Asking {
	foreign := text.LanguageOfQuestion(question) != text.English || w.isForeign(question)
	q := &Asking{w: w, text: question, foreign: foreign, ask: w.r.ask, run: w.ask}
	if w.r.abroad == nil || w.r.ask != nil && !foreign && !w.mostForeign(passages) {
		return q
	}
	a := &w.abroad
	if a.heads == nil {
		a.heads = w.r.abroad()
		a.run = a.heads.tower.NewEncoder()
		w.room(a.heads.tower.Dim())
	}
	q.ask, q.run = a.heads, a.run
	return q
}

// maxLooked bounds what is looked at of a text for its language, in bytes.
const maxLooked = 400

// isForeign tells whether a text is in another language than English: by its script, or by more than a word.
func (w *Worker) isForeign(s string) bool {
	s = text.Truncate(s, maxLooked)
	if l := text.LanguageOfQuestion(s); l == text.Russian || l == text.Arabic || l == text.Neutral {
		return true
	}
	langs := w.abroad.words.Passage("", s).Langs
	for l := text.German; l <= text.Vietnamese && !langs.Has(text.English); l++ {
		if langs.Has(l) {
			return true
		}
	}
	return false
}

// mostForeign tells whether more than half of some passages are in another language. One passage with a foreign name is
// not enough: all would be read by the model that knows English less well.
func (w *Worker) mostForeign(passages []Passage) bool {
	n := 0
	for _, p := range passages {
		if w.isForeign(p.Text) {
			n++
		}
	}
	return n > len(passages)/2
}

// Abroad tells whether it is read by the model of all languages.
func (q *Asking) Abroad() bool { return q.ask == q.w.abroad.heads }

// Foreign tells whether it is in another language than English, as far as that can be told.
func (q *Asking) Foreign() bool { return q.foreign }

// Passage is what may answer a question.
type Passage struct {
	Label string // who wrote it and when, or its title; empty: neither is known
	Text  string
}

// Reading is what the reader makes of a question and a passage.
type Reading struct {
	Answers float64 // the probability that the passage answers the question
	// Span is the answer in the passage's text, in bytes, whether it answers or not; empty where the text has no
	// words.
	Span  text.Span
	Score float64 // how probable it is that an answer begins and ends there
	// Within is how probable it is that it begins and ends somewhere in the sentences that hold the span. Where an
	// answer ends is often open, what it stands in is not: a reader that looks at several sentences has found none.
	Within float64
}

// asked is one sequence of a question and a passage.
type asked struct {
	first  int // the token that the passage's text begins with
	places int // where the places of the text's tokens begin
	tokens int // of the text
}

// Cost is how many tokens the question and a passage are to the model, which is what its time goes by.
func (q *Asking) Cost(p Passage) int {
	w := q.w
	w.asked, w.places = w.asked[:0], w.places[:0]
	w.ids = q.append(w.ids[:0], p)
	return len(w.ids)
}

// Whole tells whether the question is read whole, and not cut.
func (q *Asking) Whole() bool {
	w := q.w
	w.ids = q.ask.tower.AppendTokens(w.ids[:0], undress.InPlace(q.text), MaxQuestion+1)
	return len(w.ids) <= MaxQuestion
}

// append adds the sequence of the question and a passage.
func (q *Asking) append(ids []int32, p Passage) []int32 {
	w, tower, start := q.w, q.ask.tower, len(ids)
	begin, end := tower.Marks()
	ids = append(tower.AppendTokens(append(ids, begin), undress.InPlace(q.text), MaxQuestion), end)
	from := len(ids)
	if p.Label != "" {
		ids = tower.AppendTokens(tower.AppendTokens(ids, undress.InPlace(p.Label), maxLabel), ":", 1)
	}
	a := asked{first: len(ids) - start, places: len(w.places)}
	ids, w.places = appendTokenSpans(tower, ids, w.places, p.Text, MaxPassage-(len(ids)-from))
	a.tokens = len(w.places) - a.places
	w.asked = append(w.asked, a)
	return append(ids, end)
}

// Ask appends to dst what the reader makes of the question and each of the passages. A passage is read alone: that
// another answers better, or later, is for the caller to see.
func (q *Asking) Ask(dst []Reading, passages []Passage) []Reading {
	w := q.w
	w.ids, w.ends, w.asked, w.places = w.ids[:0], w.ends[:0], w.asked[:0], w.places[:0]
	for _, p := range passages {
		w.ids = q.append(w.ids, p)
		w.ends = append(w.ends, len(w.ids))
	}
	q.run.States(w.sequencesOf(), func(i int, states []float32) {
		dst = append(dst, q.reading(&w.asked[i], states, passages[i].Text))
	})
	return dst
}

// reading is the heads on a sequence's states, which are of a passage.
func (q *Asking) reading(a *asked, states []float32, passage string) Reading {
	w := q.w
	hidden := w.whole(&q.ask.hidden, states)
	var logits [askLabels]float32
	dense(logits[:], &q.ask.out, hidden)
	out := Reading{Answers: 1 / (1 + math.Exp(float64(logits[1])-float64(logits[0])))}
	if a.tokens == 0 {
		return out
	}
	dim := q.ask.tower.Dim()
	w.logits = w.logits[:0]
	for i := range a.tokens {
		var of [spanLabels]float32
		dense(of[:], &q.ask.span, states[(a.first+i)*dim:][:dim])
		w.logits = append(w.logits, of[:]...)
	}
	begin, end, score := bestSpan(w.logits)
	places := w.places[a.places:][:a.tokens]
	out.Span, out.Score = text.Span{Start: places[begin].Start, End: places[end].End}, score
	out.Within = within(w.logits, places, sentencesAt(passage, out.Span))
	return out
}

// sentencesAt is the stretch of the sentences of a text that a span touches.
func sentencesAt(s string, at text.Span) text.Span {
	for sp := range text.Sentences(s) {
		if sp.Start >= at.End {
			break
		}
		if sp.End > at.Start {
			at.Start, at.End = min(at.Start, sp.Start), max(at.End, sp.End)
		}
	}
	return at
}

// within is how probable it is that an answer begins at one of the places in a stretch of the text, and ends at one, of
// the logits of both for each place.
func within(logits []float32, places []text.Span, at text.Span) float64 {
	first := slices.IndexFunc(places, func(p text.Span) bool { return p.End > at.Start })
	last := first
	for last < len(places) && places[last].Start < at.End {
		last++
	}
	inside, p := logits[first*spanLabels:last*spanLabels], 1.0
	for label := range spanLabels {
		p *= math.Exp(logSum(inside, label) - logSum(logits, label))
	}
	return p
}

// bestSpan finds the most probable begin and end, of the logits of both for each token, and how probable they are. Of
// equal ones the first, and the shortest, is taken.
func bestSpan(logits []float32) (begin, end int, score float64) {
	best := math.Inf(-1)
	for i := 0; i < len(logits); i += spanLabels {
		for j := i; j < min(len(logits), i+MaxSpan*spanLabels); j += spanLabels {
			if v := float64(logits[i]) + float64(logits[j+1]); v > best {
				best, begin, end = v, i/spanLabels, j/spanLabels
			}
		}
	}
	return begin, end, math.Exp(best - logSum(logits, 0) - logSum(logits, 1))
}

// logSum is the logarithm of the sum of the exponentials of every second logit.
func logSum(logits []float32, first int) float64 {
	most, sum := math.Inf(-1), 0.0
	for i := first; i < len(logits); i += spanLabels {
		most = max(most, float64(logits[i]))
	}
	for i := first; i < len(logits); i += spanLabels {
		sum += math.Exp(float64(logits[i]) - most)
	}
	return most + math.Log(sum)
}

// Windows cuts the text of a passage into as few stretches of whole sentences as can be read beside its label. A
// sentence that is too long for that is cut, too: behind the last comma in the second half of what can be read, else
// between two words.
func (q *Asking) Windows(p Passage) (windows []text.Span) {
	room, used := MaxPassage, 0
	if p.Label != "" {
		room -= len(q.ask.tower.AppendTokens(q.w.ids[:0], undress.InPlace(p.Label), maxLabel)) + 1
	}
	for sentence := range text.Sentences(p.Text) {
		for at := sentence.Start; at < sentence.End; {
			end, next, n := q.clause(p.Text, at, sentence.End, room)
			if len(windows) == 0 || used+n > room {
				windows, used = append(windows, text.Span{Start: at}), 0
			}
			windows[len(windows)-1].End = end
			used += n
			at = next
		}
	}
	return windows
}

// clause is what is read at once of s[from:to], where it ends and the next begins, and how many tokens it has: at most
// room of them.
func (q *Asking) clause(s string, from, to, room int) (end, next, tokens int) {
	w, tower := q.w, q.ask.tower
	w.ids, w.places = appendTokenSpans(tower, w.ids[:0], w.places[:0], s[from:to], room+1)
	if len(w.ids) <= room {
		return to, to, len(w.ids)
	}
	n := wordBegin(tower, w.ids, room, 1)
	for k := n; k > n/2; k-- {
		if strings.ContainsRune(",;:", rune(s[from+w.places[k-1].Start])) {
			n = k
			break
		}
	}
	return from + w.places[n-1].End, from + w.places[n].Start, n
}

// wordBegin is where the word begins that token n is of, but not before least.
func wordBegin(tower *embed.Tower, ids []int32, n, least int) int {
	for n > least && tower.ContinuesWord(ids[n]) {
		n--
	}
	return n
}

// appendTokenSpans is that of a tower, of a text without its disguise.
func appendTokenSpans(
	tower *embed.Tower, ids []int32, spans []text.Span, s string, most int,
) ([]int32, []text.Span) {
	first := len(spans)
	ids, spans = tower.AppendTokenSpans(ids, spans, undress.InPlace(s), most)
	for i := range spans[first:] {
		spans[first+i].End = undress.EndOf(s, spans[first+i].End)
	}
	return ids, spans
}
