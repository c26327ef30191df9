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
	for _, x := range []struct {
		to      *packfile.Linear
		name    string
		in, out int
	}{{&h.hidden, AskHidden, 2 * dim, dim}, {&h.out, AskOut, dim, askLabels}, {&h.span, AskSpan, dim, spanLabels}} {
		var err error
		if *x.to, err = tower.Head(x.name, x.in, x.out); err != nil {
			return nil, err
		}
	}
	if least := MaxQuestion + MaxPassage + 3; tower.MaxTokens() < least {
		return nil, fmt.Errorf("%w: %d tokens, want %d", embed.ErrPack, tower.MaxTokens(), least)
	}
	return h, nil
}

// Asks tells whether the reader answers questions.
func (r *Reader) Asks() bool { return r.ask != nil }

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
	// Within is how probable it is that it begins and ends somewhere in the sentences that hold the span. Where an answer
	// ends is often open, what it stands in is not: a reader that looks at several sentences has found none.
	Within float64
}

// asked is one sequence of a question and a passage.
type asked struct {
	first  int // the token that the passage's text begins with
	places int // where the places of the text's tokens begin
	tokens int // of the text
}

// AskCost is how many tokens a question and a passage are to the model, which is what its time goes by.
func (w *Worker) AskCost(question string, p Passage) int {
	w.asked, w.places = w.asked[:0], w.places[:0]
	w.ids = w.appendAsked(w.ids[:0], question, p)
	return len(w.ids)
}

// Whole tells whether a question is read whole, and not cut.
func (w *Worker) Whole(question string) bool {
	w.ids = w.r.ask.tower.AppendTokens(w.ids[:0], undress.InPlace(question), MaxQuestion+1)
	return len(w.ids) <= MaxQuestion
}

// appendAsked adds the sequence of a question and a passage.
func (w *Worker) appendAsked(ids []int32, question string, p Passage) []int32 {
	tower, start := w.r.ask.tower, len(ids)
	begin, end := tower.Marks()
	ids = append(tower.AppendTokens(append(ids, begin), undress.InPlace(question), MaxQuestion), end)
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

// Ask appends to dst what the reader makes of a question and each of the passages. A passage is read alone: that
// another answers better, or later, is for the caller to see. The reader must be one that [Reader.Asks].
func (w *Worker) Ask(dst []Reading, question string, passages []Passage) []Reading {
	w.ids, w.ends, w.asked, w.places = w.ids[:0], w.ends[:0], w.asked[:0], w.places[:0]
	for _, p := range passages {
		w.ids = w.appendAsked(w.ids, question, p)
		w.ends = append(w.ends, len(w.ids))
	}
	w.ask.States(w.sequencesOf(), func(i int, states []float32) {
		dst = append(dst, w.reading(&w.asked[i], states, passages[i].Text))
	})
	return dst
}

// reading is the heads on a sequence's states, which are of a passage.
func (w *Worker) reading(a *asked, states []float32, passage string) Reading {
	w.whole(&w.r.ask.hidden, states)
	var logits [askLabels]float32
	dense(logits[:], &w.r.ask.out, w.hidden)
	out := Reading{Answers: 1 / (1 + math.Exp(float64(logits[1])-float64(logits[0])))}
	if a.tokens == 0 {
		return out
	}
	dim := len(w.hidden)
	w.logits = w.logits[:0]
	for i := range a.tokens {
		var of [spanLabels]float32
		dense(of[:], &w.r.ask.span, states[(a.first+i)*dim:][:dim])
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
func (w *Worker) Windows(p Passage) (windows []text.Span) {
	room, used := MaxPassage, 0
	if p.Label != "" {
		room -= len(w.r.ask.tower.AppendTokens(w.ids[:0], undress.InPlace(p.Label), maxLabel)) + 1
	}
	for sentence := range text.Sentences(p.Text) {
		for at := sentence.Start; at < sentence.End; {
			end, next, n := w.clause(p.Text, at, sentence.End, room)
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
func (w *Worker) clause(s string, from, to, room int) (end, next, tokens int) {
	tower := w.r.ask.tower
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
