package reader

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/text"
	"orgmem/brain/text/undress"
)

// MaxStatement is at how many tokens a statement is cut, as in training.
const MaxStatement = 120

// HeadHidden and HeadOut are the heads of a pack: a layer on the state of the first token and the mean of all, and what
// comes of it.
const (
	HeadHidden = "pair.hidden"
	HeadOut    = "pair.out"
	labels     = 3 // contradict, entail, neutral
)

// Reader is what was loaded, of one pack or several. It is immutable and safe for concurrent use.
type Reader struct {
	pair *pairHeads // nil: it tells nothing of pairs
	ask  *askHeads  // nil: it does not answer questions

	// abroad is of questions and texts in any language, loaded when the first is asked. nil: it does not answer them.
	abroad func() *askHeads
	tag    *tagHeads // nil: it tags nothing
}

type pairHeads struct {
	tower       *embed.Tower
	hidden, out packfile.Linear
}

// maxLead is how many words of its note a statement is read behind, as in training, and maxLeadBytes leaves at least
// half of MaxStatement to the statement where a word is long or nothing parts them.
const maxLead, maxLeadBytes = 40, 240

// InNote is a statement as it is given to the reader: behind the last words of what its note says before it.
func InNote(lead, statement string) string {
	if at := len(lead) - maxLeadBytes; at > 0 {
		for at < len(lead) && !utf8.RuneStart(lead[at]) {
			at++
		}
		lead = lead[at:]
	}
	if lead = lastWords(lead, maxLead); lead == "" {
		return statement
	}
	return lead + " | " + statement
}

// lastWords is the end of a text from the most-th word from behind on.
func lastWords(s string, most int) string {
	s = strings.TrimSpace(s)
	rest := s
	for range most {
		at := strings.LastIndexFunc(rest, unicode.IsSpace)
		if at < 0 {
			return s
		}
		rest = strings.TrimRightFunc(rest[:at], unicode.IsSpace)
	}
	return strings.TrimSpace(s[len(rest):])
}

// Pair is two statements to be set against each other, each alone or as InNote gives it.
type Pair struct{ A, B string }

// Verdict is what the reader makes of a pair, as probabilities.
type Verdict struct {
	Contradict float64 // both cannot hold of the same thing at the same time
	Entail     float64 // A implies B
	Neutral    float64
}

// LoadPack opens a reader's pack over the embedding model that it was made for; the weights are
// unpacked into room (nil: the heap). What the reader can do is what the pack has heads for. Errors wrap
// [embed.ErrPack].
func LoadPack(pack []byte, base *embed.Model, room embed.Room) (*Reader, error) {
	tower, err := embed.LoadTower(pack, base, room)
	if err != nil {
		return nil, fmt.Errorf("reader: load: %w", err)
	}
	r := &Reader{}
	if r.pair, err = loadPair(tower); err != nil {
		return nil, fmt.Errorf("reader: load: %w", err)
	}
	if r.ask, err = loadAsk(tower); err != nil {
		return nil, fmt.Errorf("reader: load: %w", err)
	}
	if r.tag, err = loadTags(tower); err != nil {
		return nil, fmt.Errorf("reader: load: %w", err)
	}
	if r.pair == nil && r.ask == nil && r.tag == nil {
		return nil, fmt.Errorf("reader: load: %w: no heads", embed.ErrPack)
	}
	return r, nil
}

// loadPair returns nil where a pack has none of the heads.
func loadPair(tower *embed.Tower) (*pairHeads, error) {
	if !tower.HasHead(HeadHidden) && !tower.HasHead(HeadOut) {
		return nil, nil
	}
	h, dim := &pairHeads{tower: tower}, tower.Dim()
	var err error
	if h.hidden, err = tower.Head(HeadHidden, 2*dim, dim); err != nil {
		return nil, err
	}
	if h.out, err = tower.Head(HeadOut, dim, labels); err != nil {
		return nil, err
	}
	if least := 2*MaxStatement + 3; tower.MaxTokens() < least {
		return nil, fmt.Errorf("%w: %d tokens, want %d", embed.ErrPack, tower.MaxTokens(), least)
	}
	return h, nil
}

// Join gives one reader what several can do, the first of them where more than one can.
func Join(readers ...*Reader) *Reader {
	out := &Reader{}
	for _, r := range readers {
		if out.abroad == nil {
			out.abroad = r.abroad
		}
		out.pair, out.ask, out.tag = cmp.Or(out.pair, r.pair), cmp.Or(out.ask, r.ask), cmp.Or(out.tag, r.tag)
	}
	return out
}

// Abroad is a reader that can do for all languages what r can for English, which is to answer questions: what it is
// joined with keeps its own for English.
func (r *Reader) Abroad() *Reader { return &Reader{abroad: func() *askHeads { return r.ask }} }

// Tells tells whether the reader can set statements against each other.
func (r *Reader) Tells() bool { return r.pair != nil }

// IDs name the models, the exact bytes of their packs and the arithmetic that texts go through. The one of all
// languages is not among them, since nothing that it reads is stored.
func (r *Reader) IDs() (ids []embed.ModelID) {
	for _, t := range r.towers() {
		if id := t.ID(); !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// towers are those of what the reader can do, some of which may be one.
func (r *Reader) towers() (all []*embed.Tower) {
	if r.pair != nil {
		all = append(all, r.pair.tower)
	}
	if r.ask != nil {
		all = append(all, r.ask.tower)
	}
	if r.tag != nil {
		all = append(all, r.tag.tower)
	}
	return all
}

// Worker reads on one core, with scratch space that is kept.
type Worker struct {
	r              *Reader
	pair, ask, tag *embed.TowerEncoder // nil: the reader lacks the heads
	abroad         abroad
	ids            []int32
	sequences      [][]int32
	ends           []int
	features       []float32 // of a sequence: the first state, and the mean
	hidden         []float32

	// Of the questions that were asked.
	asked  []asked
	places []text.Span // of all passages' tokens, in their texts
	logits []float32

	tagging tagging // of the texts that were tagged
}

// abroad is what a worker reads in other languages than English with.
type abroad struct {
	words text.Analyzer       // tells languages
	heads *askHeads           // nil: nothing has been read so far
	run   *embed.TowerEncoder // likewise
}

// NewWorker returns a worker with empty scratch space.
func (r *Reader) NewWorker() *Worker {
	w, dim := &Worker{r: r}, 0
	encoders := map[*embed.Tower]*embed.TowerEncoder{}
	for _, t := range r.towers() {
		if encoders[t] == nil {
			encoders[t] = t.NewEncoder()
		}
		dim = max(dim, t.Dim())
	}
	if r.pair != nil {
		w.pair = encoders[r.pair.tower]
	}
	if r.ask != nil {
		w.ask = encoders[r.ask.tower]
	}
	if r.tag != nil {
		w.tag = encoders[r.tag.tower]
	}
	w.room(dim)
	return w
}

// room makes room for states of so many values.
func (w *Worker) room(dim int) {
	if dim > len(w.hidden) {
		w.hidden = make([]float32, dim)
		w.features = make([]float32, 2*dim) //nolint:mnd // the first state, and the mean
	}
}

// Cost is how many tokens a pair is to the model, which is what its time goes by.
func (w *Worker) Cost(p Pair) int {
	w.ids = w.appendPair(w.ids[:0], p)
	return len(w.ids)
}

func (w *Worker) appendPair(ids []int32, p Pair) []int32 {
	begin, end := w.r.pair.tower.Marks()
	ids = append(ids, begin)
	for _, text := range []string{p.A, p.B} {
		ids = append(w.r.pair.tower.AppendTokens(ids, undress.InPlace(text), MaxStatement), end)
	}
	return ids
}

// Read appends the verdict of each pair to dst. The reader must be one that [Reader.Tells].
func (w *Worker) Read(dst []Verdict, pairs []Pair) []Verdict {
	w.ids, w.ends = w.ids[:0], w.ends[:0]
	for _, p := range pairs {
		w.ids = w.appendPair(w.ids, p)
		w.ends = append(w.ends, len(w.ids))
	}
	w.pair.States(w.sequencesOf(), func(_ int, states []float32) { dst = append(dst, w.verdict(states)) })
	return dst
}

// sequencesOf cuts the ids at their ends.
func (w *Worker) sequencesOf() [][]int32 {
	w.sequences = w.sequences[:0]
	from := 0
	for _, end := range w.ends {
		w.sequences = append(w.sequences, w.ids[from:end])
		from = end
	}
	return w.sequences
}

// verdict is the head on a pair's states.
func (w *Worker) verdict(states []float32) Verdict {
	hidden := w.whole(&w.r.pair.hidden, states)
	var logits [labels]float32
	var p [labels]float64
	dense(logits[:], &w.r.pair.out, hidden)
	softmax(p[:], logits[:])
	return Verdict{Contradict: p[0], Entail: p[1], Neutral: p[2]}
}

// whole is what a layer makes of a sequence as a whole, of its first state and the mean of all. It is overwritten by
// the next call.
func (w *Worker) whole(layer *packfile.Linear, states []float32) []float32 {
	width := len(layer.B)
	dim := len(layer.W) / width / 2 //nolint:mnd // the two states
	features, hidden := w.features[:2*dim], w.hidden[:width]
	copy(features, states[:dim])
	mean := features[dim:]
	clear(mean)
	for at := 0; at < len(states); at += dim {
		for i, v := range states[at : at+dim] {
			mean[i] += v
		}
	}
	tokens := float32(len(states) / dim)
	for i := range mean {
		mean[i] /= tokens
	}
	dense(hidden, layer, features)
	for i, v := range hidden {
		hidden[i] = float32(math.Tanh(float64(v)))
	}
	return hidden
}

// dense sets y to W·x + b, each product and sum rounded on its own, so that every machine has the same bits. Four sums
// go on side by side, as one waits for its last product.
func dense(y []float32, l *packfile.Linear, x []float32) {
	n, o := len(x), 0
	for ; o+4 <= len(y); o += 4 {
		a, b, c, d := l.W[o*n:(o+1)*n], l.W[(o+1)*n:(o+2)*n], l.W[(o+2)*n:(o+3)*n], l.W[(o+3)*n:(o+4)*n]
		p, q, r, s := l.B[o], l.B[o+1], l.B[o+2], l.B[o+3]
		for i, v := range x {
			p += float32(a[i] * v)
			q += float32(b[i] * v)
			r += float32(c[i] * v)
			s += float32(d[i] * v)
		}
		copy(y[o:], []float32{p, q, r, s})
	}
	for ; o < len(y); o++ {
		row, sum := l.W[o*len(x):(o+1)*len(x)], l.B[o]
		for i, v := range x {
			sum += float32(row[i] * v)
		}
		y[o] = sum
	}
}

// softmax sets p to the probabilities that logits stand for.
func softmax(p []float64, logits []float32) {
	most, sum := slices.Max(logits), 0.0
	for i, v := range logits {
		p[i] = math.Exp(float64(v) - float64(most))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
}
