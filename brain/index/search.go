package index

import (
	"cmp"
	"math/bits"
	"slices"

	"orgmem/brain/text"
)

// scanBlock is how many rows the kernel gets at once: their results stay in the
// first-level cache until they are scaled.
const scanBlock = 256

// Scratch holds the memory a search works in, for one search at a time. The
// zero value is ready; keep it for the next search.
type Scratch struct {
	views   []viewState
	kw, vec []float32 // of all chunks of all views, one after the other
	allow   []uint64  // as many words per view as its chunks need
	nodes   []uint64  // nodes of the segment at hand that pass the filter
	dots    [scanBlock]int32
	models  []modelQuery
	groups  []group
	ptrs    []pointer
	heap    []ranked
	out     []Candidate
	phrases phrases
	runs    []run
	runOf   map[uint64]int32 // of each chunk that was looked at
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

// ranked is an entry of the heap.
type ranked struct {
	score     float32
	part      int32
	seq       uint64
	view, doc int32 // view: index into Scratch.views
	phrase    float32
}

// better is the order of hits.
func better(a, b ranked) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	if a.part != b.part {
		return a.part < b.part
	}
	return a.seq < b.seq
}

// Candidates gives the best N chunks over all snapshots by the int8 fused score,
// best first. Both scores are known for each. nil snapshots are skipped. The
// slice belongs to the scratch until its next use.
//
// It is exhaustive: every chunk gets both scores in dense arrays, and the N best
// sums are kept. So no chunk is lost because it is good in both lists and at the
// head of neither, which is what merging two top-N lists does.
func (sc *Scratch) Candidates(snapshots []*Snapshot, q *Query) []Candidate {
	defer sc.release()
	sc.phrases.reset()
	total := sc.prepare(snapshots, q)
	sc.kw, sc.vec, sc.heap = sc.kw[:0], sc.vec[:0], sc.heap[:0]
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
	clear(sc.out)
	sc.out = sc.out[:0]
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
		for i, v := range snap.Views {
			if v.Segment.Len() == 0 {
				continue
			}
			st := viewState{View: v, part: int32(part), view: int32(i), base: total, allow: -1, model: -1}
			sc.allowed(&st, q)
			if q.Mode != KeywordOnly {
				st.model = sc.model(v.Segment, q)
			}
			total += v.Segment.Len()
			sc.views = append(sc.views, st)
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
		m.ints = sc.models[:n+1][n].ints
	}
	if v := q.Vectors[s.model]; len(v) == s.Dim() && len(v) > 0 {
		m.ints = slices.Grow(m.ints[:0], stride(m.dim))[:stride(m.dim)]
		m.scale = quantizeQuery(m.ints, v)
	}
	sc.models = append(sc.models, m)
	if m.scale == 0 {
		return -1
	}
	return len(sc.models) - 1
}

// keywords fills kw with BM25norm.
func (sc *Scratch) keywords(total int, q *Query) {
	sc.kw = resize(sc.kw, total)
	clear(sc.kw)
	sc.lookUp(q)

	chunks, words := 0, uint64(0)
	for i := range sc.views {
		chunks += sc.views[i].Segment.Len()
		words += sc.views[i].Segment.words
	}
	average := max(float64(words)/float64(chunks), 1)
	k1, b := q.Config.K1, q.Config.B
	var norm [256]float32
	for c := range norm {
		norm[c] = k1 * (1 - b + b*lengths[c]/float32(average))
	}
	// The greatest score that is possible: each word matched without end.
	var possible float64
	for i := range sc.groups {
		g := &sc.groups[i]
		g.idf = float32(idf(chunks, g.df))
		if g.df > 0 || !g.opt {
			possible += float64(g.idf) * float64(g.weight) * float64(k1+1)
		}
	}
	if possible == 0 {
		return
	}
	if q.Mode == Hybrid && q.Config.PhraseWeight > 0 {
		sc.pairs(q)
	}
	for i := range sc.groups {
		g := &sc.groups[i]
		weight := g.weight * g.idf * (k1 + 1) / float32(possible)
		for _, p := range sc.ptrs[g.ptrs : g.ptrs+g.n] {
			v := &sc.views[p.view]
			v.Segment.accumulate(sc.kw[v.base:v.base+v.Segment.Len()], p.ptr, weight, q.Config.TitleWeight, &norm)
		}
	}
}

// lookUp gathers the query's words and where their postings are.
func (sc *Scratch) lookUp(q *Query) {
	sc.groups, sc.ptrs = sc.groups[:0], sc.ptrs[:0]
	for _, t := range q.Terms {
		if len(t.Alts) == 0 || !(t.Weight > 0) {
			continue
		}
		if i := slices.IndexFunc(sc.groups, func(g group) bool { return g.opt == t.Optional && slices.Equal(g.alts, t.Alts) }); i >= 0 {
			sc.groups[i].weight += t.Weight // query term frequency
			continue
		}
		sc.groups = append(sc.groups, group{alts: t.Alts, weight: t.Weight, opt: t.Optional})
	}
	for i := range sc.groups {
		g := &sc.groups[i]
		g.ptrs = len(sc.ptrs)
		for v := range sc.views {
			for _, t := range g.alts {
				if ptr, ok := sc.views[v].Segment.findTerm(t); ok {
					sc.ptrs = append(sc.ptrs, pointer{int32(v), ptr})
					g.df += sc.views[v].Segment.docFreq(ptr)
				}
			}
		}
		g.n = len(sc.ptrs) - g.ptrs
	}
}

// accumulate adds weight·tf/(tf+norm) of each posting at ptr to acc. Term at a
// time: to 100,000 chunks the accumulators stay in the second-level cache.
func (s *Segment) accumulate(acc []float32, ptr uint32, weight, titleWeight float32, norm *[256]float32) {
	lens := s.lens[:len(acc)]
	if ptr&inlineFlag != 0 {
		code, doc := inlinePosting(ptr)
		body, title := frequencies(code)
		tf := float32(body) + titleWeight*float32(title)
		acc[doc] += weight * tf / (tf + norm[lens[doc]])
		return
	}
	p := s.postings[ptr:]
	at := 0
	uvarint := func() uint32 {
		c := p[at]
		at++
		if c < 0x80 {
			return uint32(c)
		}
		v := uint32(c & 0x7f)
		for shift := 7; ; shift += 7 {
			c = p[at]
			at++
			v |= uint32(c&0x7f) << shift
			if c < 0x80 {
				return v
			}
		}
	}
	for left := uvarint(); left > 0; {
		body, title := frequencies(p[at])
		at++
		tf := float32(body) + titleWeight*float32(title)
		w := weight * tf
		count := uvarint()
		left -= count
		doc := uint32(0)
		for ; count > 0; count-- {
			// The one-byte case written out: it is nearly all of them.
			if c := p[at]; c < 0x80 {
				at++
				doc += uint32(c)
			} else {
				doc += uvarint()
			}
			acc[doc] += w / (tf + norm[lens[doc]])
		}
	}
}

// cosines fills vec. A chunk without vector, or of a model for which there is
// no query vector, gets 0.
func (sc *Scratch) cosines(total int) {
	sc.vec = resize(sc.vec, total)
	for i := range sc.views {
		v := &sc.views[i]
		n := v.Segment.Len()
		vec := sc.vec[v.base : v.base+n]
		if v.model < 0 {
			clear(vec)
			continue
		}
		m := &sc.models[v.model]
		w := len(m.ints)
		for from := 0; from < n; from += scanBlock {
			to := min(from+scanBlock, n)
			if v.allow >= 0 && sc.noneAllowed(v, from, to) {
				continue // never read
			}
			dots := sc.dots[:to-from]
			dotRows(m.ints, v.Segment.vectors[from*w:to*w], dots)
			scales, out := v.Segment.scales[from:to], vec[from:to]
			for k, d := range dots {
				out[k] = float32(d) * m.scale * scales[k]
			}
		}
	}
}

func (sc *Scratch) noneAllowed(v *viewState, from, to int) bool {
	for w := from >> 6; w < (to+63)>>6; w++ {
		if sc.allow[v.allow+w] != 0 {
			return false
		}
	}
	return true
}

// selectBest keeps the N best chunks in the heap, the worst of them on top.
func (sc *Scratch) selectBest(q *Query) {
	n := q.candidates()
	for i := range sc.views {
		v := &sc.views[i]
		chunks := v.Segment.Len()
		for from := 0; from < chunks; from += 64 {
			live := ^uint64(0)
			if v.allow >= 0 {
				live = sc.allow[v.allow+from>>6]
			}
			if r := chunks - from; r < 64 {
				live &= 1<<r - 1
			}
			if live != 0 {
				sc.selectWord(q, i, from, live, n)
			}
		}
	}
}

// selectWord offers the chunks of one word of 64 to the heap.
func (sc *Scratch) selectWord(q *Query, view, from int, live uint64, n int) {
	v := &sc.views[view]
	for ; live != 0; live &= live - 1 {
		doc := from + bits.TrailingZeros64(live)
		var kw, vec float32
		if q.Mode != VectorOnly {
			kw = sc.kw[v.base+doc]
		}
		if q.Mode != KeywordOnly {
			vec = sc.vec[v.base+doc]
		}
		score := q.fuse(kw, vec)
		if len(sc.heap) == n && score < sc.heap[0].score {
			continue
		}
		if kw == 0 && (v.model < 0 || v.Segment.scales[doc] == 0) {
			continue // neither a word nor a vector: no match at all
		}
		sc.offer(ranked{score: score, part: v.part, seq: v.Segment.seqs[doc], view: int32(view), doc: int32(doc)}, n)
	}
}

// offer puts r into the heap of at most n.
func (sc *Scratch) offer(r ranked, n int) {
	h := sc.heap
	if len(h) < n {
		h = append(h, r)
		for i := len(h) - 1; i > 0; {
			up := (i - 1) / 2
			if better(h[i], h[up]) {
				break
			}
			h[i], h[up] = h[up], h[i]
			i = up
		}
		sc.heap = h
		return
	}
	if !better(r, h[0]) {
		return
	}
	h[0] = r
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			return
		}
		if down+1 < len(h) && better(h[down], h[down+1]) {
			down++
		}
		if better(h[down], h[i]) {
			return
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

// collect turns the heap into candidates, best first.
func (sc *Scratch) collect(q *Query) []Candidate {
	if sc.phrases.n > 0 {
		for i := range sc.heap {
			r := &sc.heap[i]
			v := &sc.views[r.view]
			if sc.kw[v.base+int(r.doc)] > 0 {
				r.phrase = sc.phrases.share(v.Segment.sequence(int(r.doc)))
				r.score += q.Config.PhraseWeight * r.phrase
			}
		}
	}
	slices.SortFunc(sc.heap, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.part, b.part), cmp.Compare(a.seq, b.seq))
	})
	sc.addContext(q)
	sc.out = sc.out[:0]
	for _, r := range sc.heap {
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
			if id, ok := sc.runOf[place{r.view, r.doc}.key()]; ok {
				c.Context = sc.runs[id].context
				sc.runs[id].found = true
			}
		}
		c.Score = q.score(&c)
		sc.out = append(sc.out, c)
	}
	for _, id := range sc.targets {
		r := &sc.runs[id]
		v := &sc.views[r.best.view]
		if r.found || v.allow >= 0 && sc.allow[v.allow+int(r.best.doc>>6)]>>(r.best.doc&63)&1 == 0 {
			continue
		}
		c := sc.candidate(r.best)
		p := sc.scores(r.best)
		c.Vector, c.Keyword, c.Phrase, c.Context = p.Vector, p.Keyword, p.Phrase, r.context
		c.Score = q.score(&c)
		sc.out = append(sc.out, c)
	}
	if len(sc.targets) > 0 {
		slices.SortFunc(sc.out, compareCandidates)
	}
	return sc.out
}

// candidate fills in what is known of a chunk without its scores.
func (sc *Scratch) candidate(p place) Candidate {
	v := &sc.views[p.view]
	s := v.Segment
	return Candidate{Seq: s.seqs[p.doc], Node: s.nodeID(s.nodeOf[p.doc]), Part: v.part, View: v.view, Doc: p.doc, Model: s.model}
}

// compareCandidates is the order of hits.
func compareCandidates(a, b Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Part, b.Part), cmp.Compare(a.Seq, b.Seq))
}

// pairs takes the phrases out of the query: words that follow each other.
func (sc *Scratch) pairs(q *Query) {
	last := -1 // index into q.Terms
	for i, t := range q.Terms {
		if t.Optional || len(t.Alts) == 0 || !(t.Weight > 0) {
			continue
		}
		if last >= 0 && !slices.Equal(q.Terms[last].Alts, t.Alts) {
			sc.phrases.add(q.Terms[last].Alts, t.Alts, (sc.idfOf(q.Terms[last])+sc.idfOf(t))/2)
		}
		last = i
	}
}

func (sc *Scratch) idfOf(t text.QueryTerm) float32 {
	for i := range sc.groups {
		if sc.groups[i].opt == t.Optional && slices.Equal(sc.groups[i].alts, t.Alts) {
			return sc.groups[i].idf
		}
	}
	return 0
}

// resize gives a slice of n values of any content.
func resize(s []float32, n int) []float32 { return slices.Grow(s[:0], n)[:n] }
