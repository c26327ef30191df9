package index

import (
	"cmp"
	"math"
	"slices"
	"sort"

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
	heap    []uint64 // rank keys of the best chunks, the worst of them first
	top     []ranked // the same, in order
	out     []Candidate
	spare   []Candidate // to sort out into
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

// ranked is a chunk among the best.
type ranked struct {
	score     float32
	part      int32
	seq       uint64
	view, doc int32 // view: index into Scratch.views
	phrase    float32
}

// compareRanked puts the better first.
func compareRanked(a, b ranked) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	case a.part != b.part:
		return cmp.Compare(a.part, b.part)
	}
	return cmp.Compare(a.seq, b.seq)
}

// order appends the candidates' places, best first; doc is the index in cands.
func order(dst []ranked, cands []Candidate) []ranked {
	for i := range cands {
		c := &cands[i]
		dst = append(dst, ranked{score: c.Score, part: c.Part, seq: c.Seq, doc: int32(i)})
	}
	slices.SortFunc(dst, compareRanked)
	return dst
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
	left, at := uvarint(p, 0)
	for left > 0 {
		body, title := frequencies(p[at])
		tf := float32(body) + titleWeight*float32(title)
		w := weight * tf
		var count, doc uint32
		count, at = uvarint(p, at+1)
		left -= count
		for ; count > 0; count-- {
			// The one-byte case written out: it is nearly all of them.
			c := uint32(p[at])
			at++
			if c >= 0x80 {
				c, at = uvarint(p, at-1)
			}
			doc += c
			acc[doc] += w / (tf + norm[lens[doc]])
		}
	}
}

// uvarint reads the number at p[at:] and gives what follows it. Postings were
// checked when the segment was opened.
func uvarint(p []byte, at int) (v uint32, next int) {
	for shift := 0; ; shift += 7 {
		c := p[at]
		at++
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, at
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
		from, to := v.base, v.base+v.Segment.Len()
		switch q.Mode {
		case VectorOnly:
			sc.selectVector(i, sc.vec[from:to], n)
		case KeywordOnly:
			sc.selectKeyword(i, sc.kw[from:to], n)
		default:
			sc.selectHybrid(i, sc.kw[from:to], sc.vec[from:to], q.Config.KeywordWeight, n)
		}
	}
}

// The three loops differ in one line, which is most of what runs: nearly every
// chunk is worse than the worst that is kept. Only what is not is looked at
// closer (in accept), also for whether it may be a candidate at all.

func (sc *Scratch) selectHybrid(view int, kw, vec []float32, weight float32, n int) {
	least := sc.least(n)
	vec = vec[:len(kw)]
	for doc, k := range kw {
		if score := weight*k + vec[doc]; score >= least {
			least = sc.accept(view, doc, score, k > 0, n)
		}
	}
}

func (sc *Scratch) selectVector(view int, vec []float32, n int) {
	if sc.views[view].model < 0 {
		return
	}
	least := sc.least(n)
	for doc, score := range vec {
		if score >= least {
			least = sc.accept(view, doc, score, false, n)
		}
	}
}

func (sc *Scratch) selectKeyword(view int, kw []float32, n int) {
	least := max(sc.least(n), math.SmallestNonzeroFloat32)
	for doc, score := range kw {
		if score >= least {
			least = max(sc.accept(view, doc, score, true, n), math.SmallestNonzeroFloat32)
		}
	}
}

// least is the score below which nothing enters the heap.
func (sc *Scratch) least(n int) float32 {
	if len(sc.heap) < n {
		return float32(math.Inf(-1))
	}
	return keyScore(sc.heap[0])
}

// accept offers a chunk to the heap if it may be a candidate: the filters let it
// pass, and it has a word of the query or a vector. It gives the new least.
func (sc *Scratch) accept(view, doc int, score float32, word bool, n int) float32 {
	v := &sc.views[view]
	if (v.allow < 0 || sc.allow[v.allow+doc>>6]>>(doc&63)&1 != 0) && (word || v.model >= 0 && v.Segment.scales[doc] > 0) {
		sc.offer(rankKey(score, v.base+doc), n)
	}
	return sc.least(n)
}

// rankKey packs a score and the place of a chunk among all into a number that is
// greater for a better chunk: of two with one score, the first. One comparison
// of integers then does for the heap.
func rankKey(score float32, at int) uint64 {
	b := math.Float32bits(score)
	if b>>31 != 0 {
		b = ^b
	} else {
		b |= 1 << 31
	}
	return uint64(b)<<32 | uint64(^uint32(at))
}

// keyScore unpacks the score.
func keyScore(key uint64) float32 {
	b := uint32(key >> 32)
	if b>>31 != 0 {
		b &^= 1 << 31
	} else {
		b = ^b
	}
	return math.Float32frombits(b)
}

// offer puts a key into the heap of at most n.
func (sc *Scratch) offer(key uint64, n int) {
	h := sc.heap
	if len(h) < n {
		h = append(h, key)
		i := len(h) - 1
		for i > 0 && h[(i-1)/2] > key {
			h[i] = h[(i-1)/2]
			i = (i - 1) / 2
		}
		h[i] = key
		sc.heap = h
		return
	}
	if key < h[0] {
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1] < h[down] {
			down++
		}
		if h[down] >= key {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = key
}

// rank turns the heap into the best chunks in order, with the phrases that only
// they are looked at for.
func (sc *Scratch) rank(q *Query) {
	slices.Sort(sc.heap)
	for _, key := range slices.Backward(sc.heap) {
		at := int(^uint32(key))
		view := sort.Search(len(sc.views), func(i int) bool { return sc.views[i].base > at }) - 1
		v := &sc.views[view]
		doc := at - v.base
		r := ranked{score: keyScore(key), part: v.part, seq: v.Segment.seqs[doc], view: int32(view), doc: int32(doc)}
		if sc.phrases.n > 0 && sc.kw[at] > 0 {
			r.phrase = sc.phrases.share(v.Segment.sequence(doc))
			r.score += q.Config.PhraseWeight * r.phrase
		}
		sc.top = append(sc.top, r)
	}
	slices.SortFunc(sc.top, compareRanked)
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
		sc.top = order(sc.top[:0], sc.out)
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
	return Candidate{Seq: s.seqs[p.doc], Node: s.nodeID(s.nodeOf[p.doc]), Part: v.part, View: v.view, Doc: p.doc, Model: s.model}
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
