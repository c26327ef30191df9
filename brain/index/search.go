package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"orgmem/brain/text"
)

// scanBlock is how many rows the kernel gets at once: their results stay in the
// first-level cache until they are scaled.
const scanBlock = 256

// sparseView is up to which part of a segment's chunks, as a divisor, a filter
// makes it cheaper to scan the rows that pass than the sketches of all.
const sparseView = 4

// sparseWord is up to how many of 64 chunks are scanned one by one when a filter
// or liveness keeps out the others: a single row costs twice its share of four.
const sparseWord = 24

// Scratch holds the memory a search works in, for one search at a time. The
// zero value is ready; keep it for the next search.
type Scratch struct {
	views   []viewState
	kw, vec []float32 // of all chunks of all views, one after the other
	allow   []uint64  // as many words per view as its chunks need
	nodes   []uint64  // nodes of the segment at hand that pass the filter
	dots    [scanBlock]int32
	sums    [scanBlock]uint16
	above   [scanBlock]int32
	sure    []uint64 // as many words per rough view as its chunks need
	docs    []int32  // of a view, to be looked at closer
	exact   []int32  // the products of their rows with the query
	models  []modelQuery
	groups  []group
	ptrs    []pointer
	heap    []uint64 // rank keys of the best chunks, the worst of them first
	guess   []uint64 // those of the best chunks by their estimated cosines
	keys    []uint64 // rank keys of what is being put in order
	top     []ranked // the same, in order
	other   []ranked // to put in order into
	out     []Candidate
	spare   []Candidate // to sort out into
	phrases phrases
	runs    []run
	runOf   []int32 // of each of all chunks, plus one; 0 of one that was not looked at
	entered []int   // those that are not 0
	targets []int32
	floor   float32 // what a turn must score to add to its neighbours
}

// viewState is a view in the course of a search.
type viewState struct {
	View
	part, view int32
	base       int // where its chunks begin in kw and vec
	// allow is where its bits begin in Scratch.allow; -1: all chunks pass.
	allow int
	model int // index into Scratch.models, -1: no vectors
	// rough: vec holds estimates, save of the chunks whose bit is set from sure on
	// in Scratch.sure. doubt is by how much they may be too low.
	rough bool
	sure  int
	doubt float32
	// The views of its partition, and whether it shares its range of Seq with
	// none of them; filled in by findViews.
	firstView, lastView int32
	alone               bool
}

// modelQuery is the query's vector under one model.
type modelQuery struct {
	id    ModelID
	dim   int
	scale float32
	ints  []int16
	line  Line
	// look is for sketches, made at the first.
	look  lookup
	looks bool
}

// group is a word of the query with all its alternatives.
type group struct {
	alts   []text.Term
	weight float32
	opt    bool
	df     int
	idf    float32
	ptrs   int // where its pointers begin
	n      int // how many there are
}

// pointer is where a view keeps the postings of a term.
type pointer struct {
	view int32
	ptr  uint32
}

// ranked is a chunk among the best.
type ranked struct {
	score     float32
	part      int32
	seq       uint64
	view, doc int32 // view: index into Scratch.views
	phrase    float32
}

// Candidates gives the best N chunks over all snapshots by the int8 fused score,
// best first. Both scores are known for each. nil snapshots are skipped. The
// slice belongs to the scratch until its next use.
//
// Every chunk gets both scores in dense arrays, and the N best sums are kept. So
// no chunk is lost because it is good in both lists and at the head of neither,
// which is what merging two top-N lists does. In a large segment the cosines are
// estimates first, and certain for the chunks that these let come into question.
func (sc *Scratch) Candidates(snapshots []*Snapshot, q *Query) []Candidate {
	defer sc.release()
	sc.phrases.reset()
	total := sc.prepare(snapshots, q)
	sc.kw, sc.vec, sc.heap, sc.top = sc.kw[:0], sc.vec[:0], sc.heap[:0], sc.top[:0]
	if total == 0 {
		return nil
	}
	if q.Mode != VectorOnly {
		sc.keywords(total, q)
	}
	if q.Mode != KeywordOnly {
		sc.cosines(total)
	}
	sc.selectBest(q)
	return sc.collect(q)
}

// release lets go of the segments, which may leave the cache while the scratch
// waits for its next search. The candidates hold what they need.
func (sc *Scratch) release() {
	clear(sc.views)
	clear(sc.groups)
}

// Reset lets go of the last candidates too. Call it before putting a scratch
// back into a pool.
func (sc *Scratch) Reset() {
	clear(sc.out[:cap(sc.out)])
	clear(sc.spare[:cap(sc.spare)])
	sc.out, sc.spare = sc.out[:0], sc.spare[:0]
}

// prepare lists the views and what may pass in each, and gives the number of
// chunks in all.
func (sc *Scratch) prepare(snapshots []*Snapshot, q *Query) int {
	sc.views, sc.allow, sc.models = sc.views[:0], sc.allow[:0], sc.models[:0]
	total := 0
	for part, snap := range snapshots {
		if snap == nil {
			continue
		}
		from := len(sc.views)
		for i, v := range snap.Views {
			if v.Segment.Len() > 0 {
				sc.views = append(sc.views, viewState{View: v, part: int32(part), view: int32(i), allow: -1, model: -1})
			}
		}
		// In order of Seq, so that ties fall alike however the chunks are
		// spread over segments.
		slices.SortFunc(sc.views[from:], func(a, b viewState) int {
			return cmp.Compare(a.Segment.seqs[0], b.Segment.seqs[0])
		})
	}
	for i := range sc.views {
		st := &sc.views[i]
		st.base = total
		total += st.Segment.Len()
		sc.allowed(st, q)
		if q.Mode != KeywordOnly {
			st.model = sc.model(st.Segment, q)
		}
	}
	return total
}

// model finds or quantises the query's vector for a segment.
func (sc *Scratch) model(s *Segment, q *Query) int {
	i := slices.IndexFunc(sc.models, func(m modelQuery) bool { return m.id == s.model && m.dim == s.Dim() })
	if i >= 0 {
		if sc.models[i].scale == 0 {
			return -1
		}
		return i
	}
	m := modelQuery{id: s.model, dim: s.Dim()}
	if n := len(sc.models); n < cap(sc.models) { // the ints of an earlier search
		m.ints, m.look.table = sc.models[:n+1][n].ints, sc.models[:n+1][n].look.table
	}
	if v := q.Vectors[s.model]; len(v) == s.Dim() && len(v) > 0 {
		m.ints = slices.Grow(m.ints[:0], stride(m.dim))[:stride(m.dim)]
		m.scale = quantizeQuery(m.ints, v)
		m.line = q.line(s.model)
	}
	sc.models = append(sc.models, m)
	if m.scale == 0 {
		return -1
	}
	return len(sc.models) - 1
}

// cosines fills vec: with estimates in a view that is rough afterwards, otherwise
// with cosines. A chunk without vector, or of a model for which there is no query
// vector, gets 0; one that may be no candidate is left as it was.
func (sc *Scratch) cosines(total int) {
	sc.vec, sc.sure = resize(sc.vec, total), sc.sure[:0]
	for i := range sc.views {
		v := &sc.views[i]
		n := v.Segment.Len()
		vec := sc.vec[v.base : v.base+n]
		if v.model < 0 {
			clear(vec)
			continue
		}
		m := &sc.models[v.model]
		if len(v.Segment.sketch.inverse) > 0 && (v.allow < 0 || sc.passing(v) > n/sparseView) {
			sc.estimate(v, m, vec)
			continue
		}
		if v.allow < 0 {
			for from := 0; from < n; from += scanBlock {
				sc.scan(v, m, vec, from, min(from+scanBlock, n))
			}
			continue
		}
		for from := 0; from < n; from += 64 {
			word := sc.allow[v.allow+from>>6]
			switch c := bits.OnesCount64(word); {
			case c > sparseWord:
				sc.scan(v, m, vec, from, min(from+64, n))
			case c > 0:
				for ; word != 0; word &= word - 1 {
					if doc := from + bits.TrailingZeros64(word); doc < n {
						sc.scan(v, m, vec, doc, doc+1)
					}
				}
			}
		}
	}
}

// passing is the number of chunks of a view that may be candidates.
func (sc *Scratch) passing(v *viewState) int {
	n := 0
	for _, word := range sc.allow[v.allow:][:(v.Segment.Len()+63)/64] {
		n += bits.OnesCount64(word)
	}
	return n
}

// estimate writes what the sketches say of the cosines.
func (sc *Scratch) estimate(v *viewState, m *modelQuery, vec []float32) {
	if !m.looks {
		m.look.prepare(m.ints, m.scale)
		m.looks = true
	}
	k, n := &v.Segment.sketch, v.Segment.Len()
	v.rough, v.sure = true, len(sc.sure)
	v.doubt = m.line.Factor * sketchDoubt / float32(math.Sqrt(float64(m.dim)))
	words := (n + 63) / 64
	sc.sure = slices.Grow(sc.sure, words)[:v.sure+words]
	clear(sc.sure[v.sure:])
	perRow := len(m.look.table) / sketchRows
	for from := 0; from < n; from += scanBlock {
		to := min(from+scanBlock, len(k.inverse))
		sums := sc.sums[:to-from]
		sketchDots(m.look.table, k.codes[from*perRow:to*perRow], sums)
		out := vec[from:min(to, n)]
		inverse := k.inverse[from:][:len(out)]
		if m.line == (Line{Factor: 1}) {
			for i := range out {
				out[i] = (float32(m.look.step*float32(sums[i])) - m.look.base) * inverse[i]
			}
			continue
		}
		for i := range out {
			if out[i] = 0; inverse[i] > 0 {
				out[i] = m.line.at((float32(m.look.step*float32(sums[i])) - m.look.base) * inverse[i])
			}
		}
	}
}

// isSure tells whether a chunk's cosine is known in a rough view.
func (sc *Scratch) isSure(v *viewState, doc int) bool {
	return sc.sure[v.sure+doc>>6]>>(doc&63)&1 != 0
}

// ascertain replaces the estimates of sc.docs in a rough view by their cosines.
func (sc *Scratch) ascertain(v *viewState) {
	m, s := &sc.models[v.model], v.Segment
	sc.exact = slices.Grow(sc.exact[:0], len(sc.docs))[:len(sc.docs)]
	dotSome(m.ints, s.vectors, sc.docs, sc.exact)
	for i, doc := range sc.docs {
		sc.vec[v.base+int(doc)] = m.cosine(sc.exact[i], s.scales[doc])
		sc.sure[v.sure+int(doc>>6)] |= 1 << (doc & 63)
	}
}

// scan writes the cosines of the chunks from ≤ doc < to, at most scanBlock.
func (sc *Scratch) scan(v *viewState, m *modelQuery, vec []float32, from, to int) {
	w := len(m.ints)
	dots := sc.dots[:to-from]
	dotRows(m.ints, v.Segment.vectors[from*w:to*w], dots)
	scales, out := v.Segment.scales[from:to], vec[from:to]
	if m.line == (Line{Factor: 1}) {
		for k, d := range dots {
			out[k] = float32(d) * m.scale * scales[k]
		}
		return
	}
	for k, d := range dots {
		out[k] = m.cosine(d, scales[k])
	}
}

// cosine is that of a row by its product with the query, 0 of one without vector.
func (m *modelQuery) cosine(dot int32, scale float32) float32 {
	if scale == 0 {
		return 0
	}
	return m.line.at(float32(dot) * m.scale * scale)
}

// collect turns the heap into candidates, best first.
func (sc *Scratch) collect(q *Query) []Candidate {
	sc.rank(q)
	sc.addContext(q)
	sc.out = sc.out[:0]
	for _, r := range sc.top {
		v := &sc.views[r.view]
		c := sc.candidate(place{r.view, r.doc})
		if len(sc.vec) > 0 {
			c.Vector = sc.vec[v.base+int(r.doc)]
		}
		if len(sc.kw) > 0 {
			c.Keyword = sc.kw[v.base+int(r.doc)]
		}
		c.Phrase = r.phrase
		if len(sc.runs) > 0 {
			if id := sc.runOf[v.base+int(r.doc)]; id != 0 {
				c.Context = sc.runs[id-1].context
				sc.runs[id-1].found = true
			}
		}
		c.Score = q.score(&c)
		sc.out = append(sc.out, c)
	}
	// Turns that only their neighbours bring in. Those that stay below all that are
	// here in full number come as little into question as any other chunk.
	least := float32(math.Inf(-1))
	if len(sc.top) == q.candidates() {
		least = sc.top[len(sc.top)-1].score
	}
	for _, id := range sc.targets {
		r := &sc.runs[id]
		v := &sc.views[r.best.view]
		if r.found || r.score+r.context < least || !sc.passes(v, int(r.best.doc)) {
			continue
		}
		c := sc.candidate(r.best)
		p := sc.scores(r.best)
		c.Vector, c.Keyword, c.Phrase, c.Context = p.Vector, p.Keyword, p.Phrase, r.context
		c.Score = q.score(&c)
		sc.out = append(sc.out, c)
	}
	if len(sc.targets) > 0 {
		sc.top = sc.top[:0]
		for i := range sc.out {
			c := &sc.out[i]
			sc.top = append(sc.top, ranked{score: c.Score, part: c.Part, seq: c.Seq, doc: int32(i)})
		}
		sc.order()
		sc.spare = sc.spare[:0]
		for _, r := range sc.top {
			sc.spare = append(sc.spare, sc.out[r.doc])
		}
		sc.out, sc.spare = sc.spare, sc.out
	}
	return sc.out
}

// candidate fills in what is known of a chunk without its scores.
func (sc *Scratch) candidate(p place) Candidate {
	v := &sc.views[p.view]
	s := v.Segment
	c := Candidate{
		Seq: s.seqs[p.doc], Node: s.nodeID(s.nodeOf[p.doc]), Part: v.part, View: v.view, Doc: p.doc, Model: s.model,
	}
	if v.model >= 0 {
		c.Doubt = sc.models[v.model].line.Factor * roundingDoubt * s.scales[p.doc]
	}
	return c
}

// resize gives a slice of n values of any content.
func resize(s []float32, n int) []float32 { return slices.Grow(s[:0], n)[:n] }
